// A player of a schedule: its diagram, buttons, and a description of the current step.
import { el, replace } from "./dom.js";
import { describeStep, drawLegend, drawTrace } from "./trace.js";
import { say, several } from "./words.js";

export function createPlayer() {
  let trace = null,
    shown = [],
    current = 0; // the step that was taken last, counted from 1
  const picture = el("div.sheet.drawing", { role: "group", "aria-label": say("The schedule", "时序") });
  const description = el("section.told", { role: "status", "aria-live": "polite" });
  const button = (text, by, name) => el("button", { onclick: () => step(by), "aria-label": name, title: name }, text);
  const controls = el("p.row", [
    button("«", -Infinity, say("To the start (Home)", "到开头（Home）")),
    button("‹", -1, say("One step back (←)", "后退一步（←）")),
    button("›", 1, say("One step on (→)", "前进一步（→）")),
    button("»", Infinity, say("To the end (End)", "到末尾（End）")),
  ]);
  return { picture, description, controls, step, load };

  function load(schedule) {
    ({ trace, shown } = schedule);
    shown ??= [];
    current = trace.steps.length;
    draw();
  }

  function step(by) {
    if (!trace) return;
    current = Math.min(Math.max(current + by, 0), trace.steps.length);
    draw();
    picture.querySelector("[aria-current=step]")?.scrollIntoView({ block: "nearest" });
  }

  function draw() {
    const focused = picture.contains(document.activeElement) && document.activeElement.textContent;
    replace(picture, drawTrace(trace, { current, onstep: n => step(n - current), shown }), drawLegend(trace));
    replace(description, drawStepText(trace, current, shown));
    if (focused) [...picture.querySelectorAll("button")].find(one => one.textContent === focused)?.focus();
  }
}

// stepKeys lists the keys that step through a schedule, for bind.
export const stepKeys = step =>
  Object.entries({ ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }).map(([key, by]) => [
    key,
    "",
    "",
    () => step(by),
  ]);

function drawStepText(trace, current, shown) {
  const taken = trace.steps[current - 1],
    all = trace.steps.length;
  if (!taken) return el("p", say(`The start. ${several(all, "step", "步")} to the end.`, `开头。到末尾共 ${all} 步。`));
  return [
    el("p.soft.small", say(`Step ${current} of ${all}, `, `第 ${current} 步，共 ${all} 步，`), el("code", taken.token)),
    el("p", el("b", describeStep(taken))),
    taken.command && el("p", el("code", `${taken.command} → ${taken.reply}`)),
    shown
      .filter(({ step }) => step === current)
      .map(({ title, says }) => el("p.note.bad", "✗ ", el("b", title), say(": ", "："), says)),
  ];
}
