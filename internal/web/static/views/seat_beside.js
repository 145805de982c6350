// The same schedule under another lock, in two columns, and the first step that differs: the cure at work.
import { el, heads, replace } from "../dom.js";
import { get } from "../server.js";
import { saying, short } from "../trace.js";
import { language, say } from "../words.js";

export function besidePanel(seat) {
  const { place, index } = seat,
    rows = el("div", { role: "status" }, say("Running both …", "两边都在执行……"));
  const lock = el(
    "select",
    { "data-focus": "beside-lock", onchange: event => seat.way.go(seat.address({ beside: event.target.value })) },
    index.locks
      .filter(({ name }) => name !== place.lock)
      .map(({ name, title }) => el("option", { value: name, selected: name === place.beside }, `${name} · ${title}`)),
  );
  if (!place.do) rows.textContent = say("Take a step first.", "先走一步。");
  else {
    sideBySide(place, place.beside, seat.full.view.over).then(
      drawn => {
        replace(rows, drawn);
        if (seat.toBeside) seat.parts.beside.scrollIntoView();
        seat.toBeside = false;
      },
      failure => {
        seat.besideIs = null; // the next drawing asks again
        replace(rows, el("p", { class: "note warn" }, failure.message));
      },
    );
  }
  return [
    el(
      "div",
      { class: "row titled" },
      el("h2", null, say(`${place.lock} beside`, `${place.lock} 对比`)),
      el("label", null, el("span", { class: "unseen" }, say("the other lock", "另一种锁")), lock),
    ),
    rows,
  ];
}

// sideBySide draws a schedule under two locks.
export async function sideBySide({ lock, in: scenario, do: schedule }, other, over) {
  return compared(await get("/seat/beside", { lock, with: other, in: scenario, do: schedule, lang: language() }), over);
}

function compared({ locks, rows, differs, why, links }, over) {
  const command = step =>
    step.command && el("code", null, short(step.command), step.reply && " → " + short(step.reply));
  const cell = (step, other) =>
    el(
      "td",
      null,
      step
        ? [el("p", null, saying(step)), command(step)]
        : el("span", { class: "soft" }, other ? say("cannot happen", "不能发生") : "–"),
    );
  return [
    el(
      "table",
      { class: "pair" },
      heads(locks.map((name, i) => (links?.[i] ? el("a", { href: links[i] }, name) : name))),
      el(
        "tbody",
        null,
        rows.map(([one, two], i) =>
          el("tr", { class: i + 1 === differs ? "changed" : null }, cell(one, two), cell(two, one)),
        ),
      ),
    ),
    differs === 0
      ? el(
          "p",
          { class: "note" },
          over
            ? say("No step differs: the cure does not touch this schedule.", "没有一步不同：这个时序碰不到修复的地方。")
            : say("No step differs so far.", "到目前为止没有一步不同。"),
        )
      : el(
          "div",
          { class: "note good" },
          el("strong", null, say(`Step ${differs} differs.`, `第 ${differs} 步不同。`)),
          why.map(each => el("p", null, each)),
        ),
  ];
}
