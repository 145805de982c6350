// The steps of the evolution: what changes in the code from a lock to the next one, and what that cures, costs and
// leaves broken.
import { el, replace } from "../dom.js";
import { highlight } from "../highlight.js";
import { bind } from "../keys.js";
import { go, link } from "../route.js";
import { get } from "../server.js";
import { language, say, several } from "../words.js";

export function show(main, route) {
  let all = [],
    shown = route.path[1],
    gone = false;
  const list = el("nav.steps-list", { "aria-label": say("Steps", "演进的各步") });
  const body = el("article.step", { "aria-live": "polite" });
  main.append(
    el("h1.unseen", say("The steps of the evolution", "演进的各步")),
    el("p", el("a", { href: "#/table" }, say("Which lock shows which anomaly", "哪种锁会出现哪种异常"))),
    list,
    body,
  );

  const leave = bind(
    ["k", "the step before", "上一步", () => turn(-1)],
    ["j", "the next step", "下一步", () => turn(1)],
    ["ArrowLeft", "", "", () => turn(-1)],
    ["ArrowRight", "", "", () => turn(1)],
    [null, "the step before, the next step", "上一步、下一步", "← →"],
  );

  const at = () => all.findIndex(step => pair(step) === shown);
  function turn(by) {
    const next = all[at() + by];
    if (!next) return;
    shown = pair(next); // two quick keys are two steps
    go(address(next));
  }

  async function follow(route) {
    shown = route.path[1];
    try {
      if (!all.length) all = await get("/seat/steps", { lang: language() });
      if (gone) return;
      drawList();
      if (!shown) return replace(body, overview(all));
      const named = all.find(step => [pair(step), step.to].includes(shown));
      if (!named) throw Error(say(`There is no step ${shown}.`, `没有“${shown}”这一步。`));
      if (pair(named) !== shown) return go(address(named), { instead: true });
      const asked = shown,
        step = await get("/seat/steps/" + encodeURIComponent(shown), { lang: language() });
      if (!gone && asked === shown) replace(body, ...detail(step, all[at() - 1], all[at() + 1]));
    } catch (failure) {
      if (!gone) replace(body, el("p.note.bad", { role: "alert" }, failure.message));
    }
  }

  function drawList() {
    replace(
      list,
      all.map(step =>
        el(
          "a",
          { href: address(step), title: step.title, "aria-current": pair(step) === shown ? "page" : null },
          arrow(step),
        ),
      ),
    );
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  follow(route);
  return {
    follow,
    leave() {
      gone = true;
      leave();
    },
  };
}

const pair = step => `${step.from}-${step.to}`;
const address = step => link(["steps", pair(step)]);
const arrow = step => `${step.from} → ${step.to}`;

function overview(all) {
  return [
    el(
      "p",
      say(
        "Each lock cures one flaw of the one before it, and still has the next. The difference of two is the lesson.",
        "每种锁修复前一种的一个缺陷，又留下下一个。两者的差异就是这一课。",
      ),
    ),
    el(
      "ol.steps-all",
      all.map(step =>
        el(
          "li.sheet",
          el("h2", el("a", { href: address(step) }, arrow(step)), " ", el("span.soft", step.title)),
          el("p", step.adds),
          el("p.small", el("b", say("Still broken: ", "仍有的问题：")), step.still_broken),
          step.measured[0] && el("p.small", el("b", say("Measured: ", "实测：")), step.measured[0]),
        ),
      ),
    ),
  ];
}

function detail(step, before, after) {
  const neighbour = (other, text, key) =>
    other && el("a.button", { href: address(other), title: `${arrow(other)} (${key})` }, text);
  return [
    el(
      "header.row",
      el("h2", arrow(step), " ", el("span.soft", step.title)),
      el(
        "span.row",
        neighbour(before, "← " + (before && arrow(before)), "k"),
        neighbour(after, (after && arrow(after)) + " →", "j"),
      ),
    ),
    el(
      "div.step-says",
      says(say("Adds", "加了什么"), step.adds, step.cure, ...step.gone),
      says(say("Costs", "代价"), step.costs),
      says(say("Still broken", "仍有的问题"), step.still_broken),
      step.measured.length > 0 && says(say("Measured", "实测"), ...step.measured, step.where),
      shows(step),
    ),
    el("div.step-code", step.files.map(file)),
  ];
}

// changes draws what a step changes in the code: "v2-v3".
export async function changes(pair) {
  const { files } = await get("/seat/steps/" + encodeURIComponent(pair), { lang: language() });
  return el("div.step-code", files.map(file));
}

const says = (title, ...texts) =>
  el(
    "section.sheet",
    el("h3", title),
    texts.filter(Boolean).map((text, i) => el("p", { class: i ? "small soft" : "" }, text)),
  );

// shows is where the step can be seen: the seat, the lab, the exercise.
function shows(step) {
  const { lock, in: scenario, do: schedule, anomaly, beside } = step.shown;
  const seat = link(["schedule", lock], { in: scenario, do: schedule, anomaly, beside });
  const text = beside
    ? say(`The same schedule under ${lock} and ${beside}`, `同一时序：${lock} 与 ${beside} 并排`)
    : say(`See ${lock} do it`, `看 ${lock} 怎么做`);
  const commands = step.lab && [step.from, step.to].map(name => `go run . lab ${step.lab} --lock ${name}`).join("\n");
  return el(
    "section.sheet",
    el("h3", say("See it", "亲眼看看")),
    step.flaw && el("p", el("b", say(`The flaw of ${step.from}: `, `${step.from} 的缺陷：`)), step.flaw),
    el(
      "p.row",
      el("a.button.main", { href: seat }, text),
      step.exercise &&
        el("span", say("Exercise: ", "练习："), el("code", `go run . check ${step.exercise.slice(0, 2)}`)),
    ),
    commands && el("pre", { tabindex: 0, role: "region", "aria-label": say("The lab", "实验") }, commands),
  );
}

const context = 3; // unchanged lines around a change that are shown at once

function file({ name, says, head, added, removed, lines }) {
  return el(
    "details.sheet.file",
    { open: !head },
    el(
      "summary",
      el("code", name),
      " ",
      added > 0 && el("span.good", `+${added} `),
      removed > 0 && el("span.bad", `−${removed} `),
      el("span.small.soft", says),
    ),
    el(
      "pre.diff",
      { tabindex: 0, role: "region", "aria-label": name },
      folded(lines, name.endsWith(".lua") ? "lua" : "go"),
    ),
  );
}

// folded draws lines, with long unchanged parts behind a button.
function folded(lines, syntax) {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - context), i + context + 1).some(line => line.kind !== " "),
  );
  const drawn = [];
  for (let i = 0; i < lines.length; ) {
    const from = i,
      seen = near[i];
    while (i < lines.length && near[i] === seen) i++;
    const part = lines.slice(from, i);
    drawn.push(seen || part.length < 4 ? part.map(line => draw(line, syntax)) : fold(part, syntax));
  }
  return drawn;
}

function fold(part, syntax) {
  return el(
    "button.quiet.fold",
    { onclick: event => event.currentTarget.replaceWith(...part.map(line => draw(line, syntax))) },
    "⋯ " + several(part.length, "unchanged line", "行未变"),
  );
}

const element = { " ": "span", "+": "ins", "-": "del" };
const draw = ({ kind, text, mark }, syntax) =>
  el(
    element[kind],
    { class: "line", style: { "--tabs": text.match(/^\t*/)[0].length } },
    el("i.sign", kind),
    highlight(text, syntax, mark),
    "\n",
  );
