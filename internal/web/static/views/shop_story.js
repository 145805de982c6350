// What went wrong: one story, its turns in order of time with their numbers in the diagram; then the other findings.
import { el, replace } from "../dom.js";
import { duration, say } from "../words.js";
import { createPainter } from "./drawing.js";
import { drawSeatLink } from "./shop_words.js";

export const formatNumber = n => String.fromCodePoint(0x2460 + n - 1);

// createStory creates the list. pick is called with two sales to draw, mark with the turn under the pointer, or 0.
// Without a server there is no link to the seat.
export function createStory(pick, mark, server = true) {
  const list = el("ol.story");
  const more = el("p.small");
  const status = el("p.unseen", { role: "status" });
  const node = el("div", status, list, more);
  let turns = [],
    marked = 0,
    run = null;

  function turn({ at, says, sales, after, bad }, i) {
    const n = i + 1,
      two = sales.length === 2;
    const points = (enter, leave) => ({ [enter]: () => mark(n), [leave]: () => mark(0) });
    const draws = {
      id: "turn-" + n,
      disabled: !two,
      title: two ? say(`Draw ${sales.join(" and ")}`, `画出 ${sales.join(" 和 ")}`) : null,
      "aria-label": two ? say(`${n}: draw it`, `${n}：画出来`) : String(n),
      ...points("onfocus", "onblur"),
      onclick: () => pick(...sales),
    };
    const because = { title: say("because of this", "因为") };
    return el("li", { class: bad ? "bad" : "", "data-turn": n, ...points("onmouseenter", "onmouseleave") }, [
      el("button.number", draws, n),
      el("span", [
        after?.length > 0 && el("span.after", because, after.map(formatNumber).join(""), " → "),
        el("span.soft", say(`at ${duration(at)} `, `${duration(at)}时，`)),
        says,
      ]),
    ]);
  }
  function draw() {
    const focused = document.activeElement?.id;
    replace(list, turns.map(turn));
    show();
    if (focused?.startsWith("turn-")) document.getElementById(focused)?.focus();
    const last = turns.findLast(t => t.bad && run.kinds[t.kind]?.shown),
      shown = last && run.kinds[last.kind].shown;
    replace(more, server && shown && drawSeatLink(run.lock, shown));
  }
  function show() {
    for (const item of list.children) item.classList.toggle("marked", item.dataset.turn === String(marked));
  }
  return {
    node,
    begin(next) {
      turns = [];
      run = next;
      replace(status);
      draw();
    },
    take(next) {
      if (next.turns.length > turns.length) replace(status, next.turns.at(-1).says);
      turns = next.turns;
      draw();
    },
    mark(n) {
      marked = n;
      show();
    },
    stop() {},
  };
}

const mostListed = 5; // sentences of a kind that are shown without being asked for

// createFindings creates the folded list of findings. pick is called with two sales to draw. Without a server there is
// nothing to buy, and no link to the seat.
export function createFindings(pick, server = true) {
  const cards = el("div.cards");
  const folded = el("summary");
  const nothing = el("p.soft");
  const node = el("div", nothing, el("details.seen", folded, cards));
  let all = new Map(),
    counts = {},
    lock = "",
    kinds = {}, // kind → its title, and the exploration that shows it
    open = new Set();
  const { draw, stop } = createPainter(node, paint);

  function paint() {
    const byKind = Map.groupBy([...all.values()].reverse(), ({ kind }) => kind);
    const focused = document.activeElement?.id;
    const [bad, also] = [true, false].map(isBad =>
      [...byKind].filter(([, found]) => found[0].bad === isBad).map(([kind, found]) => card(kind, found)),
    );
    nothing.hidden = bad.length > 0;
    replace(nothing, [
      say("Nothing so far. ", "目前没有。"),
      server && !also.length && say("Buy something, or let many buy at once.", "买一件，或让很多人同时买。"),
    ]);
    node.querySelector(".seen").hidden = !byKind.size;
    replace(folded, say(`Event types (${byKind.size})`, `全部事件类型（${byKind.size}）`));
    replace(cards, bad, bad.length > 0 && also.length > 0 && el("h3", say("Also seen", "还看到")), also);
    if (focused && node.contains(document.getElementById(focused))) document.getElementById(focused).focus();
  }
  function card(kind, found) {
    const count = counts[kind] ?? found.length,
      [{ bad, why }] = found,
      { title, shown } = kinds[kind] ?? { title: kind };
    const shownFindings = open.has(kind) ? found : found.slice(0, bad ? mostListed : 1);
    const quiet = (id, act, text) => el("button.quiet.small", { id, onclick: act }, text);
    const line = ({ id, says, sales }) =>
      el("li", [
        says,
        bad && sales?.length === 2 && [" ", quiet("draw-" + id, () => pick(...sales), say("Draw it", "画出来"))],
      ]);
    const rest = found.length - shownFindings.length;
    const more = () => {
      open.add(kind);
      paint();
    };
    return el("section", { class: bad ? "finding bad" : "finding", "data-kind": kind }, [
      el("h3", title, count > 1 && el("span.chip", "× " + count)),
      el("ul", shownFindings.map(line)),
      rest > 0 && quiet("all-" + kind, more, say(`${rest} more`, `还有 ${rest} 条`)),
      why && el("p.small", why),
      bad && server && shown && el("p.small", drawSeatLink(lock, shown)),
    ]);
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
    stop,
  };
}
