// The scheduler’s seat: the real code of a lock, a few sales, and the reader decides what happens next. The address
// holds the whole state.
import { copyText, el, kbd, replace } from "../dom.js";
import { bindWhile } from "../keys.js";
import { go, link, route as read } from "../route.js";
import { get, isAway, runSoon, save } from "../server.js";
import { describeStep, drawLegend, drawTrace } from "../trace.js";
import { language, say, typed } from "../words.js";
import { drawLevelEnd } from "./level_end.js";
import { nextLevel, noteSolved, startAddress } from "./levels.js";
import { drawBeside } from "./seat_beside.js";
import { redrawBoard } from "./seat_board.js";
import { Code } from "./seat_code.js";
import { Distance } from "./seat_distance.js";
import { drawControls, drawGoal, drawNextStep, isVeiled } from "./seat_modes.js";
import { drawState } from "./seat_parts.js";
import { Search } from "./seat_search.js";

// pageAddressBar is the browser’s own address bar, for a seat that is the whole page.
const pageAddressBar = {
  at: () => location.hash,
  go,
  note: address => history.replaceState(null, "", address),
};

// embed shows a seat in another view: diagram, choices and goal, and a link to the whole seat. Its keys act while
// when() returns true. It returns a cleanup.
export function embed(main, address, when, kept, keep) {
  const way = {
    kept,
    now: address,
    keep(schedule) {
      way.kept = schedule;
      keep(schedule);
    },
    at: () => way.now,
    note: there => (way.now = there),
    go(there) {
      way.note(there);
      seat.navigation = seat.follow(read(there));
    },
  };
  const seat = new Seat(main, way, when);
  way.go(address);
  return () => seat.leave();
}

export function show(main, route) {
  const seat = new Seat(main);
  main.append(el("p.soft", say("Loading …", "加载中……")));
  const follow = route => {
    seat.navigation = seat.follow(route);
  };
  follow(route);
  return { leave: () => seat.leave(), follow };
}

class Seat {
  states = new Map(); // question → promise of the server's answer
  undoStack = []; // addresses before the last changes, for undo
  redoStack = [];
  destination = null; // place of the latest navigation
  shortest = new Map(); // schedule to a goal
  latestHint = {}; // the latest hint, and what it is about
  keyQueue = Promise.resolve(); // resolves when the last key has taken effect
  navigation; // promise of the latest navigation
  main;
  place; // shown place; answers about other places are dropped
  cancelRetry = () => {}; // cancels the retry of a failed request
  full;
  here;
  before;
  index;
  parts; // drawn elements by name
  shownPanel = ""; // panel opened on demand: code, state, or none
  failure;
  unfolded = new Set(); // figures whose faults are shown
  distance = new Distance(this);
  code = new Code(this);
  search = new Search(this);

  constructor(main, way = pageAddressBar, when = () => true) {
    this.main = main;
    this.addressBar = way;
    this.embedded = way !== pageAddressBar;
    this.statusLine = el("p.now.unseen", { role: "status", "aria-live": "polite" });
    const key = (name, english, chinese, act) => [name, english, chinese, this.inTurn(act)];
    const next = () => nextLevel(this) && go(nextLevel(this));
    const whole = [
      key("o", "how far the nearest breach is", "距异常步数：离最近的异常还有几步", () => this.switchDistance()),
      key("b", "beside: the same under the next lock", "并排：在下一种锁下做同样的事", () => this.besideNext()),
      key("c", "the code, or not", "显示或隐藏代码", () => this.open("code")),
      key("s", "the state, or not", "显示或隐藏状态", () => this.open("state")),
      key("n", "in the levels: the next one", "闯关时：下一关", next),
    ];
    this.unbind = bindWhile(
      when,
      [null, "do what the button with this number does", "执行带这个数字的按钮", "1 – 9"],
      ...Array.from({ length: 9 }, (_, i) => key(String(i + 1), "", "", () => this.choose(i))),
      key("ArrowLeft", "one step back, to look", "往回看一步", () => this.look(this.at - 1)),
      key("ArrowRight", "one step on", "往前看一步", () => this.look(this.at + 1)),
      key("Home", "to the start", "到开头", () => this.look(0)),
      key("End", "to the last step", "到最后一步", () => this.look(this.tokens.length)),
      key("u", "undo", "撤销", () => this.undo()),
      key("r", "redo", "重做", () => this.redo()),
      key("h", "hint: how far it is; then the move", "提示：先说还差几步，再说走哪一步", () => this.ask()),
      ...(this.embedded ? [] : whole),
    );
  }

