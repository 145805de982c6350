// The levels of the campaign: what the server says of each lock, what this browser has kept of it, the bar of a level
// in the seat, and what comes after it is solved.
import { el } from "../dom.js";
import { go, link } from "../route.js";
import { get } from "../server.js";
import { say } from "../words.js";
import { called as badgeName, leads, tell } from "./participant.js";

const step = /^v\d+$/;
export const stepsOf = index => index.locks.filter(({ name }) => step.test(name));
export const branchesOf = index => index.locks.filter(({ name }) => !step.test(name));

// play is where a level is played.
export const play = ({ name, level }, query = {}) =>
  level?.anomaly
    ? link(["schedule", name], { in: level.in, mode: "break", anomaly: level.anomaly, campaign: 1, ...query })
    : link(["campaign"]);

// solution is the shortest schedule that was found here. What was kept of a level that is another one by now does not
// count.
export function solution({ name, level }) {
  const kept = all()[name];
  const same = kept && level && ["anomaly", "in"].every(each => kept[each] === level[each]);
  return same ? kept : null;
}

// keep keeps a solution, if none was shorter.
export function keep(lock, { steps, schedule }) {
  if (solution(lock)?.steps <= steps) return;
  const { anomaly, in: scenario } = lock.level;
  memory = { ...all(), [lock.name]: { anomaly, in: scenario, steps, schedule } };
  try {
    localStorage.setItem("lockstep.campaign", JSON.stringify(memory));
  } catch {
    /* it is not kept */
  }
}

let memory = {}; // where nothing is kept

function all() {
  try {
    return JSON.parse(localStorage.getItem("lockstep.campaign")) ?? {};
  } catch {
    return memory;
  }
}

// called is a text, with its anomalies called as people call them; the term is in the tooltip.
export const called = ({ anomalies }, text) =>
  text.split(/([a-z]+(?:-[a-z]+)*)/).map(word => {
    const one = anomalies.find(({ name }) => name === word);
    return one ? el("span", { title: `${word}: ${one.says}` }, one.title) : word;
  });

// here is the level that is played, and whether the place is still as the level wants it.
function here(seat) {
  const { lock, place, full } = seat;
  if (!place.campaign || !lock?.level?.anomaly) return null;
  const steps = stepsOf(seat.index),
    at = steps.findIndex(({ name }) => name === lock.name);
  return {
    lock,
    number: at + 1, // 0: of a side level
    of: steps.length,
    next: at < 0 ? null : steps[at + 1],
    asked: full.view.scenario === lock.level.in && seat.goal === lock.level.anomaly,
  };
}

const solvedAt = seat => seat.full.view.shown.find(({ anomaly }) => anomaly === seat.goal)?.step;

// next is where the next level is; nowhere, if none is played.
export const nextLevel = seat => here(seat)?.next && play(here(seat).next);

export function levelBar(seat) {
  const level = here(seat);
  if (!level) return null;
  const { lock, number, of, next, asked } = level,
    taken = solvedAt(seat) ?? seat.tokens.length;
  return el(
    "nav",
    { class: "level row", "aria-label": say("Campaign", "闯关") },
    el("a", { class: "button quiet", href: link(["campaign"]), "data-focus": "levels" }, say("← Levels", "← 关卡")),
    el(
      "b",
      null,
      number ? say(`Level ${number}/${of}: `, `第 ${number}/${of} 关：`) : say("Side level: ", "支线："),
      lock.name,
    ),
    asked
      ? el(
          "span",
          { class: "count", title: say("yours / the fewest", "你的 / 最少的") },
          say(`${taken}/${lock.level.steps} steps`, `${taken}/${lock.level.steps} 步`),
        )
      : el(
          "a",
          { href: play(lock) },
          say("This is another scenario. Back to the level", "场景已不是这一关的，回到这一关"),
        ),
    next && el("a", { class: "button", href: play(next), "data-focus": "next-level" }, `${next.name} →`),
  );
}

// noteSolved keeps that the level is solved, and tells the room.
export function noteSolved(seat) {
  const level = here(seat),
    steps = level?.asked && solvedAt(seat);
  if (!steps) return;
  const schedule = seat.prefix(steps);
  keep(level.lock, { steps, schedule });
  const about = level.lock.name + " " + schedule;
  if (!seat.toldRoom.has(about)) tellRoom(seat, about, level.lock.name, schedule);
}

// tellRoom tells the room; the level does not wait for it, nor fail with it.
async function tellRoom(seat, about, lock, schedule) {
  seat.toldRoom.set(about, "");
  try {
    const room = await get("/room");
    if (!room.open || leads(room)) return;
    const { badge } = await tell(room, "/room/solved", { lock, schedule });
    seat.toldRoom.set(about, badgeName(badge));
    seat.draw();
  } catch {
    /* the room is full, or has been closed */
  }
}

// afterSolved is what to do then: your schedule under the next lock, the next level, a card.
export function afterSolved(seat) {
  const level = here(seat);
  if (!level?.asked || solvedAt(seat) !== seat.at) return null;
  const { lock, next } = level,
    looks = next && seat.place.beside === next.name,
    onBoard = seat.toldRoom.get(lock.name + " " + seat.prefix(seat.at));
  const button = (focus, main, act, text) =>
    el("button", { "data-focus": focus, class: main ? "main" : null, onclick: act }, text);
  const onward =
    next &&
    el(
      "a",
      { class: looks ? "button main" : "button", href: play(next), "data-focus": "onward" },
      say(`On to ${next.name} `, `下一关 ${next.name} `),
      el("kbd", { "aria-hidden": "true" }, "n"),
    );
  return [
    onBoard &&
      el(
        "p",
        { class: "small", role: "status" },
        say(`The room’s board has it; there you are ${onBoard}.`, `已上教室的榜，榜上的你是 ${onBoard}。`),
      ),
    el(
      "p",
      { class: "row after" },
      next &&
        !looks &&
        button(
          "under-next",
          true,
          () => under(seat, next),
          say(`Your schedule under ${next.name}`, `换成 ${next.name} 试试`),
        ),
      onward,
      !next &&
        el(
          "a",
          { class: "button main", href: link(["campaign"]), "data-focus": "onward" },
          say("All levels", "全部关卡"),
        ),
      button(
        "card",
        false,
        () => import("./card.js").then(({ showCard }) => showCard(seat)),
        say("A card to send", "生成卡片"),
      ),
    ),
  ];
}

// under shows the schedule under the next lock, in sight.
function under(seat, next) {
  go(seat.address({ beside: next.name }));
}
