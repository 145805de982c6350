// The scheduler's seat: the real code of a lock, a few sales, and the reader decides what happens next. The address is
// the whole state.
import { copied, el, kbd, replace } from "../dom.js";
import { bindWhile } from "../keys.js";
import { go, link, route as read } from "../route.js";
import { away, get, save, soon } from "../server.js";
import { drawTrace, legend, saying } from "../trace.js";
import { language, say } from "../words.js";
import { afterSolved, nextLevel, noteSolved } from "./levels.js";
import { besidePanel } from "./seat_beside.js";
import { Code } from "./seat_code.js";
import { modePanel, Oracle, solvedSays } from "./seat_modes.js";
import { choicesPanel, scenarioPanel, statePanel } from "./seat_parts.js";

// first is where somebody lands who asks for no schedule.
const first = link(["schedule", "v2"], { in: "--faults expiry=1", mode: "break", anomaly: "foreign-release" });

// page is the way of a seat that is the whole page: its places are the page's addresses.
const page = {
  at: () => location.hash,
  go,
  note: address => history.replaceState(null, "", address),
};

// embed sits a reader at an address, in a part of another view: drawing, choices and goal, and a link to the rest. Its
// keys do something while the reader is at it. It returns what ends it.
export function embed(main, address, when, kept, keep) {
  let now = address;
  const own = {
    kept,
    keep(schedule) {
      keep(schedule);
      own.kept = schedule;
    },
    at: () => now,
    note(address) {
      now = address;
    },
    go(address) {
      own.note(address);
      seat.going = seat.follow(read(address));
    },
  };
  const seat = new Seat(main, own, when);
  seat.going = seat.follow(read(address));
  return () => seat.leave();
}

export function show(main, route) {
  const seat = new Seat(main);
  const follow = route => {
    seat.going = seat.follow(route);
  };
  follow(route);
  return { leave: () => seat.leave(), follow };
}

class Seat {
  states = new Map(); // what the server said of a place, by what was asked
  past = []; // addresses before the last changes, for undo
  future = [];
  asked = null; // the place that the reader is on the way to, or at
  shortest = new Map(); // schedule to a goal
  solvedAt = 0; // when the goal was reached
  told = {}; // the latest hint, and what it is about
  toldRoom = new Map(); // levels and schedules, and what the board calls the reader
  turn = Promise.resolve(); // of the last key
  going; // to a place
  main;
  place; // that is shown: a word that belongs to another one is not
  rest = () => {}; // asks no more for what a server that is away owes
  full;
  here;
  before;
  index;
  parts; // that are drawn
  panel = ""; // what is open on demand: code, state, scenario
  failure;

  constructor(main, way = page, when = () => true) {
    this.main = main;
    this.way = way;
    this.embedded = way !== page;
    this.oracle = new Oracle(this, () => this.draw());
    this.code = new Code(this);
    this.says = el("p", { class: "now unseen", role: "status", "aria-live": "polite" });
    const whole = (...keys) => (this.embedded ? [] : [keys]);
    this.unbind = bindWhile(
      when,
      [null, "do what the button with this number does", "执行带这个数字的按钮", "1 – 9"],
      ...Array.from({ length: 9 }, (_, i) => [String(i + 1), "", "", this.inTurn(() => this.choose(i))]),
      ["ArrowLeft", "one step back, to look", "往回看一步", this.inTurn(() => this.look(this.at - 1))],
      ["ArrowRight", "one step on", "往前看一步", this.inTurn(() => this.look(this.at + 1))],
      ["Home", "to the start", "到开头", this.inTurn(() => this.look(0))],
      ["End", "to the last step", "到最后一步", this.inTurn(() => this.look(this.tokens.length))],
      ["u", "undo", "撤销", this.inTurn(() => this.undo())],
      ["r", "redo", "重做", this.inTurn(() => this.redo())],
      ...whole(
        "f",
        "fork: the same place in a new tab",
        "分叉：在新标签页打开同一处",
        this.inTurn(() => open(this.address({}), "_blank", "noopener")),
      ),
      ["h", "hint: the next step of a shortest way", "提示：最短路径的下一步", this.inTurn(() => this.ask())],
      ...whole(
        "o",
        "oracle: how far the nearest breach is",
        "推演：离最近的异常还有几步",
        this.inTurn(() => this.switchOracle()),
      ),
      ...whole(
        "b",
        "beside: the same under the next lock",
        "并排：在下一种锁下做同样的事",
        this.inTurn(() => this.besideNext()),
      ),
      ...whole("c", "the code, or not", "显示或隐藏代码", () => this.open("code")),
      ...whole("s", "the state, or not", "显示或隐藏状态", () => this.open("state")),
      ...whole(
        "n",
        "in the campaign: the next level",
        "闯关时：下一关",
        this.inTurn(() => {
          const next = nextLevel(this);
          if (next) go(next);
        }),
      ),
    );
  }

