// What the reader is after: nothing, a breach, or to know how far the nearest is.
import { el, heads, replace } from "../dom.js";
import { link } from "../route.js";
import { away, get, soon, stream, text } from "../server.js";
import { saying } from "../trace.js";
import { language, say, several } from "../words.js";
import { called, levelBar } from "./levels.js";
import { choiceSays } from "./seat_parts.js";

// modePanel is the task, before all else: the lock, what is to be done with it, and what helps.
export function modePanel(seat) {
  const { place, panel } = seat;
  const tool = (focus, text, key, act, pressed, disabled) =>
    el(
      "button",
      {
        "data-focus": focus,
        title: key && `${text} (${key})`,
        onclick: act,
        "aria-pressed": pressed === undefined ? null : String(!!pressed),
        disabled,
      },
      text,
    );
  const none = undefined;
  const changes = [
    tool("undo", say("Undo", "撤销"), "u", () => seat.undo(), none, !seat.past.length && !place.do),
    tool("redo", say("Redo", "重做"), "r", () => seat.redo(), none, !seat.future.length),
  ];
  const hint = tool("hint", say("Hint", "提示"), "h", () => seat.ask());
  const hinted = seat.hint && el("p", { class: hintClass(seat.hint), role: "status" }, hintSays(seat));
  const level = !seat.embedded && levelBar(seat);
  if (seat.embedded)
    return el(
      "div",
      { class: "row" },
      goalSays(seat),
      kept(seat),
      changes,
      place.mode === "break" && hint,
      el("a", { class: "button quiet", href: seat.address({}) }, say("Open the whole seat", "打开完整的调度席")),
      hinted,
    );
  const mode = (name, english, chinese) =>
    tool("mode-" + name, say(english, chinese), "", () => seat.setMode(name), place.mode === name);
  return [
    el("h1", { class: "unseen" }, say("Scheduler’s seat", "调度席")),
    el(
      "div",
      { class: "row" },
      level || [
        lockChooser(seat),
        el(
          "div",
          { class: "row modes", role: "group", "aria-label": say("Mode", "模式") },
          mode("free", "Free", "自由"),
          mode("break", "Break it", "攻破它"),
          mode("keep", "Keep it", "守住它"),
        ),
      ],
      el(
        "div",
        { class: "row tools" },
        changes,
        hint,
        tool("oracle", say("Oracle", "推演"), "o", () => seat.switchOracle(), place.oracle),
        tool("beside", say("Beside", "并排"), "b", () => seat.besideNext(), place.beside),
        tool("code", say("Code", "代码"), "c", () => seat.open("code"), panel === "code"),
        tool("state", say("State", "状态"), "s", () => seat.open("state"), panel === "state"),
        tool("scenario", say("Scenario", "场景"), "", () => seat.open("scenario"), panel === "scenario"),
        !level && el("a", { class: "button", href: "#/campaign" }, say("Levels", "关卡")),
        el("button", { "data-focus": "more", popovertarget: "menu" }, say("More …", "更多……")),
      ),
    ),
    el("div", { class: "row task" }, goalSays(seat), place.oracle && seat.oracle.panel(), hinted),
  ];
}

// lockChooser is the lock whose code runs.
export const lockChooser = seat =>
  el(
    "label",
    null,
    el("span", { class: "unseen" }, say("lock", "锁")),
    el(
      "select",
      {
        id: "lock",
        "data-focus": "lock",
        onchange: event => seat.change({ lock: event.target.value, do: "", beside: "" }),
      },
      seat.index.locks.map(({ name, title }) =>
        el("option", { value: name, selected: name === seat.place.lock }, `${name} · ${title}`),
      ),
    ),
  );

