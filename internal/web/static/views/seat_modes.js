// What the reader is after: nothing, a breach, or to know how far the nearest is.
import { el } from "../dom.js";
import { go, link } from "../route.js";
import { get, stream, text } from "../server.js";
import { language, say, several } from "../words.js";

export function modePanel(seat) {
  const { place, index } = seat;
  const mode = (name, english, chinese, key) =>
    el(
      "button",
      {
        "aria-pressed": String(place.mode === name),
        "data-focus": "mode-" + name,
        onclick: () => place.mode !== name && seat.setMode(name),
      },
      say(english, chinese),
      key && el("kbd", { "aria-hidden": "true" }, key),
    );
  const chooser = el(
    "label",
    null,
    el("span", { class: "small soft" }, say("goal", "目标")),
    el(
      "select",
      {
        "data-focus": "goal",
        onchange: event => {
          seat.hint = null;
          go(seat.address({ anomaly: event.target.value }));
        },
      },
      index.anomalies.map(({ name, task }) =>
        el("option", { value: name, selected: name === seat.goal }, `${name}: ${task}`),
      ),
    ),
  );
  return el(
    "div",
    { class: "sheet" },
    el(
      "div",
      { class: "row modes", role: "group", "aria-label": say("Mode", "模式") },
      mode("free", "Free", "自由"),
      mode("break", "Break it", "攻破它"),
      mode("oracle", "Oracle", "神谕", "o"),
      el(
        "button",
        { "data-focus": "beside", "aria-pressed": String(!!place.beside), onclick: () => seat.besideNext() },
        say("Beside", "并排"),
        el("kbd", { "aria-hidden": "true" }, "b"),
      ),
      el(
        "button",
        { "data-focus": "hint", onclick: () => seat.ask() },
        say("Hint", "提示"),
        el("kbd", { "aria-hidden": "true" }, "h"),
      ),
    ),
    chooser,
    hintSays(seat),
    place.mode === "break" && breakIt(seat),
    place.mode === "oracle" && seat.oracle.panel(),
  );
}

function hintSays({ hint, here }) {
  if (!hint) return null;
  if (hint.waits)
    return el("p", { class: "note", role: "status" }, say("Looking for the shortest way …", "正在找最短路径……"));
  if (hint.failure) return el("p", { class: "note warn", role: "status" }, hint.failure.message);
  const choice = here.view.choices.find(choice => choice.token === hint.next);
  const says =
    hint.steps === -1
      ? say(`From here ${hint.anomaly} can never happen.`, `从这里出发，${hint.anomaly} 不可能再发生。`)
      : hint.steps === -2
        ? say(
            "Not found before the search hit its bound. The table searches longer, and hints know what it finds.",
            "搜索到上限还没有找到。总表搜索得更久，它找到的，提示也会知道。",
          )
        : hint.steps === 0
          ? say(`${hint.anomaly} has happened.`, `${hint.anomaly} 已经发生。`)
          : say(`${several(hint.steps, "step", "步")} to go. Next: `, `还差 ${hint.steps} 步。下一步：`) +
            (choice?.says || hint.next);
  return el("p", { class: "note", role: "status" }, says);
}

// breakIt is the game: a goal, what is left, and the shortest schedule once it is reached.
function breakIt(seat) {
  const anomaly = seat.goal,
    shortest = shortestOf(seat, anomaly),
    holder = el("div", { class: "goal" });
  const fill = best => {
    const solved = seat.full.view.shown.find(shown => shown.anomaly === anomaly);
    holder.replaceChildren(
      ...goal(seat, anomaly, best, solved).concat(solved && best.schedule ? shown(seat, best, solved) : []),
    );
  };
  if (shortest.value) fill(shortest.value);
  else {
    fill({});
    shortest.promise.then(fill, failure => holder.replaceChildren(el("p", { class: "note warn" }, failure.message)));
  }
  return holder;
}

function shortestOf(seat, anomaly) {
  const { lock, in: scenario } = seat.place,
    key = [lock, scenario, anomaly, language()].join("\n");
  seat.shortest ??= new Map();
  if (!seat.shortest.has(key)) {
    const asked = { promise: get("/seat/hint", { lock, in: scenario, do: "", anomaly, lang: language() }) };
    asked.promise.then(
      value => {
        asked.value = value;
      },
      () => seat.shortest.delete(key),
    );
    seat.shortest.set(key, asked);
  }
  return seat.shortest.get(key);
}

