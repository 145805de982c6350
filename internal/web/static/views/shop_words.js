// Texts that the shop’s parts share.
import { el } from "../dom.js";
import { link } from "../route.js";
import { say } from "../words.js";

// drawSeatLink draws the link to the seat at which a reader can repeat what was seen.
export const drawSeatLink = (lock, shown) =>
  el("a", { href: link(["schedule", lock], { ...shown, mode: "break" }) }, [
    say(`Do it yourself with the code of ${lock}, step by step`, `用 ${lock} 的代码一步步亲手做一遍`),
  ]);

export const drawTitle = run => [run.lock, el("span.soft", " · ", run.title)];

export function describeSettings(run) {
  const { ttl_ms: ttl, think_ms: think, nested } = run.settings,
    s = ms => ms / 1000 + say(" s", " 秒");
  return [
    say(
      `expiry ${s(ttl)} · think time ${s(think)} · nested calls ${nested}`,
      `过期 ${s(ttl)} · 业务耗时 ${s(think)} · 嵌套调用 ${nested}`,
    ),
    run.replicas.map(name => [" · ", drawReplica(run, name)]),
  ];
}

export const drawReplica = (run, name) =>
  el("span", { class: "dye " + colourClass(run.replicas, name), title: run.hosts?.[name] }, "■ " + name);

export function describeAnswer({ code, message }) {
  const words = {
    sold_out: say("sold out", "已售罄"),
    lock_timeout: say("not sold: it waited too long for the lock", "没有卖出：等锁超时"),
    lock_lost: say("not sold: it lost the lock on the way", "没有卖出：中途锁丢失"),
    run_over: say("not sold: the run is over", "没有卖出：这一轮已经结束"),
    redis_unavailable: say("not sold: Redis does not answer, or refuses", "没有卖出：Redis 没有响应，或拒绝了"),
    outcome_unknown: say("perhaps sold: the write's outcome is unknown", "可能已卖出：写入结果未知"),
    bad_gateway: say("perhaps sold: the replica did not answer", "可能已卖出：实例没有响应"),
    no_replica: say("not sold: there is no replica", "没有卖出：没有可用的实例"),
  };
  return words[code] ?? message;
}

export function describeEnd(code) {
  const words = {
    sold: say("sold", "卖出"),
    sold_out: say("sold out", "售罄"),
    lock_timeout: say("gave up", "放弃"),
    lock_lost: say("lost lock", "锁丢失"),
    run_over: say("run over", "本轮结束"),
    outcome_unknown: say("in doubt", "结果未知"),
    died: say("died", "崩溃"),
    stale_token: say("refused", "被拒绝"),
    redis_unavailable: say("no Redis", "无 Redis"),
    client_closed_request: say("left", "已断开"),
  };
  return words[code] ?? code.replaceAll("_", " ");
}

export const colourClass = (replicas, name) => `c${(Math.max(0, replicas.indexOf(name)) % 6) + 1}`;

// countFindings counts the findings of each kind; those together in the critical section, as the diagram counts them.
export function countFindings({ found }, sections) {
  const together = sections.overlaps();
  return found?.together && together ? { ...found, together } : found;
}
