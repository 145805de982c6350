// Parts of the seat: what can happen next and what cannot, what is so now, and the scenario in words and as a form.
import { el, kbd } from "../dom.js";
import { short } from "../trace.js";
import { duration, say } from "../words.js";

export const p = (kind, ...children) => el("p", { class: kind }, ...children);
export const div = (kind, ...children) => el("div", { class: kind }, ...children);
export const status = (kind, ...children) => el("p", { class: kind, role: "status" }, ...children);
export const option = (value, text, selected) => el("option", { value, selected }, text);
export const select = (focus, name, act, options) => {
  const change = event => act(event.target.value);
  return el("select", { "data-focus": focus, "aria-label": name, onchange: change }, options);
};

// faultOf is how people call a fault.
export const faultOf = ({ index }, name) => index.faults.find(fault => fault.name === name)?.title ?? name;

export function choicesPanel(seat) {
  const { choices, disabled, over, state } = seat.here.view;
  const numbered = choices.map((choice, i) => ({ ...choice, i }));
  const allowed = Object.keys(state.left),
    cannot = disabled.filter(({ what }) => !allowed.includes(what));
  const list = (kind, entries) => el("ul", { class: "choices" + kind }, entries);
  const buttons = fault => numbered.filter(choice => choice.fault === fault).map(choice => button(seat, choice));
  const called = what => (what === "time" ? say("time", "时间") : faultOf(seat, what));
  return [
    el("h2", null, say("What happens next?", "接下来发生什么？")),
    over && p("", say("No moves left: every sale has ended.", "没有可执行的步骤了：每一单都已结束。")),
    list(
      "",
      buttons("").map(one => el("li", null, one)),
    ),
    allowed.length > 0 && [
      el("h2", null, say("Faults", "故障")),
      list(
        " palette",
        allowed.map(name => {
          const why = disabled.find(({ what }) => what === name)?.why;
          return el("li", null, faultSays(seat, name, state.left[name], why), buttons(name));
        }),
      ),
    ],
    list(
      "",
      cannot.map(({ what, why }) =>
        el("li", { class: "cannot" }, !why.startsWith(what) && [el("b", null, called(what)), " "], why),
      ),
    ),
  ];
}

// faultSays is a fault, how often it may happen still, and why it cannot now.
function faultSays(seat, name, left, why) {
  const often = left === 0 ? say("none left", "已用完") : say(`${left} left`, `还剩 ${left} 次`);
  return el(
    "p",
    { class: "fault", title: seat.index.faults.find(fault => fault.name === name)?.says },
    el("span", { class: "chip warn" }, faultOf(seat, name)),
    " ",
    el("span", { class: "soft small" }, often, left > 0 && why && " · " + why),
  );
}

// choiceSays is what a choice does, in the words of its button.
export const choiceSays = choice => choice.says || choice.token;

function button(seat, choice) {
  const { i, token, command } = choice,
    hinted = seat.hint?.next === token;
  return el(
    "button",
    {
      class: hinted ? "choice hinted" : "choice",
      "data-focus": "choice" + i,
      "data-token": token,
      onclick: () => seat.take(token),
    },
    i < 9 && kbd(i + 1),
    el("span", { class: "what" }, el("span", null, choiceSays(choice)), command && el("code", null, short(command))),
    hinted && el("span", { class: "chip" }, say("hint", "提示")),
    seat.distance.badge(token),
  );
}

export function statePanel(seat) {
  const before = seat.at > 0 ? new Map(factsOf(seat.before.view.state)) : null;
  const row = ([name, value]) =>
    el(
      "tr",
      { class: before && before.get(name) !== value ? "changed" : null },
      el("th", { scope: "row" }, name),
      el("td", null, value),
    );
  return [
    el("h2", null, say("State", "状态")),
    el("table", { class: "facts" }, el("tbody", null, factsOf(seat.here.view.state).map(row))),
  ];
}

const stances = () => ({
  absent: say("has not begun", "还没开始"),
  outside: say("does not hold the lock, as far as it knows", "认为自己没有持有锁"),
  inside: say("believes it holds the lock", "认为自己持有锁"),
  paused: say("paused", "暂停"),
  "paused-inside": say("paused; believes it holds the lock", "暂停；认为自己持有锁"),
  ended: say("has ended", "已结束"),
  dead: say("dead", "已崩溃"),
});

