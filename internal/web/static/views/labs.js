// The labs: each makes one flaw happen by a real fault, with the lock that has it and with the one that cures it. In a
// tab they run here; a server only lists them.
import { alarm, el, replace, typed } from "../dom.js";
import { link } from "../route.js";
import { get, stream } from "../server.js";
import { drawTrace, legend } from "../trace.js";
import { language, say, several } from "../words.js";

const inTab = !!document.documentElement.dataset.tab;
const runsHere = lab => inTab && !lab.needs.length;
const address = name => link(["labs", name]);
const arrow = lab => lab.locks.join(" → ");

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
    replace(body, one ? page(one, left.signal) : list(labs));
  };
  Promise.all([get("/labs", asked), get("/course", asked)])
    .then(draw)
    .catch(failure => replace(body, el("h1", say("Labs", "实验")), alarm(failure)));
  return () => left.abort();
}

function list(labs) {
  const part = (title, of) => of.length > 0 && [el("h2", title), el("ul.sheets", of.map(entry))];
  return [
    el("h1", say("Labs", "实验")),
    el("p", [
      say(
        "A lab makes one flaw happen by a real fault, and says who did what: first with the lock that has the flaw, " +
          "then with the one that cures it. ",
        "一个实验用真实的故障让一种缺陷发生，并说明谁做了什么：先用有缺陷的锁，再用修复它的锁。",
      ),
      inTab
        ? say(
            "Here each replica is a worker of this tab. Killing it ends the worker in the middle of whatever it does.",
            "这里每个副本是这个标签页的一个 worker；杀死它，就是不管它正做到哪一步都立即终止它。",
          )
        : say(
            "They start processes of their own, so they run in a browser’s tab or in a terminal, not on this server.",
            "实验要启动自己的进程，所以在浏览器标签页或终端里运行，不在这台服务器上运行。",
          ),
    ]),
    part(
      inTab ? say("They run here", "在这里运行") : say("They run in a tab", "可以在标签页里运行"),
      labs.filter(lab => !lab.needs.length),
    ),
    part(
      say("They need more than a tab", "标签页里无法运行"),
      labs.filter(lab => lab.needs.length),
    ),
  ];
}

const lessonOf = ({ lesson: { number, title } }) => say(`Lesson ${number}: ${title}`, `第 ${number} 课：${title}`);

const entry = lab =>
  el("li.sheet", [
    el("h3", el("a", { href: address(lab.name) }, lab.name), " ", el("span.soft.small", arrow(lab))),
    el("p", lab.claim),
    needs(lab),
  ]);

const needs = lab =>
  lab.needs.length > 0 && el("p.small", say("It needs ", "它需要 "), lab.needs.map(marked), say(".", "。"));

const marked = text => text.split("`").map((part, i) => (i % 2 ? el("code", part) : part));

function page(lab, signal) {
  const told = el("div.runs"),
    status = el("span.soft", { role: "status" }),
    here = runsHere(lab),
    cured = lab.locks.at(-1);
  const start = runs(say(`Run it: ${lab.locks.join(", then ")}`, `运行：${arrow(lab)}`), run);
  return [
    el("p.small", el("a", { href: link(["labs"]) }, say("All labs", "全部实验"))),
    el("h1", lab.name),
    el("p", lab.claim),
    needs(lab),
    el("p.row", [
      here && start,
      !inTab &&
        !lab.needs.length &&
        el("a.button.main", { href: "tab/" + address(lab.name) }, say("Run it in a tab", "在标签页里运行")),
      !here && lab.lesson && el("a.button", { href: link(["course", lab.lesson.number]) }, lessonOf(lab)),
      el("a.button", { href: link(["locks", cured]) }, say(`${cured}: what it changes`, `${cured} 改了什么`)),
      status,
    ]),
    told,
    el("p", { class: here ? "small soft" : null }, lab.cure),
    typed(["lab " + lab.name, lab.diff].filter(Boolean)),
  ];

  async function run(stop) {
    replace(told);
    let part, lock;
    const fail = failure => part.append(alarm(failure));
    const on = {
      begins(name) {
        lock = name;
        part = el("section.sheet", el("h2", name));
        told.append(part);
        replace(status, say(`${name}: the replicas are started.`, `${name}：正在启动副本。`));
      },
      drawn(trace) {
        replace(part, el("h2", lock), drawTrace(trace));
        const steps = trace.steps.length;
        replace(status, say(`${lock}: ${several(steps, "step")} so far.`, `${lock}：到现在 ${steps} 步。`));
      },
      story: story => replace(part, tell(story)),
      failed: fail,
    };
    try {
      const until = AbortSignal.any([stop, signal]);
      await stream(`/labs/${lab.name}?lang=${language()}`, on, { signal: until, method: "POST" });
    } catch (failure) {
      part ??= told;
      fail(failure);
    }
    replace(status, stop.aborted && say("Stopped.", "已停止。"));
  }
}

function tell({ observed, head, about, still, drawn, left, reason, says, command, explore }) {
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
    drawn.steps && drawn.actors && [drawTrace(drawn), legend()],
    left && el("p.small.soft", left),
    reason && el("p.note.warn", reason),
    el("ul", sentences),
    seat &&
      el("p.small", [
        el("a", { href: link(["schedule", lock], seat) }, [
          say("Every order of these commands, in the seat", "在调度席查看所有命令顺序"),
        ]),
      ]),
    typed([command, explore].filter(Boolean)),
  ];
}

function runs(label, run) {
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
