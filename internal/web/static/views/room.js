// The room, on the projector: how to come in, what a class predicts, and who broke what.
import { el, heads, replace, svg } from "../dom.js";
import { bind } from "../keys.js";
import { go, link } from "../route.js";
import { del, get, post, put } from "../server.js";
import { language, say, several } from "../words.js";
import { address } from "./course.js";
import { html } from "./course_parts.js";
import { stepsOf } from "./levels.js";
import { called, lead, leads } from "./participant.js";

const pause = 1000; // between two looks at what the class did

// place is where the room shows something: a question by its number, join, or the board.
const place = at => link(["room", typeof at === "number" ? String(at).padStart(2, "0") : at]);

export function show(main, route) {
  const body = el("article.room");
  main.append(body);
  let places = [], // of all that the room shows, in order
    at = "", // the one that is shown
    timer = 0,
    turnOf = 0,
    gone = false;
  const turn = by => {
    const next = places[places.indexOf(at) + by];
    if (next) go(next);
  };
  const leave = bind(
    ["n", "the next question", "下一题", () => turn(1)],
    ["p", "the question before", "上一题", () => turn(-1)],
  );
  const fail = failure => !gone && replace(body, el("p.note.bad", { role: "alert" }, failure.message));

  async function follow(route) {
    const mine = ++turnOf,
      passed = () => gone || mine !== turnOf;
    clearTimeout(timer);
    const again = () => follow(route);
    const act = what => () => what().then(again).catch(fail);
    try {
      let room = await get("/room");
      if (passed()) return;
      if (!room.open) return replace(body, ...closed(act(async () => lead(await post("/room")))));
      const name = route.path[1];
      if (!name)
        return go(room.at ? place(room.at === "campaign" ? "board" : room.at) : place("join"), { instead: true });
      const [{ lessons }, { doors }] = await Promise.all([
        get("/course", { lang: language() }),
        get("/room/join", { from: location.origin }),
      ]);
      places = ["join", ...lessons.map(({ number }) => number), "board"].map(place);
      at = place(Number(name) || name);
      const on = name === "board" ? "campaign" : name === "join" ? "" : name.padStart(2, "0"),
        mine = leads(room);
      if (mine && on && room.at !== on) room = await put("/room", { at: on });
      const shown =
        name === "join"
          ? welcome(doors)
          : name === "board"
            ? await board(doors)
            : await question(name, doors, mine, reveal);
      if (passed()) return;
      const foot = el(
        "p.row",
        shown.button,
        step(-1, "← (p)"),
        step(1, "(n) →"),
        at !== place("board") && el("a.button", { href: place("board") }, say("The board", "榜")),
        at !== place("join") && el("a.button", { href: place("join") }, say("Join, large", "加入（大）")),
        mine
          ? el("button.danger", { id: "close", onclick: act(() => del("/room")) }, say("Close the room", "关闭教室"))
          : el(
              "button",
              { id: "lead", onclick: act(async () => lead(await put("/room", { at: on || room.at || "01" }))) },
              say("Lead the class from this browser", "用这个浏览器带课"),
            ),
      );
      replace(body, ...shown.nodes, foot, mine && participants());
      async function reveal() {
        shown.draw(await put("/room", { at: on, revealed: true }), null);
      }
      const look = async () => {
        try {
          const [now, what] = await Promise.all([get("/room"), shown.ask?.()]);
          if (passed()) return;
          if (!now.open) return follow(route);
          shown.draw?.(now, what);
          timer = setTimeout(look, pause);
        } catch (failure) {
          if (passed()) return;
          if (failure.code === "no_room") follow(route);
          else fail(failure);
        }
      };
      await look();
    } catch (failure) {
      if (!passed()) fail(failure);
    }
  }
  const step = (by, text) => {
    const to = places[places.indexOf(at) + by];
    return to && el("a.button", { href: to }, text);
  };

  follow(route);
  return {
    follow,
    leave() {
      gone = true;
      clearTimeout(timer);
      leave();
    },
  };
}

function closed(open) {
  return [
    el("h1", say("The room predicts and plays", "全班一起预测、一起闯关")),
    el(
      "p",
      say(
        "Whoever opens a lesson on this server is counted, without a name; whoever joins goes along with you. " +
          "All is forgotten when you close the room, or after four hours.",
        "在这台服务器上打开课程的人都会计入，不记名；加入的人会跟着你走。关闭教室或四小时后，数据全部清除。",
      ),
    ),
    el("p", el("button.main", { id: "open", onclick: open }, say("Open the room", "打开教室"))),
  ];
}

