// The parts of a lesson: a run and its diagram, a comparison of two locks, a difference, the seat. What needs a
// terminal is folded away.
import { drawCode, drawTerminal, el, replace } from "../dom.js";
import { drawLine } from "../highlight.js";
import { bindWhile } from "../keys.js";
import { createPlayer, stepKeys } from "../player.js";
import { link } from "../route.js";
import { drawLoaded, get, retryWhileAway, streamAnswer, whenLoaded } from "../server.js";
import { language, say } from "../words.js";

// Desk routes keys to the part of a lesson that the reader used last.
export class Desk {
  at = null; // part used last
  departure = new AbortController(); // aborts when the reader leaves the lesson
  cleanups = [];

  constructor() {
    const listed = [null, "in a drawing: one step back, one step on", "图中：往回一步，往前一步", "← →"];
    this.cleanups.push(bindWhile(() => this.at?.step, listed, ...stepKeys(by => this.at.step(by))));
  }

  // place routes the keys to a part once its node is used.
  place(node, part) {
    for (const used of ["pointerdown", "focusin"])
      node.addEventListener(used, () => {
        this.at = part;
      });
    return node;
  }

  leave() {
    this.departure.abort();
    for (const leave of this.cleanups) leave();
  }
}

// drawHTML creates an element from HTML that the server rendered from its own texts.
export function drawHTML(tag, text, attributes = {}) {
  const node = el(tag, attributes);
  node.innerHTML = text;
  for (const code of node.querySelectorAll(".language-diff"))
    code.parentNode.replaceWith(
      el("pre.diff", [
        code.textContent.match(/.+/g).map(([kind, ...text]) => drawLine({ kind, text: text.join("") }, "go")),
      ]),
    );
  for (const pre of node.querySelectorAll("pre")) pre.tabIndex = 0; // reachable, as it scrolls
  for (const table of node.querySelectorAll("table")) {
    const box = el("div.scroll", { tabindex: 0 });
    table.replaceWith(box);
    box.append(table);
  }
  return node;
}

const commandLines = commands => commands.map(({ line }) => line);

// drawAll draws parts, and puts text for the terminal with its command.
export function drawAll(parts, desk) {
  const all = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.terminal && last?.commands) last.also = part.html;
    else all.push({ ...part });
  }
  return all.map(part => draw(part, desk));
}

// draw draws one part. What the lesson prints is shown at once.
function draw(part, desk) {
  const { html: says, terminal, commands, printed, also } = part;
  if (terminal) return drawTerminal(null, drawHTML("div", says));
  if (!commands) return drawHTML("div", says);
  const of = kind => commands.filter(command => command.kind === kind);
  if (of("check").length)
    return el("details.terminal", [
      el("summary", [
        say(`On a computer with Go: exercise ${commands[0].name}`, `在装有 Go 的电脑上：练习 ${commands[0].name}`),
      ]),
      drawHTML("div", says),
      drawCode(commandLines(commands)),
    ]);
  if (of("diff").length) return drawDifference(commands[0], says);
  return el("div.part", [
    drawHTML("div", says),
    commands.map(command => (drawByKind[command.kind] ?? drawExplored)(command, part, desk)),
    drawTerminal(commandLines(commands), printed && drawCode(printed), also && drawHTML("div", also)),
  ]);
}

const drawButtonLink = (href, says) => el("p", el("a.button", { href }, says));

const drawByKind = {
  table: () => drawButtonLink("#/locks", say("The table of all", "打开总表")),
  lab: ({ name }) => drawButtonLink(link(["labs", name]), say(`The lab ${name}`, `打开实验 ${name}`)),
  burst: ({ lock, buyers }) =>
    drawButtonLink(
      link([], { lock, buyers }),
      say(`To the shop: ${buyers} buyers, ${lock}`, `去商店：${lock}，${buyers} 个买家`),
    ),
  contrast(command) {
    const into = el("div", { role: "status" });
    const compare = () =>
      whenLoaded(import("./seat_beside.js")).then(({ compareLocks: sideBySide }) =>
        sideBySide(command, command.other, true),
      );
    const run = () => drawLoaded(into, say("Running both …", "两边都在执行……"), compare);
    return el("div", drawRunner(run), into);
  },
};

// drawExplored draws a command with its button and its result, or the result at once if the lesson prints it.
function drawExplored(command, part, desk) {
  const shows = new Result(command, part, desk);
  if (part.printed) {
    shows.drawKnown();
    return shows.node;
  }
  const one = part.commands.length === 1;
  const run = drawRunner(() => shows.run(), {}, one ? "" : command.lock);
  return el("div", run, shows.node);
}

// drawRunner draws a command’s button, with the lock where there are several.
export function drawRunner(run, attributes = {}, lock = "") {
  const once = async ({ currentTarget: button }) => {
    button.disabled = true;
    await run();
    button.disabled = false;
  };
  return el("p.runner", el("button", { ...attributes, onclick: once }, `▶ ${say("Run", "运行")} ${lock}`.trim()));
}

// Result shows a command’s result: first the lesson’s, then that of a run here.
export class Result {
  node = el("div.result");
  says = el("div.told");
  drawing = el("div");
  status = el("span.small.soft", { role: "status" });
  stop = el("button.quiet", { "data-focus": "stop", hidden: true }, say("Stop", "停止"));
  schedule = ""; // drawn schedule
  player;

  constructor(command, { says = [] }, desk, whole) {
    this.whole = whole; // called when the answer may follow
    this.command = command;
    this.desk = desk;
    this.sentences = says;
    replace(this.node, this.drawing, this.says, el("p", this.status, " ", this.stop));
  }

