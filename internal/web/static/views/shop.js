// The shop, live: what its locks do, whatever went wrong, and the buttons.
import { dialog, el, fill, icon, replace } from "../dom.js";
import { bind } from "../keys.js";
import { route } from "../route.js";
import { get, stream } from "../server.js";
import { drawTrace } from "../trace.js";
import { language, say } from "../words.js";
import { controls } from "./shop_controls.js";
import { first } from "./shop_first.js";
import { legend } from "./shop_lanes.js";
import { buyer } from "./shop_orders.js";
import { parts as shopParts } from "./shop_parts.js";
import { player } from "./shop_player.js";
import { verdict } from "./shop_stock.js";
import { settings, title } from "./shop_words.js";

const patience = 4000; // for the first answer of the stream, in ms
const few = 30; // critical sections up to which the lanes show them all
const whole = ["lanes", "story", "tally"]; // frames that say all of it each time
const root = document.documentElement;

export function show(main, { query }) {
  const named = el("h1", say("The shop", "商店")),
    about = el("p.soft.small");
  const onStage = el("button.small", { title: say("For a projector (F)", "用于投影（F）"), onclick: turnStage }, [
    icon("stage"),
    say("Stage", "投影"),
    el("kbd", "F"),
  ]);
  const demo = el("button.small", { "data-focus": "demo", disabled: true, onclick: () => begins.open() }, [
    icon("play"),
    say("Show the 200-buyer demo", "演示：200 人抢购"),
  ]);
  const keep = keeper();
  const gone = el("p.note.bad", { role: "alert", hidden: true }),
    trouble = el("div.note.bad", { role: "alert", hidden: true }),
    says = el("div.says");
  const { all, take, mark } = shopParts(showPair),
    parts = { ...all, controls: controls(connect, listed) };
  const called = name => Object.entries(run?.hosts ?? {}).find(([, host]) => host === name)?.[0] ?? name;
  const { node: buying, buy } = buyer(called);
  const plays = player({
    begins() {
      held = [];
    },
    ends() {
      const waited = held;
      held = null;
      for (const [name, data] of waited) on[name](data);
    },
    changed: () => stands?.draw(),
  });
  const begins = first(
    alone => {
      main.classList.toggle("cold", alone);
      teacher.open = !alone;
    },
    plays,
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
  const keys = [legend(), legend()];
  const pictures = {
    story: el("div", parts.told.node, keys[0]),
    lanes: el("div", parts.lanes.node, keys[1]),
    sections: parts.sections.node,
  };
  const sheet = (name, heading, ...inside) =>
    el("section", { class: `sheet ${name}`, "aria-label": heading }, el("h2", heading), inside);
  let chosen = false,
    shown = "",
    run = null,
    connection = null,
    late = 0,
    turns = [], // of the story
    /** @type {any[]} */
    held = null, // frames that wait while the past is shown; null: nothing waits
    /** @type {any} */
    stands = null; // the stage, while it is on

  replace(main, [
    el("div.over", gone, trouble, parts.controls.prepared(query), begins.node),
    el("header.head", named, about, says, el("p.row", demo, onStage, keep.node)),
    el("section.sheet.buying", { "aria-label": say("Buy", "购买") }, buying),
    el("section.sheet.picture", { "aria-label": say("What the locks do", "锁在做什么") }, [
      el("div.row", { role: "group", "aria-label": say("Picture", "画面") }, tabs),
      Object.values(pictures),
    ]),
    sheet("found", say("What went wrong", "出了什么问题"), parts.story.node, parts.findings.node),
    sheet("stocks", say("Orders vs. stock", "卖出多少，库存减少多少"), parts.stock.node),
    teacher,
  ]);
  begin();
  begins.start();

  // begin shows the latest sales, as long as there is nothing that says more.
  function begin() {
    chosen = false;
    tabs[0].hidden = true;
    turn("lanes");
  }
  function choose(name) {
    chosen = true;
    turn(name);
  }
  function turn(name) {
    if (shown === name) return;
    shown = name;
    plays.stop();
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.shows === name));
    for (const [of, picture] of Object.entries(pictures)) picture.hidden = of !== name;
    parts.sections.draw();
    stands?.draw();
  }
  async function turnStage() {
    if (stands) return leaveStage();
    const { stage } = await import("./shop_stage.js");
    if (stands || !main.isConnected) return;
    stands = stage({
      player: plays,
      film: () => (begins.node.hidden ? parts[picture()].film() : begins.film()),
      turns: () => (begins.node.hidden ? turns : []),
      count: t => parts.stock.at(t),
      mark,
      pictures: {
        all: () =>
          begins.node.hidden
            ? tabs
                .filter(tab => !tab.hidden)
                .map(tab => [tab.dataset.shows, tab.textContent, tab.dataset.shows === shown])
            : [],
        choose,
      },
      leave: leaveStage,
      demo: begins,
      shop: {
        choices: () => parts.controls.choices(run?.lock),
        lock: () => run?.lock,
        again: lock => (begins.node.hidden ? parts.controls : begins).again(lock),
      },
    });
    says.before(stands.lead);
    main.append(stands.sentence, stands.bar);
    stands.play.focus();
    redraw();
    await root.requestFullscreen?.().catch(() => {}); // it works without
  }
  function leaveStage() {
    plays.stop();
    stands?.close();
    stands = null;
    redraw();
    onStage.focus();
    if (document.fullscreenElement) document.exitFullscreen();
  }
  const picture = () => (shown === "story" ? "told" : shown);
  const redraw = () => {
    for (const part of [parts.told, parts.lanes, parts.sections]) part.draw();
  };
  const shrunk = () => document.fullscreenElement || !stands || leaveStage();
  document.addEventListener("fullscreenchange", shrunk);
  // listed is called when the locks are known.
  function listed() {
    begins.draw();
    stands?.draw();
  }
  const recover = () => {
    for (const part of [begins, parts.controls]) part.recover();
  };
  const suggest = name => !chosen && shown !== "story" && turn(name);
  const on = {
    ...take,
    open() {
      clearTimeout(late);
      gone.hidden = true;
      recover();
    },
    lost(failure) {
      gone.hidden = false;
      replace(gone, [
        say("Connection lost. Retrying every second. ", "连接已断开，画面不是最新的。每秒重试一次。"),
        el("span.small", failure.message),
      ]);
      parts.lanes.freeze();
      parts.told.freeze();
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
      for (const key of keys) key.hidden = run.lock === "v0"; // nobody believes to hold a lock
      replace(named, title(run));
      replace(about, settings(run));
      parts.controls.begin(run);
      begins.begin(run, fresh);
      for (const part of Object.values(all)) part[fresh ? "begin" : "run"]?.(run);
      if (!fresh) return;
      replace(says);
      turns = [];
      on.trouble([]); // what there is, is told anew
      begin();
    },
    story(next) {
      take.story(next);
      turns = next.turns;
      tabs[0].hidden = false;
      suggest("story");
    },
    finding(next) {
      take.finding(next);
      begins.finding(next);
    },
    sections(more) {
      take.sections(more);
      begins.sections(more);
      if (parts.sections.size() > few) suggest("sections");
    },
    stock(points) {
      take.stock(points);
      begins.stock(points);
    },
    tally(tally) {
      replace(says, verdict(tally));
      take.tally(tally);
      begins.judge(tally);
    },
  };
  // While the past is shown, what comes waits, but for what is wrong with the shop itself.
  const feed = Object.fromEntries(
    Object.entries(on).map(([name, take]) => [
      name,
      data => {
        const passes = ["open", "lost", "trouble"].includes(name);
        if (!passes) keep.take(name, data);
        if (!held || passes) take(data);
        else {
          if (name === "run" && data.fresh) held = [];
          else if (whole.includes(name)) held = held.filter(([other]) => other !== name);
          held.push([name, data]);
        }
        stands?.draw();
      },
    ]),
  );
  // connect asks for the stream. A browser has six connections to a server, for all its tabs: the stream of one more
  // waits for another to end, without a word.
  function connect() {
    leave();
    connection = new AbortController();
    // In a tab its program is loaded first, and a bar says so.
    if (!root.dataset.tab)
      late = setTimeout(() => {
        gone.hidden = false;
        replace(gone, [
          say(
            "The server has not answered yet. Is this page open in six other windows? " +
              "A browser has no more connections: close one, or put it into the background.",
            "服务器还没有响应。这个页面是不是已经在另外六个窗口里打开？浏览器的连接数已用完：关掉一个，或把它切到后台。",
          ),
        ]);
      }, patience);
    stream("/live?lang=" + language(), feed, { signal: connection.signal, resume: true }).catch(on.lost);
  }
  function leave() {
    clearTimeout(late);
    connection?.abort();
    connection = null;
  }
  // A page that nobody sees lets go of its stream. It asks for the whole run when it is seen again.
  function seen() {
    if (document.hidden) leave();
    else if (!connection) connect();
  }
  document.addEventListener("visibilitychange", seen);
  seen();
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
    plays.stop();
    stands?.close();
    if (stands && (route().path[0] ?? "") === "") root.dataset.stage = "on";
    else if (document.fullscreenElement) document.exitFullscreen();
    document.removeEventListener("fullscreenchange", shrunk);
    document.removeEventListener("visibilitychange", seen);
    for (const part of [...Object.values(parts), begins]) part.stop();
  };
}

// keeper has the button that saves the run as a file. It takes each frame.
function keeper() {
  const failed = el("span.bad", { role: "alert" });
  const button = el("button.small", { "data-focus": "save", onclick: give }, [
    icon("save"),
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
      if (whole.includes(name)) latest[name] = { name, data };
      else all.push({ name, data });
    },
  };
}

// showPair shows the commands of two sales in a dialog.
function showPair(a, b) {
  const inside = el("div.scroll", { tabindex: 0, autofocus: true });
  dialog("pair", say(`${a} and ${b}, command by command`, `${a} 和 ${b} 的每条命令`), inside);
  fill(inside, say("Loading …", "加载中……"), get("/live/pair", { a, b, lang: language() }).then(drawTrace));
}
