// Parts of the seat: what can happen next and what cannot, what is so now, and the scenario as a form.
import { el, kbd } from "../dom.js";
import { short } from "../trace.js";
import { duration, say } from "../words.js";

export function choicesPanel(seat) {
  const { choices, disabled, over, state } = seat.here.view;
  const numbered = choices.map((choice, i) => ({ ...choice, i }));
  const plain = numbered.filter(choice => !choice.fault);
  const allowed = Object.keys(state.left),
    cannot = disabled.filter(({ what }) => !allowed.includes(what));
  return [
    el("h2", null, say("What happens next?", "接下来发生什么？")),
    over && el("p", null, say("Nothing more will happen: everybody has ended.", "不会再发生什么了：都结束了。")),
    el(
      "ul",
      { class: "choices" },
      plain.map(choice => el("li", null, button(seat, choice))),
    ),
    allowed.length > 0 && [
      el("h2", null, say("Faults", "故障")),
      el(
        "ul",
        { class: "choices palette" },
        allowed.map(name =>
          palette(
            seat,
            name,
            state.left[name],
            numbered.filter(({ fault }) => fault === name),
            disabled.find(({ what }) => what === name),
          ),
        ),
      ),
    ],
    el(
      "ul",
      { class: "choices" },
      cannot.map(({ what, why }) =>
        el(
          "li",
          { class: "cannot" },
          !why.startsWith(what) && [el("b", null, what === "time" ? say("time", "时间") : what), " "],
          why,
        ),
      ),
    ),
  ];
}

function palette(seat, name, left, choices, disabled) {
  const says = seat.index.faults.find(fault => fault.name === name)?.says;
  return el(
    "li",
    null,
    el(
      "p",
      { class: "fault", title: says },
      el("span", { class: "chip warn" }, name),
      " ",
      el(
        "span",
        { class: "soft small" },
        left === 0 ? say("none left", "已用完") : say(`${left} left`, `还剩 ${left} 次`),
      ),
      left > 0 && choices.length === 0 && disabled && el("span", { class: "soft small" }, " · ", disabled.why),
    ),
    choices.map(choice => button(seat, choice)),
  );
}

// choiceSays is what a choice does, in the words of its button.
export const choiceSays = choice => choice.says || choice.token;

function button(seat, choice) {
  const hinted = seat.hint?.next === choice.token;
  return el(
    "button",
    {
      class: ["choice", hinted && "hinted"].filter(Boolean).join(" "),
      "data-focus": "choice" + choice.i,
      "data-token": choice.token,
      onclick: () => seat.take(choice.token),
    },
    choice.i < 9 && kbd(choice.i + 1),
    el(
      "span",
      { class: "what" },
      el("span", null, choiceSays(choice)),
      choice.command && el("code", null, short(choice.command)),
    ),
    hinted && el("span", { class: "chip" }, say("hint", "提示")),
    seat.oracle.badge(choice.token),
  );
}

export function statePanel(seat) {
  const facts = factsOf(seat.here.view.state),
    before = seat.at > 0 ? new Map(factsOf(seat.before.view.state)) : null;
  return [
    el("h2", null, say("State", "状态")),
    el(
      "table",
      { class: "facts" },
      el(
        "tbody",
        null,
        facts.map(([name, value]) =>
          el(
            "tr",
            { class: before && before.get(name) !== value ? "changed" : null },
            el("th", { scope: "row" }, name),
            el("td", null, value),
          ),
        ),
      ),
    ),
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
  for (const actor of state.actors) {
    const process = actor.process === actor.name ? "" : say(` (process ${actor.process})`, `（进程 ${actor.process}）`);
    facts.push([actor.name, (stances()[actor.stance] ?? actor.stance) + process]);
  }
  for (const server of state.servers) {
    const health = { hung: say(" hangs", " 卡住"), crashed: say(" is down", " 宕机") }[server.health] ?? "";
    if (health || server.lags)
      facts.push([server.name, health + (server.lags ? say(" its replica lags", " 从节点落后") : "")]);
    for (const key of server.keys) {
      const expires = key.expires_ms
        ? say(`, for ${duration(key.expires_ms)}`, `，还有 ${duration(key.expires_ms)}`)
        : "";
      facts.push([
        (server.name === "Redis" ? "" : server.name + " ") + key.name,
        short(key.values.join(" ")) + expires,
      ]);
    }
  }
  for (const [i, { actor, in_ms: left }] of state.timers.entries()) {
    facts.push([
      say(`timer ${i + 1}`, `定时器 ${i + 1}`),
      say(`${actor}’s, in ${duration(left)}`, `${actor} 的，${duration(left)}后`),
    ]);
  }
  for (const [i, { to, text, channel }] of state.messages.entries()) {
    facts.push([
      say(`message ${i + 1}`, `消息 ${i + 1}`),
      say(`to ${to}: ${text || channel}`, `发给 ${to}：${text || channel}`),
    ]);
  }
  return facts;
}

// numbers are the flags that take one: name, least, most, what is usual, and what it means.
const numbers = [
  ["actors", 1, 4, 2, "sales", "几单"],
  ["sales", 1, 3, 1, "one after the other, each", "每人买几次"],
  ["replicas", 0, 4, 0, "processes (0: one each)", "几个进程（0：各一个）"],
  ["nested", 0, 5, 0, "nested calls", "嵌套层数"],
  ["try", 0, 4, 0, "try once, do not wait", "只试一次的"],
  ["polls", 0, 100, "", "polls that fail (empty: as many as are cheap)", "空轮询次数（留空：开销小时尽量多）"],
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
