// A trace of the server as a sequence diagram, in the explorer's language: a lifeline for each actor and each server,
// time going down. A thick lifeline is an actor that believes it holds the lock, a dashed one is paused; a server's is
// thick while somebody's lock is there, in the colour of whose it is. A fault is a rule across.
import { el, svg } from "./dom.js";
import { duration, say } from "./words.js";

// drawTrace draws trace.Trace as a list of its steps. Options: current, the step that is marked, counted from 1, or 0;
// onstep, called with the step that is clicked; notes gives what else to say of a step, by its number; shown are
// marked at their steps, each with its title and what it says.
export function drawTrace(trace, options = {}) {
  const { current = Infinity, onstep, notes, shown = [] } = options;
  const lanes = lanesOf(trace);
  const rows = trace.steps.map((step, i) => {
    const n = i + 1,
      before = beforeOf(trace, i),
      breach = shown.filter(each => each.step === n);
    const kinds = ["step", step.fault && "fault", breach.length && "breach", n > current && "later"];
    const attributes = onstep && { "aria-label": say(`Step ${n}`, `第 ${n} 步`), onclick: () => onstep(n) };
    return el(
      "li",
      {
        class: kinds.filter(Boolean).join(" "),
        "aria-current": n === current ? "step" : null,
        onclick: onstep && (event => event.target.closest("button, a") || onstep(n)),
      },
      [
        el(onstep ? "button" : "span", { class: onstep ? "quiet number" : "number", ...attributes }, n),
        svg("svg.lanes", { role: "presentation", "aria-hidden": "true", focusable: "false" }, [
          marksOf(lanes, trace, step, before, breach.length > 0),
        ]),
        el("div.words", words(trace, step, before), breach.map(told), notes?.(n)),
      ],
    );
  });
  return el("div.trace", { style: { "--lanes": lanes.length } }, [
    head(lanes),
    el("ol", rows),
    trace.says && !shown.length && el("p.verdict", cross(), trace.says),
  ]);
}

// beforeOf is what was so before a step, counted from 0.
export const beforeOf = (trace, i) =>
  trace.steps[i - 1] ?? { standing: trace.actors.map(() => "absent"), lock: "", stock: "", nodes: [] };

const cross = () => el("span", { "aria-hidden": "true" }, "✗ ");

// told is a breach in words.
const told = ({ anomaly, title, says }) =>
  el("p.told-breach", cross(), el("b", { title: anomaly }, title), say(": ", "："), says);

// legend explains the lines of a trace, with a lock or without one.
export const legend = trace =>
  el("p.soft.small", [
    !trace || trace.nodes || trace.steps.some(({ lock }) => lock)
      ? say(
          "A thick line: this sale believes that it holds the lock. Dashed: paused. " +
            "On Redis: the letter is whose the lock is in truth.",
          "粗线：这一单认为自己持有锁。虚线：暂停。Redis 上的字母：锁实际上是谁的。",
        )
      : say("A thick line: this sale is under way. Dashed: paused.", "粗线：这一单正在进行。虚线：暂停。"),
  ]);

// lanesOf are the lifelines, and where each is, in percent.
export function lanesOf(trace) {
  const nodes = Array.from({ length: trace.nodes ?? 0 }, (_, i) => ({ name: "n" + (i + 1), node: i + 1 }));
  const lanes = [...trace.actors.map((name, actor) => ({ name, actor })), ...nodes, { name: "Redis", node: 0 }];
  return lanes.map((lane, i) => ({ ...lane, at: ((i + 0.5) / lanes.length) * 100 }));
}

const head = lanes => {
  const names = lanes.map(lane => el("span", { class: colour(lane.actor) || "redis" }, lane.name));
  return el("div.head", { "aria-hidden": "true" }, el("span"), el("div.names", names));
};

export const colour = actor => (actor === undefined || actor < 0 ? "" : "actor" + (actor % 4));

const middle = "1.15rem"; // where in its row a step happens

// marksOf draws one step: the lifelines as they were above it, and as they are below.
export function marksOf(lanes, trace, step, before, breach) {
  const marks = [];
  for (const lane of lanes) {
    const was = look(lane, trace, before),
      is = look(lane, trace, step);
    marks.push(life(lane.at, 0, middle, was), life(lane.at, middle, "102%", is));
    if (was.kind !== "none" && step.standing[lane.actor] === "dead") marks.push(sign(lane.at, "✗", "bad"));
    if (is.owner && is.owner !== was.owner) marks.push(sign(lane.at, is.owner, is.colour + " owner", "2.45rem"));
  }
  if (step.fault || (step.actor === "" && step.kind === "time")) {
    marks.push(line({ x1: "1%", x2: "99%", y1: middle, y2: middle, class: step.fault ? "rule" : "rule time" }));
  }
  marks.push(happens(lanes, step));
  if (breach) marks.push(sign(whereOf(lanes, step), "✗", "bad owner"));
  return marks;
}

const stances = { absent: "none", ended: "none", dead: "none", inside: "thick", paused: "dashed" };

