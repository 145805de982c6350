// The demo, in three slides: a burst without a lock, two of its buyers in slow motion, and the same burst with a lock.
import { el, replace } from "../dom.js";
import { bindWhile } from "../keys.js";
import { link } from "../route.js";
import { get, isAway, mayDo, post, put } from "../server.js";
import { language, say } from "../words.js";
import { reducedMotion, sleep } from "./drawing.js";
import { countAt, createFilm, createWaffle, emptyRecord, readBurst } from "./shop_waffle.js";
import { createCollision, isCollision } from "./shop_why.js";

const buyers = 200;
const stock = 100; // items for sale: half of the buyers should be refused
const filmTime = 3500; // length of the film of a short burst, in ms
const recordedFilmTime = 800; // length of the recorded film that plays while the shop loads, in ms
const watchableTime = 500; // age from which a burst is drawn live, in ms; a shorter one is played afterwards
const lostUpdate = "A:GET B:GET A:write B:write"; // a schedule of v0
const inTab = !!document.documentElement.dataset.tab;
// The address holds each burst’s result: #/?first=v0-200-4-0_v4-100-100-100 has the lock, the sold, the stock’s fall
// and the refused. So it survives a reload and can be shared.
const formatBursts = all => all.map(({ lock, paid, fell, refused }) => [lock, paid, fell, refused].join("-")).join("_");
let keptBursts = ""; // those that this page has run
const parseBursts = text =>
  [...(text ?? "").matchAll(/([a-z][a-z0-9-]*?)-(\d+)-(\d+)-(\d+)/g)].map(([, lock, ...counts]) => {
    const [paid, fell, refused] = counts.map(Number);
    const origin = text !== keptBursts && say(" · from the link", " · 来自链接");
    return { lock, paid, fell, refused, buyers, stock, origin };
  });
const loadRecording = () => fetch(new URL("../recorded.json", import.meta.url)).then(answer => answer.json());

