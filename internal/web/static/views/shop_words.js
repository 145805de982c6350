// What the shop's runs and answers are called.
import { el } from "../dom.js";
import { link } from "../route.js";
import { say } from "../words.js";

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

// painter paints soon, and whenever the size of a node has changed, until it is stopped.
export function createPainter(node, paint) {
  let asked = 0;
  const draw = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      if (node.isConnected) paint();
    });
  };
  const watch = new ResizeObserver(draw);
  watch.observe(node);
  const stop = () => {
    watch.disconnect();
    cancelAnimationFrame(asked);
  };
  return { draw, stop };
}

// byHand leads to where a reader does what was seen, step by step.
export const drawSeatLink = (lock, shown) =>
  el("a", { href: link(["schedule", lock], { ...shown, mode: "break" }) }, [
    say(`Do it yourself with the code of ${lock}, step by step`, `用 ${lock} 的代码一步步亲手做一遍`),
  ]);

export const drawTitle = run => [run.lock, el("span.soft", " · ", run.title)];

export function describeSettings(run) {
  const { ttl_ms: ttl, think_ms: think, nested } = run.settings,
    s = ms => `${ms / 1000} s`;
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
    lock_lost: say("not sold: it lost the lock on the way", "没有卖出：中途丢了锁"),
    run_over: say("not sold: the run is over", "没有卖出：这一轮已经结束"),
    redis_unavailable: say("not sold: Redis does not answer, or refuses", "没有卖出：Redis 没有响应，或拒绝了"),
    outcome_unknown: say("perhaps sold: the write's outcome is unknown", "可能已卖出：写入结果未知"),
    bad_gateway: say("perhaps sold: the replica did not answer", "可能已卖出：副本没有响应"),
    no_replica: say("not sold: there is no replica", "没有卖出：没有可用的副本"),
  };
  return words[code] ?? message;
}

export function describeEnd(code) {
  const words = {
    sold: say("sold", "卖出"),
    sold_out: say("sold out", "售罄"),
    lock_timeout: say("gave up", "放弃"),
    lock_lost: say("lost lock", "丢锁"),
    run_over: say("run over", "本轮结束"),
    outcome_unknown: say("in doubt", "结果未知"),
    died: say("died", "崩溃"),
    stale_token: say("refused", "被拒绝"),
    redis_unavailable: say("no Redis", "无 Redis"),
    client_closed_request: say("left", "离开"),
  };
  return words[code] ?? code.replaceAll("_", " ");
}

export const colourClass = (replicas, name) => `c${(Math.max(0, replicas.indexOf(name)) % 6) + 1}`;

// timesOf are when the turns of a story are told: one after the other, also those of the same moment.
export function listTimes(turns) {
  const apart = Math.max((turns.at(-1)?.at - turns[0]?.at) / 1000, 0.001);
  let before = -Infinity;
  return turns.map(({ at }) => {
    before = Math.max(at, before + apart);
    return before;
  });
}

// roomOf is how tall a picture may be, where it has to fit: on a stage. 0: as tall as it is.
export function availableHeight(picture) {
  return document.documentElement.dataset.stage ? (picture.closest(".picture")?.clientHeight ?? 0) : 0;
}

// setSize gives a picture its size in pixels, and as many units inside.
export function setSize(picture, width, height) {
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
    picture.setAttribute(name, value);
}

export const sleep = ms => new Promise(passed => setTimeout(passed, ms));

// glide moves what was seen under a name some way towards where it has to be; was.moving tells whether anything is on
// its way.
export function moveTowards(was, name, goal, clock, moves) {
  const at = was[name],
    far = goal - at;
  if (name === "begin") was.moving = false;
  if (!moves || at === undefined || !(Math.abs(far) > 0.5)) was[name] = goal;
  else {
    was[name] = at + far * (1 - Math.exp((was.clock - clock) / 80));
    was.moving = true;
  }
  return was[name];
}

// counts are how many there are of each kind of findings: those inside together as the picture counts them.
export function countFindings({ found }, sections) {
  const together = sections.overlaps();
  return found?.together && together ? { ...found, together } : found;
}

// nice is a step of an axis, written a time on it: no two steps are written alike.
export const roundStep = rough => {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(n => n * power).find(n => n >= rough);
};
export const formatTime = (t, step) =>
  step < 1 ? `${t.toFixed(2)} ms` : `${+(t / 1000).toFixed(Math.max(0, 3 - Math.floor(Math.log10(step))))} s`;
