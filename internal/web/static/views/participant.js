// This browser in the class session: an anonymous participant who follows the class, or the teacher.
import { el, replace } from "../dom.js";
import { go } from "../route.js";
import { del, get, post } from "../server.js";
import { forget, keep, recall } from "../store.js";
import { language, say } from "../words.js";

/** @typedef {{ participant: string, until: string }} Place */

/** @type {Place | null} */
let ownPlace = null;
/** @type {Promise<Place> | null} */
let joining = null;

// recallPlace returns this browser’s latest place. It lasts as long as the tab.
function recallPlace() {
  ownPlace ??= JSON.parse(recall("place", "sessionStorage") ?? "null");
  return ownPlace;
}

// findPlace returns this browser’s place in the open session, and joins it if it has none.
async function findPlace(room) {
  if (recallPlace()?.until === room.until) return ownPlace;
  joining ??= join(room.until).finally(() => {
    joining = null;
  });
  return joining;
}

async function join(until) {
  ownPlace = { ...(await post("/room/join")), until };
  keep("place", JSON.stringify(ownPlace), "sessionStorage");
  return ownPlace;
}

function forgetPlace() {
  ownPlace = null;
  forget("place", "sessionStorage");
}

// predict sends a prediction to the session, unless this participant has left. It joins again if its place was given
// away.
export async function predict(room, what) {
  if (recall("left", "sessionStorage") === room.until) return;
  for (let again = true; ; again = false) {
    const mine = await findPlace(room);
    try {
      await post("/room/answer", { participant: mine.participant, ...what });
      break;
    } catch (failure) {
      if (failure.code !== "no_participant" || !again) throw failure;
      if (ownPlace === mine) forgetPlace();
    }
  }
  if (classPlace() === null) note(room.at, "no");
  attend();
}

// isLeader reports whether this browser teaches the open session; then its own lessons do not count. becomeLeader makes
// it so.
export const isLeader = room => room.open && recall("leads") === room.until;
export const becomeLeader = room => keep("leads", room.until);

// pollInterval returns the time between two requests for the state of the class, in ms.
const pollInterval = () => (followState() === "no" || refusal ? 10_000 : 2000);

let attending = false;
let room = null; // latest answer of GET /room
let refusal = ""; // why it has none
let isOver = false; // the room that this browser was in has been closed
let wake = () => {}; // ends the pause

const classPlace = () => recall("joined", "sessionStorage"); // lesson of the class when this browser last followed it
const followState = () => recall("follows", "sessionStorage");
const lessonAddress = at => "#/course/" + at;
const isJoining = () => /^#\/(course\/)?join/.test(location.hash);

function note(at, follows) {
  keep("joined", at, "sessionStorage");
  keep("follows", follows, "sessionStorage");
}

export function showJoin(_path, { draw }) {
  forget("left", "sessionStorage");
  if (followState() !== "yes" || classPlace() === null) note("", "yes");
  attend();
  draw([
    el("h1", say("Join the class", "加入课堂")),
    el("p", say("This page follows the class as soon as the room is open.", "课堂开始后，这个页面会跟着讲师走。")),
  ]);
  return {};
}

// The strip stands above every view while this browser is in a class.
const statusLine = el("span", { role: "status" }),
  switches = el("span.row"),
  result = el("p.row.told", { role: "status" }),
  strip = el("aside.attends", statusLine, switches, result);

function drawStrip() {
  const apart = room?.at && !isAt(room.at),
    shown = !isOver && room?.revealed,
    alone = isOver || !!refusal;
  strip.ariaLabel = say("Class", "课堂");
  update(statusLine, [refusal, isOver, room?.open, apart && room.at], () => {
    if (isOver) return say("The class is over: the teacher has closed the room.", "讲师已结束课堂。");
    if (refusal) return refusal;
    if (!room?.open) return say("In class: the room is not open yet", "已加入：课堂尚未开始");
    const there = apart && el("a", { href: lessonAddress(room.at) }, say(`lesson ${+room.at}`, `第 ${+room.at} 课`));
    return [say("In class", "正在上课"), there && [" · ", there]];
  });
  update(switches, [alone, isOver], () => [
    !alone &&
      el("label", el("input", { id: "follow", type: "checkbox", onchange: follow }), say("Following", "跟随讲师")),
    el("button.quiet", { id: "leave", onclick: leave }, isOver ? say("Close", "关闭") : say("Leave", "离开")),
  ]);
  for (const box of switches.querySelectorAll("input")) box.checked = followState() === "yes";
  update(result, shown && [room.choice, room.answer, room.counts], () => shown && drawRevealed(room));
}

// update redraws a node only if its content has changed, so that screen readers read it once.
function update(node, what, draw) {
  const shows = JSON.stringify([language(), what]);
  if (node.dataset.shows !== shows) replace(node, draw());
  node.dataset.shows = shows;
}

// drawRevealed shows what this participant and the class chose, beside the answer.
function drawRevealed({ choice, answer, counts }) {
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
  note(checked ? "" : classPlace(), checked ? "yes" : "no");
  wake();
}

const isAt = at => location.hash.startsWith(lessonAddress(at));

// checkPlace stops following as soon as the reader has gone elsewhere.
function checkPlace() {
  if (classPlace() && !isJoining() && !isAt(classPlace())) note(classPlace(), "no");
  drawStrip();
}

for (const event of ["hashchange", "languagechange"]) addEventListener(event, checkPlace);
document.addEventListener("visibilitychange", () => wake()); // ask at once when a phone wakes

function leave() {
  strip.remove();
  if (room?.open) keep("left", room.until, "sessionStorage");
  // A request that fails does no harm: a silent participant is forgotten anyway.
  if (recallPlace() && !isOver) del("/room/join?participant=" + ownPlace.participant).catch(() => {});
  forgetPlace();
  forget("joined", "sessionStorage");
  wake();
  if (isJoining()) go("#/course");
}

// attend follows the class until its session is closed or this browser leaves.
export async function attend() {
  wake();
  if (attending) return;
  attending = true;
  isOver = false;
  checkPlace();
  for (let wasOpen = false; classPlace() !== null; ) {
    try {
      room = await get("/room", { participant: recallPlace()?.participant });
      if (room.open && classPlace() !== null) await findPlace(room);
      refusal = "";
    } catch (failure) {
      if (failure.code === "no_participant") forgetPlace();
      refusal = ["dropped", "room_full"].includes(failure.code) ? failure.message : "";
    }
    if (classPlace() === null) break;
    isOver = wasOpen && !room?.open;
    if (room?.revealed) dispatchEvent(new CustomEvent("revealed", { detail: room.at }));
    wasOpen ||= !!room?.open;
    if (isOver) forget("joined", "sessionStorage");
    else if (room?.at && room.at !== classPlace() && followState() === "yes") {
      keep("joined", room.at, "sessionStorage");
      go(lessonAddress(room.at));
    }
    drawStrip();
    if (!strip.isConnected) document.getElementById("main").before(strip);
    await new Promise(passed => {
      wake = () => passed(null);
      setTimeout(passed, isOver ? 0 : pollInterval());
    });
  }
  attending = false;
}
