// A trace as a sequence diagram: a lifeline for each actor and each server, with time going down. A thick lifeline is
// an actor that believes it holds the lock, a dashed one is paused. A server’s is thick while a lock is there, in the
// colour of its owner. A fault is a line across.
import { el, svg } from "./dom.js";
import { duration, say } from "./words.js";

// drawTrace draws trace.Trace as a list of steps. Options: current, the 1-based step to mark, or 0; onstep, called with
// the step that is clicked; notes, returns more to show of a step; shown, the anomalies to mark, each with its step,
// title and explanation.
export function drawTrace(trace, options = {}) {
  const { current = Infinity, onstep, notes, shown = [] } = options;
  const lanes = listLanes(trace);
  const rows = trace.steps.map((step, i) => {
    const n = i + 1,
      before = stateBefore(trace, i),
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
          drawMarks(lanes, trace, step, before, breach.length > 0),
        ]),
        el("div.words", drawWords(trace, step, before), breach.map(drawBreach), notes?.(n)),
      ],
    );
  });
  return el("div.trace", { style: { "--lanes": lanes.length } }, [
    drawHead(lanes),
    el("ol", rows),
    trace.says && !shown.length && el("p.verdict", drawCross(), trace.says),
  ]);
}

// stateBefore returns the state before a 0-based step.
export const stateBefore = (trace, i) =>
  trace.steps[i - 1] ?? { standing: trace.actors.map(() => "absent"), lock: "", stock: "", nodes: [] };

const drawCross = () => el("span", { "aria-hidden": "true" }, "✗ ");

// drawBreach describes an anomaly at its step.
const drawBreach = ({ anomaly, title, says }) =>
  el("p.told-breach", drawCross(), el("b", { title: anomaly }, title), say(": ", "："), says);

// drawLegend explains the lines of a trace, with or without a lock.
export const drawLegend = trace =>
  el("p.soft.small", [
    trace.nodes || trace.steps.some(({ lock }) => lock)
      ? say(
          "A thick line: this sale believes that it holds the lock, until it begins to release it. Dashed: paused. " +
            "On Redis: the letter is whose the lock is in truth.",
          "粗线：这一单认为自己持有锁（到开始释放为止）。虚线：暂停。Redis 上的字母：锁实际上是谁的。",
        )
      : say("A thick line: this sale is under way. Dashed: paused.", "粗线：这一单正在进行。虚线：暂停。"),
  ]);

// listLanes returns the lifelines with their horizontal positions in percent.
export function listLanes(trace) {
  const nodes = Array.from({ length: trace.nodes ?? 0 }, (_, i) => ({ name: "n" + (i + 1), node: i + 1 }));
  const lanes = [...trace.actors.map((name, actor) => ({ name, actor })), ...nodes, { name: "Redis", node: 0 }];
  return lanes.map((lane, i) => ({ ...lane, at: ((i + 0.5) / lanes.length) * 100 }));
}

const drawHead = lanes => {
  const names = lanes.map(lane => el("span", { class: colourClass(lane.actor) || "redis" }, lane.name));
  return el("div.head", { "aria-hidden": "true" }, el("span"), el("div.names", names));
};

export const colourClass = actor => (actor === undefined || actor < 0 ? "" : "actor" + (actor % 4));

const middle = "1.15rem"; // height in its row at which a step happens

// drawMarks draws one step: the lifelines above and below it, and what happens.
export function drawMarks(lanes, trace, step, before, breach) {
  const marks = [];
  for (const lane of lanes) {
    const above = lifelineLook(lane, trace, before),
      below = lifelineLook(lane, trace, step);
    marks.push(drawLifeline(lane.at, 0, middle, above), drawLifeline(lane.at, middle, "102%", below));
    if (above.kind !== "none" && step.standing[lane.actor] === "dead") marks.push(drawSign(lane.at, "✗", "bad"));
    if (below.owner && below.owner !== above.owner)
      marks.push(drawSign(lane.at, below.owner, below.colour + " owner", "2.45rem"));
  }
  if (step.fault || (step.actor === "" && step.kind === "time")) {
    marks.push(svg("line", { x1: "1%", x2: "99%", y1: middle, y2: middle, class: step.fault ? "rule" : "rule time" }));
  }
  marks.push(drawEvent(lanes, step));
  if (breach) marks.push(drawSign(breachPlace(lanes, step), "✗", "bad owner"));
  return marks;
}

const stances = { absent: "none", ended: "none", dead: "none", inside: "thick", paused: "dashed" };

// lifelineLook returns the style of a lifeline after a step.
function lifelineLook(lane, trace, step) {
  if (lane.actor !== undefined) {
    const stance = step.standing[lane.actor];
    const kind = stance === "paused-inside" ? "thick dashed" : (stances[stance] ?? "");
    return { kind, colour: colourClass(lane.actor) };
  }
  const node = step.nodes?.[lane.node - 1];
  if (node?.health === "crashed") return { kind: "none", colour: "" };
  const holder = lane.node ? node?.lock : trace.nodes ? "" : step.lock;
  const held = holder && holder !== "nobody";
  return {
    kind: (node?.health === "hung" ? "dashed " : "") + (held ? "thick" : ""),
    colour: colourClass(trace.actors.indexOf(holder)),
    owner: held ? holder.slice(-5) : "",
  };
}

