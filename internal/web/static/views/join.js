// Whoever joins a class: this browser goes where the class is.
import { el, replace } from "../dom.js";
import { go } from "../route.js";
import { get } from "../server.js";
import { say } from "../words.js";
import { called, place as placeIn } from "./participant.js";

const pause = 2000; // between two looks at where the class is
const joined = "lockstep.joined"; // where the class was when this browser last followed it; none: it follows none

let drawn = () => {}; // the view, while it is there
let attending = false;
let room = null; // as the server said last
let mine = null; // this browser's place in it
let refused = ""; // why it has none

const at = () => sessionStorage.getItem(joined);

const dropped = () =>
  say("Your address has been taken out, until the room closes.", "你的地址已被移出，直到教室关闭。");
const full = () => say("The room is full.", "教室已满。");

export const place = at => (at === "campaign" ? "#/campaign" : "#/course/" + at);

export function show(main) {
  const body = el("article.room");
  main.append(body);
  if (at() === null) sessionStorage.setItem(joined, "");
  drawn = () =>
    replace(
      body,
      el("h1", refused ? say("You are not in", "你没有加入") : say("You are in", "你已加入")),
      refused && el("p.note.bad", { role: "alert" }, refused),
      mine &&
        el(
          "p",
          say("You need no name. The board calls you ", "不用填名字。榜上的你是 "),
          el("b.badge", called(mine.badge)),
          say(".", "。"),
        ),
      el(
        "p",
        { role: "status" },
        !room
          ? say("Asking where the class is …", "正在询问进度……")
          : !room.open
            ? say(
                "The room is not open. This page waits for it, and then goes along with the class.",
                "教室还没有打开。打开后，这个页面会跟着课堂走。",
              )
            : say("This page goes along with the class.", "这个页面会跟着课堂走。"),
      ),
      room?.open && room.at && el("a.button.main", { href: place(room.at) }, say("Where the class is", "去课堂所在处")),
    );
  drawn();
  attend();
  return () => {
    drawn = () => {};
  };
}

// attend follows the class until the room that was open is closed. Who goes elsewhere meanwhile stays there until the
// class goes on.
export async function attend() {
  if (attending) return;
  attending = true;
  for (let was = false; ; ) {
    try {
      room = await get("/room");
      mine = room.open ? await placeIn(room) : null;
      refused = "";
    } catch (failure) {
      mine = null; // asked again
      refused = { dropped: dropped(), room_full: full() }[failure.code] ?? "";
    }
    if (was && !room?.open) break;
    was ||= !!room?.open;
    if (room?.at && room.at !== at()) {
      sessionStorage.setItem(joined, room.at);
      go(place(room.at));
    }
    drawn();
    await new Promise(passed => setTimeout(passed, pause));
  }
  attending = false;
  sessionStorage.removeItem(joined);
}
