// The latest sales, a lane each, under a rail that shows who holds the lock.
import { el, replace, svg } from "../dom.js";
import { duration, say } from "../words.js";
import { availableHeight, formatTime, listTimes, moveTowards, reducedMotion, roundStep, setSize } from "./drawing.js";
import { colourClass, describeEnd, drawReplica } from "./shop_words.js";

const flashTime = 1200; // length of a new turn's flash, in ms

// createLanes creates the diagram. point is called with the number of the turn under the pointer, or 0.
export function createLanes(point) {
  const picture = svg("svg.lanes", { role: "img" });
  const queue = el("p.queue.small", { hidden: true });
  const colours = el("ul.legend.small");
  const nothing = el("p.soft.nothing", [
    say("Here is who asks for the lock, who has it, and who is at work.", "这里画出谁在请求锁、谁持有锁、谁在执行。"),
  ]);
  const node = el("div", queue, picture, nothing, colours);
  let frame = null,
    taken = 0,
    turns = [],
    marked = 0,
    run = null,
    timer = 0,
    past = null, // the time that is shown; null: the present
    places = {}, // animated positions by name
    frozen = false;

  const now = () => past ?? (frozen ? frame.now_ms : frame.now_ms + performance.now() - taken);
  function draw() {
    timer = 0;
    if (!frame || !picture.isConnected) return;
    const clock = performance.now(),
      moves = !reducedMotion.matches && past === null;
    const arrived = paint(picture, { frame, now: now(), past, turns, marked, run, point, clock, places, moves });
    const flashing = !reducedMotion.matches && turns.some(t => clock - t.seen < flashTime),
      runsOn = past === null && !frozen && isRunning(frame, now());
    if (flashing || runsOn || !arrived) scheduleDraw(!reducedMotion.matches ? (arrived || runsOn ? 40 : 0) : 500);
  }
  function scheduleDraw(ms) {
    if (!timer) timer = setTimeout(() => requestAnimationFrame(draw), ms);
  }
  const watch = new ResizeObserver(() => scheduleDraw(0));
  watch.observe(node);
  return {
    node,
    begin(next) {
      frame = null;
      turns = [];
      places = {};
      replace(picture);
      queue.hidden = true;
      this.run(next);
    },
    run(next) {
      run = next;
      replace(colours, run.replicas.length > 1 && run.replicas.map(name => el("li", drawReplica(run, name))));
      scheduleDraw(0);
    },
    take(next) {
      frame = next;
      taken = performance.now();
      frozen = false;
      queue.hidden = !next.queue?.length;
      replace(queue, drawQueue(next.queue));
      picture.setAttribute("aria-label", say("Sales, a lane each. ", "每单一条泳道。") + describeFrame(next));
      scheduleDraw(0);
    },
    tell(next) {
      const seen = t => turns.find(before => before.says === t.says)?.seen ?? performance.now();
      turns = next.map((t, i) => ({ ...t, n: i + 1, seen: seen(t) }));
      scheduleDraw(0);
    },
    mark(n) {
      marked = n;
      scheduleDraw(0);
    },
    film() {
      const all = frame && findBounds(frame, run, picture);
      if (!all?.sales.length) return null;
      const { begin, last, sales } = all,
        shown = turns.filter(t => t.sales.some(name => sales.some(sale => sale.name === name)));
      const moments = [
        ...sales.flatMap(s => [...s.spans.flatMap(span => [span.from, span.to]), ...s.marks.map(m => m.at)]),
        ...frame.rail.flatMap(h => [h.from, h.to]),
        ...listTimes(shown),
      ].filter(t => t != null && t > begin && t <= last);
      return {
        from: begin,
        to: last + (last - begin) / 50,
        moments: [...new Set(moments)].sort((a, b) => a - b),
        numbers: listTimes(shown),
        turns: shown,
        says: t => describeFrame(frameAt(frame, t)),
        show(t) {
          past = t;
          scheduleDraw(0);
        },
      };
    },
    draw: () => scheduleDraw(0),
    freeze() {
      if (frame && !frozen) {
        frame.now_ms = now();
        frozen = true;
      }
    },
    stop() {
      watch.disconnect();
      clearTimeout(timer);
      frame = null;
    },
  };
}

const isOpen = sale => sale.spans.some(span => span.to == null);
const isRunning = (frame, now) =>
  frame.sales.some(isOpen) || frame.rail.some(held => held.to == null && (held.expires || 0) > now);

function drawQueue(queue) {
  if (!queue?.length) return null;
  return [
    el("span.soft", say("Queue: ", "排队：")),
    el("ol.line", [queue.map(place => el("li.chip", place.sale || place.replica))]),
  ];
}

