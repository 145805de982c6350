// The stage for a projector: a verdict, a diagram and a sentence, and the replay.
import { drawIcon, el, replace } from "../dom.js";
import { bind, bindWhile } from "../keys.js";
import { duration, say } from "../words.js";
import { listTimes } from "./drawing.js";

const root = document.documentElement;
const speeds = () => [
  [say("8 s in all", "共 8 秒"), { within: 8000 }],
  ["1×", { speed: 1 }],
  ["1/10", { speed: 0.1 }],
  ["1/50", { speed: 0.02 }],
];

// stage creates the parts: lead counts the sales, sentence tells the story, bar plays. film returns what to play, count
// the sales by a time; mark is called with the number of the current turn.
export function stage({ player, film, turns, count, mark, pictures, leave, shop, demo }) {
  const lead = el("p.verdict.lead", { hidden: true });
  const sentence = el("p.sentence", { role: "status" });
  const play = el("button.main", { onclick: toggle });
  const slider = el("input", {
    type: "range",
    min: 0,
    max: 1000,
    value: 1000,
    "aria-label": say("Time", "时间"),
    oninput: () => withFilm(({ from, to }) => player.seek(from + ((to - from) * slider.value) / 1000)),
  });
  const time = el("span.time");
  const speed = el("select", { "aria-label": say("Speed", "速度"), onchange: again }, [
    speeds().map(([name], i) => el("option", { value: i }, name)),
  ]);
  const picture = el("select", {
    "aria-label": say("Picture", "画面"),
    onchange: () => pictures.choose(picture.value),
  });
  const lock = el("select", { "aria-label": say("Lock", "锁") }),
    anew = el("button", { "data-focus": "again", onclick: () => shop.again(lock.value) }, say("Again", "再来一次"));
  const bar = el("div.bar", { role: "group", "aria-label": say("Play it again", "重放") }, [
    play,
    slider,
    time,
    speed,
    picture,
    lock,
    anew,
    el("button", { "data-focus": "demo", onclick: demo.open }, say("Demo", "演示")),
    el("button", { onclick: leave }, drawIcon("leave"), say("Leave", "退出"), el("kbd", "F")),
  ]);

  let drawnLock = null; // the lock that the shop had when the list was drawn

  function withFilm(act) {
    if (!player.now()) {
      const next = film();
      if (!next) return;
      player.load(next);
    }
    act(player.now());
  }
  function toggle() {
    if (player.playing()) player.pause();
    else withFilm(() => player.play(speeds()[speed.value][1]));
  }
  function again() {
    if (!player.playing()) return;
    player.pause();
    toggle();
  }
  function step(by) {
    const present = !player.now();
    if (present && by > 0) return;
    withFilm(({ to }) => {
      if (present) player.seek(to - 1e-6);
      player.step(by);
    });
  }
  function draw() {
    const past = player.now(),
      { from, to } = past ?? {};
    replace(play, [
      drawIcon(player.playing() ? "pause" : "play"),
      player.playing() ? say("Pause", "暂停") : say("Play", "播放"),
    ]);
    play.disabled = !past && !film();
    slider.disabled = play.disabled;
    slider.value = past ? ((past.at - from) / (to - from)) * 1000 : 1000;
    replace(time, past ? `${duration(past.at - from)} / ${duration(to - from)}` : say("now", "现在"));
    slider.setAttribute("aria-valuetext", time.textContent);
    const all = turns(),
      n = past ? listTimes(all).filter(at => at <= past.at).length : all.length,
      turn = all[n - 1];
    lead.hidden = !past;
    if (past) {
      const { sold, fell } = count(past.at);
      replace(lead, say(`${sold} sold, the stock fell by ${fell}`, `卖出 ${sold} 件，库存减少了 ${fell} 件`));
      lead.classList.toggle("bad", sold > fell);
    }
    const says = !turn
      ? [past?.says]
      : [el("b", { class: turn.bad ? "number bad" : "number" }, n), el("span", turn.says)];
    const text = says.map(part => part?.textContent ?? part ?? "").join("");
    if (sentence.textContent !== text) replace(sentence, says);
    mark(past && turn ? n : 0);
    replace(picture, [
      pictures.all().map(([name, title, chosen]) => el("option", { value: name, selected: chosen }, title)),
    ]);
    picture.hidden = pictures.all().length < 2;
    const locks = shop.choices(); // none before the shop is there
    if (drawnLock !== shop.lock() || lock.length < locks[0]?.length) {
      drawnLock = shop.lock();
      replace(lock, locks);
    }
    lock.hidden = anew.hidden = !lock.length;
  }
  const unbind = bind(
    [" ", "play, pause", "播放、暂停", toggle],
    [".", "the next event", "下一个事件", () => step(1)],
    [",", "the event before", "上一个事件", () => step(-1)],
    ["Escape", "leave the stage", "退出投影", leave],
  );
  const unbindEvents = bindWhile(
    () => !demo.deck(),
    ["ArrowRight", "the next event, outside the demo", "下一个事件（不在演示时）", () => step(1)],
    ["ArrowLeft", "the event before, outside the demo", "上一个事件（不在演示时）", () => step(-1)],
  );
  root.dataset.stage = "on";
  draw();
  return {
    play,
    lead,
    sentence,
    bar,
    draw,
    close() {
      unbind();
      unbindEvents();
      delete root.dataset.stage;
      for (const part of [lead, sentence, bar]) part.remove();
    },
  };
}