function factsOf(state) {
  /** @type {[string, string][]} */
  const facts = [
    [say("time", "时刻"), duration(state.at_ms)],
    [say("lock", "锁"), state.holder || say("nobody’s", "没有人持有")],
  ];
  const fact = (name, value) => facts.push([name, value]);
  for (const { name, process, stance } of state.actors) {
    const where = process === name ? "" : say(` (process ${process})`, `（进程 ${process}）`);
    fact(name, (stances()[stance] ?? stance) + where);
  }
  for (const { name: server, health: is, lags, keys } of state.servers) {
    const health = { hung: say(" hangs", " 卡住"), crashed: say(" is down", " 宕机") }[is] ?? "";
    if (health || lags) fact(server, health + (lags ? say(" its replica lags", " 从节点落后") : ""));
    for (const { name, values, expires_ms: left } of keys) {
      const expires = left ? say(`, for ${duration(left)}`, `，还有 ${duration(left)}`) : "";
      fact((server === "Redis" ? "" : server + " ") + name, short(values.join(" ")) + expires);
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

// numbers are the flags that take one, or seconds: name, least, most, what is usual, and what it means.
const numbers = [
  ["actors", 1, 4, 2, "buyers", "买家数"],
  ["sales", 1, 3, 1, "sales each, one after the other", "每人先后买几次"],
  ["replicas", 0, 4, 0, "processes (0: one each)", "进程数（0：各一个）"],
  ["nested", 0, 5, 0, "nested calls", "嵌套层数"],
  ["try", 0, 4, 0, "who try once and do not wait", "只试一次、不等待的单数"],
  ["work", 0, 60, "0s", "seconds of work (the lock’s expiry: 10)", "业务耗时的秒数（锁的过期时间：10）"],
  ["skew", 0, 60, "0s", "seconds by which clocks are off", "时钟相差的秒数"],
];
const isTime = usual => /s$/.test(usual);

// scenarioSays is the scenario in words: what is not as usual, and what may go wrong.
export function scenarioSays(seat) {
  const flags = parse(seat.place.in);
  const words = name => {
    const [, , , usual, english, chinese] = numbers.find(each => each[0] === name) ?? [];
    const label = english ? say(english, chinese).replace(/ ?[(（].*/, "") : name;
    return `${label}: ${isTime(usual) ? seconds(flags.get(name)) : flags.get(name)}`;
  };
  const may = [...faultsOf(flags)].map(([name, n]) => faultOf(seat, name) + (+n > 1 ? ` ×${n}` : ""));
  return [
    ...[...flags.keys()].filter(name => name !== "faults").map(words),
    may.length ? say("faults: ", "故障：") + may.join(say(", ", "、")) : say("no faults", "没有故障"),
  ].join(" · ");
}

// scenarioForm has the fields of the seat's scenario.
export function scenarioForm(seat) {
  const flags = parse(seat.place.in),
    budget = faultsOf(flags);
  const set = (name, value, usual) => {
    const next = new Map(flags);
    if (value === "" || value === String(usual)) next.delete(name);
    else next.set(name, value);
    seat.change({ in: write(next), search: seat.place.search.replace("table", "1") });
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
    const value = flags.get(name) ?? usual;
    return el(
      "label",
      null,
      isTime(usual)
        ? field("flag-" + name, least, most, seconds(value), n => set(name, n + "s", usual))
        : field("flag-" + name, least, most, value, n => set(name, n, usual)),
      say(english, chinese),
    );
  };
  const fault = ({ name, title, says }) => {
    const allow = n => {
      const next = new Map(budget).set(name, n);
      if (n === "" || n === "0") next.delete(name);
      set("faults", [...next].map(([name, n]) => `${name}=${n}`).join(","));
    };
    return el(
      "label",
      { class: "fault" },
      field("fault-" + name, 0, 9, budget.get(name) ?? 0, allow),
      el("span", null, el("b", null, title), " ", el("span", { class: "soft small" }, says)),
    );
  };
  return div(
    "form",
    div("numbers", numbers.map(number)),
    el("h3", null, say("What may go wrong, and how often", "可能出什么故障，各几次")),
    div("faults", seat.index.faults.map(fault)),
  );
}

// parse reads flags: --actors 2 --faults expiry=1.
function parse(text) {
  const flags = new Map(),
    words = text.split(/\s+/).filter(Boolean);
  for (let i = 0; i < words.length; i++) {
    const [, name, value] = words[i].match(/^--([^=]+)=?(.*)$/) ?? [];
    if (name) flags.set(name, words[i].includes("=") ? value : (words[++i] ?? ""));
  }
  return flags;
}

const write = flags => [...flags].map(([name, value]) => `--${name} ${value}`).join(" ");

const faultsOf = flags =>
  new Map(
    (flags.get("faults") ?? "")
      .split(",")
      .filter(Boolean)
      .map(each => [...each.split("="), "1"].slice(0, 2)),
  );

// seconds reads 25s, 1m30s, ….
const seconds = text =>
  [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, n, unit]) => sum + n * { h: 3600, m: 60, s: 1, ms: 0.001 }[unit],
    0,
  );
