// All critical sections of the run on one canvas, by replica, with overlaps in red.
import { drawTableHead, el, replace } from "../dom.js";
import { duration, say, several } from "../words.js";
import {
  availableHeight,
  createPainter,
  formatTime,
  listTimes,
  moveTowards,
  reducedMotion,
  roundStep,
} from "./drawing.js";
import { colourClass } from "./shop_words.js";

const mostRows = 100; // overlaps that the table lists

// createSections creates the canvas and its table. pick is called with two sales to draw.
export function createSections(pick) {
  const attributes = { tabindex: 0, role: "application", "aria-describedby": "gantt-keys" };
  const canvas = el("canvas", { ...attributes, onkeydown: handleKey });
  const status = el("p.small", { role: "status" });
  const colours = el("span", { hidden: true });
  const table = el("details.small");
  const button = (text, title, act) => el("button", { title, "aria-label": title, onclick: act }, text);
  const node = el("div.gantt", [
    el("div.row", [
      button("+", say("Zoom in (+)", "放大（+）"), () => zoom(0.5)),
      button("−", say("Zoom out (−)", "缩小（−）"), () => zoom(2)),
      button(say("All", "全部"), say("Show all (Home)", "显示全部（Home）"), showAll),
      button(say("Next overlap", "下一处重叠"), say("Next overlap (n)", "下一处重叠（n）"), () => jump(1)),
    ]),
    canvas,
    status,
    el("p.small.soft", { id: "gantt-keys" }, [
      say(
        "Wheel, pinch, + and − zoom; drag, ← and → move; n and p go to the next and the previous overlap; " +
          "Enter or a click draws its two sales.",
        "滚轮、双指、+ 和 − 缩放；拖动、← 和 → 移动；n 和 p 到下一处、上一处重叠；Enter 或点击画出这两单。",
      ),
    ]),
    table,
    colours,
  ]);

  let list = [],
    keys = new Set(),
    replicas = [],
    index = arrangeSections([], []),
    view = null,
    focused = -1,
    stale = false,
    turns = [], // turns of the story
    past = null, // the time up to which it is shown; null: the present
    shownRange = {}; // animated time range; ends at the range in view
  let paint = {};

  function take(more) {
    for (const section of more) {
      const key = section.sale + "@" + section.from;
      if (section.to == null || keys.has(key)) continue;
      keys.add(key);
      list.push(section);
    }
    stale = true;
    draw();
  }
  const { draw, stop } = createPainter(node, () => {
    if (!node.offsetParent) return;
    if (stale) updateIndex();
    const { from, to } = range(),
      clock = performance.now(),
      moves = !reducedMotion.matches && past === null && shownRange.end > shownRange.begin;
    const move = (name, goal) => moveTowards(shownRange, name, goal, clock, moves);
    const at = { from: move("begin", from), to: move("end", to) };
    shownRange.clock = clock;
    renderSections(canvas, index, at, { ...paint, focused: index.overlaps[focused], past, turns });
    if (moves && shownRange.moving) draw();
  });
  function updateIndex() {
    const at = index.overlaps[focused];
    index = arrangeSections(list, replicas);
    stale = false;
    focused = at ? index.overlaps.findIndex(o => o.a === at.a && o.b === at.b) : -1;
    canvas.setAttribute("aria-label", say("Critical sections by replica: ", "各实例的临界区：") + count());
    tabulate();
  }
  const count = () => {
    const sections = several(list.length, say("section", ""), "个临界区");
    return sections + say(", ", "，") + several(index.overlaps.length, "overlap", "处重叠");
  };
  const whole = () => ({ from: index.from, to: Math.max(index.to, index.from + 1) });
  const range = () => view ?? whole();
  const shown = () => ({ from: shownRange.begin, to: shownRange.end });

  function tabulate() {
    const shown = index.overlaps.slice(0, mostRows),
      rest = index.overlaps.length - shown.length;
    replace(table, [
      el("summary", say("As a table: ", "表格：") + count()),
      shown.length > 0 &&
        el("table", [
          drawTableHead([say("Sale", "单"), say("and", "与"), say("together for", "重叠时长"), ""]),
          el("tbody", [
            table.open &&
              shown.map(o =>
                el("tr", [
                  el("td", o.a.sale),
                  el("td", o.b.sale),
                  el("td", duration(o.to - o.from)),
                  el("td", el("button", { onclick: () => pick(o.a.sale, o.b.sale) }, say("Draw", "画出"))),
                ]),
              ),
          ]),
        ]),
      rest > 0 && table.open && el("p", say(`and ${rest} more`, `还有 ${rest} 处`)),
    ]);
  }
  table.addEventListener("toggle", tabulate);

  function setView(from, to) {
    const { from: begin, to: end } = whole(),
      wide = Math.min(Math.max(to - from, 0.05), end - begin);
    const start = Math.min(Math.max(from, begin), end - wide);
    view = wide >= end - begin ? null : { from: start, to: start + wide };
    draw();
  }
  function showAll() {
    view = null;
    draw();
  }
  function zoom(by, about = 0.5) {
    const { from, to } = range(),
      at = from + (to - from) * about;
    setView(at - (at - from) * by, at + (to - at) * by);
  }
  function pan(by) {
    const { from, to } = range(),
      way = (to - from) * by;
    setView(from + way, to + way);
  }
  function jump(by) {
    const n = index.overlaps.length;
    if (!n) return replace(status, say("No two were inside together.", "没有两单同时在临界区里。"));
    focused = focused < 0 ? (by > 0 ? 0 : n - 1) : (focused + by + n) % n;
    const o = index.overlaps[focused],
      { from, to } = range(),
      wide = Math.min(to - from, Math.max(12 * (o.to - o.from), 1));
    if (o.from < from || o.to > to || (o.to - o.from) / (to - from) < 0.02)
      setView((o.from + o.to - wide) / 2, (o.from + o.to + wide) / 2);
    describeOverlap(o, say(`Overlap ${focused + 1} of ${n}. `, `第 ${focused + 1} 处重叠，共 ${n} 处。`));
    draw();
  }
  function describeOverlap(o, before = "") {
    replace(status, [
      before,
      el("strong.bad", [
        say(
          `${o.a.sale} and ${o.b.sale} were inside together for ${duration(o.to - o.from)}.`,
          `${o.a.sale} 和 ${o.b.sale} 同时在临界区里，共 ${duration(o.to - o.from)}。`,
        ),
      ]),
      " ",
      el("button", { onclick: () => pick(o.a.sale, o.b.sale) }, say("Draw the two", "画出这两单")),
    ]);
  }
  function handleKey(event) {
    const acts = {
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      ArrowLeft: () => pan(-0.2),
      ArrowRight: () => pan(0.2),
      Home: showAll,
      n: () => jump(1),
      p: () => jump(-1),
      Enter: () => {
        const o = index.overlaps[focused];
        if (o) pick(o.a.sale, o.b.sale);
      },
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  }
  listenToPointers(canvas, {
    zoom,
    pan,
    hover: (x, y) => {
      const section = findSection(canvas, index, shown(), x, y),
        both = section && longestOverlap(index, section);
      canvas.style.cursor = both ? "pointer" : "grab";
      if (both) describeOverlap(both);
      else if (section) replace(status, `${section.sale}: ${duration(section.to - section.from)}`);
    },
    click: (x, y) => {
      const section = findSection(canvas, index, shown(), x, y),
        both = section && longestOverlap(index, section);
      if (both) pick(both.a.sale, both.b.sale);
    },
  });
  const updateColours = () => {
    paint = readColours(colours, replicas);
    draw();
  };
  const theme = new MutationObserver(updateColours),
    scheme = matchMedia("(prefers-color-scheme: dark)");
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "data-size"] });
  scheme.addEventListener("change", updateColours);
  return {
    node,
    take,
    draw,
    size: () => list.length,
    tell(next) {
      turns = next;
      draw();
    },
    film() {
      if (stale) updateIndex();
      if (!list.length) return null;
      const { from, to } = whole();
      const moments = [...new Set([...list.flatMap(s => [s.from, s.to]), ...listTimes(turns)])].sort((a, b) => a - b);
      return {
        from,
        to: to + (to - from) / 50,
        moments: moments.filter(t => t > from && t <= to),
        numbers: listTimes(turns),
        turns,
        says(t) {
          const inside = list.filter(s => s.from <= t && s.to > t).map(s => s.sale);
          return say("inside", "在临界区里") + ": " + (inside.length > 5 ? inside.length : inside.join(", ") || 0);
        },
        show(t) {
          past = t;
          view = null;
          draw();
        },
      };
    },
    overlaps() {
      if (stale) updateIndex();
      return index.overlaps.length;
    },
    run(next) {
      if (replicas.join() === next.replicas.join()) return;
      replicas = next.replicas;
      stale = true;
      updateColours();
    },
    begin(run) {
      list = [];
      keys = new Set();
      replicas = run.replicas;
      view = null;
      focused = -1;
      turns = [];
      shownRange = {};
      stale = true;
      replace(status);
      updateColours();
    },
    stop() {
      stop();
      theme.disconnect();
      scheme.removeEventListener("change", updateColours);
    },
  };
}