  leave() {
    this.left = true;
    this.rest();
    this.unbind();
    this.oracle.stop();
  }

  // inTurn makes what a key does wait until what the keys before it ask for is shown: quick keys are not lost, and none
  // overtakes.
  inTurn(act) {
    return () => {
      this.turn = this.turn
        .catch(() => {})
        .then(() => this.going)
        .then(() => void (this.left || act()));
    };
  }

  get tokens() {
    return this.place.do ? this.place.do.split(" ") : [];
  }
  get at() {
    return this.place.at;
  }
  get goal() {
    return this.lock?.promises.includes(this.place.anomaly) ? this.place.anomaly : this.lock?.anomaly;
  }
  get hint() {
    return this.told.about === this.question ? this.told : null;
  }
  // question is what a hint is an answer to.
  get question() {
    return [this.place.lock, this.place.in, this.prefix(this.at), this.goal, language()].join("\n");
  }
  get lock() {
    return this.index.locks.find(lock => lock.name === this.place.lock);
  }

  // follow goes where an address says. Until the server has said what is so there, what is shown stays.
  async follow(route) {
    if (!route.path[1]) return this.way.go(first, { instead: true });
    const place = placeOf(route);
    this.asked = place;
    this.rest();
    try {
      this.index ??= await get("/seat", { lang: language() });
      const [full, here, before] = await Promise.all([
        this.state(place, place.do, place.code),
        this.state(place, prefix(place, place.at)),
        this.state(place, prefix(place, place.at - 1)),
      ]);
      if (this.left || place !== this.asked) return;
      Object.assign(this, { place, full, here, before, failure: null });
      this.trim();
      this.remember();
      noteSolved(this);
    } catch (failure) {
      if (this.left || place !== this.asked) return;
      this.failure = failure;
      if (!away(failure)) this.here = null;
      else this.rest = soon(() => this.follow(route));
    }
    if (this.place) this.oracle.follow();
    this.draw();
  }

  // trim leaves out the steps of a stale schedule that do not fit.
  trim() {
    const fits = this.full.view.trace.steps.length;
    if (fits >= this.tokens.length) return;
    this.place.do = this.full.view.schedule;
    this.place.at = Math.min(this.at, fits);
    if (this.place.at === fits) this.here = this.full;
  }

  // remember writes the fingerprint of the code into the address, so that a copy of it says if the code is another one
  // day.
  remember() {
    if (!this.place.code && this.full.code && !this.full.stale) {
      this.place.code = this.full.code;
      this.way.note(this.address({}));
    }
  }

  prefix(n) {
    return prefix(this.place, n);
  }

  // state asks what is so after a schedule, once.
  state(place, schedule, code = "") {
    const query = { lock: place.lock, in: place.in, do: schedule, code, lang: language() };
    const key = JSON.stringify(query);
    if (!this.states.has(key)) {
      if (this.states.size > 300) this.states.clear();
      this.states.set(
        key,
        get("/seat/state", query).catch(error => {
          this.states.delete(key);
          throw error;
        }),
      );
    }
    return this.states.get(key);
  }

  // address is that of this place, with changes.
  address(changes) {
    const { lock, at, mode, ...query } = { ...this.place, ...changes };
    const end = query.do ? query.do.split(" ").length : 0;
    return link(["schedule", lock], { ...query, at: at < end ? at : "", mode: mode === "free" ? "" : mode });
  }

  // change goes to another place, and can be undone.
  change(changes) {
    const there = this.address({ code: "", at: undefined, ...changes });
    if (there === this.way.at()) return; // the second click of two
    this.past.push(this.way.at());
    this.future = [];
    this.way.go(there);
  }

  take(token) {
    this.change({ do: [...this.tokens.slice(0, this.at), token].join(" ") });
  }

  choose(i) {
    const choice = this.here?.view.choices[i];
    if (choice) this.take(choice.token);
  }

  look(n) {
    if (n < 0 || n > this.tokens.length || n === this.at) return;
    this.way.go(this.address({ at: n }), { instead: true });
  }