// entrance is the first door, with its code for a phone's camera; without a door, how to make one.
function entrance(doors) {
  const [door, ...others] = doors;
  if (!door)
    return el(
      "aside.door.note.warn",
      say(
        "Only this machine reaches this server. For a class, start it with ",
        "只有本机能访问这台服务器。上课时请这样启动：",
      ),
      el("code", "--server.addr 0.0.0.0:8080"),
      " ",
      el("code", "--admin.token …"),
    );
  return el(
    "aside.door",
    svg(
      "svg",
      {
        viewBox: `-4 -4 ${door.size + 8} ${door.size + 8}`,
        role: "img",
        "aria-label": say("QR code of the address", "地址的二维码"),
      },
      svg("path", { d: door.path }),
    ),
    el("a.join", { href: door.url }, door.url.replace(/^http:\/\//, "")),
    others.length > 0 &&
      el("span.small.soft", say("or ", "或 "), others.map(({ url }) => url.replace(/^http:\/\//, "")).join(", ")),
  );
}

function welcome(doors) {
  return {
    nodes: [
      el("h1", say("Join the class", "加入课堂")),
      el("p", say("Scan the code, or type the address.", "扫码，或输入地址。")),
      el("div.large", entrance(doors)),
    ],
  };
}

async function question(name, doors, leading, reveal) {
  const lesson = await get("/course/" + encodeURIComponent(name), { lang: language() });
  const total = el("p.soft", { id: "total", role: "status" });
  const bars = lesson.choices.map((choice, i) => ({
    bar: el("progress", { max: 1, value: 0, "aria-label": String(i + 1), hidden: true }),
    count: el("b"),
    choice,
  }));
  const rows = bars.map(({ bar, count, choice }, i) =>
    el("li", el("div.row", el("b", i + 1 + "."), html("span", null, choice), count), bar),
  );
  const button = leading && el("button.main", { id: "reveal", onclick: () => reveal() }, say("Reveal", "揭晓"));
  let counted = null;
  return {
    button,
    ask: () => get("/room/" + lesson.number),
    draw({ at, revealed }, counts) {
      counted = counts ?? counted;
      const told = revealed && Number(at) === lesson.number, // until then, nobody sees what others choose
        answered = counted.counts.reduce((sum, n) => sum + n, 0);
      bars.forEach(({ bar, count }, i) => {
        bar.hidden = !told;
        bar.max = Math.max(answered, 1);
        bar.value = counted.counts[i];
        count.textContent = told ? counted.counts[i] : "";
      });
      rows[lesson.answer - 1].className = told ? "note good" : "";
      if (button) button.disabled = told;
      const says = !answered
        ? say("Nobody has answered yet", "还没有人作答")
        : say(
            `${answered} of ${counted.participants} have answered`,
            `${counted.participants} 人中 ${answered} 人已作答`,
          );
      if (total.textContent !== says) total.textContent = says;
    },
    nodes: [
      el(
        "div.beside-door",
        el(
          "div",
          el("h1", el("a", { href: address(lesson.number) }, `${lesson.number}. ${lesson.title}`)),
          html("div", { class: "small" }, lesson.idea),
          lesson.predict.parts.map(part => html("div", { class: "question" }, part.html)),
        ),
        entrance(doors),
      ),
      el("ol.bars", rows),
      total,
    ],
  };
}

// board shows the levels, how many have solved each, and who needed the fewest steps.
async function board(doors) {
  const index = await get("/seat", { lang: language() }),
    body = el("tbody"),
    total = el("p.soft", { role: "status" });
  const levels = index.locks.filter(({ level }) => level?.anomaly),
    steps = stepsOf(index).map(({ name }) => name);
  let drawn = "";
  return {
    ask: () => get("/room/board"),
    draw(_room, scores) {
      if (JSON.stringify(scores) === drawn) return;
      drawn = JSON.stringify(scores);
      const all = new Map(scores.levels.map(score => [score.lock, score]));
      total.textContent = several(scores.participants, "participant", "人参加");
      replace(
        body,
        levels
          .filter(({ name }) => steps.includes(name) || all.has(name))
          .map(({ name, level }) => {
            const { solved = 0, fewest, by } = all.get(name) ?? {};
            return el(
              "tr",
              { class: fewest === level.steps ? "good" : null },
              el("th", { scope: "row" }, name),
              el(
                "td.solved-by",
                el("progress", { max: Math.max(scores.participants, 1), value: solved, "aria-label": name }),
                " ",
                el("b", solved),
              ),
              el("td", solved > 0 && say(`${fewest} · ${called(by)}`, `${fewest} 步 · ${called(by)}`)),
              el("td.soft", level.steps),
            );
          }),
      );
    },
    nodes: [
      el("h1", say("Who broke what", "谁攻破了什么")),
      el(
        "div.beside-door",
        el(
          "table.board",
          heads([
            say("level", "关"),
            say("solved by", "过关人数"),
            say("fewest steps, first by", "最少步数，谁最先"),
            say("shortest", "最短"),
          ]),
          body,
        ),
        entrance(doors),
      ),
      total,
    ],
  };
}

// participants lists who is in the room by address, for whoever teaches: one, or all of an address, can be taken out.
function participants() {
  const body = el("ul");
  const draw = async () => {
    const { participants: all } = await get("/room/participants");
    const addresses = Map.groupBy(all, ({ address }) => address);
    const out = (who, name, look) =>
      el("button", { class: look, onclick: () => drop(who) }, say("Take out ", "移出 ") + name);
    const row = ([address, there]) =>
      el(
        "li.row",
        several(there.length, "participant", "人"),
        out(address, address, "danger"),
        there.map(({ badge }) => out(badge, called(badge), "quiet")),
      );
    replace(body, ...[...addresses].map(row));
  };
  const update = () => draw().catch(failure => replace(body, failure.message));
  const drop = who => del("/room/participants/" + encodeURIComponent(who)).then(update, update); // it may be gone
  const node = el(
    "details",
    { id: "participants", ontoggle: () => node.open && update() },
    el("summary", say("Participants", "参与者")),
    body,
  );
  return node;
}