function goal({ place, index }, anomaly, best, solved) {
  const says = index.anomalies.find(({ name }) => name === anomaly)?.task ?? anomaly,
    most = best.steps,
    step = n => several(n, "step", "步");
  const task =
    most === -1
      ? say(
          `${place.lock} never does that in this scenario: ${anomaly}. Allow more faults, or choose another lock.`,
          `在这个场景里，${place.lock} 不会出现 ${anomaly}。多允许几次故障，或者换一种锁。`,
        )
      : say(`Make ${place.lock} ${says}`, `让 ${place.lock} ${says}`) +
        (most > 0 ? say(`, in at most ${step(most)}.`, `，最多 ${most} 步。`) : say(".", "。"));
  const all = [el("p", null, el("strong", null, task))];
  if (solved) {
    const shortest =
      solved.step <= most
        ? say(". There is no shorter way.", "。没有更短的了。")
        : say(`. The shortest takes ${most}.`, `。最短的是 ${most} 步。`);
    all.push(
      el(
        "p",
        { class: "note good", role: "status" },
        say(`Solved in ${step(solved.step)}: `, `${solved.step} 步攻破：`),
        solved.says,
        most > 0 && shortest,
      ),
    );
  }
  return all;
}

const shown = (seat, best, solved) => [
  el(
    "details",
    { open: solved.step > best.steps || null },
    el("summary", null, say("The shortest schedule, beside yours", "最短的时序，和你的对照")),
    el(
      "table",
      { class: "pair" },
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          el("th", { scope: "col" }, say("yours", "你的")),
          el("th", { scope: "col" }, say("shortest", "最短")),
        ),
      ),
      el("tbody", null, rows(seat.tokens.slice(0, solved.step), best.schedule.split(" "))),
    ),
    el(
      "a",
      { href: link(["schedule", seat.place.lock], { in: seat.place.in, do: best.schedule }) },
      say("Open it", "打开它"),
    ),
  ),
];

const rows = (yours, best) =>
  Array.from({ length: Math.max(yours.length, best.length) }, (_, i) =>
    el(
      "tr",
      null,
      [yours[i], best[i]].map(token => el("td", null, token && el("code", null, token))),
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
    const { place, tokens, at } = this.seat;
    const key = place.mode === "oracle" ? [place.lock, place.in, place.anomaly, place.do, at].join("\n") : "";
    if (key === this.key) return;
    this.stop();
    Object.assign(this, { key, path: null, choices: null, failure: null });
    if (key) this.ask(tokens, at);
  }

  stop() {
    this.asking?.abort();
  }

  async ask(tokens, at) {
    const { lock, in: scenario, anomaly } = this.seat.place;
    this.asking = new AbortController();
    const { signal } = this.asking;
    const about = schedule =>
      stream(
        "/seat/oracle" + text({ lock, in: scenario, do: schedule, anomaly, lang: language() }),
        {
          progress: ({ states, waiting }) => {
            Object.assign(this, { states, waiting });
            this.changed();
          },
          done: answer => {
            if (!signal.aborted) this.learn(answer, schedule, tokens, at);
          },
          failed: failure => {
            this.failure = failure;
            this.changed();
          },
        },
        { signal },
      );
    try {
      await about(tokens.join(" "));
      if (at < tokens.length && !signal.aborted) await about(tokens.slice(0, at).join(" "));
    } catch (failure) {
      if (!signal.aborted) {
        this.failure = failure;
        this.changed();
      }
    }
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
              "这个场景的状态太多，神谕算不完。提示仍然会去找最短路径。",
            )
          : this.failure.message,
      );
    const { place, at } = this.seat;
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
          ? say(`No way leads to ${place.anomaly} any more.`, `再也到不了 ${place.anomaly}。`)
          : far === 0
            ? say(`${place.anomaly} has happened.`, `${place.anomaly} 已经发生。`)
            : far === -2
              ? say("Not known: the search hit its bound.", "不知道：搜索到了上限。")
              : say(
                  `The nearest ${place.anomaly} is ${several(far, "step", "步")} away.`,
                  `离最近的 ${place.anomaly} 还有 ${far} 步。`,
                ),
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
