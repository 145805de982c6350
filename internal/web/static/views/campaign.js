// The campaign: the locks as levels, and how far this browser has come.
import { el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { go } from "../route.js";
import { get } from "../server.js";
import { language, say, several } from "../words.js";
import { branchesOf, play, solution, stepsOf } from "./levels.js";
import { called, leads, place } from "./participant.js";

export function show(main) {
  const body = el("article", { class: "campaign" });
  main.append(body);
  let next = "",
    gone = false;
  const leave = bind(["n", "the next level that is open", "下一个没过的关", () => next && go(next)]);

  async function draw() {
    try {
      const index = await get("/seat", { lang: language() });
      if (gone) return;
      const steps = stepsOf(index),
        open = steps.find(lock => lock.level?.anomaly && !solution(lock));
      next = open ? play(open) : "";
      const room = el("p", { class: "small" });
      replace(body, ...page(index, steps, open), room);
      room.hidden = true;
      const state = await get("/room");
      if (gone || !state.open || leads(state)) return;
      const { badge } = await place(state);
      if (gone) return;
      room.hidden = false;
      replace(
        room,
        say(
          "A room is open. What you break is on its board; there you are ",
          "教室已打开。你攻破的关会上榜，榜上的你是 ",
        ),
        el("b", { class: "badge" }, called(badge)),
        say(".", "。"),
      );
    } catch (failure) {
      if (!gone && !body.hasChildNodes()) replace(body, el("p", { class: "note bad", role: "alert" }, failure.message));
    }
  }

  draw();
  return () => {
    gone = true;
    leave();
  };
}

function page(index, steps, open) {
  const done = steps.filter(solution),
    shortest = done.filter(lock => solution(lock).steps <= lock.level.steps);
  const list = (locks, first) =>
    el(
      "ol",
      { class: "steps-all levels" },
      locks.map((lock, i) => el("li", { class: "sheet" }, entry(index, lock, first && i + 1))),
    );
  return [
    el("h1", null, say("The campaign", "闯关")),
    el(
      "p",
      null,
      say(
        "Break each lock in as few steps as can be. See what the next lock makes of your schedule, and break that.",
        "用最少的步数攻破每一种锁。再看你的时序到了下一种锁会怎样，然后攻破它。",
      ),
    ),
    steps.every(({ level }) => level)
      ? el(
          "p",
          { class: "row" },
          el(
            "span",
            { role: "status" },
            say(
              `${done.length} of ${steps.length} solved, ${shortest.length} in the fewest steps`,
              `${steps.length} 关过了 ${done.length} 关，其中 ${shortest.length} 关步数最少`,
            ),
          ),
          open &&
            el(
              "a",
              { class: "button main", id: "next", href: play(open) },
              say(`${done.length ? "Go on" : "Begin"}: ${open.name}`, `${done.length ? "继续" : "开始"}：${open.name}`),
              el("kbd", { "aria-hidden": "true" }, "n"),
            ),
        )
      : el(
          "p",
          { class: "note warn" },
          say("The levels are read from the table, and it is not explored yet. ", "各关由总表得出，总表还没有探索完。"),
          el("a", { href: "#/table" }, say("Explore it", "去探索")),
        ),
    list(steps, true),
    el("h2", null, say("Side levels: branches and wrong turns", "支线：分支和歧路")),
    list(branchesOf(index), false),
  ];
}

// entry is a level: what is to be done, what was done, and what the lock lacks.
function entry(index, lock, number) {
  const { name, title, level } = lock,
    heading = (number ? number + ". " : "") + name,
    of = index.anomalies.find(anomaly => anomaly.name === level?.anomaly);
  return [
    el("h2", null, of ? el("a", { href: play(lock) }, heading) : heading, " ", of && state(lock)),
    el("p", { class: "small soft" }, title),
    of && el("p", null, say(`Make ${name} ${of.task}`, `让 ${name} ${of.task}`), say(".", "。"), faults(level)),
    level && honest(level),
    el("p", { class: "small soft" }, say("Still broken: ", "遗留问题："), lock.still_broken, say(".", "。")),
  ];
}

// honest says what cannot be broken.
export const honest = ({ anomaly, keeps_stock: keeps }) =>
  keeps &&
  el(
    "p",
    { class: "small good" },
    anomaly
      ? say(
          "The stock stays right: no scenario of the table loses an update. Two may still believe that they hold it.",
          "库存不会错：总表的所有场景里都不会丢失更新。但仍可能有两单都以为自己持有锁。",
        )
      : say("Nothing breaks it in any scenario of the table.", "总表的所有场景都攻不破它。"),
  );

const faults = level => level.in && [" ", el("code", { class: "small" }, level.in)];

function state(lock) {
  const kept = solution(lock),
    { steps } = lock.level;
  if (!kept) return el("span", { class: "chip" }, say(`open · shortest ${steps}`, `未过 · 最短 ${steps} 步`));
  return el(
    "a",
    { class: kept.steps > steps ? "chip warn" : "chip good", href: play(lock, { do: kept.schedule }) },
    kept.steps > steps
      ? say(`✓ in ${kept.steps} · shortest ${steps}`, `✓ ${kept.steps} 步 · 最短 ${steps} 步`)
      : say(`✓ in ${several(steps, "step")}, the fewest`, `✓ ${steps} 步，最少`),
  );
}