// goalSays is the task; what is to happen can be chosen in it.
function goalSays(seat) {
  const { place } = seat;
  if (place.mode === "break") return breakIt(seat);
  if (place.mode === "keep")
    return el(
      "p",
      { class: "goal" },
      say("Let everybody come to the end, without this: ", "让每一单都走完，而且不出现："),
      goalChooser(seat, "title"),
    );
  return place.oracle && el("p", { class: "goal" }, say("How far is this: ", "还差几步："), goalChooser(seat, "title"));
}

const goalChooser = (seat, by) =>
  seat.embedded
    ? seat.index.anomalies.find(({ name }) => name === seat.goal)[by]
    : el(
        "select",
        {
          "data-focus": "goal",
          "aria-label": say("goal", "目标"),
          onchange: event => seat.way.go(seat.address({ anomaly: event.target.value })),
        },
        seat.index.anomalies
          .filter(({ name }) => seat.lock?.promises.includes(name))
          .map(one => el("option", { value: one.name, title: one.title, selected: one.name === seat.goal }, one[by])),
      );

const kept = seat =>
  seat.way.kept &&
  el(
    "button",
    { class: "chip good", "data-focus": "kept", onclick: () => seat.change({ do: seat.way.kept }) },
    say("✓ done", "✓ 做到过"),
  );

const hintClass = ({ failure }) => (failure ? "note warn" : "note");

function hintSays(seat) {
  const { waits, failure, steps, next, anomaly } = seat.hint;
  if (waits) return say("Looking for the shortest way …", "正在找最短路径……");
  if (failure) return failure.message;
  const named = called(seat.index, anomaly);
  if (steps === -1) return [say("From here this can never happen: ", "从这里出发，不可能再发生："), named];
  if (steps === -2)
    return say(
      "Not found before the search hit its bound. The table searches longer, and hints know what it finds.",
      "搜索到上限还没有找到。总表搜索得更久，它找到的，提示也会知道。",
    );
  if (steps === 0) return [say("It has happened: ", "已经发生："), named];
  const choice = seat.here.view.choices.find(choice => choice.token === next);
  return (
    say(`${several(steps, "step")} to go. Next: `, `还差 ${steps} 步。下一步：`) + (choice ? choiceSays(choice) : next)
  );
}

// breakIt is the game: a goal, and the shortest schedule once it is reached.
function breakIt(seat) {
  const best = shortestOf(seat),
    { lock } = seat.place,
    done = solved(seat);
  if (best.failure) return el("p", { class: "note warn" }, best.failure.message);
  const most = best.steps > 0 && say(`, in at most ${several(best.steps, "step")}`, `，最多 ${best.steps} 步`);
  return [
    el("p", { class: "goal" }, say(`Make ${lock} `, `让 ${lock} `), goalChooser(seat, "task"), most, say(".", "。")),
    best.steps === -1 &&
      el(
        "p",
        { class: "note warn" },
        say(
          "It never does that in this scenario. Allow more faults, or choose another lock.",
          "在这个场景里它不会这样。多允许几次故障，或者换一种锁。",
        ),
      ),
    done && done.step > best.steps && best.schedule && shown(seat, best, done),
  ];
}

// keptSays says how that ended.
function keptSays(seat) {
  const { shown, over } = seat.here.view,
    lost = shown.find(({ anomaly }) => anomaly === seat.goal);
  if (lost)
    return el(
      "p",
      { class: "note warn", role: "status" },
      say(`Not kept, in step ${lost.step}. `, `没守住，第 ${lost.step} 步。`),
      el("button", { "data-focus": "again", onclick: () => seat.undo() }, say("Undo", "撤销")),
    );
  if (over) seat.way.keep?.(seat.prefix(seat.at));
  return (
    over &&
    el(
      "p",
      { class: "note good solved", role: "status" },
      say(`Kept, in ${several(seat.at, "step")}: all have ended.`, `守住了，共 ${seat.at} 步：每一单都已走完。`),
    )
  );
}

const solved = seat => seat.place.mode === "break" && seat.here.view.shown.find(({ anomaly }) => anomaly === seat.goal);

const moment = 1000; // that it shows how it comes

