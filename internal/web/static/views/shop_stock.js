// Sales and stock as two lines, which part when updates are lost; and the verdict in words.
import { drawFacts, el, replace, svg } from "../dom.js";
import { say } from "../words.js";
import { createPainter, setSize } from "./drawing.js";

export function createStock() {
  const picture = svg("svg.stock", { role: "img", "aria-label": say("Nothing is sold yet.", "还没有卖出任何一件。") });
  const node = el("div", [
    picture,
    el("ul.legend.small.soft", [
      el("li", el("i.swatch.sold"), say("sold, by the orders", "已售（按订单）")),
      el("li", el("i.swatch.felt"), say("what the stock fell by", "库存减少了")),
    ]),
  ]);
  let points = [],
    initial = 0;
  const { draw, stop } = createPainter(node, () => paintStock(picture, points, initial));
  return {
    node,
    begin(run) {
      points = [];
      initial = run.initial;
      draw();
    },
    take(more) {
      const last = points.at(-1)?.at ?? -1;
      points.push(...more.filter(p => p.at > last));
      if (points.length > 4000) points = points.filter((_, i) => i % 2 || i === points.length - 1);
      draw();
    },
    // at returns the sales by a time, and what the stock had fallen by.
    at(t) {
      const point = points.findLast(p => p.at <= t) ?? points[0];
      return { sold: point?.sold ?? 0, fell: point ? initial - point.stock : 0 };
    },
    stop,
  };
}

function paintStock(picture, points, initial) {
  const width = Math.max(picture.parentNode.clientWidth, 200),
    em = parseFloat(getComputedStyle(picture).fontSize),
    height = 9 * em;
  setSize(picture, width, height);
  const last = points.at(-1);
  if (!last) return replace(picture);
  picture.setAttribute(
    "aria-label",
    say(
      `${last.sold} sold, and the stock fell by ${initial - last.stock}.`,
      `卖出 ${last.sold} 件，库存减少了 ${initial - last.stock}。`,
    ),
  );
  const begin = points[0].at,
    wide = width - 4.5 * em,
    top = em,
    low = height - 0.6 * em;
  const most = Math.max(...points.map(p => Math.max(p.sold, initial - p.stock)), 1);
  const x = at => ((at - begin) / Math.max(last.at - begin, 1)) * wide,
    y = n => low - (n / most) * (low - top);
  const seen = points.filter(
    (p, i) => i === points.length - 1 || Math.floor(x(p.at)) !== Math.floor(x(points[i + 1].at)),
  );
  const steps = of =>
    seen.flatMap((p, i) => [
      [x(p.at), i ? y(of(seen[i - 1])) : y(of(p))],
      [x(p.at), y(of(p))],
    ]);
  const line = all => all.map(at => at.join(",")).join(" ");
  const sold = p => p.sold,
    felt = p => initial - p.stock;
  const [soldAt, feltAt] = moveApart(y(last.sold), y(felt(last)), 1.1 * em);
  replace(picture, [
    svg("polygon.apart", { points: line([...steps(sold), ...steps(felt).reverse()]) }),
    svg("line.tick", { x1: 0, x2: wide, y1: low, y2: low }),
    svg("polyline.felt", { points: line(steps(felt)) }),
    svg("polyline.sold", { points: line(steps(sold)) }),
    svg("text.sold", { x: wide + 0.4 * em, y: soldAt + 0.35 * em }, last.sold),
    svg("text.felt", { x: wide + 0.4 * em, y: feltAt + 0.35 * em }, felt(last)),
  ]);
}

function moveApart(a, b, room) {
  if (Math.abs(a - b) >= room) return [a, b];
  const middle = (a + b) / 2;
  return a <= b ? [middle - room / 2, middle + room / 2] : [middle + room / 2, middle - room / 2];
}

const chineseVerdicts = { PASS: "通过", OVERSOLD: "超卖", UNDERSOLD: "少卖", UNKNOWN: "未知" };

export function drawVerdict(tally) {
  if (!tally) return null;
  const tone = { PASS: tally.in_flight ? "" : "good", OVERSOLD: "bad", UNDERSOLD: "bad" }[tally.verdict] ?? "";
  const known = tally.sold !== undefined && [
    [say("stock", "库存"), `${tally.remaining} / ${tally.initial}`],
    [say("sold", "已售"), tally.sold],
    [say("requests in flight", "处理中的请求"), tally.in_flight],
  ];
  return [
    el("p", { class: "verdict " + tone }, [
      el("strong", tally.says),
      " ",
      el("span.chip.small", say(tally.verdict, chineseVerdicts[tally.verdict] ?? tally.verdict)),
    ]),
    drawFacts(known || []),
  ];
}
