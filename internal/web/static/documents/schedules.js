// Schedules, to be stepped through.
import { el, replace } from "../dom.js";
import { drawTrace, legend, saying } from "../trace.js";
import { say, several } from "../words.js";

show(document.getElementById("main"), JSON.parse(document.getElementById("data").textContent));

function show(main, { lock, title, scenario, schedules }) {
  let chosen = 0,
    current = 0; // the step that was taken last, counted from 1
  const heading = el("h1"),
    goal = el("p"),
    tabs = el("p", { class: "row" }),
    replay = el("code");
  const picture = el("section", { class: "sheet", "aria-label": say("The schedule", "时序") });
  const told = el("section", { class: "sheet told", role: "status", "aria-live": "polite" });
  const button = (text, by, name) => el("button", { onclick: () => step(by), "aria-label": name, title: name }, text);
  const controls = el(
    "p",
    { class: "row" },
    button("«", -Infinity, say("To the start (Home)", "到开头（Home）")),
    button("‹", -1, say("One step back (←)", "后退一步（←）")),
    button("›", 1, say("One step on (→)", "前进一步（→）")),
    button("»", Infinity, say("To the end (End)", "到末尾（End）")),
  );
  main.append(
    el(
      "header",
      null,
      heading,
      el("p", { class: "soft" }, `${lock} · ${title}`, scenario && [" · ", el("code", null, scenario)]),
      goal,
      tabs,
    ),
    el("div", { class: "document" }, picture, el("aside", { "aria-label": say("The step", "这一步") }, controls, told)),
    el(
      "footer",
      { class: "soft small" },
      say("Made by lockstep, with the lock’s real code. Replay it: ", "由 lockstep 运行锁的真实代码生成。重放："),
      replay,
    ),
  );
  addEventListener("keydown", event => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step(by);
  });
  choose(0);

  function choose(i) {
    const { anomaly, title, says, length, goal: task, breaches, replay: command, trace } = schedules[i];
    [chosen, current] = [i, trace.steps.length];
    const fewest = length > 0 && say(`, in ${several(length, "step")} and in no fewer`, `：${length} 步，不可能更少`);
    replace(
      heading,
      anomaly
        ? [`${lock}${say(": ", "：")}`, el("span", { title: anomaly }, title)]
        : say(`A schedule of ${lock}`, `${lock} 的一个时序`),
      anomaly && fewest,
    );
    const reached = anomaly && breaches?.find(breach => breach.title === title)?.step;
    replace(
      goal,
      task && [
        say("The goal: ", "目标："),
        el("b", null, task),
        reached
          ? say(`. Reached at step ${reached}.`, `。第 ${reached} 步做到。`)
          : say(". Not reached.", "。没有做到。"),
      ],
    );
    replace(
      tabs,
      schedules.length > 1 &&
        schedules.map((schedule, n) =>
          el(
            "button",
            { "aria-pressed": String(n === i), title: schedule.anomaly, onclick: () => choose(n) },
            schedule.title || n + 1,
          ),
        ),
      says && el("span", null, says),
    );
    replace(replay, command);
    step(0);
  }

  function step(by) {
    const { trace, breaches } = schedules[chosen],
      steps = trace.steps.length;
    current = Math.min(Math.max(current + by, 0), steps);
    replace(picture, drawTrace(trace, { current, onstep: n => step(n - current), breaches: breaches ?? [] }), legend());
    replace(told, sentence(trace, current, breaches ?? []));
    picture.querySelector("[aria-current=step]")?.scrollIntoView({ block: "nearest" });
  }
}

// sentence is what a step did, and what is so then.
function sentence(trace, current, breaches) {
  const taken = trace.steps[current - 1],
    all = trace.steps.length;
  if (!taken) return el("p", null, say(`The start. ${several(all, "step")} to the end.`, `开头。到末尾共 ${all} 步。`));
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