  undo() {
    const shorter = () => this.address({ do: this.prefix(this.tokens.length - 1), code: "", at: undefined });
    const is = address => this.prefixOf(address) === this.prefixOf(this.way.at());
    while (this.past.length && is(this.past.at(-1))) this.past.pop(); // the browser's Back has undone it
    const back = this.past.pop() ?? (this.tokens.length > 0 && shorter());
    if (!back) return;
    this.future.push(this.way.at());
    this.way.go(back);
  }

  // prefixOf is what an address says of the schedule alone.
  prefixOf(address) {
    const { lock, in: scenario, do: schedule } = placeOf(read(address));
    return [lock, scenario, schedule].join("\n");
  }

  redo() {
    if (this.future.length === 0) return;
    this.past.push(this.way.at());
    this.way.go(this.future.pop());
  }

  setMode(mode) {
    this.way.go(this.address({ mode, anomaly: mode === "free" ? this.place.anomaly : this.goal }));
  }

  switchOracle() {
    this.way.go(this.address({ oracle: this.place.oracle ? "" : "1", anomaly: this.goal }));
  }

  // ask asks for a hint.
  async ask() {
    const { lock, in: scenario } = this.place,
      about = this.question,
      anomaly = this.goal,
      told = hint => {
        this.told = { ...hint, about, anomaly };
        this.draw();
      };
    told({ waits: true });
    try {
      told(await get("/seat/hint", { lock, in: scenario, do: this.prefix(this.at), anomaly, lang: language() }));
    } catch (failure) {
      told({ failure });
    }
  }

  // save gives a file that steps through the schedule without a server.
  async save() {
    const { lock, in: scenario, do: schedule } = this.place;
    const anomaly = this.place.mode === "free" ? "" : this.goal;
    try {
      await save(
        "/seat/file",
        { lock, in: scenario, do: schedule, anomaly, lang: language() },
        `lockstep-${lock}.html`,
      );
    } catch (failure) {
      replace(this.says, el("span", { class: "bad" }, failure.message));
    }
  }

  besideNext() {
    const locks = this.index.locks,
      next = locks[locks.findIndex(lock => lock.name === this.place.lock) + 1];
    this.way.go(this.address({ beside: this.place.beside ? "" : (next ?? locks[0]).name }));
  }

  draw() {
    if (this.left) return;
    const focused = document.activeElement?.getAttribute("data-focus");
    const { main } = this;
    const gone = this.failure && !(this.here && away(this.failure)); // there is nothing to show
    if (gone) {
      this.parts = null;
      return void replace(
        main,
        !this.embedded && el("h1", null, say("Scheduler’s seat", "调度席")),
        el(
          "p",
          { class: "note bad", role: "alert" },
          this.failure.status === 400 && say("This address leads nowhere. ", "这个地址打不开。"),
          this.failure.message,
        ),
        !this.embedded && el("a", { class: "button", href: first }, say("To the first schedule", "回到第一个时序")),
      );
    }
    if (!this.here) return;
    this.parts ??= this.frame();
    const { parts } = this,
      where = this.place.do + this.at,
      { scrollTop } = parts.drawing;
    this.drawParts();
    const again =
      focused &&
      (main.querySelector(`[data-focus="${focused}"]`) ??
        (focused.startsWith("choice") && main.querySelector("[data-focus^=choice]")));
    if (again && again !== document.activeElement) again.focus({ preventScroll: true });
    // The page stays where it is: what scrolls is the picture, to the step.
    const step = parts.drawing.querySelector("[aria-current=step]");
    const to = this.at === this.tokens.length ? Infinity : (step?.offsetTop ?? 0) - parts.drawing.clientHeight / 2;
    parts.drawing.scrollTop = where === this.seen ? scrollTop : Math.min(to, parts.drawing.scrollHeight);
    if (where !== this.seen) parts.next.scrollTop = 0;
    this.seen = where;
  }

  // frame makes the parts, in the order in which they are read.
  frame() {
    const part = (name, label) => el("section", { class: name, "aria-label": label });
    const parts = {
      about: part("about"),
      drawing: part("drawing sheet", say("The schedule", "时序")),
      beside: part("beside"),
      state: part("state"),
      scenario: part("scenario"),
      moves: part("moves"),
    };
    parts.next = el("div", { class: "sheet next" }, this.says, parts.moves);
    parts.panel = el("div", { class: "sheet panel" }, parts.beside, this.code.panel, parts.state, parts.scenario);
    const menu = !this.embedded && this.menu();
    const stage = [parts.drawing, !this.embedded && parts.panel, parts.next];
    replace(this.main, parts.about, el("div", { class: "seat" }, stage), menu);
    return parts;
  }