// look is what a lifeline looks like after a step.
function look(lane, trace, step) {
  if (lane.actor !== undefined) {
    const stance = step.standing[lane.actor];
    return { kind: stance === "paused-inside" ? "thick dashed" : (stances[stance] ?? ""), colour: colour(lane.actor) };
  }
  const node = step.nodes?.[lane.node - 1];
  if (node?.health === "crashed") return { kind: "none", colour: "" };
  const holder = lane.node ? node?.lock : trace.nodes ? "" : step.lock;
  const held = holder && holder !== "nobody";
  return {
    kind: (node?.health === "hung" ? "dashed " : "") + (held ? "thick" : ""),
    colour: colour(trace.actors.indexOf(holder)),
    owner: held ? holder.slice(-5) : "",
  };
}

// whereOf is the lane at which a step goes wrong: its server, or else its actor.
const whereOf = (lanes, step) =>
  (
    lanes.find(lane => (step.command ? lane.node === (step.node || 0) : lane.actor >= 0 && lane.name === step.actor)) ??
    lanes.at(-1)
  ).at;

const life = (x, from, to, { kind, colour }) =>
  kind !== "none" &&
  line({ x1: x + "%", x2: x + "%", y1: from, y2: to, class: `life ${kind} ${kind.includes("thick") ? colour : ""}` });

const line = attributes => svg("line", attributes);

// sign writes a letter on a lifeline, over a disc so that it can be read.
const sign = (x, text, kind, y = middle) =>
  svg("svg", { x: x + "%", y, class: "sign " + kind }, [
    text.length < 2
      ? svg("circle", { r: ".62rem" })
      : svg("rect", { x: "-1.3rem", y: "-.6rem", width: "2.6rem", height: "1.2rem", rx: 6 }),
    svg("text", { dy: ".35em" }, text),
  ]);

const quiet = { ends: "○", waits: "○", begins: "○", leaves: "○", "times-out": "○" };
const signs = { ...quiet, clock: "◷", woken: "!", "lost-wake": "…", pauses: "‖", resumes: "▸" };

// happens draws an arrow to a server, or a sign on a lifeline.
function happens(lanes, step) {
  const from = lanes.find(lane => lane.name === step.actor && lane.actor !== undefined);
  const to = lanes.find(lane => lane.node === (step.node || 0));
  const servers = lanes.filter(lane => lane.node !== undefined);
  if (step.kind === "failover" || step.kind === "crashes") return sign(to.at, "✗", "bad");
  if (["restarts", "evicts", "lags"].includes(step.kind)) return sign(to.at, "○", "");
  if (!from) return servers.map(lane => sign(lane.at, "◷", "time"));
  if (step.command) return arrow(from, to, step);
  const text = signs[step.kind];
  return text && sign(from.at, text, colour(from.actor));
}

function arrow(from, to, step) {
  const late = step.kind === "late",
    lost = ["lost-request", "never-arrives"].includes(step.kind),
    before = step.sent || ["arrives", "never-arrives"].includes(step.kind); // it was on its way
  const end = lost || late ? from.at + (to.at - from.at) * 0.6 : to.at;
  const kind = "arrow " + colour(from.actor);
  const all = [
    line({ x1: from.at + "%", x2: end + "%", y1: middle, y2: middle, class: kind + (before || late ? " dashed" : "") }),
    !before && svg("circle", { cx: from.at + "%", cy: middle, r: 3.5, class: kind }),
  ];
  if (lost || late) return [...all, sign(end, lost ? "✗" : "…", "bad")];
  const tip = svg("path", { d: "M-11-5 L-1 0 L-11 5 Z" });
  all.push(svg("svg", { x: end + "%", y: middle, class: "tip " + colour(from.actor) }, tip));
  if (["lost-reply", "resends"].includes(step.kind)) all.push(sign((from.at + to.at) / 2, "✗", "bad"));
  return all;
}

// saying is what a step does, in words; without any, its command.
export const saying = step => step.says || short(step.command) || step.token;

// words say what a step does, and what is different after it.
function words(trace, step, before) {
  const fault = step.fault && [el("span.chip.warn", step.title ?? step.fault), " "];
  const all = [];
  if (!trace.nodes && step.lock !== before.lock) {
    const left = step.expires_ms ? say(", for ", "，还有 ") + duration(step.expires_ms) : "";
    all.push(step.lock ? say("lock: ", "锁：") + step.lock + left : say("no lock", "没有锁"));
  }
  if (step.stock !== before.stock && before.stock !== "") all.push(say("stock: ", "库存：") + step.stock);
  const changes = all.map(text => el("span.chip", text));
  return [
    el("p.says", fault, saying(step)),
    step.command && el("p.command", el("code", short(step.command) + outcome(step))),
    all.length > 0 && el("p.changes", changes),
  ];
}

// short writes owners as their actors' names.
export const short = text => text.replaceAll("distributedLock:", "");

// outcome is the reply, and what became of it.
function outcome({ kind, node, nodes, reply, task, actor }) {
  const lost = ["lost-reply", "resends", "lost-request", "never-arrives"].includes(kind);
  const fate = lost
    ? say("lost on the way", "途中丢失")
    : kind === "reads-late"
      ? say("unread", "没有读")
      : kind === "late"
        ? say("not there yet", "还没到")
        : kind === "arrives"
          ? say("which nobody waits for", "已没有人等它")
          : node > 0 && nodes?.[node - 1]?.health === "hung" && say("never sent", "没有发出");
  const text = ["lost-request", "never-arrives", "late"].includes(kind) ? "" : " → " + short(reply);
  return text + (fate ? say(", ", "，") + fate : "") + (task && !node ? ` (${actor}.${task})` : "");
}