function describeFrame(frame) {
  const doing = kind =>
    frame.sales
      .filter(s => s.spans.at(-1)?.to == null && s.spans.at(-1)?.kind === kind)
      .map(s => s.name)
      .join(", ");
  const says = [
    [doing("inside"), say("inside", "在临界区里")],
    [doing("waits"), say("waiting", "等待")],
    [doing("paused"), say("paused", "暂停")],
    [doing("late"), say("at work without the lock", "锁已失效，仍在执行")],
  ]
    .filter(([who]) => who)
    .map(([who, what]) => `${what}: ${who}`);
  const rail = frame.rail.at(-1);
  if (rail && rail.to == null && rail.segment)
    says.unshift(say(`segment ${rail.segment} is ${rail.holder}'s`, `第 ${rail.segment} 段的锁是 ${rail.holder} 的`));
  else if (rail && rail.to == null) says.unshift(say(`the lock is ${rail.holder}'s`, `锁是 ${rail.holder} 的`));
  return says.join("; ") || say("Nobody is at work.", "现在没有人在执行。");
}

const beginOf = sale => sale.spans[0]?.from ?? sale.marks[0]?.at ?? 0;
const endOf = (sale, now) =>
  isOpen(sale) ? now : Math.max(beginOf(sale), ...sale.spans.map(s => s.to), ...sale.marks.map(m => m.at));

// selectLatest leaves out sales that ended long before the others began.
function selectLatest(sales, now) {
  let begins = Infinity;
  const latest = [];
  for (const sale of [...sales].sort((a, b) => endOf(b, now) - endOf(a, now))) {
    const ends = endOf(sale, now),
      newest = latest.length ? endOf(latest[0], now) : ends;
    if (latest.length && ends < begins - Math.max(5000, newest - begins)) break;
    latest.push(sale);
    begins = Math.min(begins, beginOf(sale));
  }
  return latest;
}

function frameAt(frame, t) {
  const cut = of => (of.to == null || of.to > t ? { ...of, to: null } : of);
  const begun = of => of.from <= t;
  return {
    ...frame,
    now_ms: t,
    queue: [],
    sales: frame.sales.map(sale => ({
      ...sale,
      spans: sale.spans.filter(begun).map(cut),
      marks: sale.marks.filter(mark => mark.at <= t),
      ended: endOf(sale, Infinity) <= t ? sale.ended : "",
    })),
    // The earlier expiry of a lock that was renewed later is unknown.
    rail: frame.rail
      .filter(begun)
      .map(held => (held.to == null || held.to <= t ? held : { ...cut(held), end: "", expires: 0 })),
  };
}

const compareSales = replicas => (a, b) =>
  replicas.indexOf(a.replica) - replicas.indexOf(b.replica) || beginOf(a) - beginOf(b);

// findBounds returns the sales that fit, when they began, and when the last one ended.
function findBounds(frame, { replicas }, picture, now = frame.now_ms) {
  const em = parseFloat(getComputedStyle(picture).fontSize),
    tall = availableHeight(picture),
    nodes = new Set(frame.rail.map(railOf)).size;
  const fits = tall ? Math.max(2, Math.floor((tall / em - 3 - 1.8 * Math.max(nodes, 1)) / lowest)) : Infinity;
  const sales = selectLatest(frame.sales, now).slice(0, fits).sort(compareSales(replicas));
  const begin = Math.min(...sales.map(beginOf));
  return { sales, begin, last: Math.max(...sales.map(s => endOf(s, now)), begin + 1), em, tall };
}

const lowest = 1.25, // lane height, in em, with many lanes
  highest = 3.2; // lane height, in em, with few lanes on the stage

