// What went wrong: a card for each kind, the newest first, with a number for each place in the picture.
import { el, replace } from "../dom.js";
import { link } from "../route.js";
import { say } from "../words.js";

const listed = 5; // sentences of a kind that are shown without being asked for

// findings makes the list: take one, count them by a tally's numbers. pick is called with two sales to draw.
export function findings(pick) {
  const status = el("p", { class: "unseen", role: "status" });
  const cards = el("div", { class: "cards" });
  const node = el("div", null, status, cards);
  let all = new Map(),
    counts = {},
    lock = "",
    kinds = {}, // by name: a title, and the exploration that shows it
    numbers = 0,
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
    replace(
      cards,
      bad.length
        ? bad
        : el(
            "p",
            { class: "soft" },
            say("Nothing so far. ", "目前没有。"),
            !also.length && say("Buy something, or let many buy at once.", "买一件，或让很多人同时买。"),
          ),
      also.length > 0 && [el("h2", { class: "also" }, say("Also seen", "还看到")), also],
    );
    if (focused && node.contains(document.getElementById(focused))) document.getElementById(focused).focus();
  }
  function card(kind, found) {
    const count = Math.max(counts[kind] ?? 0, found.length),
      [{ bad, why }] = found,
      { title, shown } = kinds[kind] ?? { title: kind },
      seat = shown && link(["schedule", lock], { ...shown, mode: "break" });
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
            f.bad && el("span", { class: "number" }, f.n),
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
      numbers = 0;
      open = new Set();
      replace(status);
      draw();
    },
    lock(run) {
      ({ lock, kinds } = run);
    },
    take(finding) {
      const numbered = { ...finding, n: all.get(finding.id)?.n || (finding.bad ? ++numbers : 0) };
      all.set(finding.id, numbered);
      if (finding.bad) replace(status, `${kinds[finding.kind]?.title ?? finding.kind}: ${finding.says}`);
      draw();
      return numbered;
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
