// Who this browser is in the room: a participant, without a name, who goes where the class is, or the one who teaches.
import { el, replace } from "../dom.js";
import { go } from "../route.js";
import { del, get, post } from "../server.js";
import { forget, keep, kept } from "../store.js";
import { language, say } from "../words.js";

/** @typedef {{ participant: string, until: string }} Place */

/** @type {Place | null} */
let has = null;
/** @type {Promise<Place> | null} */
let joining = null;

// known is the place that this browser had last. It lasts as long as the tab.
function known() {
  has ??= JSON.parse(kept("place", "sessionStorage") ?? "null");
  return has;
}

// place is this browser's in the room that is open; the server gives one to whoever asks.
async function place(room) {
  if (known()?.until === room.until) return has;
  joining ??= join(room.until).finally(() => {
    joining = null;
  });
  return joining;
}

async function join(until) {
  has = { ...(await post("/room/join")), until };
  keep("place", JSON.stringify(has), "sessionStorage");
  return has;
}

function forgetPlace() {
  has = null;
  forget("place", "sessionStorage");
}

// predict tells the room what this participant predicts, unless it has left. A place that was given to somebody else is
// asked for anew.
export async function predict(room, what) {
  if (kept("left", "sessionStorage") === room.until) return;
  for (let again = true; ; again = false) {
    const mine = await place(room);
    try {
      await post("/room/answer", { participant: mine.participant, ...what });
      break;
    } catch (failure) {
      if (failure.code !== "no_participant" || !again) throw failure;
      if (has === mine) forgetPlace();
    }
  }
  if (at() === null) note(room.at, "no");
  attend();
}

// leads reports whether this browser teaches in the room that is open: its own lessons do not count. lead makes it so.
export const leads = room => room.open && kept("leads") === room.until;
export const lead = room => keep("leads", room.until);

const pause = () => (follows() === "no" || refused ? 10_000 : 2000); // between two looks at where the class is, in ms

let attending = false;
let room = null; // as the server said last
let refused = ""; // why it has none
let over = false; // the room that this browser was in has been closed
let wake = () => {}; // ends the pause

const at = () => kept("joined", "sessionStorage"); // where the class was when this browser last followed it
const follows = () => kept("follows", "sessionStorage");
const addressOf = at => "#/course/" + at;
const joins = () => /^#\/(course\/)?join/.test(location.hash);

function note(at, follows) {
  keep("joined", at, "sessionStorage");
  keep("follows", follows, "sessionStorage");
}

export function attendance(_path, { draw }) {
  forget("left", "sessionStorage");
  if (follows() !== "yes" || at() === null) note("", "yes");
  attend();
  draw([
    el("h1", say("Join the class", "加入课堂")),
    el("p", say("This page follows the class as soon as the room is open.", "教室打开后，这个页面会跟着讲师走。")),
  ]);
  return {};
}

// The strip stands above every view while this browser is in a class.
const says = el("span", { role: "status" }),
  switches = el("span.row"),
  told = el("p.row.told", { role: "status" }),
  strip = el("aside.attends", says, switches, told);

function drawStrip() {
  const apart = room?.at && !isAt(room.at),
    shown = !over && room?.revealed,
    alone = over || !!refused;
  strip.ariaLabel = say("Class", "课堂");
  update(says, [refused, over, room?.open, apart && room.at], () => {
    if (over) return say("The class is over: the teacher has closed the room.", "课堂已结束：讲师关闭了教室。");
    if (refused) return refused;
    if (!room?.open) return say("In class: the room is not open yet", "已加入：教室还没有打开");
    const there = apart && el("a", { href: addressOf(room.at) }, say(`lesson ${+room.at}`, `第 ${+room.at} 课`));
    return [say("In class", "正在上课"), there && [" · ", there]];
  });
  update(switches, [alone, over], () => [
    !alone &&
      el("label", el("input", { id: "follow", type: "checkbox", onchange: follow }), say("Following", "跟随讲师")),
    el("button.quiet", { id: "leave", onclick: leave }, over ? say("Close", "关闭") : say("Leave", "离开")),
  ]);
  for (const box of switches.querySelectorAll("input")) box.checked = follows() === "yes";
  update(told, shown && [room.choice, room.answer, room.counts], () => shown && revealed(room));
}

// update draws a node anew if what it shows is other than it was: what stays is read aloud once.
function update(node, what, draw) {
  const shows = JSON.stringify([language(), what]);
  if (node.dataset.shows !== shows) replace(node, draw());
  node.dataset.shows = shows;
}

// revealed says what this participant and the class chose, beside the answer.
function revealed({ choice, answer, counts }) {
  const most = Math.max(1, ...counts);
  const mine = choice && say(`You: ${choice}. `, `你选：${choice}。`),
    look = { class: choice && (choice === answer ? "good" : "warn") };
  return [
    el("b", look, mine, say(`Answer: ${answer}.`, `答案：${answer}。`)),
    counts.map((n, i) => {
      const bar = { max: most, value: n, "aria-label": say(`Chose ${i + 1}`, `选 ${i + 1}`) };
      return el("span.row", i + 1, el("progress", bar), n);
    }),
  ];
}

function follow({ target: { checked } }) {
  note(checked ? "" : at(), checked ? "yes" : "no");
  wake();
}

const isAt = at => location.hash.startsWith(addressOf(at));

// look sees whether the reader has gone elsewhere: who has follows no longer, until they say so.
function look() {
  if (at() && !joins() && !isAt(at())) note(at(), "no");
  drawStrip();
}

for (const event of ["hashchange", "languagechange"]) addEventListener(event, look);
document.addEventListener("visibilitychange", () => wake()); // a phone is there again as soon as it is looked at

function leave() {
  strip.remove();
  if (room?.open) keep("left", room.until, "sessionStorage");
  if (known() && !over) del("/room/join?participant=" + has.participant).catch(() => {}); // it would be forgotten anyway
  forgetPlace();
  forget("joined", "sessionStorage");
  wake();
  if (joins()) go("#/course");
}

// attend stays in the class, and follows it, until the room that was open is closed or this browser leaves.
export async function attend() {
  wake();
  if (attending) return;
  attending = true;
  over = false;
  look();
  for (let was = false; at() !== null; ) {
    try {
      room = await get("/room", { participant: known()?.participant });
      if (room.open && at() !== null) await place(room);
      refused = "";
    } catch (failure) {
      if (failure.code === "no_participant") forgetPlace();
      const why = {
        dropped: say(
          "Your address has been taken out, until the room closes.",
          "你的地址已被移出，教室关闭前不能再加入。",
        ),
        room_full: say("The room is full.", "教室已满。"),
      };
      refused = why[failure.code] ?? "";
    }
    if (at() === null) break;
    over = was && !room?.open;
    if (room?.revealed) dispatchEvent(new CustomEvent("revealed", { detail: room.at }));
    was ||= !!room?.open;
    if (over) forget("joined", "sessionStorage");
    else if (room?.at && room.at !== at() && follows() === "yes") {
      keep("joined", room.at, "sessionStorage");
      go(addressOf(room.at));
    }
    drawStrip();
    if (!strip.isConnected) document.getElementById("main").before(strip);
    await new Promise(passed => {
      wake = () => passed(null);
      setTimeout(passed, over ? 0 : pause());
    });
  }
  attending = false;
}