  // drawKnown shows the result that the lesson has, if any.
  drawKnown() {
    const { drawn } = this.command;
    this.tell(this.sentences);
    if (drawn) this.draw(drawn.trace, drawn.shown);
  }

  tell(all) {
    replace(this.says, [all.map(each => el("p", each))]);
  }

  draw(trace, shown) {
    const schedule = trace.steps.map(step => step.token).join(" ");
    if (schedule === this.schedule) return;
    this.schedule = schedule;
    this.node.classList.add("reveals"); // hides later steps and the outcome
    this.player = createSteps(
      trace,
      shown,
      this.desk,
      () => {
        this.node.classList.remove("reveals");
        this.whole?.();
      },
      !!this.whole,
    );
    replace(this.drawing, this.player.node);
  }

  // run executes the command here until it is stopped.
  async run() {
    const stop = new AbortController(),
      signal = AbortSignal.any([stop.signal, this.desk.departure.signal]);
    this.stop.onclick = () => stop.abort();
    this.drawKnown();
    const tell = (...says) => replace(this.status, says),
      warn = message => tell(el("span.bad", message));
    tell(say("Running it here …", "正在这里运行……"));
    this.stop.hidden = this.command.kind === "replay";
    const request = () => (this.command.kind === "replay" ? this.replay() : this.explore(tell, signal));
    try {
      tell(await retryWhileAway(request, signal, warn));
    } catch (failure) {
      warn(failure.message);
    }
    if (signal.aborted) tell(say("Stopped. Nothing is known.", "已停止，结果未知。"));
    this.stop.hidden = true;
  }

  async replay() {
    const { lock, in: scenario, do: schedule } = this.command;
    const { view, stale } = await get("/seat/state", { lock, in: scenario, do: schedule, lang: language() });
    if (stale) return el("span.bad", stale.says);
    this.draw(view.trace, view.shown);
    return say("Run here, just now.", "刚刚在这里运行过。");
  }

  async explore(tell, signal) {
    const { lock, in: scenario, anomaly } = this.command;
    const progress = ({ schedules, waiting }) =>
      tell(
        waiting
          ? say("Another exploration comes first.", "前面还有一次探索。")
          : say(`Running it here: ${schedules} schedules so far`, `正在这里运行：已探索 ${schedules} 种时序`),
      );
    const answer = await streamAnswer("/seat/explore", { lock, in: scenario, anomaly }, { progress }, signal);
    if (!answer) return null;
    const { says, seen, tested, shown, links } = answer,
      [found] = shown;
    this.tell(found ? [says] : [says, seen, ...tested]);
    if (found) this.draw(found.trace, found.shown);
    return [
      say("Explored here, just now. ", "刚刚在这里探索过。"),
      found && seen + " ",
      links[0] && el("a", { href: links[0] }, say("In the seat", "在调度席打开")),
    ];
  }
}

// createSteps draws a schedule at its first step, and calls all after the last; then its button may lead to an answer.
function createSteps(trace, shown, desk, all, isAnswered) {
  const { picture, description, controls, step: go, load } = createPlayer();
  load({ trace, shown });
  go(1 - trace.steps.length);
  description.classList.add("unseen"); // the picture says it
  const node = el("div.player", picture, controls, description);
  const [, , on, end] = controls.children;
  for (const button of [on, end]) button.removeAttribute("aria-label");
  replace(end, say("Show all »", "全部显示 »"));
  on.classList.add("main");
  let isLast = false;
  on.addEventListener("click", () => isLast && document.getElementById("verdict")?.scrollIntoView({ block: "center" }));
  const step = by => {
    go(by);
    isLast = !picture.querySelector(".later");
    replace(on, isLast && isAnswered ? say("See the answer ↓", "看答案 ↓") : say("Next step ›", "下一步 ›"));
    end.disabled = isLast;
    on.disabled = isLast && !isAnswered;
    if (!isLast) return;
    on.classList.remove("main");
    all();
  };
  controls.addEventListener("click", () => step(0));
  step(0); // a schedule of one step is at its end
  const own = {
    node,
    step,
    focus() {
      desk.at = own;
      on.focus({ preventScroll: true });
    },
  };
  desk.at ??= own;
  desk.place(node, own);
  return own;
}

// drawDifference shows what a step of the evolution changes, once it is opened.
function drawDifference({ lock, other, line }, says) {
  const into = el("div", { role: "status" });
  const pair = `${lock}-${other}`;
  const load = () => whenLoaded(import("./locks.js")).then(({ drawChanges: changes }) => changes(pair));
  const open = ({ target }) => target.open && !into.firstChild && drawLoaded(into, say("Loading …", "加载中……"), load);
  return el("details.difference", { ontoggle: open }, [
    el("summary", drawHTML("span", says), ` · ${lock} → ${other}`),
    into,
    el("p", el("a", { href: link(["locks", other]) }, say("This step in “Locks”", "在“锁”里看这一版"))),
    drawTerminal([line]),
  ]);
}

// drawSeat embeds the seat at an address once it scrolls into view. kept is the schedule that reached the goal before;
// keep stores another.
export function drawSeat(address, desk, kept, keep) {
  const node = el("div.embedded"),
    own = {};
  const load = async () => {
    const { embed } = await whenLoaded(import("./seat.js"));
    if (desk.departure.signal.aborted) return;
    desk.cleanups.push(embed(node, address, () => desk.at === own, kept, keep));
  };
  const seen = new IntersectionObserver(
    entries => {
      if (!entries.some(entry => entry.isIntersecting)) return;
      seen.disconnect();
      drawLoaded(node, el("p.soft", say("Loading …", "加载中……")), load);
    },
    { rootMargin: "50%" },
  );
  seen.observe(node);
  desk.cleanups.push(() => seen.disconnect());
  return desk.place(node, own);
}
