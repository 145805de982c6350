// The parts of a lesson, played on the page: a run and its drawing, the same under two locks, a difference, the seat.
// What needs a terminal is folded away.
import { alarm, code, el, fill, replace, typed } from "../dom.js";
import { drawLine } from "../highlight.js";
import { bindWhile } from "../keys.js";
import { player, stepKeys } from "../player.js";
import { link } from "../route.js";
import { away, get, reloadSoon, soon, stream, text } from "../server.js";
import { language, say } from "../words.js";

// Desk is where the reader of a lesson is: keys go to the part that was used last.
export class Desk {
  at = null; // the part
  left = new AbortController(); // the lesson
  leaving = [];

  constructor() {
    const listed = [null, "in a drawing: one step back, one step on", "图中：往回一步，往前一步", "← →"];
    this.leaving.push(bindWhile(() => this.at?.step, listed, ...stepKeys(by => this.at.step(by))));
  }

  // place lets a node be where the keys go once it is used.
  place(node, part) {
    for (const used of ["pointerdown", "focusin"])
      node.addEventListener(used, () => {
        this.at = part;
      });
    return node;
  }

  leave() {
    this.left.abort();
    for (const leave of this.leaving) leave();
  }
}

// html makes an element of what the server rendered: its own texts, without foreign HTML.
export function html(tag, text, attributes = {}) {
  const node = el(tag, attributes);
  node.innerHTML = text;
  for (const code of node.querySelectorAll(".language-diff"))
    code.parentNode.replaceWith(
      el("pre.diff", [
        code.textContent.match(/.+/g).map(([kind, ...text]) => drawLine({ kind, text: text.join("") }, "go")),
      ]),
    );
  for (const pre of node.querySelectorAll("pre")) pre.tabIndex = 0; // it scrolls
  for (const table of node.querySelectorAll("table")) {
    const box = el("div.scroll", { tabindex: 0 });
    table.replaceWith(box);
    box.append(table);
  }
  return node;
}

const lost = () => say("Connection lost. Retrying…", "连接断开，正在重试……");

const lines = commands => commands.map(({ line }) => line);

// drawAll draws parts. What a command's terminal needs to know is with the command.
export function drawAll(parts, desk) {
  const all = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.terminal && last?.commands) last.also = part.html;
    else all.push({ ...part });
  }
  return all.map(part => draw(part, desk));
}

// draw draws a part. What the lesson prints is shown at once.
function draw(part, desk) {
  const { html: says, terminal, commands, printed, also } = part;
  if (terminal) return typed(null, html("div", says));
  if (!commands) return html("div", says);
  const of = kind => commands.filter(command => command.kind === kind);
  if (of("check").length)
    return el("details.terminal", [
      el("summary", [
        say(`On a computer with Go: exercise ${commands[0].name}`, `在装有 Go 的电脑上：练习 ${commands[0].name}`),
      ]),
      html("div", says),
      code(lines(commands)),
    ]);
  if (of("diff").length) return difference(commands[0], says);
  return el("div.part", [
    html("div", says),
    commands.map(command => (played[command.kind] ?? explored)(command, part, desk)),
    typed(lines(commands), printed && code(printed), also && html("div", also)),
  ]);
}

const button = (href, says) => el("p", el("a.button", { href }, says));

const played = {
  table: () => button("#/locks", say("The table of all", "打开总表")),
  lab: ({ name }) => button(link(["labs", name]), say(`The lab ${name}`, `打开实验 ${name}`)),
  burst: ({ lock, buyers }) =>
    button(
      link([], { lock, buyers }),
      say(`To the shop: ${buyers} buyers, ${lock}`, `去商店：${lock}，${buyers} 个买家`),
    ),
  contrast(command) {
    const into = el("div", { role: "status" });
    const compare = () => import("./seat_beside.js").then(({ sideBySide }) => sideBySide(command, command.other, true));
    const run = () => fill(into, say("Running both …", "两边都在执行……"), compare());
    return el("div", runner(run), into);
  },
};

// explored is a command with its button, and what it shows; at once, if the lesson prints that.
function explored(command, part, desk) {
  const shows = new Result(command, part, desk);
  if (part.printed) {
    shows.known();
    return shows.node;
  }
  const one = part.commands.length === 1;
  const run = runner(() => shows.run(), {}, one ? "" : command.lock);
  return el("div", run, shows.node);
}

// runner is the button of a command, and names the lock where there are several.
export function runner(run, attributes = {}, lock = "") {
  const once = async ({ currentTarget: button }) => {
    button.disabled = true;
    await run();
    button.disabled = false;
  };
  return el("p.runner", el("button", { ...attributes, onclick: once }, `▶ ${say("Run", "运行")} ${lock}`.trim()));
}

// Result is what a command shows: first what the lesson knows of it, then what was found here and now.
export class Result {
  node = el("div.result");
  says = el("div.told");
  drawing = el("div");
  status = el("span.small.soft", { role: "status" });
  stop = el("button.quiet", { "data-focus": "stop", hidden: true }, say("Stop", "停止"));
  schedule = ""; // that is drawn
  player;

  constructor(command, { says = [] }, desk, whole = () => {}) {
    this.whole = whole; // called once all steps were shown
    this.command = command;
    this.desk = desk;
    this.saying = says;
    replace(this.node, this.drawing, this.says, el("p", this.status, " ", this.stop));
  }

