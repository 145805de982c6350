// A burst as squares, one for each buyer.
import { el, replace, svg } from "../dom.js";
import { say } from "../words.js";

export const emptyRecord = (initial = 0) => ({ initial, begins: [], ends: [], points: [] });

// readBurst returns the record and the result of a burst of GET /bursts.
export function readBurst({ requests, course, result }) {
  const { lock, initial, ok, sold = ok, remaining = initial - ok, sold_out: refused } = result,
    all = course ?? [];
  const sales = all
    .filter(one => one.sold)
    .map(one => one.to)
    .sort((a, b) => a - b);
  const points = sales.map((at, i) => ({ at, sold: i + 1, stock: initial }));
  return {
    one: { lock, paid: sold, fell: initial - remaining, refused, buyers: requests, stock: initial },
    record: { initial, begins: all.map(one => one.from), ends: all.map(one => one.to), points },
  };
}

// countAt returns the numbers at a time: paid, at work, refused, and the stock’s fall.
export function countAt({ initial, begins, ends, points }, t) {
  const before = list => list.reduce((n, time) => n + (time <= t), 0);
  const point = points.findLast(p => p.at <= t);
  const paid = point?.sold ?? 0,
    done = before(ends);
  return {
    paid,
    inside: before(begins) - done,
    fell: point ? initial - point.stock : 0,
    refused: Math.max(done - paid, 0),
  };
}

export function createFilm({ pane, record } = { pane: null, record: null }) {
  if (!record?.ends.length) return null;
  const moments = [...new Set([...record.begins, ...record.ends])].sort((a, b) => a - b);
  const show = t => (t === null && pane.ended ? pane.end(pane.ended) : pane.draw(countAt(record, t ?? Infinity)));
  return { from: moments[0] - 1, to: moments.at(-1) + 1, moments, show };
}

const lockTitles = () => ({ v0: say("no lock", "没有锁"), v4: say("with v4, a lock in Redis", "用 v4，Redis 里的锁") });

// createWaffle draws a square for each buyer: at work, sold, oversold or refused.
export function createWaffle({ lock, buyers, stock, origin }) {
  const wide = Math.ceil(Math.sqrt((buyers * 25) / 8));
  const squares = Array.from({ length: buyers }, (_, i) =>
    svg("rect", { x: (i % wide) * 10 + 1, y: Math.floor(i / wide) * 10 + 1, width: 8, height: 8, rx: 1.5 }),
  );
  const box = `0 0 ${wide * 10} ${Math.ceil(buyers / wide) * 10}`;
  const says = el("p.large", say("Buyers arriving …", "买家来了……"));
  const why = el("p", { role: "status" });
  const node = el("div.pane", { "data-lock": lock }, [
    el("h2", lockTitles()[lock] ?? say(`with ${lock}`, `用 ${lock}`), origin),
    svg("svg.waffle", { viewBox: box, "aria-hidden": "true" }, squares),
    el("p.small.soft.keys", [
      [
        ["felt", say("sold", "卖出")],
        ["lost", say("oversold", "超卖：库存已空仍卖出")],
        ["refused", say("refused: sold out", "被拒绝：售罄")],
        ["at", say("at work", "正在执行")],
      ].map(([kind, means]) => [el("span", el("i", { class: kind }), means), " "]),
    ]),
    says,
    why,
  ]);
  const describe = ({ paid, refused }) =>
    say(
      `${paid} sold of a stock of ${stock}${refused ? `, ${refused} refused` : ""}`,
      `库存 ${stock} 件，卖出 ${paid} 件${refused ? `，拒绝 ${refused} 人` : ""}`,
    );
  function draw({ paid, inside, refused }) {
    squares.forEach((square, i) => {
      const kind = ["felt", "lost", "refused", "at", ""].find(
        (_, n) => i < [Math.min(paid, stock), paid, paid + refused, paid + refused + inside, buyers][n],
      );
      if (square.getAttribute("class") !== kind) square.setAttribute("class", kind);
    });
    says.className = "large";
    says.textContent = describe({ paid, refused });
    replace(why);
  }
  return {
    node,
    draw,
    ended: null, // result of the burst; null while it runs
    end(one) {
      this.ended = one;
      const lost = one.paid - one.fell,
        over = one.paid - stock;
      draw({ ...one, inside: 0 });
      says.classList.add(lost || over > 0 ? "bad" : "good");
      replace(why, [
        lost
          ? say(
              `${over > 0 ? `${over} too many. ` : ""}Buyers read the same number, and each wrote one less: ` +
                `the stock fell by only ${one.fell}.`,
              `${over > 0 ? `多卖了 ${over} 件。` : ""}几个买家读到同一个数，各自减一后写回：库存只减少了 ${one.fell} 件。`,
            )
          : over <= 0 && say("Not one too many: they went one after the other.", "一件也没有多卖：请求串行执行。"),
      ]);
    },
  };
}