// solvedSays says that the goal is reached. That is a moment, the first time.
export function solvedSays(seat) {
  if (seat.place.mode === "keep") return keptSays(seat);
  const done = solved(seat);
  if (!done) seat.solvedAt = 0;
  if (!done) return null;
  seat.way.keep?.(seat.prefix(done.step));
  seat.solvedAt ||= performance.now();
  const fresh = performance.now() - seat.solvedAt < moment,
    most = shortestOf(seat).steps;
  return el(
    "p",
    { class: ["note good solved", fresh && "fresh"].filter(Boolean).join(" "), role: "status" },
    say(`Solved in ${several(done.step, "step")}.`, `${done.step} 步攻破。`),
    most > 0 &&
      (done.step <= most
        ? say(" There is no shorter way.", "没有更短的了。")
        : say(` The shortest takes ${most}.`, `最短的是 ${most} 步。`)),
  );
}

// shortestOf gives the shortest schedule that reaches the goal. It asks once, and has it drawn when it is there.
function shortestOf(seat) {
  const { lock, in: scenario } = seat.place,
    anomaly = seat.goal,
    key = [lock, scenario, anomaly].join("\n");
  const known = seat.shortest.get(key);
  if (known) return known;
  const learn = best => {
    seat.shortest.set(key, best);
    seat.draw();
  };
  seat.shortest.set(key, {});
  get("/seat/hint", { lock, in: scenario, do: "", anomaly, lang: language() }).then(learn, failure => {
    learn({ failure });
    if (away(failure)) soon(() => seat.shortest.delete(key) && seat.draw());
  });
  return {};
}

// shown are the two schedules in words, once the server has said what the shortest does.
function shown(seat, best, done) {
  const yours = seat.here.view.trace.steps.slice(0, done.step),
    body = el("tbody");
  const fill = ({ view: { trace } }) => replace(body, rows(yours, trace.steps));
  seat
    .state(seat.place, best.schedule)
    .then(fill, failure => replace(body, el("tr", null, el("td", null, failure.message))));
  return el(
    "details",
    null,
    el("summary", null, say("The shortest schedule, beside yours", "最短的时序，和你的对照")),
    el("table", { class: "pair" }, heads([say("yours", "你的"), say("shortest", "最短")]), body),
    el(
      "a",
      { href: link(["schedule", seat.place.lock], { in: seat.place.in, do: best.schedule }) },
      say("Open it", "打开它"),
    ),
  );
}

const rows = (yours, best) =>
  Array.from({ length: Math.max(yours.length, best.length) }, (_, i) =>
    el(
      "tr",
      null,
      [yours[i], best[i]].map(step => el("td", { title: step?.token }, step && saying(step))),
    ),
  );

// Oracle knows how far the nearest breach is at each step and after each choice, once the graph of the scenario is
// drawn.
export class Oracle {
  key = ""; // what was asked last
  states = 0; // so far
  waiting;
  failure;
  asking; // can be aborted
  path; // at each step, how far the nearest breach is
  choices; // after each choice
  noReturn;
  doomed;

  constructor(seat, changed) {
    this.seat = seat;
    this.changed = changed;
  }

  follow() {
    const { place, tokens, at, goal } = this.seat;
    const key = place.oracle ? [place.lock, place.in, goal, place.do, at].join("\n") : "";
    if (key === this.key) return;
    this.stop();
    Object.assign(this, { key, path: null, choices: null, failure: null });
    if (key) this.ask(tokens, at);
  }

  stop() {
    this.asking?.abort();
  }