  // known shows what the lesson knows, if that is anything.
  known() {
    const { drawn } = this.command;
    this.tell(this.saying);
    if (drawn) this.draw(drawn.trace, drawn.shown);
  }

  tell(all) {
    replace(this.says, [all.map(each => el("p", each))]);
  }

  draw(trace, shown) {
    const schedule = trace.steps.map(step => step.token).join(" ");
    if (schedule === this.schedule) return;
    this.schedule = schedule;
    this.node.classList.add("reveals"); // what comes, and how it ends, comes last
    this.player = steps(trace, shown, this.desk, () => {
      this.node.classList.remove("reveals");
      this.whole();
    });
    replace(this.drawing, this.player.node);
  }

  // run does it here and now, until it is stopped.
  async run() {
    const stop = new AbortController(),
      signal = AbortSignal.any([stop.signal, this.desk.left.signal]);
    this.stop.onclick = () => stop.abort();
    this.known();
    const { lock, in: scenario, anomaly, do: schedule, kind } = this.command,
      asked = { lock, in: scenario, lang: language() };
    const tell = (...says) => replace(this.status, says);
    tell(say("Running it here …", "正在这里运行……"));
    try {
      if (kind === "replay") {
        const { view, stale } = await get("/seat/state", { ...asked, do: schedule });
        if (stale) return tell(el("span.bad", stale.says));
        this.draw(view.trace, view.shown);
        return tell(say("Run here, just now.", "刚刚在这里运行过。"));
      }
      this.stop.hidden = false;
      await stream(
        "/seat/explore" + text({ ...asked, anomaly }),
        {
          progress: ({ schedules, waiting }) =>
            tell(
              waiting
                ? say("Another exploration comes first.", "前面还有一次探索。")
                : say(`Running it here: ${schedules} schedules so far`, `正在这里运行：已探索 ${schedules} 种时序`),
            ),
          done: ({ says, seen, tested, shown: [found], links: [link] }) => {
            this.tell(found ? [says] : [says, seen, ...tested]);
            if (found) this.draw(found.trace, found.shown);
            tell(
              say("Explored here, just now. ", "刚刚在这里探索过。"),
              found && seen + " ",
              link && el("a", { href: link }, say("In the seat", "在调度席打开")),
            );
          },
          failed: failure => tell(el("span.bad", failure.message)),
        },
        { signal },
      );
      if (signal.aborted) tell(say("Stopped. Nothing is known.", "已停止，还没有结论。"));
    } catch (failure) {
      tell(el("span.bad", away(failure) ? lost() : failure.message));
      if (away(failure)) soon(() => signal.aborted || this.run());
    }
    this.stop.hidden = true;
    return undefined;
  }
}

// steps draws a schedule to step through, from its first step on. all is called once all of them were shown.
function steps(trace, shown, desk, all) {
  const { picture, told, controls, step: go, load } = player();
  load({ trace, shown });
  go(1 - trace.steps.length);
  told.classList.add("unseen"); // the picture says it
  const node = el("div.player", picture, controls, told);
  const [, , on, end] = controls.children;
  for (const [button, says] of [
    [on, say("Next step ›", "下一步 ›")],
    [end, say("Show all »", "全部显示 »")],
  ]) {
    replace(button, says);
    button.removeAttribute("aria-label");
  }
  on.classList.add("main"); // until the end
  const step = by => {
    go(by);
    if (picture.querySelector(".later")) return;
    on.classList.remove("main");
    all();
  };
  controls.addEventListener("click", () => step(0));
  step(0); // there may be one alone
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

// difference shows what a step changes, once it is opened.
function difference({ lock, other, line }, says) {
  const into = el("div", { role: "status" });
  const pair = `${lock}-${other}`;
  const load = () => import("./locks.js").then(({ changes }) => changes(pair));
  const open = ({ target }) => target.open && !into.firstChild && fill(into, say("Loading …", "加载中……"), load());
  return el("details.difference", { ontoggle: open }, [
    el("summary", html("span", says), ` · ${lock} → ${other}`),
    into,
    el("p", el("a", { href: link(["locks", other]) }, say("This step in “Locks”", "在“锁”里看这一步"))),
    typed([line]),
  ]);
}

// seat sits the reader at a schedule, as soon as that part of the page comes into sight. kept is the one that did what
// it asks, keep takes another.
export function seat(address, desk, kept, keep) {
  const node = el("div.embedded", el("p.soft", say("Loading …", "加载中……")));
  const own = {};
  const seen = new IntersectionObserver(
    async entries => {
      if (!entries.some(entry => entry.isIntersecting)) return;
      seen.disconnect();
      const { embed } = await import("./seat.js").catch(() => ({ embed: null }));
      if (desk.left.signal.aborted) return;
      if (!embed) {
        replace(node, alarm(lost()));
        return reloadSoon(() => !desk.left.signal.aborted);
      }
      desk.leaving.push(embed(node, address, () => desk.at === own, kept, keep));
    },
    { rootMargin: "50%" },
  );
  seen.observe(node);
  desk.leaving.push(() => seen.disconnect());
  return desk.place(node, own);
}
