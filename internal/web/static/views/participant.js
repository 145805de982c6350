// Who this browser is in the room: a participant, without a name, or the one who teaches.
import { post } from "../server.js";
import { say } from "../words.js";

/** @typedef {{ participant: string, badge: number, until: string }} Place */

const kept = "lockstep.place";
/** @type {Place | null} */
let has = null;
/** @type {Promise<Place> | null} */
let joining = null;

// place is this browser's in the room that is open; the server gives one to whoever asks. It lasts as long as the tab.
export async function place(room) {
  try {
    has ??= JSON.parse(sessionStorage.getItem(kept) ?? "null");
  } catch {
    /* it was not kept */
  }
  if (has?.until === room.until) return has;
  joining ??= join(room.until).finally(() => {
    joining = null;
  });
  return joining;
}

async function join(until) {
  has = { ...(await post("/room/join")), until };
  try {
    sessionStorage.setItem(kept, JSON.stringify(has));
  } catch {
    /* it is not kept */
  }
  return has;
}

// tell tells the room what this participant did. A place that was given to somebody else is asked for anew.
export async function tell(room, path, what) {
  for (let again = true; ; again = false) {
    const mine = await place(room);
    try {
      await post(path, { participant: mine.participant, ...what });
      return mine;
    } catch (failure) {
      if (failure.code !== "no_participant" || !again) throw failure;
      if (has === mine) has = null;
      sessionStorage.removeItem(kept);
    }
  }
}

const animals = "Rat Ox Tiger Rabbit Dragon Snake Horse Goat Monkey Rooster Dog Pig".split(" ");
const chinese = "鼠牛虎兔龙蛇马羊猴鸡狗猪";

// called says a badge, by which the board calls a participant: an animal and a number.
export function called(badge) {
  const animal = badge % animals.length,
    number = Math.floor(badge / animals.length) + 1;
  return say(`${animals[animal]} ${number}`, `${chinese[animal]} ${number} 号`);
}

// leads reports whether this browser teaches in the room that is open: its own lessons do not count. lead makes it so.
export function leads(room) {
  try {
    return room.open && localStorage.getItem("lockstep.leads") === room.until;
  } catch {
    return leading === room.until;
  }
}
let leading = ""; // where nothing is kept
export function lead(room) {
  leading = room.until;
  try {
    localStorage.setItem("lockstep.leads", leading);
  } catch {
    /* it is not kept */
  }
}
