// The class session on the projector: how to join, and what the class predicts.
import { drawTerminal, el, replace, svg } from "../dom.js";
import { go, link } from "../route.js";
import { del, get, post, put } from "../server.js";
import { language, say, several } from "../words.js";
import { drawHTML } from "./course_parts.js";
import { becomeLeader, isLeader } from "./participant.js";

const pause = 1000; // polling interval, in ms

const twoDigits = number => String(number).padStart(2, "0");
export const lessonAddress = number => "#/course/" + twoDigits(number);

// roomAddress returns the address of a question by its number, or of how to join.
const roomAddress = at => link(["course", "room", typeof at === "number" ? twoDigits(at) : at]);

export async function showRoom([, , name], { passed, draw, again, fail }) {
  const act = what => () => what().then(again).catch(fail);
  let room = await get("/room"),
    timer = 0;
  if (passed()) return null;
  if (!room.open) {
    draw(drawClosed(act(async () => becomeLeader(await post("/room")))));
    return {};
  }
  if (!name) {
    go(roomAddress(room.at || "join"), { instead: true });
    return null;
  }
  const [{ lessons }, { doors }] = await Promise.all([
    get("/course", { lang: language() }),
    get("/room/join", { from: location.origin }),
  ]);
  const places = ["join", ...lessons.map(({ number }) => number)].map(roomAddress),
    at = roomAddress(Number(name) || name),
    on = name === "join" ? "" : twoDigits(name),
    mine = isLeader(room);
  if (mine && on && room.at !== on) room = await put("/room", { at: on });
  const reveal = async () => shown.draw(await put("/room", { at: on, revealed: true }), null);
  const shown = await (name === "join" ? createWelcome : createQuestion)(doors, name, mine && reveal);
  const step = (by, text) => {
    const to = places[places.indexOf(at) + by];
    return to && el("a.button", { href: to }, text);
  };
  const button = (id, look, act, text) => el("button", { id, class: look, onclick: act }, text);
  const take = async () => becomeLeader(await put("/room", { at: on || room.at || "01" }));
  const foot = el("p.row", [
    shown.button,
    step(-1, say("← Previous (p)", "← 上一页（p）")),
    step(1, say("Next (n) →", "下一页（n）→")),
    name !== "join" && el("a.button", { href: roomAddress("join") }, say("Join, large", "大屏二维码")),
    mine
      ? drawClosing(act(() => del("/room")))
      : button("lead", null, act(take), say("Lead the class from this browser", "用这个浏览器带课")),
  ]);
  draw([shown.nodes, foot, mine && drawParticipants()]);
  const look = async () => {
    try {
      const [now, what] = await Promise.all([get("/room"), shown.ask?.()]);
      if (passed()) return;
      if (!now.open) return again();
      shown.draw?.(now, what);
      timer = setTimeout(look, pause);
    } catch (failure) {
      failure.code === "no_room" ? again() : fail(failure);
    }
  };
  await look();
  return { places, at, leave: () => clearTimeout(timer) };
}

// drawClosing draws the button that closes the session for everybody, after a confirmation.
function drawClosing(close) {
  const node = el("span.row");
  const offer = () =>
    replace(node, el("button.danger", { id: "close", onclick: ask }, say("Close the room", "结束课堂")));
  function ask() {
    const stay = el("button", { onclick: offer }, say("Keep it open", "继续上课"));
    replace(node, [
      el("span", { role: "alert" }, [
        say("Close the room for everybody? Its answers are lost.", "为所有人结束课堂？作答会清空。"),
      ]),
      el("button.danger", { id: "close-now", onclick: close }, say("Close", "关闭")),
      stay,
    ]);
    stay.focus();
  }
  offer();
  return node;
}

const drawClosed = open => [
  el("h1", say("The room predicts together", "全班一起预测")),
  el("p", [
    say(
      "Whoever opens a lesson on this server is counted, without a name; whoever joins follows you. " +
        "Everything is forgotten when you close the room, or after four hours.",
      "在这台服务器上打开课程的人都会计入，不记名；加入的人会跟着你走。结束课堂或四小时后，数据全部清除。",
    ),
  ]),
  el("p", el("button.main", { id: "open", onclick: open }, say("Open the room", "开始课堂"))),
];

