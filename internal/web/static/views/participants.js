// Who is in the room, for whoever teaches: one participant, or all of an address, can be taken out.
import { el, replace } from "../dom.js";
import { del, get } from "../server.js";
import { say, several } from "../words.js";
import { called } from "./participant.js";

const shown = 60; // participants of an address, at most: a class

export function participants() {
  const body = el("div");
  const draw = async () => {
    try {
      const all = (await get("/room/participants")).participants;
      replace(body, all.length ? list(byAddress(all), drop) : el("p", null, say("Nobody yet.", "还没有人。")));
    } catch (failure) {
      replace(body, el("p", { class: "note bad", role: "alert" }, failure.message));
    }
  };
  const drop = async who => {
    await del("/room/participants/" + encodeURIComponent(who)).catch(() => {}); // it may be gone: the list says it
    await draw();
  };
  const all = el("summary", null, say("Participants", "参与者"));
  const details = el("details", { id: "participants", ontoggle: () => details.open && draw() }, all, body);
  return details;
}

// byAddress puts together who joined from the same address.
function byAddress(all) {
  const groups = new Map();
  for (const one of all) groups.set(one.address, [...(groups.get(one.address) ?? []), one]);
  return [...groups];
}

const list = (groups, drop) =>
  el(
    "ul",
    null,
    groups.map(([address, all]) => {
      const answers = all.reduce((sum, one) => sum + one.answers, 0);
      return el(
        "li",
        null,
        el(
          "p",
          { class: "row" },
          el("code", null, address),
          several(all.length, "participant", "人") + say(", ", "，") + several(answers, "answer", "次作答"),
          el("button", { class: "danger", onclick: () => drop(address) }, say("Take the address out", "移出这个地址")),
        ),
        all.length > 1 &&
          el(
            "p",
            { class: "row" },
            all.slice(0, shown).map(one => badge(one, drop)),
          ),
      );
    }),
  );

const badge = ({ badge }, drop) =>
  el(
    "button",
    { class: "quiet", onclick: () => drop(badge), "aria-label": say("Take out ", "移出") + called(badge) },
    called(badge) + " ✕",
  );
