// What the shop's runs and answers are called.
import { el } from "../dom.js";
import { say } from "../words.js";

// title is the lock of a run, by name and by what it has.
export const title = run => [run.lock, el("span", { class: "soft" }, " · ", run.title)];

// settings are what a run's sales are made with, and where.
export function settings({ settings: { ttl_ms: ttl, think_ms: think, nested }, replicas }) {
  const s = ms => `${ms / 1000} s`;
  return say(
    `expiry ${s(ttl)} · think time ${s(think)} · nested calls ${nested} · ${replicas.join(", ")}`,
    `过期 ${s(ttl)} · 思考 ${s(think)} · 嵌套调用 ${nested} · ${replicas.join("、")}`,
  );
}

// answered is what a buyer was told.
export function answered({ code, message }) {
  const words = {
    sold_out: say("sold out", "已售完"),
    lock_timeout: say("not sold: it waited too long for the lock", "没有卖出：等锁超时"),
    lock_lost: say("not sold: it lost the lock on the way", "没有卖出：中途丢了锁"),
    run_over: say("not sold: the run is over", "没有卖出：这一轮已经结束"),
    redis_unavailable: say("not sold: Redis does not answer", "没有卖出：Redis 没有响应"),
    outcome_unknown: say("perhaps sold: Redis did not answer", "不知道是否卖出：Redis 没有响应"),
    bad_gateway: say("perhaps sold: the replica did not answer", "不知道是否卖出：副本没有响应"),
    no_replica: say("not sold: there is no replica", "没有卖出：没有可用的副本"),
  };
  return words[code] ?? message;
}

// ended is what became of a sale, in a word or two.
export function ended(code) {
  const words = {
    sold: say("sold", "卖出"),
    sold_out: say("sold out", "售完"),
    lock_timeout: say("gave up", "放弃"),
    lock_lost: say("lost lock", "丢锁"),
    run_over: say("run over", "本轮结束"),
    outcome_unknown: say("in doubt", "结果不明"),
    died: say("died", "崩溃"),
    stale_token: say("refused", "被拒绝"),
    redis_unavailable: say("no Redis", "无 Redis"),
    client_closed_request: say("left", "离开"),
  };
  return words[code] ?? code.replaceAll("_", " ");
}

// color is the class of a replica's colour.
export const color = (replicas, name) => `c${(Math.max(0, replicas.indexOf(name)) % 6) + 1}`;

// replicaOf is where a sale was made: r1#3 at r1.
export const replicaOf = sale => sale.split("#")[0];