  leave() {
    this.isLeft = true;
    this.cancelRetry();
    this.unbind();
    this.distance.stop();
    this.search.stop();
  }

  // inTurn delays a key’s action until the effects of earlier keys are shown, so that none is lost or overtakes.
  inTurn(act) {
    return () => {
      this.keyQueue = this.keyQueue
        .catch(() => {})
        .then(() => this.navigation)
        .then(() => void (this.isLeft || act()));
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
  get panel() {
    return this.place.search ? "search" : this.shownPanel;
  }
  get hint() {
    return this.latestHint.about === this.question ? this.latestHint : null;
  }
  // question identifies what a hint answers.
  get question() {
    const { lock, in: scenario, mode } = this.place;
    return [lock, scenario, mode, this.prefix(this.at), this.goal, language()].join("\n");
  }
  get lock() {
    return this.index.locks.find(lock => lock.name === this.place.lock);
  }
  get hasLock() {
    return this.lock.promises.includes("two-holders");
  }
  // hasKey reports whether the lock is a key in one Redis.
  get hasKey() {
    return this.lock.promises.includes("foreign-release") && !this.here.view.trace.nodes;
  }
  // isFirst reports whether the reader plays one of the first two levels, which have neither tools nor a gauge.
  get isFirst() {
    return !!this.place.campaign && /^v[01]$/.test(this.place.lock);
  }

  // follow opens an address. Until the server has answered, the previous state stays.
  async follow(route) {
    const place = placeOf(route),
      at = this.addressBar.at();
    const isOver = () => this.isLeft || place !== this.destination || at !== this.addressBar.at();
    this.destination = place;
    this.cancelRetry();
    try {
      this.index ??= await get("/seat", { lang: language() });
      if (!place.lock) return !isOver() && this.addressBar.go(startAddress(this.index), { instead: true });
      const [full, here, before] = await Promise.all([
        this.state(place, place.do, place.code),
        this.state(place, prefix(place, place.at)),
        this.state(place, prefix(place, place.at - 1)),
      ]);
      if (isOver()) return;
      if (place.campaign && place.lock !== this.place?.lock) Object.assign(this, { undoStack: [], redoStack: [] });
      Object.assign(this, { place, full, here, before, failure: null });
      this.trim();
      this.remember();
      noteSolved(this);
    } catch (failure) {
      if (isOver()) return;
      this.failure = failure;
      if (!isAway(failure)) this.here = null;
      else this.cancelRetry = runSoon(() => this.follow(route));
    }
    if (this.place) this.distance.follow();
    this.draw();
  }

  // trim drops the steps of a stale schedule that no longer fit.
  trim() {
    const fits = this.full.view.trace.steps.length;
    if (fits >= this.tokens.length) return;
    this.place.do = this.full.view.schedule;
    this.place.at = Math.min(this.at, fits);
    if (this.place.at === fits) this.here = this.full;
  }

  // remember writes the code’s hash into the address, so that a copy of it reveals when the code has changed.
  remember() {
    if (!this.place.code && this.full.code && !this.full.stale) {
      this.place.code = this.full.code;
      this.addressBar.note(this.address({}));
    }
  }

  prefix(n) {
    return prefix(this.place, n);
  }

  // state loads the state after a schedule, once.
  state(place, schedule, code = "") {
    const query = { lock: place.lock, in: place.in, do: schedule, code, lang: language() };
    const key = JSON.stringify(query),
      answer = this.states.get(key) ?? get("/seat/state", query);
    if (this.states.size > 300) this.states.clear();
    this.states.set(key, answer);
    answer.catch(() => this.states.delete(key));
    return answer;
  }

  // address returns the address of this place, with changes.
  address(changes) {
    const { lock, at, mode, ...query } = { ...this.place, ...changes };
    const end = query.do ? query.do.split(" ").length : 0;
    return link(["schedule", lock], { ...query, at: at < end ? at : "", mode: mode === "free" ? "" : mode });
  }

  // change opens another place, and can be undone.
  change(changes) {
    const there = this.address({ code: "", at: undefined, veil: "", ...changes });
    if (there === this.addressBar.at()) return; // the second click of two
    this.undoStack.push(this.addressBar.at());
    this.redoStack = [];
    this.addressBar.go(there);
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
    this.addressBar.go(this.address({ at: n }), { instead: true });
  }

  undo() {
    const shorter = () => this.address({ do: this.prefix(this.tokens.length - 1), code: "", at: undefined });
    const isHere = address => this.prefixOf(address) === this.prefixOf(this.addressBar.at());
    while (this.undoStack.length && isHere(this.undoStack.at(-1))) this.undoStack.pop(); // undone by Back
    const back = this.undoStack.pop() ?? (this.tokens.length > 0 && shorter());
    if (!back) return;
    this.redoStack.push(this.addressBar.at());
    this.addressBar.go(back);
  }

  // prefixOf returns what identifies an address’s schedule.
  prefixOf(address) {
    const { lock, in: scenario, do: schedule } = placeOf(read(address));
    return [lock, scenario, schedule].join("\n");
  }

  redo() {
    if (this.redoStack.length === 0) return;
    this.undoStack.push(this.addressBar.at());
    this.addressBar.go(this.redoStack.pop());
  }

  setMode(mode) {
    if (mode === "levels") return this.addressBar.go(link(["schedule"]));
    this.addressBar.go(this.address({ mode, campaign: "", anomaly: mode === "free" ? this.place.anomaly : this.goal }));
  }

  switchDistance() {
    this.addressBar.go(this.address({ oracle: this.place.oracle ? "" : "1", anomaly: this.goal }));
  }

  restart() {
    this.change({ do: "", beside: "" });
  }

  // ask requests a hint: first the distance, then the move; or whether each move is safe, for who keeps the lock whole.
  async ask() {
    if (this.place.mode === "keep") return this.switchDistance();
    if (this.hint?.next || this.hint?.waits) {
      this.latestHint.named = true;
      return this.draw();
    }
    const about = this.question,
      anomaly = this.goal;
    const showHint = hint => {
      this.latestHint = { ...hint, about, anomaly, named: this.hint?.named };
      this.draw();
    };
    showHint({ waits: true });
    await this.nextTo(this.prefix(this.at), anomaly).then(showHint, failure => showHint({ failure }));
  }

  // nextTo loads the next step of a shortest path to an anomaly.
  nextTo(schedule, anomaly) {
    const { lock, in: scenario } = this.place;
    return get("/seat/hint", { lock, in: scenario, do: schedule, anomaly, lang: language() });
  }

  // save downloads a file that steps through the schedule without a server.
  async save() {
    const { lock, in: scenario, do: schedule } = this.place;
    const anomaly = this.place.mode === "free" ? "" : this.goal;
    try {
      const query = { lock, in: scenario, do: schedule, anomaly, lang: language() };
      await save("/seat/file", query, `lockstep-${lock}.html`);
    } catch (failure) {
      replace(this.statusLine, el("span.bad", failure.message));
    }
  }

  besideNext() {
    const locks = this.index.locks,
      next = locks[locks.findIndex(lock => lock.name === this.place.lock) + 1];
    this.addressBar.go(this.address({ beside: this.place.beside ? "" : (next ?? locks[0]).name }));
  }

  draw() {
    if (this.isLeft) return;
    const active = document.activeElement,
      focused = this.main.contains(active) && active.getAttribute("data-focus");
    if (this.failure && !(this.here && isAway(this.failure))) return this.drawFailure();
    if (!this.here) return;
    this.parts ??= this.createParts();
    const { parts } = this,
      where = this.place.do + this.at,
      { scrollTop, clientHeight, scrollHeight } = parts.drawing,
      stays =
        where === this.drawnPlace && (scrollTop + clientHeight < scrollHeight - 2 || this.at < this.tokens.length);
    const rows = () => [...parts.controls.querySelectorAll(".row")];
    const scrolled = rows().map(row => row.scrollLeft);
    this.drawParts();
    for (const [i, row] of rows().entries()) row.scrollLeft = scrolled[i] ?? 0;
    const found = css => focused && this.main.querySelector(css);
    const again = found(`[data-focus="${focused}"]`) ?? found("[data-focus^=choice]");
    if (again && again !== document.activeElement) again.focus({ preventScroll: true });
    // Only the diagram scrolls, to the current step.
    const step = parts.drawing.querySelector("[aria-current=step]");
    const to = this.at === this.tokens.length ? Infinity : (step?.offsetTop ?? 0) - parts.drawing.clientHeight / 2;
    parts.drawing.scrollTop = stays ? scrollTop : Math.min(to, parts.drawing.scrollHeight);
    if (where !== this.drawnPlace) parts.moves.scrollTop = 0;
    this.drawnPlace = where;
  }

  // drawFailure says why there is nothing to show.
  drawFailure() {
    const { status, message } = this.failure;
    const lost = status === 400 && say("This address leads nowhere. ", "这个地址打不开。"),
      again = isAway(this.failure) && say(" Asking again …", "正在重试……");
    const says = el("p.note.bad", { role: "alert" }, lost, message, again);
    this.parts = null;
    if (this.embedded) return void replace(this.main, says);
    const onward = el("p", el("a.button", { href: "#/schedule" }, say("To the levels", "去关卡")));
    replace(this.main, el("h1", say("Scheduler’s seat", "调度席")), says, onward);
  }

  // createParts creates the parts in reading order.
  createParts() {
    const part = (name, label) => el("section", { class: name, "aria-label": label });
    const [about, beside, state, search, controls] = ["about", "beside", "state", "search", "controls"].map(name =>
      part(name),
    );
    const moves = part("board moves sheet", say("The board", "棋盘"));
    const drawing = part("drawing sheet", say("The schedule", "时序"));
    const panel = el("div.sheet.panel", beside, this.code.panel, state, search);
    const stage = el("div.seat", drawing, !this.embedded && panel);
    replace(this.main, about, this.statusLine, moves, stage, controls, !this.embedded && this.drawMenu());
    return { about, beside, state, search, moves, drawing, controls, panel };
  }

  drawParts() {
    const { parts, full, place } = this;
    const step = full.view.trace.steps[this.at - 1];
    const said = step
      ? say(`Step ${this.at} of ${this.tokens.length}: `, `第 ${this.at} 步，共 ${this.tokens.length} 步：`) +
        describeStep(step)
      : say("Your move: who goes first?", "由你决定：谁先走？");
    if (this.statusLine.textContent !== said) replace(this.statusLine, said);
    replace(parts.about, this.drawAwaited(), this.drawStale(), drawGoal(this));
    redrawBoard(this, parts.moves);
    replace(parts.controls, drawControls(this));
    parts.drawing.classList.toggle("reveals", isVeiled(this));
    replace(parts.drawing, [
      this.tokens.length === 0 && el("p.soft", said),
      drawTrace(full.view.trace, {
        current: this.at,
        onstep: n => this.look(n),
        notes: n => this.distance.drawNote(n),
        shown: full.view.shown,
      }),
      drawLevelEnd(this),
      drawNextStep(this),
    ]);
    if (this.embedded) return;
    const { panel } = this;
    this.code.panel.hidden = panel !== "code";
    replace(parts.state, panel === "state" && [drawState(this), drawLegend(full.view.trace)]);
    replace(parts.search, panel === "search" && this.search.drawPanel());
    if (panel === "code") this.code.follow();
    if (this.drawnBeside !== this.besideKey()) {
      this.drawnBeside = this.besideKey();
      replace(parts.beside, place.beside ? drawBeside(this) : null);
    }
    parts.panel.hidden = !panel && !place.beside;
  }

  // open opens a panel, or closes it.
  open(panel) {
    const search = panel === "search" && !this.place.search ? "1" : "";
    this.shownPanel = panel === "search" || panel === this.shownPanel ? "" : panel;
    if (search === this.place.search) this.draw();
    else this.addressBar.go(this.address({ search }), { instead: true });
  }

  // openSearch opens the search, with or without the fields of the scenario.
  openSearch(fields) {
    if (!this.place.search) this.search.more = fields;
    this.open("search");
  }

  besideKey() {
    const { beside, lock, in: scenario, do: schedule } = this.place;
    return beside && [beside, lock, scenario, schedule, this.goal].join("\n");
  }

  // drawAwaited says that the server does not answer, and that the shown state is an earlier one.
  drawAwaited() {
    const before = say(" What is shown is from before. Asking again …", "下面仍是之前的内容。正在重试……");
    return this.failure && drawWarning(this.failure.message, before);
  }

  drawStale() {
    const { stale } = this.full;
    return stale && drawWarning(el("strong", say("This link is stale: ", "链接已失效：")), stale.says);
  }

  // drawMenu draws the menu of tools.
  drawMenu() {
    const tool = ([focus, text, act, key, isOn]) => {
      const acts = event => {
        if (!focus.startsWith("copy")) menu.hidePopover();
        act(event);
      };
      const pressed = isOn === undefined ? null : String(!!isOn);
      return el("button", { "data-focus": focus, "aria-pressed": pressed, onclick: acts }, text, key && kbd(key));
    };
    const copy = text => event => copyText(event.currentTarget, text);
    const entries = () => {
      const { lock, do: schedule, oracle, beside } = this.place,
        what = [lock, this.full.view.scenario].filter(Boolean).join(" ");
      const all = [
        this.redoStack.length > 0 && ["redo", say("Redo", "重做"), () => this.redo(), "r"],
        ["distance", say("Distance of each move", "距异常步数"), () => this.switchDistance(), "o", oracle],
        ["beside", say("Beside another lock", "与另一种锁并排"), () => this.besideNext(), "b", beside],
        ["code", say("Code", "代码"), () => this.open("code"), "c", this.panel === "code"],
        ["state", say("State", "状态"), () => this.open("state"), "s", this.panel === "state"],
        ["scenario", say("Scenario", "场景"), () => this.openSearch(true), "", this.panel === "search"],
        ["search", say("Search every schedule", "搜索所有时序"), () => this.openSearch(false)],
        ["copy-link", say("Copy link", "复制链接"), copy(location.href)],
        ["copy", say("Copy command", "复制命令"), copy(typed(`explore ${what} --replay "${schedule}"`))],
        schedule && ["save", say("Save as file", "导出为文件"), () => this.save()],
      ];
      const attributes = { "data-focus": "fork", href: this.address({}), target: "_blank", rel: "noopener" };
      const fork = say("Fork: the same in a new tab", "分叉：在新标签页打开");
      return [all.filter(Boolean).map(tool), el("a.button", attributes, fork)];
    };
    const menu = el("div", { id: "menu", popover: true, onbeforetoggle: () => replace(menu, entries()) });
    return menu;
  }
}

const drawWarning = (...says) => el("p.note.warn", { role: "alert" }, says);

const plainParameters = ["in", "do", "code", "anomaly", "beside", "campaign", "search", "veil"];

// placeOf parses an address. With campaign the reader plays the levels; search is 1, each, or table; with veil later
// steps are hidden.
/** @returns {Record<string, any>} */
function placeOf({ path, query }) {
  const words = (query.get("do") ?? "").trim().split(/\s+/).filter(Boolean);
  const of = name => query.get(name) ?? "";
  return {
    lock: path[1],
    ...Object.fromEntries(plainParameters.map(name => [name, of(name)])),
    do: words.join(" "),
    at: query.has("at") ? Math.min(Math.max(+of("at") || 0, 0), words.length) : words.length,
    mode: ["break", "keep"].includes(of("mode")) ? of("mode") : "free",
    oracle: of("oracle") || of("mode") === "oracle" ? "1" : "",
  };
}

const prefix = (place, n) => place.do.split(" ").slice(0, Math.max(n, 0)).join(" ");
