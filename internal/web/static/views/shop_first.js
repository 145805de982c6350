// The first minute: one button, a burst without a lock in slow motion, and the same burst with one beside it.
import { el, replace, svg } from "../dom.js";
import { get, post, put } from "../server.js";
import { say } from "../words.js";

const buyers = 200;
const slowly = 3500; // how long a burst that nobody could follow is played, in ms
const shortest = 1500; // a burst that took longer was seen as it went
const motion = matchMedia("(prefers-reduced-motion: reduce)");
const locks = () => ({ v0: say("no lock", "没有锁"), v4: say("with v4, a lock in Redis", "用 v4，Redis 里的锁") });
const shown = []; // what each burst came to, also after a change of the language: its lock and its numbers

// first makes the part: begin with a run, take its frames, judge by its tally. changed is called with whether there is
// nothing else to see. A burst that nobody could follow is played again by the player.
export function first(changed, player) {
  const stage = el("div", { class: "contrast" });
  const says = el("p", { class: "soft" });
  const acts = el("p", { class: "row" });
  const failed = el("p", { class: "bad", role: "alert" });
  const node = el(
    "section",
    { class: "sheet first", "aria-label": say("What a lock is for", "锁有什么用"), hidden: true },
    el("div", { class: "center" }, says),
    stage,
    el("div", { class: "center" }, acts, failed),
  );
  let run = null,
    record = empty(),
    going = null, // the waffle of the burst that is under way
    latest = null, // the waffle of the latest burst, and its record
    busy = false,
    stopped = false;
  const sleep = ms => new Promise(passed => setTimeout(passed, ms));

  function offer() {
    const next = !shown.length ? "v0" : shown.length === 1 ? "v4" : "";
    const go = (text, main) => el("button", { class: main ? "main big" : "big", onclick: () => play(next) }, text);
    replace(
      says,
      !shown.length && say("Each sale reads the stock, and writes one less.", "每卖一件：读库存，写回减一。"),
    );
    replace(
      acts,
      next === "v0" &&
        go(
          say(
            `${buyers} buyers, one stock of ${buyers}, no lock: see what happens`,
            `${buyers} 个买家，${buyers} 件库存，没有锁：看看会怎样`,
          ),
          true,
        ),
      next === "v4" && go(say("Now with v4", "现在用 v4"), true),
      shown.length > 0 &&
        el(
          "button",
          {
            onclick() {
              shown.length = 0;
              close();
              document.getElementById("main").focus();
            },
          },
          say("Close, and look at it closely", "关闭，仔细看"),
        ),
    );
  }

  function close() {
    node.hidden = true;
    replace(stage);
    changed(false);
  }

  // play lets the buyers loose, and shows what came of it.
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
      shown.push({ lock, paid: result.sold, fell: result.initial - result.remaining, record: latest.record });
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
    const { id } = await post("/bursts", { n: buyers, c: buyers });
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
    if (took < shortest && !motion.matches && !stopped) {
      const played = player.load(film());
      player.play({ within: slowly });
      await played;
    }
    return told.result;
  }
  // film is the latest burst.
  function film() {
    if (node.hidden || !latest) return null;
    const { pane, record } = latest;
    const moments = [...new Set([...record.begins, ...record.ends])].sort((a, b) => a - b);
    const show = t => (t === null && pane.ended ? pane.end(pane.ended) : pane.draw(at(record, t ?? Infinity)));
    return { from: moments[0] - 1, to: moments.at(-1) + 1, moments, show };
  }
  const live = () => going && !motion.matches && going.draw(at(record, Infinity));

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
      if (!node.hidden) return void (tally.sold && !busy && !shown.length && close());
      const { think_ms: think, nested } = run.settings;
      const cold = !tally.sold && !tally.in_flight && run.lock === "v0";
      const can = run.can.administer !== "no" && think <= 10 && !nested;
      if (!can || !(cold || shown.length)) return;
      node.hidden = false;
      for (const one of shown) {
        const pane = waffle(one.lock);
        stage.append(pane.node);
        pane.end(one);
        latest = one.record && { pane, record: one.record };
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

// at is how many have paid at a time, how many are at work, and what the stock has fallen by.
function at({ initial, begins, ends, points }, t) {
  const before = list => list.reduce((n, is) => n + (is <= t), 0);
  const point = points.findLast(p => p.at <= t);
  return { paid: before(ends), inside: before(begins) - before(ends), fell: point ? initial - point.stock : 0 };
}

// waffle has a square for each buyer: at work, paid, and paid though the stock did not fall.
function waffle(lock) {
  const wide = 25;
  const squares = Array.from({ length: buyers }, (_, i) =>
    svg("rect", { x: (i % wide) * 10 + 1, y: Math.floor(i / wide) * 10 + 1, width: 8, height: 8, rx: 1.5 }),
  );
  const picture = svg("svg", { viewBox: "0 0 250 80", class: "waffle", "aria-hidden": "true" }, squares);
  const says = el("p", { class: "large" }, say("The buyers come …", "买家来了……"));
  const why = el("p", { role: "status" });
  const node = el(
    "div",
    { class: "pane", "data-lock": lock },
    el("h2", null, locks()[lock]),
    picture,
    el(
      "p",
      { class: "small soft keys" },
      [
        ["felt", say("paid, and the stock fell", "已付款，库存减了")],
        ["lost", say("paid, and the stock did not fall", "已付款，库存没有减")],
        ["at", say("at work", "正在执行")],
      ].map(([is, means]) => [el("span", null, el("i", { class: is }), means), " "]),
    ),
    says,
    why,
  );
  const told = ({ paid, fell }) =>
    say(`${paid} paid, the stock fell by ${fell}`, `${paid} 人付了款，库存${fell < paid ? "只" : ""}减少了 ${fell} 件`);
  function draw({ paid, inside, fell }) {
    squares.forEach((square, i) => {
      const is = i < Math.min(fell, paid) ? "felt" : i < paid ? "lost" : i < paid + inside ? "at" : "";
      if (square.getAttribute("class") !== is) square.setAttribute("class", is);
    });
    says.className = "large";
    says.textContent = told({ paid, fell });
    replace(why);
  }
  return {
    node,
    draw,
    ended: null, // what it came to
    end(one) {
      this.ended = one;
      const lost = one.paid - one.fell;
      draw({ ...one, inside: 0 });
      says.classList.add(lost ? "bad" : "good");
      replace(
        why,
        lost
          ? say(
              `${lost} updates are lost: buyers read the same number, and each wrote one less.`,
              `丢失了 ${lost} 次扣减：几个买家读到同一个数，各自写回减一。`,
            )
          : say("Not one is lost: they went one after the other.", "一次也没有丢失：大家一个接一个。"),
      );
    },
  };
}