// readColours reads the colours from the page’s style, as a canvas knows no classes.
function readColours(node, replicas) {
  const of = name => {
    const probe = el("i", { class: name });
    node.append(probe);
    const dye = getComputedStyle(probe).color;
    probe.remove();
    return dye;
  };
  return {
    of: new Map(replicas.map(name => [name, of("dye " + colourClass(replicas, name))])),
    bad: of("bad"),
    soft: of("soft"),
    warn: of("warn"),
    sheet: of("dye paper"),
    focus: of("dye focus"),
  };
}

// readSizes returns lengths in proportion to the letters: axis, gap between replicas, left margin, row.
function readSizes(canvas) {
  const em = parseFloat(getComputedStyle(canvas).fontSize);
  return {
    em,
    axis: 1.6 * em,
    gap: 0.45 * em,
    margin: 2.5 * em,
    row: 1.15 * em,
    highest: 3 * em,
  };
}

function measureBands(index, tall, { em, axis, gap, highest: high }) {
  const band = (b, high) => Math.max(b.rows * high, em) + gap;
  while (high > 1.2 && index.bands.reduce((sum, b) => sum + band(b, high), axis) > tall) high *= 0.95;
  const tops = new Map();
  let top = 0;
  for (const one of index.bands) {
    tops.set(one, top);
    top += band(one, high);
  }
  return { high, y: (band, row = 0) => tops.get(band) + row * high };
}

