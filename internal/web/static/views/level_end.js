// The cards at the end of a level, and of every other attempt to break or keep a lock.
import { drawTerminal, el, kbd } from "../dom.js";
import { go, link } from "../route.js";
import { say, several } from "../words.js";
import { countStars, firstOpenLevel, isPlayed, levelAddress, levelAfter } from "./levels.js";
import { findShortest } from "./seat_modes.js";
import { drawStatus } from "./seat_parts.js";

// drawLevelEnd draws the card at the end, or nothing before it.
export function drawLevelEnd(seat) {
  const { mode } = seat.place,
    { over, shown } = seat.here.view,
    breach = shown.find(({ anomaly }) => anomaly === seat.goal);
  if (mode === "keep") return drawKeepCard(seat, breach, over);
  if (mode !== "break") return null;
  return breach ? drawSolvedCard(seat, breach) : over && drawFailedCard(seat);
}

const drawButton = (focus, act, ...text) => el("button", { "data-focus": focus, onclick: act }, text);
const drawUndo = seat => drawButton("again", () => seat.undo(), say("Undo", "撤销"));

// drawKeepCard says whether the lock was kept whole.
function drawKeepCard(seat, lost, over) {
  const failed = lost && say(`Not kept, in step ${lost.step}. `, `没守住，第 ${lost.step} 步。`);
  if (lost) return drawStatus("note warn", failed, drawUndo(seat));
  if (over) seat.addressBar.keep?.(seat.prefix(seat.at));
  const says = say(`Kept, in ${several(seat.at, "step")}. `, `守住了，共 ${seat.at} 步。`);
  return over && drawStatus("note good solved", says, seat.here.view.reached);
}

// drawFailedCard says what a schedule reached instead of its goal.
function drawFailedCard(seat) {
  const { lock, goal, place, index, here } = seat;
  const { level } = lock,
    { state, reached } = here.view;
  const wanted =
    goal === "lost-update" && state.sold > 1
      ? say(`Wanted: stock ${state.due + 1}, with one sale lost. `, `目标：库存为 ${state.due + 1}，即丢失一单的更新。`)
      : say("Wanted: ", "目标：") + index.anomalies.find(({ name }) => name === goal).says + say(". ", "。");
  return el("div.note.warn.end", [
    drawStatus("", el("b", reached)),
    el("p", wanted, goal === level?.anomaly && place.in === level.in && level.advice),
    el(
      "p.row",
      drawUndo(seat),
      drawButton("restart", () => seat.restart(), say("Restart", "重来")),
    ),
  ]);
}

// drawSolvedCard says why the lock is broken. Who only watched is told what it was, and is led to the level.
function drawSolvedCard(seat, { step, title }) {
  seat.addressBar.keep?.(seat.prefix(step));
  const { lock, goal, place } = seat,
    cause = goal === lock.level?.anomaly && lock.level.cause;
  return el("div.note.good.end", [
    place.veil ? drawStatus("", el("b", say(`That was it: ${title}.`, `这就是${title}。`))) : drawScore(seat, step),
    cause && el("p", cause),
    (place.veil || isPlayed(seat)) && step === seat.at && drawOnward(seat),
  ]);
}

// drawScore says in how many steps the lock was broken, and gives a level’s stars.
function drawScore(seat, step) {
  const n = isPlayed(seat) && countStars(seat.lock),
    { steps: fewest, schedule } = findShortest(seat),
    { lock, in: scenario } = seat.place;
  const see = say("See the shortest", "看最短时序");
  const shortest =
    step > fewest
      ? [
          say(` The shortest takes ${fewest}. `, `最少可以 ${fewest} 步。`),
          schedule && el("a", { href: link(["schedule", lock], { in: scenario, do: schedule }) }, see),
        ]
      : say(" There is no shorter way. ", "步数已经最少。");
  const stars = { role: "img", "aria-label": say(`${n} of 3 stars`, `3 星得 ${n} 星`) };
  return drawStatus(
    "solved",
    say(`Solved in ${several(step, "step")}.`, `${step} 步攻破。`),
    fewest > 0 && shortest,
    n && el("span.stars", stars, "★".repeat(n) + "☆".repeat(3 - n)),
  );
}

// drawOnward offers what to do next: the schedule under the next lock, another level, an image to share; after the last
// level, a lock of one’s own; to who only watched, the level.
function drawOnward(seat) {
  const { lock, index, place } = seat,
    following = levelAfter(seat),
    next = place.veil ? lock : (following ?? firstOpenLevel(index));
  const free = link(["schedule", lock.name], { in: lock.level?.in, mode: "break", anomaly: lock.level?.anomaly });
  const to = place.veil
    ? say("Now do it yourself", "自己动手试试")
    : next
      ? [say(`Next: ${next.name} `, `下一关：${next.name} `), following && kbd("n")]
      : say("Break it freely", "自由攻破");
  const see = name =>
    lock.level?.stopped
      ? say(`See ${name} stop this`, `看 ${name} 怎么挡住它`)
      : say(`See this under ${name}`, `看它在 ${name} 下会怎样`);
  const under = () => go(seat.address({ beside: following.name }));
  const share = () => import("./card.js").then(({ showCard }) => showCard(seat));
  const all = say("All twelve levels solved. Now build a lock of your own.", "十二关全部通过。现在写一把自己的锁吧。");
  return [
    !next && [el("p", el("b", all)), drawTerminal(["new ../mylock"])],
    el("p.row", [
      following && place.beside !== following.name && drawButton("under-next", under, see(following.name)),
      el("a.button.main", { href: next ? levelAddress(next) : free, "data-focus": "onward" }, to),
      !place.veil && drawButton("card", share, say("Share image", "分享图片")),
    ]),
  ];
}
