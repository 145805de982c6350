// The labs: each makes one flaw happen by a real fault, with the lock that has it and with the one that cures it. In a
// tab they run here; a server only lists them.
import { el, replace } from "../dom.js";
import { link } from "../route.js";
import { get, stream } from "../server.js";
import { drawTrace, legend } from "../trace.js";
import { language, say, several } from "../words.js";

const typed = "go run . ";
const inTab = !!document.documentElement.dataset.tab;

export function show(main, { path: [, name] }) {
  const body = el("article.labs"),
    left = new AbortController();
  main.append(body);
  scrollTo(0, 0);
  get("/labs", { lang: language() }).then(
    labs => {
      if (left.signal.aborted) return;
      const one = labs.find(lab => lab.name === name);
      body.append(...(one ? page(one, left.signal) : list(labs)));
    },
    failure => body.append(el("p.note.bad", { role: "alert" }, failure.message)),
  );
  return () => left.abort();
}

const address = name => link(["labs", name]);
const arrow = lab => lab.locks.join(" → ");

function list(labs) {
  const here = labs.filter(lab => !lab.needs.length),
    elsewhere = labs.filter(lab => lab.needs.length);
  const part = (title, of) => [el("h2", title), el("ul.lab-list", of.map(entry))];
  return [
    el("h1", say("Labs", "实验")),
    el(
      "p",
      say(
        "A lab makes one flaw happen by a real fault, and says who did what: first with the lock that has the flaw, " +
          "then with the one that cures it. ",
        "一个实验用真实的故障让一种缺陷发生，并说明谁做了什么：先用有缺陷的锁，再用修复它的锁。",
      ),
      place(),
    ),
    ...(inTab
      ? [
          ...part(say("They run here", "在这里运行"), here),
          ...part(say("They need more than a tab", "标签页里无法运行"), elsewhere),
        ]
      : [el("ul.lab-list", labs.map(entry))]),
  ];
}

// place says where labs run.
const place = () =>
  inTab
    ? say(
        "Here each replica is a worker of this tab, and to be killed is to be ended in the middle of whatever it does.",
        "这里每个副本是这个标签页的一个 worker；杀死它就是在它正做着的任何一步终止它。",
      )
    : [
        say(
          "A server runs none: they start processes of their own. Run them in a terminal, or in ",
          "服务器不运行实验：实验要启动自己的进程。请在终端里运行，或者在",
        ),
        el("a", { href: "tab/#/labs" }, say("the page that runs in a tab", "标签页里运行的页面")),
        say(", which says how to get it if it is not there yet.", "运行；如果还没有这个页面，它会说明怎样得到。"),
      ];

const entry = lab =>
  el(
    "li.sheet",
    el(inTab ? "h3" : "h2", el("a", { href: address(lab.name) }, lab.name), " ", el("span.soft.small", arrow(lab))),
    el("p", lab.claim),
    lab.needs.length > 0 && el("p.small", needs(lab)),
    (!inTab || lab.needs.length > 0) && el("p.small", command("lab " + lab.name)),
  );

const needs = lab => [say("It needs ", "它需要 "), lab.needs.map(marked), say(". ", "。")];
const command = of => el("code", typed + of);

// marked shows what is between backquotes as code.
const marked = text => text.split("`").map((part, i) => (i % 2 ? el("code", part) : part));

function page(lab, signal) {
  const told = el("div.runs"),
    status = el("span.soft", { role: "status" });
  const start = runs({ class: "main" }, say(`Run it: ${lab.locks.join(", then ")}`, `运行：${arrow(lab)}`), run);
  const here = inTab && !lab.needs.length;
  return [
    el("p.small", el("a", { href: link(["labs"]) }, say("All labs", "全部实验"))),
    el("h1", lab.name),
    el("p", lab.claim),
    here
      ? el("p.row", start, status)
      : el(
          "p.note",
          lab.needs.length > 0 && needs(lab),
          lab.needs.length > 0 && inTab && say("A tab has no such thing. ", "标签页里没有。"),
          say("In a terminal: ", "在终端里运行："),
          command("lab " + lab.name),
          !inTab &&
            !lab.needs.length && [
              say(". Or ", "。也可以"),
              el("a", { href: "tab/" + address(lab.name) }, say("in a tab", "在标签页里运行")),
            ],
        ),
    told,
    el(
      "p",
      { class: here ? "small soft" : null },
      lab.cure,
      lab.diff && [say(" All of it: ", "全部改动："), command(lab.diff)],
    ),
  ];

  async function run(stop) {
    replace(told);
    let part, lock;
    const fail = why => part.append(el("p.note.bad", { role: "alert" }, why));
    const on = {
      begins(name) {
        lock = name;
        part = el("section.sheet");
        told.append(part);
        replace(part, el("h2", name));
        replace(status, say(`${name}: the replicas are started.`, `${name}：正在启动副本。`));
      },
      drawn(trace) {
        replace(part, el("h2", lock), drawTrace(trace));
        const steps = trace.steps.length;
        replace(status, say(`${lock}: ${several(steps, "step")} so far.`, `${lock}：到现在 ${steps} 步。`));
      },
      story: story => replace(part, ...tell(story)),
      failed: fail,
    };
    try {
      await stream(`/labs/${lab.name}?lang=${language()}`, on, {
        signal: AbortSignal.any([stop, signal]),
        method: "POST",
      });
    } catch (failure) {
      part ??= told;
      fail(failure.message);
    }
    replace(status, stop.aborted && say("Stopped.", "已停止。"));
  }
}

// tell tells a story as lockstep lab does.
function tell(story) {
  const [, lock, rest] = story.explore?.match(/^explore (\S+) (.*)$/) ?? [],
    anomaly = rest?.match(/ ?--anomaly (\S+)/);
  const seat = lock && {
    in: anomaly ? rest.replace(anomaly[0], "") : rest,
    mode: anomaly && "oracle",
    anomaly: anomaly?.[1],
  };
  return [
    el("h2", { class: { broken: "bad", holds: "good" }[story.observed] ?? "warn" }, story.head),
    story.drawn.steps && story.drawn.actors && [drawTrace(story.drawn), legend()],
    story.left && el("p.small.soft", story.left),
    story.reason && el("p.note.warn", story.reason),
    el(
      "ul",
      (story.says ?? []).map(sentence => el("li", sentence)),
    ),
    el(
      "p.small",
      say("In a terminal: ", "在终端里："),
      command(story.command),
      seat && [
        say(". In every order: ", "。所有的命令顺序："),
        command(story.explore),
        say(", or in ", "，或在"),
        el("a", { href: link(["schedule", lock], seat) }, say("the scheduler’s seat", "调度席")),
      ],
    ),
  ];
}

// runs is a button that runs something, and meanwhile stops it.
function runs(attributes, label, run) {
  let stop = null;
  const button = el("button", { ...attributes, onclick: turn }, label);
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
