// The live shop: what its locks do, what goes wrong, and the controls.
import { drawIcon, el, replace, showDialog } from "../dom.js";
import { bind } from "../keys.js";
import { route } from "../route.js";
import { drawLoaded, get, stream } from "../server.js";
import { drawTrace } from "../trace.js";
import { language, say } from "../words.js";
import { createControls } from "./shop_controls.js";
import { createDemo } from "./shop_first.js";
import { drawLegend } from "./shop_lanes.js";
import { createBuyer } from "./shop_orders.js";
import { parts as shopParts } from "./shop_parts.js";
import { createPlayer } from "./shop_player.js";
import { drawVerdict } from "./shop_stock.js";
import { describeSettings, drawTitle } from "./shop_words.js";

const answerTimeout = 4000; // longest wait for the stream's first answer, in ms
const mostLanes = 30; // critical sections up to which the lanes show them all
const wholeFrames = ["lanes", "story", "tally"]; // frames that say all of it each time
const root = document.documentElement;

export function show(main, { query }) {
  const heading = el("h1", say("The shop", "商店")),
    about = el("p.soft.small");
  const onStage = el("button.small", { title: say("For a projector (F)", "用于投影（F）"), onclick: turnStage }, [
    drawIcon("stage"),
    say("Stage", "投影"),
    el("kbd", "F"),
  ]);
  const demo = el("button.small", { "data-focus": "demo", disabled: true, onclick: () => demoPart.open() }, [
    drawIcon("play"),
    say("Show the 200-buyer demo", "演示：200 人抢购"),
  ]);
  const keep = createSaver();
  const lostNote = el("p.note.bad", { role: "alert", hidden: true }),
    trouble = el("div.note.bad", { role: "alert", hidden: true }),
    says = el("div.says");
  const { all, take, mark } = shopParts(showPair),
    parts = { ...all, controls: createControls(connect, drawLocks) };
  const displayName = name => Object.entries(run?.hosts ?? {}).find(([, host]) => host === name)?.[0] ?? name;
  const { node: buying, buy } = createBuyer(displayName);
  const filmPlayer = createPlayer({
    begins() {
      heldFrames = [];
      says.style.visibility = "hidden"; // the film has its own count
    },
    ends() {
      const waited = heldFrames;
      says.style.visibility = "";
      heldFrames = null;
      for (const [name, data] of waited) on[name](data);
    },
    changed: () => shownStage?.draw(),
  });
  const demoPart = createDemo(
    alone => {
      main.classList.toggle("cold", alone);
      teacher.open = !alone;
    },
    filmPlayer,
    query,
    lock => parts.controls.choices(lock),
  );
  const teacher = el("details.sheet.teacher", { open: true }, [
    el("summary", say("Shop settings", "设置商店")),
    parts.controls.node,
  ]);
  const tabs = Object.entries({
    story: say("What went wrong", "出了什么问题"),
    lanes: say("The latest sales", "最近的订单"),
    sections: say("All critical sections", "所有临界区"),
  }).map(([name, says]) =>
    el("button", { "aria-pressed": "false", "data-shows": name, onclick: () => choose(name) }, says),
  );
  const keys = [drawLegend(), drawLegend()];
  const pictures = {
    story: el("div", parts.storyLanes.node, keys[0]),
    lanes: el("div", parts.lanes.node, keys[1]),
    sections: parts.sections.node,
  };
  const sheet = (name, heading, ...inside) =>
    el("section", { class: `sheet ${name}`, "aria-label": heading }, el("h2", heading), inside);
  let isChosen = false,
    shown = "",
    run = null,
    connection = null,
    lateTimer = 0,
    turns = [],
    /** @type {any[]} */
    heldFrames = null, // frames that wait while the past is shown; null: nothing waits
    /** @type {any} */
    shownStage = null; // the stage, while it is on

  replace(main, [
    el("div.over", lostNote, trouble, parts.controls.prepared(query), demoPart.node),
    el("header.head", heading, about, says, el("p.row", demo, onStage, keep.node)),
    el("section.sheet.buying", { "aria-label": say("Buy", "购买") }, buying),
    el("section.sheet.picture", { "aria-label": say("What the locks do", "锁在做什么") }, [
      el("div.row", { role: "group", "aria-label": say("Picture", "画面") }, tabs),
      Object.values(pictures),
    ]),
    sheet("found", say("What went wrong", "出了什么问题"), parts.story.node, parts.findings.node),
    sheet("stocks", say("Orders vs. stock", "卖出多少，库存减少多少"), parts.stock.node),
    teacher,
  ]);
  showLatest();
  demoPart.start();

  function showLatest() {
    isChosen = false;
    tabs[0].hidden = true;
    showPicture("lanes");
  }
  function choose(name) {
    isChosen = true;
    showPicture(name);
  }
  function showPicture(name) {
    if (shown === name) return;
    shown = name;
    filmPlayer.stop();
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.shows === name));
    for (const [of, picture] of Object.entries(pictures)) picture.hidden = of !== name;
    parts.sections.draw();
    shownStage?.draw();
  }
  async function turnStage() {
    if (shownStage) return leaveStage();
    const { stage } = await import("./shop_stage.js");
    if (shownStage || !main.isConnected) return;
    shownStage = stage({
      player: filmPlayer,
      film: () => (demoPart.node.hidden ? parts[picture()].film() : demoPart.film()),
      turns: () => (demoPart.node.hidden ? turns : []),
      count: t => parts.stock.at(t),
      mark,
      pictures: {
        all: () =>
          demoPart.node.hidden
            ? tabs
                .filter(tab => !tab.hidden)
                .map(tab => [tab.dataset.shows, tab.textContent, tab.dataset.shows === shown])
            : [],
        choose,
      },
      leave: leaveStage,
      demo: demoPart,
      shop: {
        choices: () => parts.controls.choices(run?.lock),
        lock: () => run?.lock,
        again: lock => (demoPart.node.hidden ? parts.controls : demoPart).again(lock),
      },
    });
    says.before(shownStage.lead);
    main.append(shownStage.sentence, shownStage.bar);
    shownStage.play.focus();
    redraw();
    await root.requestFullscreen?.().catch(() => {}); // the stage works without full screen
  }
  function leaveStage() {
    filmPlayer.stop();
    shownStage?.close();
    shownStage = null;
    redraw();
    onStage.focus({ preventScroll: true });
    if (document.fullscreenElement) document.exitFullscreen();
  }
  const picture = () => (shown === "story" ? "storyLanes" : shown);
  const redraw = () => {
    for (const part of [parts.storyLanes, parts.lanes, parts.sections]) part.draw();
  };
  const leaveWithFullscreen = () => document.fullscreenElement || !shownStage || leaveStage();
  document.addEventListener("fullscreenchange", leaveWithFullscreen);
  function drawLocks() {
    demoPart.draw();
    shownStage?.draw();
  }
  const recover = () => {
    for (const part of [demoPart, parts.controls]) part.recover();
  };
  const showLost = (...why) => {
    lostNote.hidden = false;
    replace(lostNote, why);
  };
  const suggest = name => !isChosen && shown !== "story" && showPicture(name);
  const on = {
    ...take,
    open() {
      clearTimeout(lateTimer);
      lostNote.hidden = true;
      recover();
    },
    lost(failure) {
      const retrying = say("Connection lost. Retrying every second. ", "连接已断开，画面不是最新的。每秒重试一次。");
      showLost(retrying, el("span.small", failure.message));
      parts.lanes.freeze();
      parts.storyLanes.freeze();
    },
    trouble(lines) {
      trouble.hidden = !lines.length;
      replace(trouble, [lines.map(line => el("p", line))]);
      if (!lines.length) recover();
    },
    run(next) {
      const fresh = next.fresh || run?.run_id !== next.run_id;
      run = next;
      demo.disabled = false;
      for (const key of keys) key.hidden = run.lock === "v0"; // without a lock there are no holders to explain
      replace(heading, drawTitle(run));
      replace(about, describeSettings(run));
      parts.controls.begin(run);
      demoPart.begin(run, fresh);
      for (const part of Object.values(all)) part[fresh ? "begin" : "run"]?.(run);
      if (!fresh) return;
      replace(says);
      turns = [];
      on.trouble([]); // the stream repeats current troubles
      showLatest();
    },
    story(next) {
      take.story(next);
      turns = next.turns;
      tabs[0].hidden = false;
      suggest("story");
    },
    finding(next) {
      take.finding(next);
      demoPart.finding(next);
    },
    sections(more) {
      take.sections(more);
      demoPart.sections(more);
      if (parts.sections.size() > mostLanes) suggest("sections");
    },
    stock(points) {
      take.stock(points);
      demoPart.stock(points);
    },
    tally(tally) {
      replace(says, drawVerdict(tally));
      take.tally(tally);
      demoPart.judge(tally);
    },
  };
  // While a film plays, frames wait, except those about the connection and the shop’s own trouble.
  const feed = Object.fromEntries(
    Object.entries(on).map(([name, take]) => [
      name,
      data => {
        const passes = ["open", "lost", "trouble"].includes(name);
        if (!passes) keep.take(name, data);
        if (!heldFrames || passes) take(data);
        else {
          if (name === "run" && data.fresh) heldFrames = [];
          else if (wholeFrames.includes(name)) heldFrames = heldFrames.filter(([other]) => other !== name);
          heldFrames.push([name, data]);
        }
        shownStage?.draw();
      },
    ]),
  );
  // connect opens the stream. A browser has six connections to a server for all its tabs, and makes a further stream
  // wait without a word.
  function connect() {
    leave();
    connection = new AbortController();
    // In a tab the program is loaded first, with a progress bar.
    if (!root.dataset.tab)
      lateTimer = setTimeout(() => {
        const full = say(
          "No answer yet. If six other windows have this page, the browser has no connection left: close one.",
          "服务器还没有响应。如果另有六个窗口开着这个页面，浏览器的连接数已用完：请关掉一个。",
        );
        showLost(full);
      }, answerTimeout);
    stream("/live?lang=" + language(), feed, { signal: connection.signal, resume: true }).catch(on.lost);
  }
  function leave() {
    clearTimeout(lateTimer);
    connection?.abort();
    connection = null;
  }
  // A hidden page closes its stream, and asks for the whole run when it is visible again.
  function followVisibility() {
    if (document.hidden) leave();
    else if (!connection) connect();
  }
  document.addEventListener("visibilitychange", followVisibility);
  followVisibility();
  const unbind = bind(
    ["b", "buy one", "买一件", buy],
    ["F", "on a stage, for a projector, and back", "投影模式，再按退出", turnStage],
    ["f", "", "", turnStage],
    ["B", "many buyers at once", "很多买家同时买", parts.controls.many],
    [
      null,
      "zoom and move the picture of all critical sections; next, previous overlap; draw it",
      "缩放、移动临界区图；下一处、上一处重叠；画出来",
      "+ − ← → Home n p Enter",
    ],
  );
  if (root.dataset.stage) turnStage(); // the language has changed
  return () => {
    unbind();
    leave();
    filmPlayer.stop();
    shownStage?.close();
    if (shownStage && (route().path[0] ?? "") === "") root.dataset.stage = "on";
    else if (document.fullscreenElement) document.exitFullscreen();
    document.removeEventListener("fullscreenchange", leaveWithFullscreen);
    document.removeEventListener("visibilitychange", followVisibility);
    for (const part of [...Object.values(parts), demoPart]) part.stop();
  };
}

