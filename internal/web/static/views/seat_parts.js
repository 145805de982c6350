// Parts of the seat: form fields, the state as a table, and the scenario in words and as a form.
import { el } from "../dom.js";
import { shorten } from "../trace.js";
import { duration, say } from "../words.js";

export const drawStatus = (kind, ...children) => el("p", { class: kind, role: "status" }, ...children);
export const drawOption = (value, text, selected) => el("option", { value, selected }, text);
export const drawSelect = (focus, name, act, options) => {
  const change = event => act(event.target.value);
  return el("select", { "data-focus": focus, "aria-label": name, onchange: change }, options);
};

// faultTitle returns the title of a fault.
export const faultTitle = ({ index }, name) => index.faults.find(fault => fault.name === name)?.title ?? name;

// describeChoice returns what a choice does.
export const describeChoice = choice => choice.says || choice.token;

export function drawState(seat) {
  const before = seat.at > 0 ? new Map(listFacts(seat, seat.before.view)) : null;
  const row = ([name, value]) =>
    el("tr", { class: before && before.get(name) !== value ? "changed" : null }, [
      el("th", { scope: "row" }, name),
      el("td", value),
    ]);
  return [el("h2", say("State", "状态")), el("table.facts", el("tbody", listFacts(seat, seat.here.view).map(row)))];
}

// describeActor returns whether a sale has the lock, or believes so, and the stock it has read.
export function describeActor({ hasLock }, { state, trace }, { name, stance }) {
  const has = name === state.holder ? say("has the lock", "持有锁") : say("believes it has the lock", "以为自己持有锁");
  const [, paused, phase] = stance.match(/^(paused)?-?(.*)$/);
  const stances = {
    absent: say("asleep", "还没开始"),
    outside:
      hasLock && (name === state.holder ? say("the lock is in its name", "锁在它名下") : say("no lock", "未持锁")),
    inside: hasLock && has,
    ended: say("done", "已结束"),
    dead: say("dead", "已崩溃"),
  };
  const last = trace.steps.findLast(step => step.actor === name && /\binventory\b/.test(step.command));
  const remembers =
    last?.kind === "command" && /\bGET inventory\b/.test(last.command) && !["ended", "dead"].includes(phase);
  const all = [
    paused && say("paused", "暂停"),
    stances[phase],
    remembers && say(`remembers ${last.reply}`, `记得库存 ${last.reply}`),
  ];
  return all.filter(Boolean).join(" · ") || say("awake", "进行中");
}

function listFacts(seat, view) {
  const { state } = view;
  /** @type {[string, string][]} */
  const facts = [[say("time", "时刻"), duration(state.at_ms)]];
  const fact = (name, value) => facts.push([name, value]);
  if (seat.hasLock) fact(say("lock", "锁"), state.holder || say("nobody’s", "没有人持有"));
  for (const actor of state.actors) {
    const { name, process } = actor;
    const where = process === name ? "" : say(` (process ${process})`, `（进程 ${process}）`);
    fact(name, describeActor(seat, view, actor) + where);
  }
  for (const { name: server, health: condition, lags, keys } of state.servers) {
    const health = { hung: say(" hangs", " 卡住"), crashed: say(" is down", " 宕机") }[condition] ?? "";
    if (health || lags) fact(server, health + (lags ? say(" its replica lags", " 从节点落后") : ""));
    for (const { name, values, expires_ms: left } of keys) {
      const expires = left ? say(`, for ${duration(left)}`, `，还有 ${duration(left)}`) : "";
      fact((server === "Redis" ? "" : server + " ") + name, shorten(values.join(" ")) + expires);
    }
  }
  state.timers.forEach(({ actor, in_ms: left }, i) => {
    fact(
      say(`timer ${i + 1}`, `定时器 ${i + 1}`),
      say(`${actor}’s, in ${duration(left)}`, `${actor} 的，${duration(left)}后`),
    );
  });
  state.messages.forEach(({ to, text, channel }, i) => {
    fact(
      say(`message ${i + 1}`, `消息 ${i + 1}`),
      say(`to ${to}: ${text || channel}`, `发给 ${to}：${text || channel}`),
    );
  });
  return facts;
}

