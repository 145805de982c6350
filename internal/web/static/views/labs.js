// The labs. Each provokes one flaw with a real fault, first with the lock that has it, then with the lock that cures
// it. They run on the server’s machine, if the reader may do that, or in a tab.
import { copyText, drawAlarm, drawTerminal, el, replace } from "../dom.js";
import { link } from "../route.js";
import { get, mayDo, stream, unlock } from "../server.js";
import { drawLegend, drawTrace } from "../trace.js";
import { language, say, several } from "../words.js";

let leftLab = ""; // lab that was left while it ran
const isRunHere = lab => mayDo(lab.runs);
const labAddress = name => link(["labs", name]);
const describeLab = lab => [el("code", lab.name), " · ", lab.locks.join(" → ")];

export function show(main, { path: [, name] }) {
  const body = el("article.labs"),
    left = new AbortController();
  main.append(body);
  scrollTo(0, 0);
  const asked = { lang: language() };
  const draw = ([labs, { lessons }]) => {
    if (left.signal.aborted) return;
    for (const lab of labs) lab.lesson = lessons.find(lesson => lesson.labs?.includes(lab.name));
    const one = labs.find(lab => lab.name === name);
    if (name && !one) throw Error(say(`There is no lab ${name}.`, `没有“${name}”这个实验。`));
    const again = () => replace(body, one ? drawPage(one, left.signal, again) : drawList(labs));
    again();
  };
  Promise.all([get("/labs", asked), get("/course", asked)])
    .then(draw)
    .catch(failure => replace(body, el("h1", say("Labs", "实验")), drawAlarm(failure)));
  return () => left.abort();
}

function drawList(labs) {
  const places = [
    [say("Run them here", "在这里运行"), isRunHere],
    [say("Run them in a tab", "在标签页里运行"), ({ tab }) => tab],
    [say("Run them in a terminal", "在终端里运行"), () => true],
  ];
  let left = labs;
  return [
    el("h1", say("Labs", "实验")),
    el("p", [
      say(
        "A lab makes one flaw happen with a real fault and shows who did what: " +
          "first with the flawed lock, then with the lock that cures it. ",
        "实验用真实的故障复现一个缺陷，并说明谁做了什么：先用有缺陷的锁，再用修复它的锁。",
      ),
    ]),
    places.map(([title, fits]) => {
      const here = left.filter(fits);
      left = left.filter(lab => !fits(lab));
      return here.length > 0 && [el("h2", title), el("ul.sheets", here.map(drawEntry))];
    }),
  ];
}

const lessonTitle = ({ lesson: { number, title } }) => say(`Lesson ${number}: ${title}`, `第 ${number} 课：${title}`);

const drawEntry = lab =>
  el("li.sheet", [
    el("h3", el("a", { href: labAddress(lab.name) }, lab.title)),
    el("p.soft.small", describeLab(lab)),
    el("p", lab.claim),
    drawNeeds(lab),
  ]);

const drawNeeds = lab =>
  lab.needs.length > 0 && el("p.small", say("It needs ", "它需要 "), lab.needs.map(markCode), say(".", "。"));

const markCode = text => text.split("`").map((part, i) => (i % 2 ? el("code", part) : part));