// drawEntrance draws the address to join with its QR code, or how to start a server that others reach.
function drawEntrance([door, ...others]) {
  if (!door)
    return el("aside.door.note.warn", [
      say(
        "Only this machine reaches this server. For a class, start it so that others can.",
        "只有本机能访问这台服务器。上课时，请让别的机器也能访问。",
      ),
      drawTerminal(["--server.addr 0.0.0.0:8080 --admin.token …"]),
    ]);
  const code = { viewBox: `-4 -4 ${door.size + 8} ${door.size + 8}`, role: "img" };
  const plain = ({ url }) => url.replace(/^http:\/\//, "");
  return el("aside.door", [
    svg("svg", { ...code, "aria-label": say("QR code of the address", "地址的二维码") }, svg("path", { d: door.path })),
    el("a.join", { href: door.url }, plain(door)),
    others.length > 0 && el("span.small.soft", say("or ", "或 "), others.map(plain).join(", ")),
  ]);
}

const drawBesideDoor = (doors, ...inside) => el("div.beside-door", el("div", inside), drawEntrance(doors));

const createWelcome = doors => ({
  nodes: [
    el("h1", say("Join the class", "加入课堂")),
    el("p", say("Scan the code, or type the address.", "扫码，或输入地址。")),
    el("div.large", drawEntrance(doors)),
  ],
});

async function createQuestion(doors, name, reveal) {
  const lesson = await get("/course/" + encodeURIComponent(name), { lang: language() });
  const total = el("p.soft", { id: "total", role: "status" });
  const bars = lesson.choices.map((choice, i) => {
    const bar = el("progress", { max: 1, value: 0, "aria-label": String(i + 1), hidden: true }),
      count = el("b");
    return { bar, count, row: el("li", el("div.row", el("b", i + 1 + "."), drawHTML("span", choice), count), bar) };
  });
  const button = reveal && el("button.main", { id: "reveal", onclick: () => reveal() }, say("Reveal", "揭晓"));
  let counted = null;
  return {
    button,
    ask: () => get("/room/" + lesson.number),
    draw({ at, revealed }, counts) {
      counted = counts ?? counted;
      const isRevealed = revealed && Number(at) === lesson.number, // counts stay hidden until the teacher reveals them
        answered = counted.counts.reduce((sum, n) => sum + n, 0);
      bars.forEach(({ bar, count, row }, i) => {
        bar.hidden = !isRevealed;
        bar.max = Math.max(answered, 1);
        bar.value = counted.counts[i];
        count.textContent = isRevealed ? counted.counts[i] : "";
        row.className = isRevealed && i + 1 === lesson.answer ? "note good" : "";
      });
      if (button) button.disabled = isRevealed;
      const says = !answered
        ? say("Nobody has answered yet", "还没有人作答")
        : say(
            `${answered} of ${counted.participants} have answered`,
            `${counted.participants} 人中 ${answered} 人作答`,
          );
      if (total.textContent !== says) total.textContent = says;
    },
    nodes: [
      drawBesideDoor(
        doors,
        el("h1", el("a", { href: lessonAddress(lesson.number) }, `${lesson.number}. ${lesson.title}`)),
        drawHTML("div.small", lesson.idea),
        lesson.predict.parts.map(part => drawHTML("div.question", part.html)),
        el("ol.bars", [bars.map(({ row }) => row)]),
        total,
      ),
    ],
  };
}

// drawParticipants lists participants by address for the teacher, who can remove all of an address.
function drawParticipants() {
  const body = el("ul");
  const row = ({ address, n }) =>
    el("li.row", [
      several(n, "participant", "人"),
      el("button.danger", { onclick: () => drop(address) }, say("Remove ", "移出 ") + address),
    ]);
  const draw = async () => replace(body, (await get("/room/participants")).participants.map(row));
  const update = () => draw().catch(failure => replace(body, failure.message));
  const drop = address => del("/room/participants/" + encodeURIComponent(address)).then(update, update);
  const node = el("details", { id: "participants", ontoggle: () => node.open && update() }, [
    el("summary", say("Participants", "学员")),
    body,
  ]);
  return node;
}
