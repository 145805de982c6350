// What is so now: each sale, each server, what is under way. What the last step changed is tinted.
import { el } from "../dom.js";
import { short } from "../trace.js";
import { duration, say } from "../words.js";

export function statePanel(seat) {
  const facts = factsOf(seat.here.view.state),
    before = seat.at > 0 ? new Map(factsOf(seat.before.view.state)) : null;
  return [
    el("h2", null, say("What is so now", "现在的状态")),
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
