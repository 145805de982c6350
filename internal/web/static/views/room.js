// The room: what a class predicts, on the projector.
import { el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { go, link } from "../route.js";
import { del, get, post } from "../server.js";
import { language, say } from "../words.js";
import { address } from "./course.js";
import { html } from "./course_parts.js";

const pause = 1000; // between two looks at the counts

export function show(main, route) {
  const body = el("article", { class: "room" });
  main.append(body);
  let number = 0,
    last = 0,
    timer = 0,
    turnOf = 0,
    gone = false;
  const turn = by => number + by >= 1 && number + by <= last && go(place(number + by));
  const leave = bind(
    ["n", "the next question", "下一题", () => turn(1)],
    ["p", "the question before", "上一题", () => turn(-1)],
  );
  const fail = failure => !gone && replace(body, el("p", { class: "note bad", role: "alert" }, failure.message));

  async function follow(route) {
    const mine = ++turnOf;
    clearTimeout(timer);
    number = Number(route.path[1] ?? 1);
    try {
      const [room, { lessons }, lesson] = await Promise.all([
        get("/room"),
        get("/course", { lang: language() }),
        get("/course/" + encodeURIComponent(number), { lang: language() }),
      ]);
      last = lessons.length;
      if (gone || mine !== turnOf) return;
      if (!room.open)
        return replace(
          body,
          ...closed(async () => {
            await post("/room");
            follow(route);
          }, fail),
        );
      const { nodes, draw } = question(
        lesson,
        last,
        async () => {
          await del("/room");
          follow(route);
        },
        fail,
      );
      replace(body, ...nodes);
      const look = async () => {
        try {
          const counts = await get("/room/" + number);
          if (gone || mine !== turnOf) return;
          draw(counts);
          timer = setTimeout(look, pause);
        } catch (failure) {
          if (mine === turnOf) fail(failure);
        }
      };
      await look();
    } catch (failure) {
      if (mine === turnOf) fail(failure);
    }
  }

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

const place = number => link(["room", String(number).padStart(2, "0")]);

function closed(open, fail) {
  return [
    el("h1", null, say("The room predicts", "全班一起预测")),
    el(
      "p",
      null,
      say(
        "Whoever opens a lesson on this server is counted, without a name. " +
          "All is forgotten when you close the room, or after four hours.",
        "在这台服务器上打开课程的人都会计入，不记名。关闭教室或四小时后，数据全部清除。",
      ),
    ),
    el(
      "p",
      null,
      el("button", { class: "main", id: "open", onclick: () => open().catch(fail) }, say("Open the room", "打开教室")),
    ),
  ];
}

function question(lesson, last, close, fail) {
  const total = el("p", { class: "soft", id: "total" });
  const bars = lesson.choices.map((choice, i) => ({
    bar: el("progress", { max: 1, value: 0, "aria-label": String(i + 1) }),
    count: el("b"),
    choice,
  }));
  const rows = bars.map(({ bar, count, choice }, i) =>
    el("li", null, el("div", { class: "row" }, el("b", null, i + 1 + "."), html("span", null, choice), count), bar),
  );
  const reveal = el(
    "button",
    {
      class: "main",
      id: "reveal",
      onclick() {
        rows[lesson.answer - 1].classList.add("note", "good");
        reveal.disabled = true;
      },
    },
    say("Reveal", "揭晓"),
  );
  const join = location.origin + "/" + address(lesson.number);
  const alone = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const draw = ({ counts, participants }) => {
    const answered = counts.reduce((sum, n) => sum + n, 0);
    bars.forEach(({ bar, count }, i) => {
      bar.max = Math.max(answered, 1);
      bar.value = counts[i];
      count.textContent = counts[i];
    });
    total.textContent = !participants
      ? say("Nobody has answered yet", "还没有人作答")
      : say(`${answered} of ${participants} have answered`, `${participants} 人中 ${answered} 人已作答`);
  };
  const step = (to, text) => to >= 1 && to <= last && el("a", { class: "button", href: place(to) }, text);
  return {
    draw,
    nodes: [
      el("p", null, say("Join: ", "加入："), el("a", { class: "join", href: address(lesson.number) }, join)),
      alone &&
        el(
          "p",
          { class: "note warn small" },
          say(
            "Only this machine reaches this address. For a class, start the server with ",
            "只有本机能访问这个地址。上课时请这样启动服务器：",
          ),
          el("code", null, "--server.addr 0.0.0.0:8080"),
          " ",
          el("code", null, "--admin.token …"),
        ),
      el("h1", null, `${lesson.number}. ${lesson.title}`),
      html("div", { class: "small" }, lesson.idea),
      lesson.predict.parts.map(part => html("div", { class: "question" }, part.html)),
      el("ol", { class: "bars" }, rows),
      total,
      el(
        "p",
        { class: "row" },
        reveal,
        step(lesson.number - 1, "← (p)"),
        step(lesson.number + 1, "(n) →"),
        el(
          "button",
          { class: "danger", id: "close", onclick: () => close().catch(fail) },
          say("Close the room", "关闭教室"),
        ),
      ),
    ],
  };
}