// breachPlace returns the lifeline at which a step goes wrong: its server’s, or else its actor’s.
const breachPlace = (lanes, step) =>
  (
    lanes.find(lane => (step.command ? lane.node === (step.node || 0) : lane.actor >= 0 && lane.name === step.actor)) ??
    lanes.at(-1)
  ).at;

const drawLifeline = (x, y1, y2, { kind, colour }) => {
  const style = `life ${kind} ${kind.includes("thick") ? colour : ""}`;
  return kind !== "none" && svg("line", { x1: x + "%", x2: x + "%", y1, y2, class: style });
};

// drawSign draws a letter over a disc on a lifeline.
const drawSign = (x, text, kind, y = middle) =>
  svg("svg", { x: x + "%", y, class: "sign " + kind }, [
    text.length < 2
      ? svg("circle", { r: ".62rem" })
      : svg("rect", { x: "-1.3rem", y: "-.6rem", width: "2.6rem", height: "1.2rem", rx: 6 }),
    svg("text", { dy: ".35em" }, text),
  ]);

const pointSymbols = { ends: "○", waits: "○", begins: "○", leaves: "○", "times-out": "○" };
const symbols = { ...pointSymbols, clock: "◷", woken: "!", "lost-wake": "…", pauses: "‖", resumes: "▸" };

// drawEvent draws an arrow to a server, or a symbol on a lifeline.
function drawEvent(lanes, step) {
  const from = lanes.find(lane => lane.name === step.actor && lane.actor !== undefined);
  const to = lanes.find(lane => lane.node === (step.node || 0));
  const servers = lanes.filter(lane => lane.node !== undefined);
  if (step.kind === "failover" || step.kind === "crashes") return drawSign(to.at, "✗", "bad");
  if (["restarts", "evicts", "lags"].includes(step.kind)) return drawSign(to.at, "○", "");
  if (!from) return servers.map(lane => drawSign(lane.at, "◷", "time"));
  if (step.command) return drawArrow(from, to, step);
  const text = symbols[step.kind];
  return text && drawSign(from.at, text, colourClass(from.actor));
}

function drawArrow(from, to, step) {
  const late = step.kind === "late",
    lost = ["lost-request", "never-arrives"].includes(step.kind),
    before = step.sent || ["arrives", "never-arrives"].includes(step.kind); // sent in an earlier step
  const end = lost || late ? from.at + (to.at - from.at) * 0.6 : to.at;
  const kind = "arrow " + colourClass(from.actor),
    dashed = before || late ? " dashed" : "";
  const all = [
    svg("line", { x1: from.at + "%", x2: end + "%", y1: middle, y2: middle, class: kind + dashed }),
    !before && svg("circle", { cx: from.at + "%", cy: middle, r: 3.5, class: kind }),
  ];
  if (lost || late) return [...all, drawSign(end, lost ? "✗" : "…", "bad")];
  const tip = svg("path", { d: "M-11-5 L-1 0 L-11 5 Z" });
  all.push(svg("svg", { x: end + "%", y: middle, class: "tip " + colourClass(from.actor) }, tip));
  if (["lost-reply", "resends"].includes(step.kind)) all.push(drawSign((from.at + to.at) / 2, "✗", "bad"));
  return all;
}

// describeStep returns a step’s description, or else its command.
export const describeStep = step => step.says || shorten(step.command) || step.token;

// drawWords describes a step and what it changes.
function drawWords(trace, step, before) {
  const fault = step.fault && [el("span.chip.warn", step.title ?? step.fault), " "];
  const all = [];
  if (!trace.nodes && step.lock !== before.lock) {
    const left = step.expires_ms ? say(", for ", "，还有 ") + duration(step.expires_ms) : "";
    all.push(step.lock ? say("lock: ", "锁：") + step.lock + left : say("no lock", "没有锁"));
  }
  if (step.stock !== before.stock && before.stock !== "") all.push(say("stock: ", "库存：") + step.stock);
  const changes = all.map(text => el("span.chip", text));
  return [
    el("p.says", fault, describeStep(step)),
    step.command && el("p.command", el("code", shorten(step.command) + describeReply(step))),
    all.length > 0 && el("p.changes", changes),
  ];
}

// shorten drops the prefix of lock keys.
export const shorten = text => text.replaceAll("distributedLock:", "");

// describeReply returns a command’s reply, and how it was lost or delayed.
function describeReply({ kind, node, nodes, reply, task, actor }) {
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
  const text = ["lost-request", "never-arrives", "late"].includes(kind) ? "" : " → " + shorten(reply);
  return text + (fate ? say(", ", "，") + fate : "") + (task && !node ? ` (${actor}.${task})` : "");
}
