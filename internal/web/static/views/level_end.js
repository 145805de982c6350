// How a level ends, and every other try to break a lock, or to keep it whole: what was reached and what was wanted, or why
// the lock is broken; and what to do next.
import { el, kbd, typed } from "../dom.js";
import { go, link } from "../route.js";
import { say, several } from "../words.js";
import { isPlayed, nextOf, openLevel, play, starsOf } from "./levels.js";
import { shortestOf } from "./seat_modes.js";
import { status } from "./seat_parts.js";

// levelEnd is the card at the end; nothing, as long as it has not come.
export function levelEnd(seat) {
  const { mode } = seat.place,
    { over, shown } = seat.here.view,
    breach = shown.find(({ anomaly }) => anomaly === seat.goal);
  if (!breach) seat.solvedAt = 0;
  if (mode === "keep") return keepCard(seat, breach, over);
  if (mode !== "break") return null;
  return breach ? solvedCard(seat, breach) : over && failedCard(seat);
}

const button = (focus, act, ...text) => el("button", { "data-focus": focus, onclick: act }, text);
const undo = seat => button("again", () => seat.undo(), say("Undo", "撤销"));
export const restart = seat => button("restart", () => seat.change({ do: "" }), say("Restart", "重来"));

// keepCard says how it ended for who keeps the lock whole.
function keepCard(seat, lost, over) {
  if (lost)
    return status("note warn", say(`Not kept, in step ${lost.step}. `, `没守住，第 ${lost.step} 步。`), undo(seat));
  if (over) seat.way.keep?.(seat.prefix(seat.at));
  const says = say(`Kept, in ${several(seat.at, "step")}. `, `守住了，共 ${seat.at} 步。`);
  return over && status("note good solved", says, seat.here.view.reached);
}

// failedCard says what a schedule has come to that does not show what it was after.
function failedCard(seat) {
  const { lock, goal, place, index, here } = seat;
  const { level } = lock,
    { state, reached } = here.view;
  const wanted =
    goal === "lost-update" && state.sold > 1
      ? say(`Wanted: ${state.due + 1}, with one sale lost. `, `目标：${state.due + 1}，丢掉其中一单。`)
      : say("Wanted: ", "目标：") + index.anomalies.find(({ name }) => name === goal).says + say(". ", "。");
  return el("div.note.warn.end", [
    status("", el("b", reached)),
    el("p", wanted, goal === level?.anomaly && place.in === level.in && level.advice),
    el("p.row", undo(seat), restart(seat)),
  ]);
}

const moment = 1000; // that it shows how it comes

// solvedCard says why the lock is broken. That is a moment, the first time.
function solvedCard(seat, { step, says: why }) {
  seat.way.keep?.(seat.prefix(step));
  seat.solvedAt ||= performance.now();
  const fresh = performance.now() - seat.solvedAt < moment ? " fresh" : "",
    played = isPlayed(seat),
    n = played && starsOf(seat.lock),
    { steps: fewest, schedule } = shortestOf(seat),
    { lock, in: scenario } = seat.place;
  const see = say("See the shortest", "看最短的时序");
  const shortest =
    step > fewest
      ? [
          say(` The shortest takes ${fewest}. `, `最短的是 ${fewest} 步。`),
          schedule && el("a", { href: link(["schedule", lock], { in: scenario, do: schedule }) }, see),
        ]
      : say(" There is no shorter way. ", "已是最短路径。");
  const stars = { role: "img", "aria-label": say(`${n} of 3 stars`, `3 星得 ${n} 星`) };
  return el("div.note.good.end", [
    status(
      "solved" + fresh,
      say(`Solved in ${several(step, "step")}.`, `${step} 步攻破。`),
      fewest > 0 && shortest,
      played && el("span.stars", stars, "★".repeat(n) + "☆".repeat(3 - n)),
    ),
    el("p", why + say(".", "。")),
    played && step === seat.at && onward(seat),
  ]);
}

// onward is what to do then: your schedule under the next lock, the next level or one that is open, a picture. After the
// last one there are locks of one's own.
function onward(seat) {
  const { lock, index, place } = seat,
    following = nextOf(seat),
    next = following ?? openLevel(index);
  const free = link(["schedule", lock.name], { in: lock.level.in, mode: "break", anomaly: lock.level.anomaly });
  const to = next
    ? [say(`Next: ${next.name} `, `下一关：${next.name} `), following && kbd("n")]
    : say("Break it freely", "自由攻破");
  const see = name =>
    lock.level.stopped
      ? say(`See ${name} stop this`, `看 ${name} 怎么挡住它`)
      : say(`See this under ${name}`, `看它在 ${name} 下会怎样`);
  const under = () => go(seat.address({ beside: following.name }));
  const share = () => import("./card.js").then(({ showCard }) => showCard(seat));
  const all = say("All twelve levels solved. Now build a lock of your own.", "十二关全部通过。现在写一个自己的锁吧。");
  return [
    !next && [el("p", el("b", all)), typed(["new ../mylock"])],
    el("p.row", [
      following && place.beside !== following.name && button("under-next", under, see(following.name)),
      el("a.button.main", { href: next ? play(next) : free, "data-focus": "onward" }, to),
      button("card", share, say("Share image", "分享图片")),
    ]),
  ];
}