// numberFlags lists the flags with a number or seconds: name, least, most, default, and meaning.
const numberFlags = [
  ["actors", 1, 4, 2, "buyers", "买家数"],
  ["sales", 1, 3, 1, "sales each, one after the other", "每人先后买几次"],
  ["replicas", 0, 4, 0, "processes (0: one each)", "进程数（0：各一个）"],
  ["nested", 0, 5, 0, "nested calls", "嵌套层数"],
  ["try", 0, 4, 0, "who try once and do not wait", "只试一次、不等待的单数"],
  ["work", 0, 60, "0s", "seconds of work (the lock’s expiry: 10)", "业务耗时的秒数（锁的过期时间：10）"],
  ["skew", 0, 60, "0s", "seconds by which clocks are off", "时钟相差的秒数"],
];
const isTime = usual => /s$/.test(usual);

// describeScenario returns the flags that differ from their defaults, and the possible faults.
export function describeScenario(seat) {
  const flags = parseFlags(seat.place.in);
  const words = name => {
    const [, , , usual, english, chinese] = numberFlags.find(each => each[0] === name) ?? [];
    const label = english ? say(english, chinese).replace(/ ?[(（].*/, "") : name;
    return `${label}${say(": ", "：")}${isTime(usual) ? parseSeconds(flags.get(name)) : flags.get(name)}`;
  };
  const may = [...parseFaults(flags)].map(([name, n]) => faultTitle(seat, name) + (+n > 1 ? ` ×${n}` : ""));
  return [
    ...[...flags.keys()].filter(name => name !== "faults").map(words),
    may.length ? say("faults: ", "故障：") + may.join(say(", ", "、")) : say("no faults", "没有故障"),
  ].join(" · ");
}

// drawScenarioForm draws the fields of the scenario.
export function drawScenarioForm(seat) {
  const flags = parseFlags(seat.place.in),
    budget = parseFaults(flags);
  const set = (name, value, usual) => {
    const next = new Map(flags);
    if (value === "" || value === String(usual)) next.delete(name);
    else next.set(name, value);
    seat.change({ in: formatFlags(next), search: seat.place.search.replace("table", "1") });
  };
  const field = (focus, min, max, value, take) =>
    el("input", {
      type: "number",
      min,
      max,
      value,
      "data-focus": focus,
      onchange: ({ target }) => target.reportValidity() && take(target.value),
    });
  const number = ([name, least, most, usual, english, chinese]) => {
    const value = flags.get(name) ?? usual,
      unit = isTime(usual) ? "s" : "";
    return el("label", [
      field("flag-" + name, least, most, unit ? parseSeconds(value) : value, n => set(name, n + unit, usual)),
      say(english, chinese),
    ]);
  };
  const fault = ({ name, title, says }) => {
    const allow = n => {
      const next = new Map(budget).set(name, n);
      if (n === "" || n === "0") next.delete(name);
      set("faults", [...next].map(([name, n]) => `${name}=${n}`).join(","));
    };
    return el("label.fault", [
      field("fault-" + name, 0, 9, budget.get(name) ?? 0, allow),
      el("span", el("b", title), " ", el("span.soft.small", says)),
    ]);
  };
  return el("div.form", [
    el("div.numbers", numberFlags.map(number)),
    el("h3", say("What may go wrong, and how often", "可能出什么故障，各几次")),
    el("div.faults", seat.index.faults.map(fault)),
  ]);
}

// parseFlags parses flags: --actors 2 --faults expiry=1.
function parseFlags(text) {
  const flags = new Map(),
    words = text.split(/\s+/).filter(Boolean);
  for (let i = 0; i < words.length; i++) {
    const [, name, value] = words[i].match(/^--([^=]+)=?(.*)$/) ?? [];
    if (name) flags.set(name, words[i].includes("=") ? value : (words[++i] ?? ""));
  }
  return flags;
}

const formatFlags = flags => [...flags].map(([name, value]) => `--${name} ${value}`).join(" ");

const parseFaults = flags =>
  new Map(
    (flags.get("faults") ?? "")
      .split(",")
      .filter(Boolean)
      .map(each => [...each.split("="), "1"].slice(0, 2)),
  );

// parseSeconds parses durations: 25s, 1m30s.
const parseSeconds = text =>
  [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, n, unit]) => sum + n * { h: 3600, m: 60, s: 1, ms: 0.001 }[unit],
    0,
  );
