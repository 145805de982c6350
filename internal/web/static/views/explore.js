// An exploration: a lock’s real code in every schedule of a scenario, and the shortest that breaks it. The address is
// what is explored.
import { copied, el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { player } from "../player.js";
import { go, link } from "../route.js";
import { get, stream, text } from "../server.js";
import { language, say, several } from "../words.js";
import { called } from "./levels.js";
import { lockChooser } from "./seat_modes.js";
import { scenarioPanel } from "./seat_parts.js";

const first = link(["explore", "v2"], { in: "--faults expiry=1" });

let latest = { about: "", answer: null }; // what was found last: who comes back from the seat need not wait again

export function show(main, route) {
  const explorer = new Explorer(main);
  explorer.follow(route);
  return { leave: () => explorer.leave(), follow: route => explorer.follow(route) };
}

class Explorer {
  index;
  place; // a lock, flags, an anomaly, and whether to go on after the first
  running = null; // what ends the search

  constructor(main) {
    this.player = player();
    const { step } = this.player;
    this.unbind = bind(
      ["ArrowLeft", "one step back", "后退一步", () => step(-1)],
      ["ArrowRight", "one step on", "前进一步", () => step(1)],
      ["Home", "to the start", "到开头", () => step(-Infinity)],
      ["End", "to the end", "到末尾", () => step(Infinity)],
    );
    this.about = el("section", { class: "about" });
    this.asked = el("section", { class: "sheet asked" });
    this.result = el("section", { "aria-label": say("What was found", "探索结果") });
    replace(main, this.about, this.asked, this.result, atHome());
  }

  get lock() {
    return this.index.locks.find(lock => lock.name === this.place.lock);
  }

  // key is what the sentences of an answer are about.
  get key() {
    return JSON.stringify([this.place, language()]);
  }

  leave() {
    this.left = true;
    this.unbind();
    this.stop();
  }

  stop() {
    this.running?.abort();
    this.running = null;
  }

  async follow({ path, query }) {
    if (!path[1]) return go(first, { instead: true });
    this.stop();
    const of = name => query.get(name) ?? "";
    const place = { lock: path[1], in: of("in"), anomaly: of("anomaly"), each: of("each") };
    this.place = place;
    try {
      this.index ??= await get("/seat", { lang: language() });
    } catch (failure) {
      return this.say(el("p", { class: "note bad", role: "alert" }, failure.message));
    }
    if (this.left || place !== this.place) return;
    this.draw();
    if (latest.about === this.key) this.found(latest.answer);
    else replace(this.result);
  }

  // change goes to another place.
  change({
    lock = this.place.lock,
    in: scenario = this.place.in,
    anomaly = this.place.anomaly,
    each = this.place.each,
  }) {
    const { promises } = this.index.locks.find(({ name }) => name === lock);
    const kept = promises.includes(anomaly) || anomaly === "starved" ? anomaly : "";
    go(link(["explore", lock], { in: scenario, anomaly: kept, each: kept ? "" : each }));
  }

  say(...what) {
    if (!this.left) replace(this.result, ...what);
  }

  draw() {
    const focused = document.activeElement?.getAttribute("data-focus");
    const { lock, in: scenario, anomaly, each } = this.place;
    const titles = new Map(this.index.anomalies.map(({ name, title }) => [name, title]));
    const named = [...(this.lock?.promises ?? []), "starved"];
    const goal = el(
      "select",
      { "data-focus": "goal", onchange: event => this.change({ anomaly: event.target.value }) },
      el("option", { value: "" }, say("any that it promises to prevent", "它承诺避免的任何一种")),
      [...new Set(named)].map(name =>
        el("option", { value: name, selected: name === anomaly }, `${titles.get(name)} · ${name}`),
      ),
    );
    const all = el("input", {
      type: "checkbox",
      "data-focus": "each",
      checked: Boolean(each),
      disabled: Boolean(anomaly),
      onchange: event => this.change({ each: event.target.checked ? "true" : "" }),
    });
    const command = ["go run . explore", lock, scenario, anomaly && `--anomaly ${anomaly}`, each && "--each"]
      .filter(Boolean)
      .join(" ");
    const copy = event => copied(event.currentTarget, command);
    replace(this.about, el("h1", null, say("Explore", "探索")), lockChooser(this), scenarioPanel(this));
    replace(
      this.asked,
      el(
        "div",
        { class: "row" },
        el("label", null, el("span", null, say("Look for", "寻找")), goal),
        el("label", null, all, say("next shortest", "继续找出每一种的最短时序")),
      ),
      el(
        "div",
        { class: "row" },
        el("button", { class: "main", "data-focus": "explore", onclick: () => this.explore() }, say("Explore", "探索")),
        el("span", { class: "soft small" }, say("The same in a terminal:", "终端里的同一件事：")),
        el("code", null, command),
        el("button", { class: "quiet", "data-focus": "copy", onclick: copy }, say("Copy", "复制")),
      ),
    );
    const again = focused && this.about.parentElement.querySelector(`[data-focus="${focused}"]`);
    if (again && again !== document.activeElement) again.focus({ preventScroll: true });
  }

  // explore runs every schedule, on the server or in the tab, until one is found or all are seen.
  async explore(why = "") {
    this.stop();
    const running = new AbortController(),
      { signal } = running;
    this.running = running;
    let far = say("The code is about to start …", "马上开始……");
    const status = el("p", { role: "status" }, far);
    const stop = () => {
      this.stop();
      this.say(
        el(
          "p",
          { class: "note warn", role: "status" },
          say(`Stopped. Nothing is known: ${far}`, `已停止，还没有结论：${far}`),
        ),
      );
    };
    this.say(
      el(
        "div",
        { class: "sheet" },
        el("progress", { "aria-label": say("exploring", "正在探索") }),
        status,
        el("button", { "data-focus": "stop", onclick: stop }, say("Stop", "停止")),
      ),
    );
    this.result.scrollIntoView({ block: "nearest" });
    const failed = failure => this.say(el("p", { class: "note bad", role: "alert" }, failure.message));
    let answered = false;
    const answer = take => value => {
      answered = true;
      if (!signal.aborted) take(value);
    };
    try {
      await stream(
        "/seat/explore" + text({ ...this.place, why, lang: language() }),
        {
          progress: ({ schedules, states, depth, waiting }) => {
            if (schedules) far = counted(schedules, states, depth);
            replace(status, waiting ? say("Another exploration comes first.", "前面还有一次探索。") : far);
          },
          done: answer(found => {
            latest = { about: this.key, answer: found };
            this.found(found);
          }),
          failed: answer(failed),
        },
        { signal },
      );
      if (!answered && !signal.aborted) failed({ message: say("The answer was broken off.", "响应中断了。") });
    } catch (failure) {
      if (!signal.aborted) failed(failure);
    }
    if (this.running === running) this.running = null;
  }

  // found shows an answer: the verdict, what was put to the test, and each counterexample.
  found({ document: told, says, seen, tested, shown, links }) {
    const kind = { broken: "bad", holds: "good", unknown: "warn" }[told.verdict];
    const rate = told.seconds.toFixed(told.seconds < 10 ? 1 : 0);
    const left = told.cut.length > 0 && el("li", null, say("Left out: ", "没有包括："), told.cut.join(say("; ", "；")));
    const detail = el(
      "details",
      { open: told.verdict !== "broken" },
      el("summary", null, say("What was put to the test", "检验了什么")),
      el(
        "ul",
        null,
        el("li", null, seen, say(` In ${rate} s.`, `用时 ${rate} 秒。`)),
        tested.map(line => el("li", null, line)),
        left,
      ),
    );
    const picked = el("div", { class: "picked" });
    const tabs = el("p", { class: "row" });
    this.say(
      el("p", { class: `note ${kind}`, role: "status" }, el("strong", null, called(this.index, says))),
      el("div", { class: "sheet" }, detail),
      tabs,
      picked,
    );
    const pick = i => {
      if (shown.length > 1)
        replace(
          tabs,
          shown.map(({ anomaly, title }, n) =>
            el("button", { "aria-pressed": String(n === i), title: anomaly, onclick: () => pick(n) }, title),
          ),
        );
      this.player.load(shown[i]);
      replace(picked, this.counterexample(shown[i], links[i]));
    };
    if (shown.length) pick(0);
  }

  counterexample({ anomaly, broken, why, replay }, seat) {
    const { locks } = this.index;
    const next = (locks[locks.findIndex(({ name }) => name === this.place.lock) + 1] ?? locks[0]).name;
    const { picture, told, controls } = this.player;
    const explained = why
      ? el(
          "div",
          { class: "note" },
          why.split("\n").map(line => el("p", null, line)),
        )
      : anomaly !== "starved" &&
        el(
          "p",
          null,
          el(
            "button",
            { "data-focus": "why", onclick: () => this.explore("true") },
            say("Why? From which step was it too late?", "为什么？从哪一步起无法挽回？"),
          ),
        );
    return el(
      "div",
      { class: "counter" },
      el(
        "div",
        { class: "side" },
        el("div", { class: "sheet next" }, controls, told),
        el(
          "div",
          { class: "sheet state" },
          this.place.each && el("p", null, broken),
          explained,
          el(
            "p",
            { class: "row" },
            el("a", { class: "button main", href: seat }, say("Open it in the seat", "在调度席打开")),
            el("a", { class: "button", href: `${seat}&beside=${next}` }, say(`The same under ${next}`, `换成 ${next}`)),
            el(
              "button",
              { class: "quiet", onclick: event => copied(event.currentTarget, replay.replace("lockstep", "go run .")) },
              say("Copy the replay", "复制重放命令"),
            ),
          ),
        ),
      ),
      el("div", { class: "wide" }, picture),
    );
  }
}

const counted = (schedules, states, depth) =>
  say(
    `${several(schedules, "schedule")}, ${several(states, "state")}, ${several(depth, "step")} deep so far`,
    `到目前为止 ${schedules} 种时序，${states} 个状态，深 ${depth} 步`,
  );

// atHome says where a lock of the reader’s own is explored: its code is not here.
const atHome = () =>
  el(
    "details",
    { class: "sheet at-home" },
    el("summary", null, say("Explore a lock of your own", "探索你自己的锁")),
    el(
      "p",
      null,
      say(
        "It is explored at home, where its code is. In a copy of the sources, with Go:",
        "要在你自己的机器上探索，因为代码在那里。取得源代码，装好 Go，然后：",
      ),
    ),
    el(
      "pre",
      null,
      say(
        "go run . explore mine --faults expiry=1   # a lock that you have added: docs/your-own-lock.md\n" +
          "go run . check                            # your solutions of the exercises",
        "go run . explore mine --faults expiry=1   # 你加进去的锁：docs/your-own-lock.zh-CN.md\n" +
          "go run . check                            # 你做的练习",
      ),
    ),
  );