function renderSections(canvas, index, { from, to }, paint) {
  const wide = Math.max(canvas.clientWidth, 100),
    dots = devicePixelRatio || 1;
  const size = readSizes(canvas),
    { em, axis, gap, margin } = size,
    most = availableHeight(canvas);
  const all = index.rows * (most ? size.highest : size.row) + (gap + em) * index.bands.length + axis;
  const tall = Math.min(Math.max(all, 6.5 * em), most || 30 * em);
  canvas.style.height = tall + "px";
  if (canvas.width !== Math.round(wide * dots) || canvas.height !== Math.round(tall * dots)) {
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(tall * dots);
  }
  const pen = canvas.getContext("2d"),
    { high, y } = measureBands(index, tall, size);
  const x = t => margin + ((t - from) / (to - from)) * (wide - margin - 4);
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, wide, tall);
  pen.font = `${em}px system-ui, sans-serif`;
  const until = Math.min(to, paint.past ?? Infinity);
  pen.save();
  pen.beginPath();
  pen.rect(margin, 0, wide - margin, tall);
  pen.clip();
  const redFrom = first(index.crowded, c => c.to > from),
    last = new Map(); // row → last pixel drawn
  for (const section of sectionsWithin(index, from, until)) {
    const { band, row } = section,
      right = x(Math.min(section.to, until)),
      key = band.above + row;
    if (right < (last.get(key) ?? -1)) continue; // an earlier section covers this pixel
    const left = x(section.from),
      top = y(band, row);
    bar(left, right, top, paint.of.get(section.replica) ?? paint.soft);
    const red = first(index.crowded, c => c.to > section.from);
    for (
      let crowd = Math.max(redFrom, red);
      crowd < index.crowded.length && index.crowded[crowd].from < Math.min(section.to, until);
      crowd++
    ) {
      const red = index.crowded[crowd];
      bar(x(Math.max(red.from, section.from)), x(Math.min(red.to, section.to, until)), top, paint.bad);
    }
    last.set(key, Math.floor(right) + 1);
  }
  if (paint.focused) {
    const o = paint.focused,
      ys = [o.a, o.b].map(({ band, row }) => y(band, row));
    pen.strokeStyle = paint.focus;
    pen.lineWidth = 2;
    pen.strokeRect(
      x(o.from) - 4,
      Math.min(...ys) - 3,
      Math.max(x(o.to) - x(o.from), 1) + 8,
      Math.abs(ys[0] - ys[1]) + high + 6,
    );
  }
  if (paint.past !== null) bar(x(until), x(until), 0, paint.soft, tall - axis);
  const taken = [];
  pen.textAlign = "center";
  pen.font = `700 ${0.8 * em}px system-ui, sans-serif`;
  for (const [i, turn] of paint.turns.entries()) {
    const section = index.sorted.find(s => s.sale === turn.sales[0]);
    if (!section || listTimes(paint.turns)[i] > until) continue;
    let cx = x(turn.at);
    const cy = Math.max(y(section.band, section.row) + high / 2, 0.75 * em);
    while (taken.some(other => Math.hypot(other.cx - cx, other.cy - cy) < 1.35 * em)) cx += 0.35 * em;
    taken.push({ cx, cy });
    pen.fillStyle = turn.bad ? paint.bad : paint.warn;
    pen.beginPath();
    pen.arc(cx, cy, 0.7 * em, 0, 7);
    pen.fill();
    pen.fillStyle = paint.sheet;
    pen.fillText(i + 1, cx, cy + 0.28 * em);
  }
  pen.restore(); // the letters of before, too
  function bar(left, right, top, dye, deep = Math.max(high - 1, 1)) {
    pen.fillStyle = dye;
    pen.fillRect(left, top, Math.max(right - left, 1), deep);
  }
  pen.fillStyle = paint.soft;
  for (const band of index.bands)
    pen.fillText(band.name, 2, y(band) + Math.min(0.9 * em, Math.max(0.8 * em, high * 0.8)));
  const step = roundStep((to - from) / Math.max(2, wide / (9 * em)));
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    const text = formatTime(t, step);
    pen.fillRect(x(t), tall - axis, 1, 0.3 * em);
    pen.fillText(text, Math.min(x(t) + 0.2 * em, wide - pen.measureText(text).width), tall - 0.35 * em);
  }
}

