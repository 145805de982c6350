// What went wrong first, as one story: its turns in the order of time, with the numbers that they have in the picture.
import { el, replace } from "../dom.js";
import { link } from "../route.js";
import { duration, say } from "../words.js";

// number writes a place in the story: ① to ⑨.
export const number = n => String.fromCodePoint(0x2460 + n - 1);

// story makes the list: begin with a run, take a story. pick is called with two sales to draw; mark with the turn that
// is pointed at, or 0. Without a server there is no seat to lead to.
export function story(pick, mark, { server = true } = {}) {
  const list = el("ol", { class: "story" });
  const more = el("p", { class: "small" });
  const status = el("p", { class: "unseen", role: "status" });
  const node = el("div", null, status, list, more);
  let turns = [],
    marked = 0,
    run = null;

  function turn({ at, says, sales, after, bad }, i) {
    const n = i + 1;
    const point = on => mark(on ? n : 0);
    return el(
      "li",
      {
        class: bad ? "bad" : "",
        "data-turn": n,
        onmouseenter: () => point(true),
        onmouseleave: () => point(false),
      },
      el(
        "button",
        {
          class: "number",
          id: "turn-" + n,
          disabled: sales.length !== 2,
          title: sales.length === 2 ? say(`Draw ${sales.join(" and ")}`, `画出 ${sales.join(" 和 ")}`) : null,
          "aria-label": sales.length === 2 ? say(`${n}: draw it`, `${n}：画出来`) : String(n),
          onfocus: () => point(true),
          onblur: () => point(false),
          onclick: () => pick(...sales),
        },
        n,
      ),
      el(
        "span",
        null,
        after?.length > 0 &&
          el("span", { class: "after", title: say("because of this", "因为") }, after.map(number).join(""), " → "),
        el("span", { class: "soft" }, say(`at ${duration(at)} `, `${duration(at)} 时，`)),
        says,
      ),
    );
  }
  function draw() {
    const focused = document.activeElement?.id;
    replace(list, turns.map(turn));
    show();
    if (focused?.startsWith("turn-")) document.getElementById(focused)?.focus();
    const last = turns.findLast(t => t.bad && run.kinds[t.kind]?.shown),
      shown = last && run.kinds[last.kind].shown;
    replace(
      more,
      server &&
        shown &&
        el(
          "a",
          { href: link(["schedule", run.lock], { ...shown, mode: "break" }) },
          say(`Do it yourself with the code of ${run.lock}, step by step`, `用 ${run.lock} 的代码一步步亲手做一遍`),
        ),
    );
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
    // mark shows which turn is pointed at.
    mark(n) {
      marked = n;
      show();
    },
    stop() {},
  };
}
