// The first minute: one button, a burst without a lock in slow motion, and the same burst with one beside it.
import { el, replace, svg } from "../dom.js";
import { link } from "../route.js";
import { get, post, put } from "../server.js";
import { say } from "../words.js";
import { still } from "./shop_words.js";

const buyers = 200;
const stock = 100; // for which they come: half of them are to be refused
const slowly = 3500; // how long a burst that nobody could follow is played, in ms
const shortest = 1500; // a burst that took longer was seen as it went
const locks = () => ({ v0: say("no lock", "没有锁"), v4: say("with v4, a lock in Redis", "用 v4，Redis 里的锁") });
// What each burst came to is in the address: #/?first=v0-200-4-0_v4-100-100-100, its lock, how many were sold, what the
// stock fell by, and how many were refused. So it outlasts a reload, and stands in any window.
const write = all => all.map(({ lock, paid, fell, refused }) => [lock, paid, fell, refused].join("-")).join("_");
const read = text =>
  [...(text ?? "").matchAll(/(v0|v4)-(\d+)-(\d+)-(\d+)/g)].map(([, lock, ...counts]) => {
    const [paid, fell, refused] = counts.map(Number);
    return { lock, paid, fell, refused };
  });

// first makes the part: begin with a run, take its frames, judge by its tally. changed is called with whether there is
// nothing else to see. A burst that nobody could follow is played again by the player.
export function first(changed, player, query) {
  const shown = read(query.get("first"));
  const stage = el("div.contrast");
  const says = el("p.soft");
  const acts = el("p.row");
  const failed = el("p.bad", { role: "alert" });
  const node = el("section.sheet.first", { "aria-label": say("What a lock is for", "锁有什么用"), hidden: true }, [
    el("div.center", says),
    stage,
    el("div.center", acts, failed),
  ]);
  let run = null,
    record = empty(),
    going = null, // the waffle of the burst that is under way
    latest = null, // the waffle of the latest burst, and its record
    sold = 0, // by the latest tally
    busy = false,
    stopped = false;
  const sleep = ms => new Promise(passed => setTimeout(passed, ms));
  const may = () => run.can.administer === "open" || sessionStorage.getItem("lockstep.token");
  const slow = () => {
    const played = player.load(film());
    player.play({ within: slowly });
    return played;
  };

  function offer() {
    const go = (text, act) => el("button.main.big", { onclick: act }, text),
      burst = lock => () => play(lock);
    const begin = say(
      `Let ${buyers} buyers loose on ${stock} items, no lock`,
      `${buyers} 个买家，${stock} 件库存，没有锁：看看会怎样`,
    );
    const byHand = link(["schedule", "v0"], { mode: "break", anomaly: "lost-update", do: lost, at: 0, veil: 1 });
    const first = !shown.length;
    replace(
      says,
      first && say("Every sale reads the stock, then writes back one less.", "每卖一件：读库存，写回减一。"),
    );
    replace(acts, [
      !may() && go(say("Play it again, for you alone", "再放一遍，只给你看"), replay),
      may() && first && go(begin, burst("v0")),
      may() && shown.length === 1 && go(say("Now with a lock", "现在加上锁"), burst("v4")),
      !first && el("a.button", { href: byHand }, say("See why, step by step", "为什么？一步步看")),
      !first && el("a.button", { href: "#/course/01" }, say("Lesson 1", "第 1 课")),
      may() && !first && el("button", { onclick: leave }, say("Show details", "收起，看细节")),
    ]);
  }

  function leave() {
    shown.length = 0;
    keep();
    close();
    document.getElementById("main").focus();
  }

  const keep = () => history.replaceState(null, "", link([], { first: write(shown) }));

  // replay shows what the shop has told of its latest run, to a reader who may not begin another.
  async function replay() {
    const pane = waffle(run.lock);
    replace(stage, pane.node);
    latest = { pane, record };
    busy = true;
    replace(acts);
    // what it tells comes a little later than its tally
    for (let i = 0; record.ends.length < sold && i < 50 && !stopped; i++) await sleep(100);
    if (film()) await slow();
    busy = false;
    const { paid, fell, inside } = at(record, Infinity);
    pane.end({ lock: run.lock, paid, fell, refused: record.ends.length - paid + inside });
    offer();
  }

  function close() {
    node.hidden = true;
    replace(stage);
    changed(false);
  }

  async function play(lock) {
    const pane = waffle(lock);
    busy = true;
    replace(acts);
    replace(failed);
    stage.append(pane.node);
    pane.node.scrollIntoView({ block: "nearest" });
    try {
      const result = await burst(lock, pane);
      if (stopped) return;
      if (!result.ok) throw new Error(result.error ?? say("Nothing was sold.", "一件也没有卖出。"));
      const { sold: paid, initial, remaining, sold_out: refused } = result;
      shown.push({ lock, paid, fell: initial - remaining, refused });
      keep();
      pane.end(shown.at(-1));
      changed(false);
    } catch (failure) {
      pane.node.remove();
      if (stopped) return;
      replace(failed, failure.message);
    }
    busy = false;
    offer();
    // on a stage the space bar plays
    if (!document.documentElement.dataset.stage) acts.querySelector("button")?.focus({ preventScroll: true });
  }
  async function burst(lock, pane) {
    if (run.lock !== lock) await put("/lock", { version: lock });
    const { id } = await post("/bursts", { n: buyers, c: buyers, stock });
    const began = performance.now();
    going = pane;
    let told = { done: false };
    while (!told.done && !stopped) {
      await sleep(100);
      told = await get("/bursts/" + id);
    }
    going = null;
    const took = performance.now() - began;
    if (!told.result) return { error: told.error };
    // its last frames come a little later than its result
    for (let i = 0; record.ends.length < told.result.ok && i < 10 && !stopped; i++) await sleep(100);
    latest = { pane, record };
    if (took < shortest && !still.matches && !stopped) await slow();
    return told.result;
  }
  function film() {
    if (node.hidden || !latest?.record.ends.length) return null;
    const { pane, record } = latest;
    const moments = [...new Set([...record.begins, ...record.ends])].sort((a, b) => a - b);
    const show = t => (t === null && pane.ended ? pane.end(pane.ended) : pane.draw(at(record, t ?? Infinity)));
    return { from: moments[0] - 1, to: moments.at(-1) + 1, moments, show };
  }
  const live = () => going && !still.matches && going.draw(at(record, Infinity));

  return {
    node,
    film,
    begin(next, fresh) {
      run = next;
      if (fresh) record = empty(next.initial);
    },
    sections(more) {
      for (const { from, to } of more) {
        record.begins.push(from);
        record.ends.push(to);
      }
      live();
    },
    stock(points) {
      record.points.push(...points);
      live();
    },
    // judge shows the part if this is where a reader begins: nothing is sold, without a lock, and a burst takes no
    // time; and hides it as soon as somebody buys by hand.
    judge(tally) {
      sold = tally.sold;
      if (!node.hidden) return void (tally.sold && !busy && !shown.length && close());
      const { think_ms: think, nested } = run.settings;
      const cold = !tally.sold && !tally.in_flight && run.lock === "v0";
      const can = may() ? cold && think <= 10 && !nested : run.initial === stock && tally.sold && !tally.in_flight;
      if (!can && !shown.length) return;
      node.hidden = false;
      for (const one of shown) {
        const pane = waffle(one.lock);
        stage.append(pane.node);
        pane.end(one);
        latest = one.lock === run.lock ? { pane, record } : null;
      }
      offer();
      changed(!shown.length);
    },
    stop() {
      stopped = true;
    },
  };
}