// createDemo creates the demo; begin sets the run, judge takes its tally. changed is called with whether the demo
// stands alone. The player replays a burst that was too fast to follow. choices lists the locks.
export function createDemo(changed, player, query, choices) {
  const slides = el("p.row", { role: "group", "aria-label": say("Slides", "页") });
  const stage = el("div.contrast");
  const status = el("p.soft");
  const acts = el("div.row");
  const failed = el("p.bad", { role: "alert" });
  const node = el("section.sheet.first", { "aria-label": say("What a lock is for", "锁有什么用"), hidden: true }, [
    el("div.center", slides, status),
    stage,
    el("div.center", acts, failed),
  ]);
  let run = null,
    panes = [], // a pane for each burst: its result, its waffle, and its record, if known
    slide = 0,
    record = emptyRecord(),
    losses = [], // pairs of sales of the run, one of which is lost
    trace = null, // commands of such a pair
    why = null, // slow-motion picture of that trace
    runningPane = null, // the waffle of the burst that is under way
    isAsked = false, // the reader has asked for the demo
    isSpectator = false, // the reader may only look
    busy = false,
    stopped = false;
  const mayAdminister = () => mayDo(run?.can.administer);
  const mayPlay = () => !isSpectator && mayAdminister();
  const mayTurn = to => !busy && panes.length > 0 && [true, true, panes.length > 1 || mayPlay()][to];
  const film = () => {
    if (node.hidden) return null;
    return slide === 1 ? why?.film : createFilm(slide ? panes.at(-1) : panes[0]);
  };
  // playFilm plays the shown film within that many ms, unless the reader wants reduced motion.
  async function playFilm(within) {
    const next = !reducedMotion.matches && !stopped && film();
    if (!next) return;
    const played = player.load(next);
    player.play({ within });
    await played;
  }

  const add = (one, record) => {
    const pane = createWaffle({ buyers, stock, ...one });
    panes.push({ one, pane, record });
    return pane;
  };

  function draw() {
    const has = panes.length > 0,
      own = has && !panes[0].one.recorded;
    const go = (text, act, style = "button") => el(style, { onclick: act }, text);
    const names = [say("1 Burst", "1 抢购"), say("2 Why", "2 为什么"), say("3 Compare", "3 对比")];
    const tab = (name, i) =>
      el("button.small", { "aria-pressed": String(i === slide), disabled: !mayTurn(i), onclick: () => turn(i) }, name);
    replace(slides, has && names.map(tab));
    replace(stage, slide === 1 ? why?.node : panes.slice(0, slide || 1).map(({ pane }) => pane.node));
    replace(status, sentence());
    if (busy) return replace(acts);
    const byHand = link(["schedule", "v0"], { mode: "break", anomaly: "lost-update", do: lostUpdate, at: 0, veil: 1 });
    const select = el("select", { "aria-label": say("Lock", "锁") }, choices(panes[1]?.one.lock));
    const begin = say(
      `Let ${buyers} buyers loose on ${stock} items, no lock`,
      `${buyers} 个买家，${stock} 件库存，没有锁：看看会怎样`,
    );
    const withLock = say("Now with a lock", "现在加上锁"),
      leaves = panes[0]?.one.recorded ? say("Show details", "收起，看细节") : say("Hide the demo", "收起演示");
    replace(acts, [
      mayPlay() && !own && go(begin, () => play("v0"), "button.main.big"),
      own && !slide && panes.length === 1 && mayPlay() && go(withLock, () => turn(2), "button.main.big"),
      has && !slide && go(say("Why? In slow motion", "为什么？看慢放"), () => turn(1)),
      slide === 1 && go(say("Play it again", "再放一遍"), showWhy),
      slide === 2 && mayPlay() && [select, go(say("Compare with this lock", "用这把锁对比"), () => play(select.value))],
      slide > 0 && el("a.button", { href: byHand }, say("See why, step by step", "为什么？一步步看")),
      has && slide !== 1 && el("a.button", { href: "#/course/01" }, say("Lesson 1", "第 1 课")),
      (has || isAsked) && run && go(leaves, leave, "button.details"),
    ]);
  }

  function sentence() {
    if (isSpectator && !panes.length) return say("No burst has been run in this shop yet.", "这个商店还没有跑过抢购。");
    if (isSpectator)
      return say(
        "Replay of this shop's latest bursts. Nothing in the shop changes.",
        "回放这个商店最近的抢购，不会改变商店。",
      );
    if (panes[0]?.one.recorded && !run)
      return say("Recorded with this code. The live shop is loading …", "用同一份代码录制。真实的商店正在加载……");
    if (panes.length) return null;
    const reads = say("Every sale reads the stock, then writes back one less.", "每卖一件：读库存，减一后写回。");
    return isAsked ? [reads, say(" It starts a new run, with v0.", "会以 v0 开始新的一轮。")] : reads;
  }

  function leave() {
    close();
    document.getElementById("main").focus();
  }

  function close() {
    player.stop();
    node.hidden = true;
    forget();
    keep();
    changed(false);
  }

  function forget() {
    panes = [];
    slide = 0;
    isAsked = isSpectator = false;
    why = trace = null;
    replace(failed);
  }

  function keep() {
    if (isSpectator) return;
    keptBursts = formatBursts(panes.map(({ one }) => one).filter(one => !one.recorded));
    history.replaceState(history.state, "", link([], { first: keptBursts }));
  }

  // open shows the demo at any time: its button to those who may begin a burst, the two latest bursts to others.
  async function open() {
    if (busy || !run) return;
    close();
    node.hidden = false;
    isAsked = true;
    if (!mayAdminister()) await replay();
    if (stopped) return;
    draw();
    node.scrollIntoView({ block: "nearest" });
    acts.querySelector("button")?.focus({ preventScroll: true });
  }

  // replay shows the latest bursts, or two buyers if there is none.
  async function replay() {
    isSpectator = true;
    await runBusy(async () => {
      const past = await get("/bursts").catch(failure => show(failure) ?? []);
      const all = past.map(readBurst).sort((a, b) => Number(b.one.lock === "v0") - Number(a.one.lock === "v0"));
      for (const { one, record } of all) add(one, record).end(one);
      for (slide of [[slide], [0], [0, 2]][all.length]) {
        draw();
        if (all.length) await playFilm(filmTime);
      }
    });
    if (panes.length || slide === 1) return;
    slide = 1;
    showWhy();
  }

  // runBusy runs an action with the other buttons disabled.
  async function runBusy(does) {
    busy = true;
    draw();
    await does();
    busy = false;
    if (!stopped) draw();
  }

  // play runs a burst with a lock: v0 as the first slide, another lock beside it.
  async function play(lock) {
    player.stop();
    isSpectator = false;
    if (lock !== "v0" && !panes.some(({ one }) => one.lock === "v0")) await play("v0");
    panes = lock === "v0" ? [] : panes.filter(({ one }) => one.lock === "v0");
    if (lock === "v0") why = trace = null;
    slide = lock === "v0" ? 0 : 2;
    const pane = add({ lock });
    replace(failed);
    await runBusy(async () => {
      pane.node.scrollIntoView({ block: "nearest" });
      try {
        const one = await burst(lock, pane);
        if (stopped) return;
        pane.end(one);
        changed(false);
      } catch (failure) {
        panes.pop();
        slide = 0;
        show(failure);
      }
    });
    // On the stage the space bar plays the film.
    if (!document.documentElement.dataset.stage) acts.querySelector("button")?.focus({ preventScroll: true });
  }

  // show shows an error until the shop has recovered.
  function show(failure) {
    const gone = say(
      "The shop or its Redis does not answer. Try again when it does.",
      "商店或它的 Redis 没有响应，恢复后再试。",
    );
    replace(failed, isAway(failure) ? gone : failure.message);
  }

  async function burst(lock, pane) {
    const { ttl_ms, think_ms, nested } = run.settings;
    if (think_ms > 10 || nested) await put("/settings", { ttl_ms, think_ms: 0, nested: 0 });
    if (run.lock !== lock) await put("/lock", { version: lock });
    const { id } = await post("/bursts", { n: buyers, c: buyers, stock });
    const began = performance.now();
    let answer = { done: false };
    while (!answer.done && !stopped) {
      await sleep(100);
      if (performance.now() - began > watchableTime) runningPane = pane;
      answer = await get("/bursts/" + id);
    }
    const watched = runningPane;
    runningPane = null;
    if (!answer.result?.ok) throw { status: 503 }; // the burst broke off, or sold nothing
    // The last frames arrive a little later than the result.
    for (let i = 0; record.ends.length < answer.result.ok && i < 10 && !stopped; i++) await sleep(100);
    const { sold: paid, initial, remaining, sold_out: refused } = answer.result;
    const one = { lock, paid, fell: initial - remaining, refused, buyers, stock };
    Object.assign(panes.at(-1), { one, record });
    if (stopped) return one;
    keep(); // the reader may leave the film that follows
    if (lock === "v0") trace = await pair();
    if (!watched) await playFilm(filmTime);
    return one;
  }

  // pair loads the trace of two buyers of whom one overwrote the other.
  async function pair() {
    for (const [a, b] of losses.slice(0, 5)) {
      const drawn = await get("/live/pair", { a, b, lang: language() }).catch(() => null);
      if (drawn && isCollision(drawn)) return drawn;
    }
    return null;
  }

  // showWhy shows two colliding buyers of the burst, of the recording, or of the seat.
  async function showWhy() {
    try {
      trace ??= inTab
        ? (await loadRecording()).pair
        : (await get("/seat/state", { lock: "v0", do: lostUpdate, lang: language() })).view.trace;
    } catch (failure) {
      return show(failure);
    }
    why ??= createCollision(trace);
    if (slide !== 1 || stopped) return;
    draw();
    playFilm(why.within);
  }

  function turn(to) {
    if (!mayTurn(to)) return;
    if (to === 2 && panes.length < 2) return play("v4");
    player.stop();
    slide = to;
    draw();
    if (slide === 1) showWhy();
  }

  // live draws the burst as it goes. Nobody is refused before the stock is gone: a sale ends before it is counted.
  const live = () => {
    if (!runningPane || reducedMotion.matches) return;
    const counts = countAt(record, Infinity);
    runningPane.draw(record.points.at(-1)?.stock === 0 ? counts : { ...counts, refused: 0 });
  };
  const deck = () => !node.hidden && panes.length > 0 && !document.activeElement?.matches("[type=range]");
  const unbind = bindWhile(
    deck,
    ["ArrowRight", "the next slide of the demo (Page Down)", "演示的下一页（Page Down）", () => turn(slide + 1)],
    ["ArrowLeft", "the slide before (Page Up)", "演示的上一页（Page Up）", () => turn(slide - 1)],
    ["PageDown", "", "", () => turn(slide + 1)],
    ["PageUp", "", "", () => turn(slide - 1)],
  );

  return {
    node,
    film,
    draw,
    open,
    deck,
    again: play,
    // start shows the bursts of the address, or in a tab, while its program loads, a recording.
    async start() {
      for (const one of parseBursts(query.get("first"))) add(one, null).end(one);
      slide = panes.length > 1 ? 2 : 0;
      node.hidden = !panes.length;
      draw();
      if (!inTab || panes.length || query.has("lock")) return;
      node.hidden = false;
      changed(true);
      await runBusy(async () => {
        const pane = add({ lock: "v0", recorded: true, origin: say(" · recorded", " · 录制") }, null);
        draw();
        const made = await loadRecording().catch(() => null);
        if (!made || stopped) return void panes.pop();
        const { one, record } = readBurst(made);
        trace = made.pair;
        panes[0].record = record;
        pane.end(one);
        await playFilm(recordedFilmTime);
      });
    },
    begin(next, fresh) {
      const other = run && run.run_id !== next.run_id;
      run = next;
      if (fresh) [record, losses] = [emptyRecord(next.initial), []];
      // The panes must belong to the shop’s current run.
      if (other && !busy && panes.some(({ one }) => !one.recorded) && !isSpectator) close();
      else draw();
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
    finding({ kind, sales }) {
      if (kind === "lost-update" && sales?.length === 2) losses.push(sales);
    },
    // judge shows the demo to a beginner: nothing is sold, no lock, no think time. It hides it as soon as somebody buys
    // by hand.
    judge(tally) {
      if (busy || (isSpectator && panes.length)) return;
      if (isSpectator) return void (tally.sold && !tally.in_flight && replay());
      const own = panes.some(({ one }) => !one.recorded);
      if (!node.hidden) return void (tally.sold && !own && !isAsked && close());
      const { think_ms: think, nested } = run.settings;
      if (!mayAdminister() || tally.sold || tally.in_flight || run.lock !== "v0" || think > 10 || nested) return;
      node.hidden = false;
      draw();
      changed(true);
    },
    // recover clears an error message.
    recover: () => replace(failed),
    stop() {
      stopped = true;
      unbind();
    },
  };
}