  drawParts() {
    const { parts, full, here, place } = this;
    const step = full.view.trace.steps[this.at - 1];
    const said = step
      ? say(`Step ${this.at} of ${this.tokens.length}: `, `第 ${this.at} 步，共 ${this.tokens.length} 步：`) +
        saying(step)
      : say("Nothing has happened yet. You decide what happens first.", "还什么都没发生。第一步由你决定。");
    if (this.says.textContent !== said) replace(this.says, said);
    replace(parts.about, this.awaited(), this.stale(), modePanel(this));
    replace(parts.moves, solvedSays(this), !this.embedded && afterSolved(this), choicesPanel(this));
    replace(
      parts.drawing,
      this.tokens.length === 0 && el("p", { class: "soft" }, said),
      drawTrace(full.view.trace, {
        current: this.at,
        onstep: n => this.look(n),
        notes: n => this.oracle.note(n),
        breaches: full.view.shown,
        next: { choices: here.view.choices, take: token => this.take(token) },
      }),
    );
    if (this.embedded) return;
    this.code.panel.hidden = this.panel !== "code";
    replace(parts.state, this.panel === "state" && [statePanel(this), legend()]);
    replace(parts.scenario, this.panel === "scenario" && scenarioPanel(this));
    if (this.panel === "code") this.code.follow();
    if (this.besideIs !== this.besideKey()) {
      this.besideIs = this.besideKey();
      replace(parts.beside, place.beside ? besidePanel(this) : null);
    }
    parts.panel.hidden = !this.panel && !place.beside;
  }

  // open shows a part on demand, or shuts it.
  open(panel) {
    this.panel = panel === this.panel ? "" : panel;
    this.draw();
  }

  besideKey() {
    const { beside, lock, in: scenario, do: schedule } = this.place;
    return beside && [beside, lock, scenario, schedule, this.goal].join("\n");
  }

  // awaited says that the server does not answer, and what is shown is of before.
  awaited() {
    return (
      this.failure &&
      el(
        "p",
        { class: "note warn", role: "alert" },
        this.failure.message,
        say(" What is shown is from before. Asking again …", "下面仍是之前的内容。正在重试……"),
      )
    );
  }

  stale() {
    return (
      this.full.stale &&
      el(
        "p",
        { class: "note warn", role: "alert" },
        el("strong", null, say("This link is stale: ", "链接已过期：")),
        this.full.stale.says,
      )
    );
  }

  // menu is what can be done with a schedule, apart from going on.
  menu() {
    const entries = () => {
      const { lock, in: scenario, do: schedule, anomaly } = this.place;
      const what = [lock, this.full.view.scenario].filter(Boolean).join(" ");
      const replay = `go run . explore ${what} --replay "${schedule}"`;
      const copy = (text, what) => el("button", { onclick: event => copied(event.currentTarget, what) }, text);
      return [
        el(
          "a",
          { class: "button", "data-focus": "fork", href: this.address({}), target: "_blank", rel: "noopener" },
          say("Fork: the same in a new tab", "分叉：在新标签页打开"),
          kbd("f"),
        ),
        el(
          "a",
          { class: "button", "data-focus": "explore", href: link(["explore", lock], { in: scenario, anomaly }) },
          say("Search every schedule", "搜索所有时序"),
        ),
        copy(say("Copy link", "复制链接"), location.href),
        copy(say("Copy command", "复制命令"), replay),
        schedule && el("button", { "data-focus": "save", onclick: () => this.save() }, say("Save as file", "存成文件")),
      ];
    };
    const menu = el("div", { id: "menu", popover: true, onbeforetoggle: () => replace(menu, entries()) });
    return menu;
  }
}

// placeOf reads an address.
function placeOf({ path, query }) {
  const words = (query.get("do") ?? "").trim().split(/\s+/).filter(Boolean);
  const of = name => query.get(name) ?? "";
  return {
    lock: path[1],
    in: of("in"),
    do: words.join(" "),
    at: query.has("at") ? Math.min(Math.max(+of("at") || 0, 0), words.length) : words.length,
    code: of("code"),
    mode: ["break", "keep"].includes(of("mode")) ? of("mode") : "free",
    oracle: of("oracle") || of("mode") === "oracle" ? "1" : "",
    anomaly: of("anomaly"),
    beside: of("beside"),
    campaign: of("campaign"), // the reader plays its levels
  };
}

const prefix = (place, n) => place.do.split(" ").slice(0, Math.max(n, 0)).join(" ");