// createSaver creates the button that saves the run as a file, from the frames that it takes.
function createSaver() {
  const failed = el("span.bad", { role: "alert" });
  const button = el("button.small", { "data-focus": "save", onclick: give }, [
    drawIcon("save"),
    say("Save as file", "导出为文件"),
  ]);
  const node = el("span.row", { hidden: true }, button, failed);
  let latest = {},
    all = [];
  async function give() {
    replace(failed);
    button.disabled = true;
    try {
      const { save } = await import("../documents/save.js");
      await save([...all, ...Object.values(latest)]);
    } catch (failure) {
      replace(failed, failure.message);
    }
    button.disabled = false;
  }
  return {
    node,
    take(name, data) {
      node.hidden = false;
      if (data.fresh) [latest, all] = [{}, []];
      if (wholeFrames.includes(name)) latest[name] = { name, data };
      else all.push({ name, data });
    },
  };
}

function showPair(a, b) {
  const inside = el("div.scroll", { tabindex: 0, autofocus: true });
  showDialog("pair", say(`${a} and ${b}, command by command`, `${a} 和 ${b} 的每条命令`), inside);
  const load = () => get("/live/pair", { a, b, lang: language() }).then(drawTrace);
  drawLoaded(inside, say("Loading …", "加载中……"), load);
}
