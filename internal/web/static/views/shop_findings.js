// All that was seen: a card for each kind, the newest first.
import { el, replace } from "../dom.js";
import { link } from "../route.js";
import { say } from "../words.js";

const listed = 5; // sentences of a kind that are shown without being asked for

// findings makes the list, folded: take one, count them by a tally's numbers. pick is called with two sales to draw.
// Without a server there is nothing to buy, and no seat to lead to.
export function findings(pick, { server = true } = {}) {
  const cards = el("div", { class: "cards" });
  const folded = el("summary");
  const nothing = el("p", { class: "soft" });
  const node = el("div", null, nothing, el("details", { class: "seen" }, folded, cards));
  let all = new Map(),
    counts = {},
    lock = "",
    kinds = {}, // by name: a title, and the exploration that shows it
    open = new Set(),
    asked = 0;
  const draw = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      paint();
    });
  };

  function paint() {
    const byKind = new Map();
    for (const finding of [...all.values()].reverse()) {
      if (!byKind.has(finding.kind)) byKind.set(finding.kind, []);
      byKind.get(finding.kind).push(finding);
    }
    const focused = document.activeElement?.id;
    const [bad, also] = [true, false].map(is =>
      [...byKind].filter(([, found]) => found[0].bad === is).map(([kind, found]) => card(kind, found)),
    );
    nothing.hidden = bad.length > 0;
    replace(
      nothing,
      say("Nothing so far. ", "目前没有。"),
      server && !also.length && say("Buy something, or let many buy at once.", "买一件，或让很多人同时买。"),
    );
    node.querySelector(".seen").hidden = !byKind.size;
    replace(folded, say(`All that was seen, by kind: ${byKind.size}`, `看到的全部，按种类：${byKind.size}`));
    replace(cards, bad, bad.length > 0 && also.length > 0 && el("h3", null, say("Also seen", "还看到")), also);
    if (focused && node.contains(document.getElementById(focused))) document.getElementById(focused).focus();
  }
  function card(kind, found) {
    const count = counts[kind] ?? found.length,
      [{ bad, why }] = found,
      { title, shown } = kinds[kind] ?? { title: kind },
      seat = server && shown && link(["schedule", lock], { ...shown, mode: "break" });
    const told = open.has(kind) ? found : found.slice(0, bad ? listed : 1);
    return el(
      "section",
      { class: bad ? "finding bad" : "finding", "data-kind": kind },
      el("h3", null, title, count > 1 && el("span", { class: "chip" }, "× " + count)),
      el(
        "ul",
        null,
        told.map(f =>
          el(
            "li",
            null,
            f.says,
            bad &&
              f.sales?.length === 2 && [
                " ",
                el(
                  "button",
                  { class: "quiet small", id: "draw-" + f.id, onclick: () => pick(...f.sales) },
                  say("Draw it", "画出来"),
                ),
              ],
          ),
        ),
      ),
      found.length > told.length &&
        el(
          "button",
          {
            class: "quiet small",
            id: "all-" + kind,
            onclick: () => {
              open.add(kind);
              paint();
            },
          },
          say(`${found.length - told.length} more`, `还有 ${found.length - told.length} 条`),
        ),
      why && el("p", { class: "small" }, why),
      bad &&
        seat &&
        el(
          "p",
          { class: "small" },
          el(
            "a",
            { href: seat },
            say(`Do it yourself with the code of ${lock}, step by step`, `用 ${lock} 的代码一步步亲手做一遍`),
          ),
        ),
    );
  }
  paint();
  return {
    node,
    begin(run) {
      all = new Map();
      counts = {};
      ({ lock, kinds } = run);
      open = new Set();
      draw();
    },
    run(next) {
      ({ lock, kinds } = next);
    },
    take(finding) {
      all.set(finding.id, finding);
      draw();
    },
    count(found) {
      counts = found ?? {};
      draw();
    },
    stop() {
      cancelAnimationFrame(asked);
    },
  };
}