// findSection returns the section at a point, or the nearest within a few pixels.
function findSection(canvas, index, { from, to }, px, py) {
  const size = readSizes(canvas),
    { margin } = size;
  const { high, y } = measureBands(index, canvas.clientHeight, size),
    scale = (to - from) / (canvas.clientWidth - margin - 4);
  const t = from + (px - margin) * scale,
    near = 4 * scale;
  let best = null,
    nearest = near;
  for (const section of sectionsWithin(index, t - near, t + near)) {
    const top = y(section.band, section.row);
    if (py < top - 2 || py > top + Math.max(high, 3) + 1) continue;
    const off = t < section.from ? section.from - t : Math.max(t - section.to, 0);
    if (off <= nearest && (!best || off < nearest)) [best, nearest] = [section, off];
  }
  return best;
}

function listenToPointers(canvas, does) {
  const fingers = new Map();
  let moved = 0;
  const margin = () => readSizes(canvas).margin;
  const share = x => Math.min(Math.max((x - margin()) / (canvas.clientWidth - margin() - 4), 0), 1);
  canvas.addEventListener(
    "wheel",
    event => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) does.pan(event.deltaX / canvas.clientWidth);
      else does.zoom(event.deltaY > 0 ? 1.25 : 0.8, share(event.offsetX));
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", event => {
    fingers.set(event.pointerId, event.offsetX);
    moved = fingers.size > 1 ? 99 : 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return does.hover(event.offsetX, event.offsetY);
    const dx = event.offsetX - before,
      others = [...fingers].filter(([id]) => id !== event.pointerId);
    moved += Math.abs(dx);
    if (others.length) {
      const other = others[0][1],
        apart = Math.max(Math.abs(before - other), 10),
        now = Math.max(Math.abs(event.offsetX - other), 10);
      does.zoom(apart / now, share((event.offsetX + other) / 2));
    } else if (moved > 4) does.pan(-dx / (canvas.clientWidth - margin()));
    fingers.set(event.pointerId, event.offsetX);
  });
  const up = event => {
    if (event.type === "pointerup" && fingers.size === 1 && moved <= 4) does.click(event.offsetX, event.offsetY);
    fingers.delete(event.pointerId);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
}

// arrangeSections returns the sections by begin, each with its row; the rows of each replica; overlaps, the pairs that
// were in the critical section together; and crowded, the stretches with more than one.
function arrangeSections(sections, replicas) {
  const sorted = [...sections].sort((a, b) => a.from - b.from);
  const bands = [];
  const bandOf = name => bands.find(band => band.name === name) ?? bands[bands.push({ name, free: [] }) - 1];
  replicas.forEach(bandOf);
  const latest = [],
    overlaps = [],
    crowded = [];
  let open = null; // section begun so far that ends last
  for (const section of sorted) {
    section.band = bandOf(section.replica);
    const { free } = section.band; // end of the last section in each row
    let row = free.findIndex(ends => ends <= section.from);
    if (row < 0) row = free.length;
    free[row] = section.to;
    section.row = row;
    if (open && section.from < open.to) {
      const to = Math.min(open.to, section.to),
        last = crowded.at(-1);
      overlaps.push({ a: open, b: section, from: section.from, to });
      if (last && section.from <= last.to) last.to = Math.max(last.to, to);
      else crowded.push({ from: section.from, to });
    }
    if (!open || section.to > open.to) open = section;
    latest.push(open.to);
  }
  let above = 0;
  for (const band of bands) {
    band.above = above;
    band.rows = Math.max(band.free.length, 1);
    above += band.rows;
  }
  return { sorted, latest, overlaps, crowded, bands, rows: above, from: sorted[0]?.from ?? 0, to: latest.at(-1) ?? 0 };
}

// first returns the first index of a rising list that test accepts.
function first(list, test) {
  let low = 0,
    high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(list[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

function* sectionsWithin({ latest, sorted }, from, to) {
  for (let i = first(latest, end => end >= from); i < sorted.length && sorted[i].from <= to; i++)
    if (sorted[i].to >= from) yield sorted[i];
}

const longestOverlap = ({ overlaps }, section) =>
  overlaps
    .filter(({ a, b }) => a === section || b === section)
    .reduce((best, one) => (best && best.to - best.from >= one.to - one.from ? best : one), null);
