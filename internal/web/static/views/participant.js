// Who this browser is in the room: a participant, without a name, who goes where the class is, or the one who teaches.
import { alarm, el } from "../dom.js";
import { go } from "../route.js";
import { get, post } from "../server.js";
import { forget, keep, kept } from "../store.js";
import { say } from "../words.js";

/** @typedef {{ participant: string, until: string }} Place */

/** @type {Place | null} */
let has = null;
/** @type {Promise<Place> | null} */
let joining = null;

// place is this browser's in the room that is open; the server gives one to whoever asks. It lasts as long as the tab.
async function place(room) {
  has ??= JSON.parse(kept("place", "sessionStorage") ?? "null");
  if (has?.until === room.until) return has;
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

// predict tells the room what this participant predicts. A place that was given to somebody else is asked for anew.
export async function predict(room, what) {
  for (let again = true; ; again = false) {
    const mine = await place(room);
    try {
      return await post("/room/answer", { participant: mine.participant, ...what });
    } catch (failure) {
      if (failure.code !== "no_participant" || !again) throw failure;
      if (has === mine) has = null;
      forget("place", "sessionStorage");
    }
  }
}

// leads reports whether this browser teaches in the room that is open: its own lessons do not count. lead makes it so.
export const leads = room => room.open && kept("leads") === room.until;
export const lead = room => keep("leads", room.until);

const pause = 2000; // between two looks at where the class is

let drawn = () => {}; // the view, while it is there
let attending = false;
let room = null; // as the server said last
let refused = ""; // why it has none
let over = false; // the room that this browser was in has been closed

const at = () => kept("joined", "sessionStorage"); // where the class was when this browser last followed it
const addressOf = at => "#/course/" + at;

export function attendance(_path, { draw }) {
  if (at() === null) keep("joined", "", "sessionStorage");
  drawn = () =>
    draw([
      el("h1", refused ? say("You are not in", "你没有加入") : say("You are in", "你已加入")),
      refused && alarm(refused),
      el("p", { role: "status" }, [
        over
          ? say("The class is over: the teacher has closed the room.", "课堂已结束：讲师关闭了教室。")
          : !room
            ? say("Asking where the class is …", "正在询问进度……")
            : !room.open
              ? say(
                  "The room is not open yet. Then this page follows the class.",
                  "教室还没有打开；打开后，这个页面会跟着讲师走。",
                )
              : say("This page follows the class.", "这个页面会跟着讲师走。"),
      ]),
      room?.open &&
        room.at &&
        el("a.button.main", { href: addressOf(room.at) }, say("To the class", "去课堂正在看的页面")),
    ]);
  drawn();
  attend();
  return {
    leave() {
      drawn = () => {};
    },
  };
}

// attend follows the class until the room that was open is closed. Who goes elsewhere meanwhile stays there until the
// class goes on.
export async function attend() {
  if (attending) return;
  attending = true;
  over = false;
  for (let was = false; ; ) {
    try {
      room = await get("/room");
      if (room.open) await place(room);
      refused = "";
    } catch (failure) {
      const why = {
        dropped: say(
          "Your address has been taken out, until the room closes.",
          "你的地址已被移出，教室关闭前不能再加入。",
        ),
        room_full: say("The room is full.", "教室已满。"),
      };
      refused = why[failure.code] ?? "";
    }
    if (was && !room?.open) break;
    if (room?.revealed) dispatchEvent(new CustomEvent("revealed", { detail: room.at }));
    was ||= !!room?.open;
    if (room?.at && room.at !== at()) {
      keep("joined", room.at, "sessionStorage");
      go(addressOf(room.at));
    }
    drawn();
    await new Promise(passed => setTimeout(passed, pause));
  }
  attending = false;
  over = true;
  forget("joined", "sessionStorage");
  drawn();
}
