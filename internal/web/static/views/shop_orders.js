// The reader as a buyer.
import { drawIcon, el, replace } from "../dom.js";
import { post } from "../server.js";
import { duration, say } from "../words.js";
import { describeAnswer } from "./shop_words.js";

// createBuyer creates the button and the list of its answers. Each click is a sale of its own, even while others are in
// flight. called returns the displayed name of a replica.
export function createBuyer(called) {
  const mine = []; // newest first
  const list = el("ol.orders.small", { reversed: true, "aria-live": "polite" });
  const button = el("button.main.buy", { onclick: buy }, drawIcon("buy"), say("Buy one", "买一件"), el("kbd", "b"));
  const hint = el("p.small.soft", [
    say("Each click adds a buyer, even while others wait.", "每点一次就多一个买家，上一个还在等也能点。"),
  ]);
  const draw = () => {
    hint.hidden = true;
    replace(list, [
      mine
        .slice(0, 8)
        .map(order =>
          el("li", { class: order.tone }, [
            el("span", order.says),
            order.took != null && el("span.soft", " ", duration(order.took)),
          ]),
        ),
    ]);
  };

  async function buy() {
    const began = performance.now(),
      order = { says: say("under way …", "进行中……"), tone: "soft", took: null };
    mine.unshift(order);
    draw();
    try {
      const sold = await post("/inventory/sale");
      order.says =
        say(
          `sold at ${called(sold.replica)}: stock ${sold.stock_before} → ${sold.stock_after}`,
          `${called(sold.replica)} 卖出：库存 ${sold.stock_before} → ${sold.stock_after}`,
        ) + ` (${sold.order_id.slice(0, 8)})`;
      order.tone = "good";
    } catch (failure) {
      order.says = describeAnswer(failure);
      order.tone = failure.code === "sold_out" ? "" : "bad";
    }
    order.took = performance.now() - began;
    draw();
  }
  return { node: el("div.buyer", button, hint, list), buy };
}
