// The reader’s goal, and the controls.
import { el } from "../dom.js";
import { isAway, runSoon } from "../server.js";
import { say, several } from "../words.js";
import { drawLevelCard, drawLevelPath, explainTerms, noteHint } from "./levels.js";
import { describeChoice, drawOption, drawSelect, drawStatus } from "./seat_parts.js";

// drawGoal draws the task and the distance to it.
export function drawGoal(seat) {
  const { embedded, place } = seat;
  return [
    !embedded && el("h1.unseen", say("Scheduler’s seat", "调度席")),
    el(
      "div.row.task",
      drawTask(seat),
      drawKept(seat),
      seat.distance.drawGauge(),
      place.campaign && drawLevelCard(seat),
    ),
  ];
}

// drawControls draws the tools and modes, at the foot of the page in reach of a thumb.
export function drawControls(seat) {
  const { place } = seat;
  const tool = (focus, text, key, onclick, more) =>
    el("button", { "data-focus": focus, title: key && `${text} (${key})`, onclick, ...more }, text);
  const hinted = seat.hint && drawStatus(seat.hint.failure ? "note warn" : "note", describeHint(seat));
  const tools = [
    tool("undo", say("Undo", "撤销"), "u", () => seat.undo(), { disabled: !seat.undoStack.length && !place.do }),
    tool("restart", say("Restart", "重来"), "", () => seat.restart(), { disabled: !place.do }),
    (place.mode === "break" || !seat.embedded) && tool("hint", say("Hint", "提示"), "h", () => seat.ask()),
  ];
  const whole = say("Open the whole seat", "打开完整的调度席");
  if (seat.embedded) return [hinted, el("div.row", tools, el("a.button.quiet", { href: seat.address({}) }, whole))];
  const mode = (name, text) =>
    tool("mode-" + name, text, "", () => seat.setMode(name), { "aria-pressed": String(isInMode(seat, name)) });
  const modes = [
    mode("levels", say("Levels", "关卡")),
    mode("free", say("Free", "自由")),
    mode("break", say("Break it", "攻破它")),
    mode("keep", say("Keep it", "守住它")),
  ];
  return [
    hinted,
    el("div.row", [
      tools,
      !seat.isFirst && el("button", { "data-focus": "tools", popovertarget: "menu" }, say("Tools", "工具")),
      el("div.row.modes", { role: "group", "aria-label": say("Mode", "模式") }, modes),
      place.campaign ? drawLevelPath(seat) : drawLockChooser(seat),
    ]),
  ];
}

const isInMode = ({ place }, mode) => (place.campaign ? mode === "levels" : place.mode === mode);

// drawLockChooser draws the list of locks.
const drawLockChooser = seat =>
  drawSelect(
    "lock",
    say("lock", "锁"),
    lock => seat.change({ lock, do: "", beside: "" }),
    seat.index.locks.map(({ name, title }) => drawOption(name, `${name} · ${title}`, name === seat.place.lock)),
  );

// drawTask draws the task, in which the goal can be chosen.
function drawTask(seat) {
  const { mode, oracle, anomaly } = seat.place;
  if (mode === "break") return drawBreakTask(seat);
  const keep = say("Finish every sale without: ", "让每一单都走完，而且不出现："),
    far = say("How far is this: ", "还差几步："),
    shown = seat.index.anomalies.find(({ name }) => name === anomaly)?.title;
  if (mode !== "keep" && !oracle)
    return shown && el("p.goal", `${seat.lock.name} · ${seat.lock.title}`, say(": ", "："), shown);
  return el("p.goal", mode === "keep" ? keep : far, drawGoalChooser(seat, "title"));
}

function drawGoalChooser(seat, by) {
  if (seat.embedded || seat.place.campaign) return seat.index.anomalies.find(({ name }) => name === seat.goal)[by];
  const promised = seat.index.anomalies.filter(({ name }) => seat.lock?.promises.includes(name));
  return drawSelect(
    "goal",
    say("goal", "目标"),
    anomaly => seat.addressBar.go(seat.address({ anomaly })),
    promised.map(one => drawOption(one.name, one[by], one.name === seat.goal)),
  );
}

const drawKept = seat =>
  seat.addressBar.kept &&
  el("button.chip.good", { "data-focus": "kept", onclick: () => seat.change({ do: seat.addressBar.kept }) }, [
    say("✓ done", "✓ 做到过"),
  ]);

function describeHint(seat) {
  const { waits, failure, steps, next, named, anomaly } = seat.hint,
    title = explainTerms(seat.index, anomaly);
  if (waits) return say("Looking for the shortest way …", "正在找最短路径……");
  if (failure) return failure.message;
  if (steps === -1) return [say("From here this can never happen: ", "从这里起，已不可能出现："), title];
  if (steps === -2) return say("Not found before the search hit its bound.", "搜索到上限还没有找到。");
  if (steps === 0) return [say("It has happened: ", "已经出现："), title];
  if (!named)
    return say(
      `${several(steps, "step")} to go. Press Hint again for the move.`,
      `还差 ${steps} 步。再按一次“提示”，就告诉你走哪一步。`,
    );
  const choice = seat.here.view.choices.find(({ token }) => token === next);
  noteHint(seat);
  return (
    say(`${several(steps, "step")} to go. Next: `, `还差 ${steps} 步。下一步：`) +
    describeChoice(choice ?? { token: next })
  );
}

// drawBreakTask draws the goal of the game, and the fewest steps to it.
function drawBreakTask(seat) {
  const best = findShortest(seat),
    { lock, campaign } = seat.place;
  if (best.failure) return el("p.note.warn", best.failure.message);
  const most = best.steps > 0 && say(`, in at most ${several(best.steps, "step")}`, `，最多 ${best.steps} 步`);
  const never = say(
    "It never does that in this scenario. Allow more faults, or choose another lock.",
    "在这个场景里它不会这样。多允许几次故障，或者换一种锁。",
  );
  return [
    el("p.goal", say(`Make ${lock} `, `让 ${lock} `), drawGoalChooser(seat, "task"), most, say(".", "。")),
    best.steps === -1 && !campaign && el("p.note.warn", never),
  ];
}

// findShortest returns the shortest schedule to the goal. It asks the server once, and redraws with the answer.
export function findShortest(seat) {
  const { lock, in: scenario } = seat.place,
    key = [lock, scenario, seat.goal].join("\n"),
    known = seat.shortest.get(key);
  if (known) return known;
  const learn = best => {
    seat.shortest.set(key, best);
    seat.draw();
  };
  seat.shortest.set(key, {});
  seat.nextTo("", seat.goal).then(learn, failure => {
    learn({ failure });
    if (isAway(failure)) runSoon(() => seat.shortest.delete(key) && seat.draw());
  });
  return {};
}

// isVeiled reports whether later steps are hidden: in a lesson, or in a schedule that the shop links to.
export const isVeiled = ({ embedded, place, tokens, at }) => (embedded || place.veil) && at < tokens.length;

// drawNextStep draws the button to the next hidden step.
export const drawNextStep = seat =>
  isVeiled(seat) &&
  !seat.embedded &&
  el("p.row", [
    el("button.main", { "data-focus": "next-step", onclick: () => seat.look(seat.at + 1) }, [
      say("Next step ›", "下一步 ›"),
    ]),
  ]);
