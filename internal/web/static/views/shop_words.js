// What the shop's runs, findings and answers are called.
import { el } from "../dom.js";
import { link } from "../route.js";
import { say } from "../words.js";

// kinds of findings: a name in both languages, and what to look for in the scheduler's seat, under which faults.
const kinds = {
  removed: ["Foreign delete", "误删别人的锁", "foreign-release", "expiry=1"],
  overwrote: ["Lock overwritten", "锁被覆盖", "two-holders", "pause=1"],
  prolonged: ["Foreign renewal", "给别人的锁续期", "foreign-release", "expiry=1"],
  "expired-at-work": ["Lock expired during the work", "没做完锁就过期", "two-holders", "expiry=1"],
  together: ["Two holders", "两个持有者", "two-holders", "expiry=1"],
  "refused-token": ["Stale token refused", "旧令牌被拒绝", "two-holders", "pause=1"],
  "lost-update": ["Lost update", "更新丢失", "lost-update", "expiry=1"],
  "wrote-late": ["Late write", "迟到的写入", "lost-update", "pause=1"],
  waited: ["Waited", "等待"],
  dies: ["A replica died", "副本崩溃"],
  stops: ["A replica was paused", "副本暂停"],
  "goes-on": ["A replica goes on", "副本恢复运行"],
  "waited-in-vain": ["Waited in vain", "没有等到锁", "stuck", "crash=1"],
  "waits-for-itself": ["Waits for itself", "自己等自己", "stuck", "", 1],
  "left-behind": ["Lock left behind", "锁残留", "left-behind", "crash=1"],
  polled: ["Polling", "轮询"],
  told: ["Told of the loss", "得知丢锁"],
  forgot: ["Redis forgot the lock", "Redis 丢失了锁", "two-holders", "failover=1"],
  unanswered: ["No reply from Redis", "Redis 没有响应"],
  overtaken: ["Overtaken", "被后来者超过"],
  idle: ["Nobody inside, somebody waits", "没人持有，却有人在等", "idle", "crash=1"],
  "died-holding": ["Died with the lock", "持锁时崩溃", "idle", "crash=1"],
  "passed-over": ["Died in the queue", "排队时崩溃", "idle", "crash=1"],
  "place-expired": ["Died in the queue", "排队时崩溃"],
  "renewed-on": ["Renewed for nobody", "无主续期", "goroutine-leak", "crash=1"],
};

export const kindName = kind => (kinds[kind] ? say(...kinds[kind]) : kind);

// seatOf is where the scheduler's seat shows a kind of finding with a lock; "" if it has nothing to show. A lock that
// is renewed expires only if its holder is paused; without a lock, there is nobody who holds it.
export function seatOf(lock, kind) {
  const [, , anomaly, faults, nested] = kinds[kind] ?? [];
  if (!anomaly) return "";
  if (lock === "v0") return seat(lock, "lost-update");
  return seat(lock, anomaly, /^(v[6-9]|v10|redlock)$/.test(lock) ? faults?.replace("expiry", "pause") : faults, nested);
}

function seat(lock, anomaly, faults, nested) {
  const scenario = ["--actors 2", faults && `--faults ${faults}`, nested && `--nested ${nested}`];
  return link(["schedule", lock], { in: scenario.filter(Boolean).join(" "), mode: "break", anomaly });
}

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
