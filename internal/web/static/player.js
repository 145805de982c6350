// A schedule, to be stepped through: its picture, buttons, and what the step has done.
import { el, replace } from "./dom.js";
import { drawTrace, legend, saying } from "./trace.js";
import { say, several } from "./words.js";

export function player() {
  let trace = null,
    breaches = [],
    current = 0; // the step that was taken last, counted from 1
  const picture = el("section", { class: "sheet drawing", "aria-label": say("The schedule", "时序") });
  const told = el("section", { class: "told", role: "status", "aria-live": "polite" });
  const button = (text, by, name) => el("button", { onclick: () => step(by), "aria-label": name, title: name }, text);
  const controls = el(
    "p",
    { class: "row" },
    button("«", -Infinity, say("To the start (Home)", "到开头（Home）")),
    button("‹", -1, say("One step back (←)", "后退一步（←）")),
    button("›", 1, say("One step on (→)", "前进一步（→）")),
    button("»", Infinity, say("To the end (End)", "到末尾（End）")),
  );
  return { picture, told, controls, step, load };

  // load begins with a schedule, at its end.
  function load(schedule) {
    ({ trace, breaches } = schedule);
    breaches ??= [];
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
    replace(picture, drawTrace(trace, { current, onstep: n => step(n - current), breaches }), legend());
    replace(told, sentence(trace, current, breaches));
    if (focused) [...picture.querySelectorAll("button")].find(one => one.textContent === focused)?.focus();
  }
}

// sentence is what a step did, and what is so then.
function sentence(trace, current, breaches) {
  const taken = trace.steps[current - 1],
    all = trace.steps.length;
  if (!taken)
    return el("p", null, say(`The start. ${several(all, "step", "步")} to the end.`, `开头。到末尾共 ${all} 步。`));
  return [
    el(
      "p",
      { class: "soft small" },
      say(`Step ${current} of ${all}, `, `第 ${current} 步，共 ${all} 步，`),
      el("code", null, taken.token),
    ),
    el("p", null, el("b", null, saying(taken))),
    taken.command && el("p", null, el("code", null, `${taken.command} → ${taken.reply}`)),
    breaches
      .filter(({ step }) => step === current)
      .map(({ title, says }) => el("p", { class: "note bad" }, "✗ ", el("b", null, title), say(": ", "："), says)),
  ];
}