const empty = (initial = 0) => ({ initial, begins: [], ends: [], points: [] });

// at is how many have paid at a time, how many are at work or refused, and what the stock has fallen by.
function at({ initial, begins, ends, points }, t) {
  const before = list => list.reduce((n, is) => n + (is <= t), 0);
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

const lost = "A:GET B:GET A:write B:write";

// waffle has a square for each buyer: at work, sold, sold though nothing was left, and refused.
function waffle(lock) {
  const wide = 25;
  const squares = Array.from({ length: buyers }, (_, i) =>
    svg("rect", { x: (i % wide) * 10 + 1, y: Math.floor(i / wide) * 10 + 1, width: 8, height: 8, rx: 1.5 }),
  );
  const picture = svg("svg.waffle", { viewBox: "0 0 250 80", "aria-hidden": "true" }, squares);
  const says = el("p.large", say("Buyers arriving …", "买家来了……"));
  const why = el("p", { role: "status" });
  const node = el("div.pane", { "data-lock": lock }, [
    el("h2", locks()[lock] ?? lock),
    picture,
    el("p.small.soft.keys", [
      [
        ["felt", say("sold", "卖出")],
        ["lost", say("oversold", "超卖：库存已空仍卖出")],
        ["refused", say("refused: sold out", "被拒绝：售罄")],
        ["at", say("at work", "正在执行")],
      ].map(([is, means]) => [el("span", el("i", { class: is }), means), " "]),
    ]),
    says,
    why,
  ]);
  const told = ({ paid, refused }) =>
    say(
      `${paid} sold of a stock of ${stock}${refused ? `, ${refused} refused` : ""}`,
      `库存 ${stock} 件，卖出 ${paid} 件${refused ? `，拒绝 ${refused} 人` : ""}`,
    );
  function draw({ paid, inside, refused }) {
    squares.forEach((square, i) => {
      const is = ["felt", "lost", "refused", "at", ""].find(
        (_, n) => i < [Math.min(paid, stock), paid, paid + refused, paid + refused + inside, buyers][n],
      );
      if (square.getAttribute("class") !== is) square.setAttribute("class", is);
    });
    says.className = "large";
    says.textContent = told({ paid, refused });
    replace(why);
  }
  return {
    node,
    draw,
    ended: null, // what it came to
    end(one) {
      this.ended = one;
      const lost = one.paid - one.fell,
        over = one.paid - stock;
      draw({ ...one, inside: 0 });
      says.classList.add(lost ? "bad" : "good");
      replace(why, [
        lost
          ? say(
              `${over > 0 ? `${over} too many. ` : ""}Buyers read the same number, and each wrote one less: ` +
                `the stock fell by only ${one.fell}.`,
              `${over > 0 ? `多卖了 ${over} 件。` : ""}几个买家读到同一个数，各自写回减一：库存只减少了 ${one.fell} 件。`,
            )
          : say("Not one too many: they went one after the other.", "一件也没有多卖：大家一个接一个。"),
      ]);
    },
  };
}
