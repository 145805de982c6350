// Schedules, to be stepped through.
import { el, replace } from "../dom.js";
import { drawTrace } from "../trace.js";
import { say, several } from "../words.js";

show(document.getElementById("main"), JSON.parse(document.getElementById("data").textContent));

function show(main, { lock, title, scenario, schedules }) {
  let chosen = 0, current = 0; // the step that was taken last, counted from 1
  const heading = el("h1"), tabs = el("p", { class: "row" }), picture = el("div", { class: "sheet scroll", tabindex: 0, role: "region" });
  const told = el("section", { class: "sheet told", "aria-live": "polite" }), list = el("ol", { class: "taken" });
  const button = (text, by, name) => el("button", { onclick: () => step(by), "aria-label": name, title: name }, text);
  const controls = el("p", { class: "row" },
    button("«", -Infinity, say("To the start (Home)", "回到开头（Home）")), button("‹", -1, say("One step back (←)", "后退一步（←）")),
    button("›", 1, say("One step on (→)", "前进一步（→）")), button("»", Infinity, say("To the end (End)", "到末尾（End）")));
  const replay = el("code");
  picture.setAttribute("aria-label", say("The schedule", "时序"));
  main.append(el("header", null, heading, el("p", { class: "soft" }, `${lock} · ${title}`, scenario && " · ", scenario && el("code", null, scenario)), tabs),
    el("div", { class: "document" }, picture, el("div", null, controls, told, list)),
    el("footer", { class: "soft small" }, say("Made by lockstep, from the lock’s real code. Replay it: ", "由 lockstep 用锁的真实代码生成。重放："), replay));
  addEventListener("keydown", event => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step(by);
  });
  choose(0);

  function choose(i) {
    [chosen, current] = [i, schedules[i].trace.steps.length];
    const { anomaly, says, length, replay: command } = schedules[i];
    const found = anomaly && say(`${lock} shows ${anomaly}`, `${lock} 出现 ${anomaly}`);
    const fewest = length > 0 && say(` in ${several(length, "step")}, and in no fewer`, `：${length} 步，不可能更少`);
    replace(heading, found || say(`A schedule of ${lock}`, `${lock} 的一个时序`), found && fewest);
    replace(tabs, says && el("span", null, says), schedules.length > 1 && schedules.map((schedule, n) =>
      el("button", { "aria-pressed": String(n === i), onclick: () => choose(n) }, schedule.anomaly || String(n + 1))));
    replace(replay, command);
    step(0);
  }

  function step(by) {
    const { trace } = schedules[chosen];
    current = Math.min(Math.max(current + by, 0), trace.steps.length);
    replace(picture, drawTrace(trace, { current, onstep: n => step(n - current), compact: true }));
    replace(told, ...sentence(trace, current));
    replace(list, trace.steps.map((taken, i) => el("li", null,
      el("button", { class: "quiet", "aria-current": i + 1 === current ? "step" : null, onclick: () => step(i + 1 - current) }, taken.says || taken.token))));
  }
}

// sentence is what a step did, and what is so then.
function sentence(trace, current) {
  const taken = trace.steps[current - 1], last = current === trace.steps.length;
  if (!taken) return [el("p", null, say(`The start. ${several(trace.steps.length, "step")} follow.`, `开头，接下来共 ${trace.steps.length} 步。`))];
  return [
    el("p", { class: "soft small" }, say(`Step ${current} of ${trace.steps.length}, `, `第 ${current} 步，共 ${trace.steps.length} 步，`), el("code", null, taken.token)),
    el("p", null, el("b", null, taken.says)),
    taken.command && el("p", null, el("code", null, `${taken.command} → ${taken.reply}`)),
    el("p", { class: "soft" }, taken.lock ? say(`The lock is ${taken.lock}’s`, `锁是 ${taken.lock} 的`) : say("No lock", "没有锁"),
      "; ", say("stock", "库存"), " ", taken.stock),
    last && trace.says && el("p", { class: "note bad" }, "✗ ", trace.says),
  ].filter(Boolean);
}