// paint draws the diagram, and reports whether everything is in its place.
function paint(picture, { frame, now, past, turns, marked, run, point, clock, places: animated, moves }) {
  const { replicas } = run;
  const width = Math.max(picture.parentNode.clientWidth, 240);
  const present = past === null ? now : frame.now_ms,
    { sales, begin: begun, last: latestEnd, em, tall } = findBounds(frame, run, picture, present);
  if (!sales.length) {
    replace(picture);
    return true;
  }
  const running = past === null && isRunning(frame, now);
  const begin = moveTowards(animated, "begin", begun, clock, moves),
    last = Math.max(latestEnd, begin + (running ? 100 : 5));
  const held = frame.rail.filter(stay => (stay.to ?? present) >= begin),
    nodes = [...new Set(held.map(railOf))].sort((a, b) => a - b);
  const shownFrame = past === null ? frame : frameAt({ ...frame, sales, rail: held }, past);
  const expires = Math.max(0, ...held.filter(stay => stay.to == null).map(stay => stay.expires ?? 0));
  const shown = running ? Math.max(now, last) : last,
    span = Math.max(shown - begin, running ? 400 : 5);
  const end = moveTowards(
    animated,
    "end",
    begin + span + Math.min(Math.max(expires - shown, 0), span * 0.6),
    clock,
    moves,
  );
  const names = held.some(stay => stay.segment) ? 5.8 : 4.2;
  const left = Math.max(names, ...sales.map(sale => sale.name.length * 0.72 + 0.9)) * em,
    right = 5.2 * em,
    top = (1.4 + 1.8 * Math.max(nodes.length, 1)) * em,
    free = (tall - top - 1.6 * em) / sales.length;
  const row = tall ? Math.min(Math.max(free, lowest * em), highest * em) : (sales.length > 16 ? lowest : 1.75) * em;
  const height = top + row * sales.length + 1.6 * em;
  const at = {
    em,
    row,
    x: t => left + ((Math.min(Math.max(t, begin), end) - begin) / (end - begin)) * (width - left - right),
  };
  const tint = name => colourClass(replicas, name);
  const places = new Map(
    sales.map((sale, i) => [sale.name, moveTowards(animated, sale.name, top + row * (i + 0.5), clock, moves)]),
  );
  const stays = past === null ? held : shownFrame.rail,
    shownTurns = turns.filter((_, i) => past === null || listTimes(turns)[i] <= past);
  const known = new Map(shownFrame.sales.map(sale => [sale.name, sale]));

  setSize(picture, width, height);
  replace(picture, [
    drawAxis(at, begin, end, height - 1.5 * em),
    (running || past !== null) && svg("line.now", { x1: at.x(now), x2: at.x(now), y1: em, y2: height - 1.5 * em }),
    nodes.map((node, i) => {
      const own = stays.filter(stay => railOf(stay) === node);
      return drawRail(at, own, now, tint, running || past !== null, (0.9 + 1.8 * i) * em, railName(held, node));
    }),
    sales.map(({ name, replica }, i) => {
      const apart = i && sales[i - 1].replica !== replica;
      return drawLane(at, known.get(name), places.get(name), now, tint(replica), apart, width, run);
    }),
    drawTurns(at, shownTurns, places, { clock, top, marked, point }),
  ]);
  animated.clock = clock;
  return !moves || !animated.moving;
}

function drawAxis({ em, x }, begin, end, bottom) {
  const step = roundStep((end - begin) / 5);
  const ticks = [];
  for (let t = Math.ceil(begin / step) * step; t <= end; t += step) {
    ticks.push(
      svg("line.tick", { x1: x(t), x2: x(t), y1: em, y2: bottom }),
      svg("text.soft", { x: x(t), y: bottom + 1.1 * em, "text-anchor": "middle" }, formatTime(t, step)),
    );
  }
  return ticks;
}

// railOf returns the number of a holding’s rail: its node, or its segment of the stock.
const railOf = stay => stay.node || stay.segment || 0;

function railName(held, number) {
  if (!number) return say("the lock", "锁");
  if (held.some(stay => stay.segment)) return say(`segment ${number}`, `第 ${number} 段`);
  return say(`node ${number}`, `节点 ${number}`);
}

// drawRail draws who holds the lock, how each holding ended, and how long the last one has left.
function drawRail({ em, x }, held, now, tint, running, y, name) {
  const high = 1.5 * em;
  return [
    svg("text.name", { x: 0, y: y + high * 0.7 }, name),
    held.map(h => {
      const to = x(h.to ?? now),
        wide = Math.max(to - x(h.from), 2),
        open = h.to == null;
      const left = h.expires == null ? NaN : h.expires - now;
      const fits = wide > h.holder.length * 0.62 * em;
      return svg("g", { class: `held ${tint(h.replica)} ${h.end ?? ""}` }, [
        svg("title", describeHolding(h)),
        open && left > 0 && svg("rect.yet", { x: to, y, width: Math.max(x(h.expires) - to, 0), height: high }),
        svg("rect.holds", { x: x(h.from), y, width: wide, height: high }),
        fits && svg("text.inner", { x: x(h.from) + 0.3 * em, y: y + high * 0.7 }, h.holder),
        isBadEnd(h.end) && svg("text.cross", { x: to, y: y + high * 0.75, "text-anchor": "middle" }, "✗"),
        open &&
          running &&
          svg("text.countdown", { x: Math.max(to, x(h.expires ?? 0)) + 0.35 * em, y: y + high * 0.7 }, [
            left > 0 ? duration(left) : h.expires == null ? say("no expiry", "永不过期") : "",
          ]),
      ]);
    }),
  ];
}

const isBadEnd = end => ["removed", "overwritten", "forgotten"].includes(end);

