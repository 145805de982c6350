// Which lock, and in which scenario: the flags of lockstep explore, as a form.
import { el } from "../dom.js";
import { say } from "../words.js";

// numbers are the flags that take one: name, least, most, what is usual, and what it means.
const numbers = [
  ["actors", 1, 4, 2, "sales", "几单"],
  ["sales", 1, 3, 1, "one after the other, each", "每人买几次"],
  ["replicas", 0, 4, 0, "processes (0: one each)", "几个进程（0：各一个）"],
  ["nested", 0, 5, 0, "nested calls", "嵌套层数"],
  ["try", 0, 4, 0, "try once, do not wait", "只试一次的"],
  ["polls", 0, 100, "", "polls in vain (empty: as many as are cheap)", "空轮询次数（留空：开销小时尽量多）"],
];

// scenarioPanel is the form of the scenario of a place, {lock, in}: the seat, or an exploration. Another one is told by
// change.
export function scenarioPanel(seat) {
  const { lock, place } = seat;
  const flags = parse(place.in);
  return [
    el(
      "p",
      { class: "small" },
      say("Adds: ", "新增："),
      lock?.adds,
      say(". Still broken: ", "。遗留问题："),
      lock?.still_broken,
      say(".", "。"),
    ),
    form(seat, flags, faultsOf(flags)),
  ];
}

function form(seat, flags, budget) {
  const set = (name, value, usual) => {
    const next = new Map(flags);
    if (value === "" || value === String(usual)) next.delete(name);
    else next.set(name, value);
    seat.change({ in: write(next), do: seat.place.do });
  };
  const number = ([name, least, most, usual, english, chinese]) =>
    el(
      "label",
      null,
      el("input", {
        type: "number",
        min: least,
        max: most,
        value: flags.get(name) ?? usual,
        "data-focus": "flag-" + name,
        onchange: event => event.target.reportValidity() && set(name, event.target.value, usual),
      }),
      say(english, chinese),
    );
  const work = el(
    "label",
    null,
    el("input", {
      type: "number",
      min: 0,
      max: 3600,
      value: seconds(flags.get("work") ?? "0s"),
      "data-focus": "flag-work",
      onchange: event =>
        event.target.reportValidity() && set("work", event.target.value === "0" ? "" : event.target.value + "s", ""),
    }),
    say("seconds of work (the lock’s expiry: 10)", "秒业务耗时（锁的过期时间：10）"),
  );
  const fault = ({ name, says }) =>
    el(
      "label",
      { class: "fault" },
      el("input", {
        type: "number",
        min: 0,
        max: 9,
        value: budget.get(name) ?? 0,
        "data-focus": "fault-" + name,
        onchange: event => {
          if (!event.target.reportValidity()) return;
          const next = new Map(budget);
          if (+event.target.value) next.set(name, event.target.value);
          else next.delete(name);
          set("faults", [...next].map(([name, n]) => `${name}=${n}`).join(","));
        },
      }),
      el("span", null, el("b", null, name), " ", el("span", { class: "soft small" }, says)),
    );
  return el(
    "div",
    { class: "form" },
    el("div", { class: "numbers" }, numbers.map(number), work),
    el(
      "fieldset",
      null,
      el("legend", null, say("What may go wrong, and how often", "可能出什么故障，各几次")),
      el("div", { class: "faults" }, seat.index.faults.map(fault)),
    ),
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
