// The same schedule under another lock, in two columns, and the first step that differs.
import { drawTableHead, el } from "../dom.js";
import { drawLoaded, get } from "../server.js";
import { describeStep, shorten } from "../trace.js";
import { language, say } from "../words.js";
import { nextLevel, solvedStep } from "./levels.js";
import { drawOption, drawSelect } from "./seat_parts.js";

export function drawBeside(seat) {
  const { place, index } = seat,
    rows = el("div", { role: "status" });
  const onNodes = /node/.test(place.in); // the scenario's faults hit one of several masters
  const others = index.locks.filter(
    one => one.name !== place.lock && (one.on_nodes || !onNodes || one.name === place.beside),
  );
  const choose = beside => seat.addressBar.go(seat.address({ beside }));
  const options = others.map(({ name, title }) => drawOption(name, `${name} · ${title}`, name === place.beside));
  if (!place.do) rows.textContent = say("Take a step first.", "先走一步。");
  else {
    const compare = () => compareLocks(place, place.beside, seat.full.view.over, seat.goal);
    drawLoaded(rows, say("Running both …", "两边都在执行……"), compare);
  }
  return [
    el("div.row.titled", [
      el("h2", say(`${place.lock} beside`, `${place.lock} 对比`)),
      drawSelect("beside-lock", say("the other lock", "另一种锁"), choose, options),
      el("button", { "data-focus": "beside-close", onclick: () => choose("") }, say("Close", "关闭")),
      nextLevel(seat) && solvedStep(seat) && el("a.button.main", { href: nextLevel(seat) }, say("Next", "下一关")),
    ]),
    rows,
  ];
}

// compareLocks runs a schedule under two locks and draws both.
export async function compareLocks({ lock, in: scenario, do: schedule }, other, over, goal = "") {
  const both = await get("/seat/beside", { lock, with: other, in: scenario, do: schedule, lang: language() });
  return drawComparison(both, over, goal);
}

// drawAnswer says whether the goal, or else the first anomaly, also happens under the other lock.
function drawAnswer({ locks: [, other], shown }, goal) {
  const it = shown[0].find(({ anomaly }) => anomaly === goal) ?? shown[0][0];
  if (!it) return null;
  const too = shown[1].find(({ anomaly }) => anomaly === it.anomaly);
  const says = too
    ? say(`Under ${other} it happens anyway, at step ${too.step}: `, `换成 ${other} 照样发生，在第 ${too.step} 步：`)
    : say(`Under ${other} it does not happen: `, `换成 ${other} 就不会发生：`);
  return el("p", { class: too ? "note bad answer" : "note good answer" }, el("strong", says, it.title));
}

function drawComparison(both, over, goal) {
  const { locks, rows, differs, why, links } = both;
  const command = step => step.command && el("code", shorten(step.command), step.reply && " → " + shorten(step.reply));
  const none = other => el("span.soft", other ? say("cannot happen", "不能发生") : "–");
  const cell = (step, other) => el("td", step ? [el("p", describeStep(step)), command(step)] : none(other));
  const row = ([one, two], i) =>
    el("tr", { class: i + 1 === differs ? "changed" : null }, cell(one, two), cell(two, one));
  const untouched = say(
    "No step differs: the cure does not touch this schedule.",
    "没有一步不同：这个时序没有走到修复的地方。",
  );
  const first = el("strong", say(`Step ${differs} differs.`, `第 ${differs} 步不同。`));
  return [
    drawAnswer(both, goal),
    why.length > 0 && el("div.note", [first, why.map(each => el("p", each))]),
    el("table.pair", [
      drawTableHead(locks.map((name, i) => (links?.[i] ? el("a", { href: links[i] }, name) : name))),
      el("tbody", rows.map(row)),
    ]),
    differs === 0 && el("p.note", over ? untouched : say("No step differs so far.", "到目前为止没有一步不同。")),
  ];
}