function describeHolding(h) {
  const how =
    {
      "given-back": say("given back", "已释放"),
      expired: say("expired", "已过期"),
      removed: say("removed by another", "被别人删除"),
      overwritten: say("overwritten", "被覆盖"),
      forgotten: say("forgotten by Redis", "Redis 已丢失"),
    }[h.end] ?? "";
  return [h.holder, how, h.by && h.by !== h.holder ? h.by : ""].filter(Boolean).join(" · ");
}

const thickness = { inside: 0.58, late: 0.58, paused: 0.3, waits: 0.1 };

function drawLane({ em, row, x }, sale, y, now, tint, apart, width, run) {
  const closes = Math.max(...sale.spans.map(s => x(s.to ?? now)), 0);
  return svg("g", { class: `lane ${tint}`, "data-sale": sale.name }, [
    apart && svg("line.apart", { x1: 0, x2: width, y1: y - row / 2, y2: y - row / 2 }),
    svg("text.name", { x: 0, y: y + 0.35 * em }, [
      svg("title", [sale.replica, run.hosts?.[sale.replica]].filter(Boolean).join(" · ")),
      sale.name,
    ]),
    sale.spans.map(span => {
      const high = Math.max(row * thickness[span.kind], 2),
        to = x(span.to ?? now);
      const left = x(span.from),
        took = duration((span.to ?? now) - span.from);
      const place = { x: left, y: y - high / 2, width: Math.max(to - left, 1.5), height: high, rx: 2 };
      return svg("rect." + span.kind, place, [
        svg("title", `${sale.name} · ${sale.replica}: ${spanTitles()[span.kind]}, ${took}`),
      ]);
    }),
    sale.marks.map(mark =>
      svg("g", { class: mark.bad ? "mark bad" : "mark" }, [
        svg("title", mark.says),
        svg("circle", { cx: x(mark.at), cy: y, r: em * (mark.bad ? 0.28 : 0.16) }),
      ]),
    ),
    sale.ended &&
      svg("text", { class: sale.ended === "sold" ? "end" : "end bad", x: closes + 0.95 * em, y: y + 0.35 * em }, [
        describeEnd(sale.ended),
      ]),
  ]);
}

const spanTitles = () => ({
  waits: say("waits", "等待"),
  inside: say("believes to hold the lock", "认为自己持有锁"),
  paused: say("paused", "暂停"),
  late: say("at work, though its lock has ended", "锁已失效，仍在执行"),
});

// drawTurns marks the turns of the story with numbers, beside each other where they would overlap. A new one flashes.
// Lines lie below all numbers.
function drawTurns({ em, x }, turns, places, { clock, top, marked, point }) {
  const taken = []; // places of numbers
  const shown = turns
    .map(turn => ({ turn, ys: turn.sales.map(name => places.get(name)).filter(y => y != null) }))
    .filter(({ ys }) => ys.length);
  const group = (name, turn, more, ...inside) =>
    svg("g", { class: [name, turn.bad && "bad", marked === turn.n && "marked"].filter(Boolean).join(" "), ...more }, [
      inside,
    ]);
  const lines = shown.map(({ turn, ys }) => {
    const at = x(turn.at);
    return group("cause", turn, {}, [
      ys.length > 1 && svg("line", { x1: at, x2: at, y1: Math.min(...ys), y2: Math.max(...ys) }),
      svg("line.up", { x1: at, x2: at, y1: top - 0.8 * em, y2: ys[0] }),
    ]);
  });
  const numbers = shown.map(({ turn, ys: [cy] }) => {
    let cx = x(turn.at);
    while (taken.some(other => other.cy === cy && Math.abs(other.cx - cx) < 1.35 * em)) cx += 0.35 * em;
    taken.push({ cx, cy });
    const age = (clock - turn.seen) / flashTime,
      does = { "data-turn": turn.n, onmouseenter: () => point?.(turn.n), onmouseleave: () => point?.(0) };
    return group("spot", turn, does, [
      svg("title", turn.says),
      !reducedMotion.matches && age < 1 && svg("circle.flash", { cx, cy, r: em * (0.6 + 2.4 * age), opacity: 1 - age }),
      svg("circle", { cx, cy, r: (marked === turn.n ? 0.85 : 0.62) * em }),
      svg("text", { x: cx, y: cy + 0.3 * em, "text-anchor": "middle" }, turn.n),
    ]);
  });
  return [lines, numbers];
}

export function drawLegend() {
  return el("ul.legend.small.soft", [
    Object.entries(spanTitles()).map(([kind, says]) =>
      el("li", [
        svg("svg.lanes.key.c1", { width: 28, height: 12, "aria-hidden": "true" }, [
          svg("rect." + kind, {
            x: 1,
            y: 6 - thickness[kind] * 8,
            width: 26,
            height: Math.max(thickness[kind] * 16, 2),
            rx: 1,
          }),
        ]),
        " ",
        says,
      ]),
    ),
  ]);
}