  async ask(tokens, at) {
    const { lock, in: scenario } = this.seat.place,
      asking = new AbortController(),
      anomaly = this.seat.goal;
    this.asking = asking;
    const tell = news => {
      if (asking.signal.aborted) return;
      Object.assign(this, news);
      this.changed();
    };
    // about asks until there is an answer.
    const about = async schedule => {
      for (let answered = false; !answered && !asking.signal.aborted; ) {
        try {
          await stream(
            "/seat/oracle" + text({ lock, in: scenario, do: schedule, anomaly, lang: language() }),
            {
              open: () => tell({ failure: null }),
              progress: ({ states, waiting }) => tell({ states, waiting }),
              done: answer => {
                answered = true;
                if (!asking.signal.aborted) this.learn(answer, schedule, tokens, at);
              },
              failed: failure => {
                answered = failure.code !== "client_closed_request"; // the server ends
                tell({ failure });
              },
            },
            { signal: asking.signal },
          );
        } catch (failure) {
          answered = !away(failure);
          tell({ failure });
        }
        if (!answered) await new Promise(soon);
      }
    };
    await about(tokens.join(" "));
    if (at < tokens.length && !this.failure) await about(tokens.slice(0, at).join(" "));
  }

  learn(answer, schedule, tokens, at) {
    if (schedule === tokens.join(" ")) {
      const { path, no_return: noReturn, doomed, states } = answer;
      Object.assign(this, { path, noReturn, doomed, states });
    }
    if (schedule === tokens.slice(0, at).join(" ")) this.choices = answer.choices;
    this.changed();
  }

  // badge says how far a breach is after a choice.
  badge(token) {
    return this.choices && token in this.choices ? chip(this.choices[token]) : null;
  }

  // note says it of a step, and marks the point of no return.
  note(n) {
    if (!this.path) return null;
    return [
      el(
        "p",
        { class: "changes" },
        chip(this.path[n]),
        this.noReturn === n && el("span", { class: "chip no-return" }, say("point of no return", "不归点")),
      ),
    ];
  }

  panel() {
    if (this.failure)
      return el(
        "p",
        { class: "note warn", role: "status" },
        this.failure.code === "too_large"
          ? say(
              "There are too many states for the oracle here. A hint still looks for the shortest way.",
              "这个场景的状态太多，推演算不完。提示仍然会去找最短路径。",
            )
          : this.failure.message,
      );
    const { goal, at } = this.seat;
    if (!this.path) {
      return el(
        "div",
        { role: "status" },
        el("progress", { "aria-label": say("exploring", "正在探索") }),
        el(
          "p",
          { class: "small soft" },
          this.waiting
            ? say("Another exploration comes first.", "前面还有一次探索。")
            : say(
                `Drawing the graph of all states: ${this.states} so far`,
                `正在画出所有状态的图：已有 ${this.states} 个`,
              ),
        ),
      );
    }
    const far = this.path[at];
    return el(
      "div",
      { role: "status" },
      el(
        "p",
        { class: far === 0 ? "note bad" : "note" },
        far === -1
          ? say("No way leads there any more: ", "再也到不了：")
          : far === 0
            ? say("It has happened: ", "已经发生：")
            : far === -2
              ? say("Not known, as the search hit its bound: ", "不知道，搜索到了上限：")
              : say(`${several(far, "step")} to go, at least: `, `最少还差 ${far} 步：`),
        called(this.seat.index, goal),
      ),
      far > 0 &&
        (this.doomed || (this.noReturn > 0 && at >= this.noReturn)) &&
        el("p", { class: "note bad" }, say("It can no longer be avoided, whatever happens.", "无论怎样都已无法避免。")),
      el(
        "p",
        { class: "small soft" },
        say(`From ${this.states} states, exactly.`, `根据 ${this.states} 个状态，精确得出。`),
      ),
    );
  }
}

function chip(distance) {
  if (distance === undefined || distance === null) return null;
  const kind = distance === 0 ? "chip breach" : distance === -1 ? "chip safe" : "chip";
  return el(
    "span",
    { class: kind },
    distance === -1
      ? say("safe for ever", "永远安全")
      : distance === -2
        ? say("unknown", "不知道")
        : distance === 0
          ? say("breach", "异常")
          : say(`${distance} to a breach`, `离异常 ${distance} 步`),
  );
}