function drawPage(lab, signal, again) {
  const runsNode = el("div.runs"),
    trouble = el("div"),
    status = el("span.soft", { role: "status" }),
    here = isRunHere(lab),
    cured = lab.locks.at(-1),
    command = `lockstep lab ${lab.name}` + say("", " --lang zh");
  const start = drawRunButton(say(`Run it: ${lab.locks.join(", then ")}`, `运行：${lab.locks.join(" → ")}`), run);
  const open = async () => (await unlock()) && again();
  if (leftLab === lab.name) replace(status, say("Stopped when you left or switched.", "离开或切换语言时已停止。"));
  return [
    el("p.small", el("a", { href: link(["labs"]) }, say("All labs", "全部实验"))),
    el("h1", lab.title),
    el("p.soft", describeLab(lab)),
    el("p", el("strong", say("The promise: ", "承诺：")), lab.claim),
    drawNeeds(lab),
    !here &&
      el("p.row", [
        say("In a terminal:", "在终端里运行："),
        el("code", command),
        el("button", { onclick: event => copyText(event.currentTarget, command) }, say("Copy", "复制")),
        lab.runs === "token" && el("button.quiet", { onclick: open }, say("I have the token", "我有令牌")),
      ]),
    el("p.row", [
      here && start,
      !here &&
        lab.tab &&
        el("a.button.main", { href: "tab/" + labAddress(lab.name) }, say("Run it in a tab", "在标签页里运行")),
      !here && lab.lesson && el("a.button", { href: link(["course", lab.lesson.number]) }, lessonTitle(lab)),
      el("a.button", { href: link(["locks", cured]) }, say(`${cured}: what it changes`, `${cured} 改了什么`)),
      status,
    ]),
    trouble,
    runsNode,
    el("p", { class: here ? "small soft" : null }, lab.cure),
    drawTerminal(["lab " + lab.name, lab.diff].filter(Boolean)),
  ];

  async function run(stop) {
    const part = lock => el("section.sheet", el("h2", lock), el("p.soft", say("Waiting …", "等待中……")));
    const parts = lab.locks.map(part);
    let at = -1,
      lock;
    const fill = (...inside) => replace(parts[at], ...inside);
    const fail = failure => replace(trouble, drawAlarm(failure)).scrollIntoView({ block: "nearest" });
    const on = {
      begins(name) {
        lock = name;
        at += 1;
        fill(el("h2", lock));
        replace(status, say(`${lock}: starting the replicas …`, `${lock}：正在启动实例……`));
      },
      drawn(trace) {
        fill(el("h2", lock), drawTrace(trace));
        const steps = trace.steps.length;
        replace(status, say(`${lock}: ${several(steps, "step")} so far.`, `${lock}：到现在 ${steps} 步。`));
      },
      story: story => fill(drawStory(story)),
      failed: fail,
    };
    replace(runsNode, parts);
    replace(trouble);
    leftLab = "";
    try {
      const until = AbortSignal.any([stop, signal]);
      await stream(`/labs/${lab.name}?lang=${language()}`, on, { signal: until, method: "POST" });
    } catch (failure) {
      fail(failure);
    }
    if (signal.aborted) leftLab = lab.name;
    for (const part of parts.slice(at + 1)) part.remove();
    replace(status, stop.aborted && say("Stopped.", "已停止。"));
  }
}

function drawStory({ observed, head, about, still, drawn, left, reason, says, command, explore }) {
  const [, lock, rest] = explore?.match(/^explore (\S+) (.*)$/) ?? [],
    anomaly = rest?.match(/ ?--anomaly (\S+)/);
  const seat = lock && {
    in: anomaly ? rest.replace(anomaly[0], "") : rest,
    mode: anomaly && "oracle",
    anomaly: anomaly?.[1],
  };
  const sentences = (says ?? []).map(sentence => el("li", sentence));
  return [
    el("h2", { class: { broken: "bad", holds: "good" }[observed] ?? "warn" }, head),
    el("p.small.soft", about),
    still && el("p.note.warn", still),
    drawn.steps && drawn.actors && [drawTrace(drawn), drawLegend(drawn)],
    left && el("p.small.soft", left),
    reason && el("p.note.warn", reason),
    el("ul", sentences),
    seat &&
      el("p.small", [
        el("a", { href: link(["schedule", lock], seat) }, [
          say("Every order of these commands, in the seat", "在调度席查看所有命令顺序"),
        ]),
      ]),
    drawTerminal([command, explore].filter(Boolean)),
  ];
}

function drawRunButton(label, run) {
  let stop = null;
  const button = el("button.main", { onclick: turn }, label);
  async function turn() {
    if (stop) return stop.abort();
    stop = new AbortController();
    button.ariaBusy = "true";
    replace(button, say("■ Stop", "■ 停止"));
    await run(stop.signal);
    stop = button.ariaBusy = null;
    replace(button, label);
  }
  return button;
}
