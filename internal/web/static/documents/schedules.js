// The document of schedules, to step through.
import { el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { createPlayer, stepKeys } from "../player.js";
import { say, several } from "../words.js";

show(document.getElementById("main"), JSON.parse(document.getElementById("data").textContent));

function show(main, { lock, title, scenario, schedules }) {
  const heading = el("h1"),
    goal = el("p"),
    tabs = el("p.row"),
    replay = el("code");
  const { picture, description, controls, step, load } = createPlayer();
  description.classList.add("sheet");
  main.append(
    el("header", heading, el("p.soft", `${lock} · ${title}`, scenario && [" · ", el("code", scenario)]), goal, tabs),
    el("div.document", picture, el("aside", { "aria-label": say("The step", "这一步") }, controls, description)),
    el("footer.soft.small", [
      say("Made by lockstep, with the lock’s real code. Replay it: ", "由 lockstep 运行锁的真实代码生成。重放："),
      replay,
    ]),
  );
  bind(...stepKeys(step));
  choose(0);

  function choose(i) {
    const { anomaly, title, says, length, goal: task, shown, replay: command } = schedules[i];
    const fewest = length > 0 && say(`, in ${several(length, "step")} and in no fewer`, `：${length} 步，不可能更少`);
    replace(heading, [
      anomaly
        ? [`${lock}${say(": ", "：")}`, el("span", { title: anomaly }, title)]
        : say(`A schedule of ${lock}`, `${lock} 的一个时序`),
      anomaly && fewest,
    ]);
    const reached = anomaly && shown?.find(breach => breach.title === title)?.step;
    replace(goal, [
      task && [
        say("The goal: ", "目标："),
        el("b", task),
        reached
          ? say(`. Reached at step ${reached}.`, `。第 ${reached} 步做到。`)
          : say(". Not reached.", "。没有做到。"),
      ],
    ]);
    replace(tabs, [
      schedules.length > 1 &&
        schedules.map((schedule, n) =>
          el("button", { "aria-pressed": String(n === i), title: schedule.anomaly, onclick: () => choose(n) }, [
            schedule.title || n + 1,
          ]),
        ),
      says && el("span", says),
    ]);
    replace(replay, command);
    load(schedules[i]);
    step(0);
  }
}
