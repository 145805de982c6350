// The course. A lesson asks for a prediction before it shows what happens. The class session and its participants
// belong to it.
import { drawAlarm, drawTerminal, el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { go } from "../route.js";
import { get } from "../server.js";
import { keep, recall } from "../store.js";
import { language, say } from "../words.js";
import { Desk, drawAll, drawHTML, drawRunner, drawSeat, Result } from "./course_parts.js";
import { isLeader, predict, showJoin } from "./participant.js";
import { lessonAddress, showRoom } from "./room.js";

const pause = 5000; // between two looks for a room that is not open yet
const tab = !!document.documentElement.dataset.tab;
const parts = { ...(!tab && { room: showRoom, join: showJoin }) };

// A part is a function of the path and of its controls: draw nodes, begin again, fail. It returns its address, the
// addresses of all its places, and a cleanup; or null if it has gone to another address.
export function show(main, route) {
  const body = el("article");
  main.append(body);
  let turn = 0, // number of the latest navigation
    name = "", // name of the shown part in the address
    places = [],
    at = "",
    leaves = () => {};
  const step = by => {
    const next = places[places.indexOf(at) + by];
    if (next) go(next);
  };
  const unbind = bind(
    ["n", "the next lesson or question", "下一课、下一题", () => step(1)],
    ["p", "the one before", "上一课、上一题", () => step(-1)],
  );

  async function follow(route) {
    const [asked = "", heading] = route.path[1]?.split("#") ?? []; // #/course/03#explain
    const jump = () => {
      const to = heading && document.getElementById(heading); // none, if what is asked comes first
      to ? to.scrollIntoView() : scrollTo(0, 0);
    };
    if (asked && asked === name && asked !== "room") return jump();
    const mine = ++turn,
      passed = () => mine !== turn;
    name = "";
    leaves();
    leaves = () => {};
    const may = {
      passed,
      draw: nodes => passed() || replace(body, nodes),
      again: () => passed() || follow(route),
      fail: failure => passed() || replace(body, el("h1", say("The course", "课程")), drawAlarm(failure)),
    };
    body.className = parts[asked] ? "room" : "course";
    try {
      const part = await (parts[asked] ?? showLesson)(["course", asked, route.path[2]], may);
      if (passed()) return part?.leave?.();
      ({ places = [], at = "", leave: leaves = () => {} } = part);
      name = asked;
      jump();
    } catch (failure) {
      may.fail(failure);
    }
  }

  follow(route);
  return {
    follow,
    leave() {
      turn++;
      leaves();
      unbind();
    },
  };
}

// showLesson shows a lesson, or the list of lessons.
async function showLesson([, name], { passed, draw }) {
  const number = Number(name);
  let timer = 0,
    turn = 0;

  // tell sends the choice to the class session as soon as one is open. A lesson neither waits for it nor fails with it.
  async function tell(choice) {
    clearTimeout(timer);
    const mine = ++turn;
    try {
      const room = await get("/room");
      if (mine !== turn || passed() || isLeader(room)) return;
      if (room.open) await predict(room, { lesson: number, choice });
      else timer = setTimeout(tell, pause, choice);
    } catch {
      /* the room is full, or has been closed */
    }
  }

  const { lessons } = await get("/course", { lang: language() }),
    places = lessons.map(({ number }) => lessonAddress(number)),
    last = lessons.length;
  if (name && !lessons.some(lesson => lesson.number === number))
    throw Error(say(`There is no lesson ${name}; there are 1 to ${last}.`, `没有第 ${name} 课，共 ${last} 课。`));
  const lesson = name && (await get(lessonAddress(number).slice(1), { lang: language() }));
  const desk = new Desk();
  draw(lesson ? drawPage(lesson, last, tell, desk) : drawList(lessons));
  return {
    places,
    at: lessonAddress(number),
    leave() {
      clearTimeout(timer);
      turn++;
      desk.leave();
    },
  };
}

// chapters lists the chapters, each by its first lesson.
const chapters = [
  { from: 1, title: ["Broken locks", "有缺陷的锁"] },
  { from: 9, title: ["Sound locks", "可靠的锁"] },
  { from: 12, title: ["Beyond one Redis, and many who wait", "不止一个 Redis，很多人等锁"] },
];

function drawList(lessons) {
  const all = readProgress(),
    next = lessons.find(({ number }) => !all[number]?.seen),
    done = lessons.filter(({ number }) => all[number]?.seen).length;
  const mark = ({ seen, right }) =>
    seen && (right ? el("span.chip.good", say("✓ predicted", "✓ 预测对了")) : el("span.chip", say("✓ done", "✓ 已学")));
  const card = lesson => {
    const { number, title, sketch, idea } = lesson,
      here = { href: lessonAddress(number), "aria-current": lesson === next && "step" };
    return el("li.sheet", [
      drawHTML("div", sketch),
      el("h3", el("a", here, `${number}. ${title}`), " ", mark(all[number] ?? {})),
      drawHTML("div.small", idea),
    ]);
  };
  return [
    el("h1", say("The course", "课程")),
    el("p", [
      say(
        "One idea a lesson, in ten minutes: predict, run, see why.",
        "每课一个要点，十分钟：先预测，再运行，再看原因。",
      ),
    ]),
    el("p.row", [
      next &&
        el("a.button.main", { id: "next", href: lessonAddress(next.number) }, [
          done ? say(`Continue: lesson ${next.number}`, `继续：第 ${next.number} 课`) : say("Start", "开始"),
        ]),
      done > 0 && say(`${done} of ${lessons.length} lessons done`, `已学 ${done}/${lessons.length} 课`),
    ]),
    chapters.map(({ from, title: [english, chinese] }, i) => [
      el("h2", say(english, chinese)),
      el("ol.sheets.path", lessons.slice(from - 1, chapters[i + 1]?.from - 1 || lessons.length).map(card)),
    ]),
    // There is no class session in a tab.
    !tab &&
      el("p", [
        el("a", { href: "#/course/room" }, say("For teachers: the room predicts together", "给讲师：全班一起预测")),
      ]),
  ];
}

// drawPage draws a lesson as far as its reader has come: the question, the command, its diagram step by step, then the
// rest. It sends each choice to the class session.
function drawPage(lesson, last, tell, desk) {
  const { number } = lesson,
    rest = el("div"),
    after = el("div"),
    why = el("div"),
    choices = el("ol.choices");
  const know = () => readProgress()[number] ?? {};
  const ran = lesson.run.parts.at(-1),
    [command] = ran.commands;
  const result = new Result(command, ran, desk, explain);
  const play = drawRunner(see, { id: "play", class: "main" });
  const onward =
    number < last && el("a.button", { href: lessonAddress(number + 1) }, say("Next (n) →", "下一课（n）→"));
  const section = ({ id, title }, ...inside) => {
    const heading = el("h2", { id }, el("a.here", { href: lessonAddress(number) + "#" + id }, title));
    return el("section", { "aria-labelledby": id }, heading, inside);
  };

  function ask() {
    const { choice, ran, seen } = know(),
      disabled = !!(ran || seen);
    const at = [...choices.children].findIndex(item => item.contains(document.activeElement));
    replace(choices, [
      lesson.choices.map((text, i) => {
        const pressed = { "aria-pressed": String(choice === i + 1), disabled, onclick: () => choose(i + 1) };
        return el("li", drawHTML("button.choice", `<span>${text}</span>`, pressed));
      }),
    ]);
    if (at >= 0 && !disabled) choices.children[at]?.querySelector("button").focus();
    if ((choice || seen) && !rest.firstChild) replace(rest, section(lesson.run, begins()), after);
    if (disabled) reveal();
  }

  const begins = () => [
    ran.html && drawHTML("div", ran.html),
    play,
    drawTerminal(
      [command.line],
      lesson.run.parts.slice(0, -1).map(part => drawHTML("div", part.html)),
    ),
  ];

  function choose(choice) {
    noteProgress(number, { choice });
    ask();
    tell(choice);
  }

  // reveal shows the lesson’s run from its first step on, or all of it if the reader has seen it before.
  function reveal() {
    if (!after.firstChild) {
      play.querySelector("button").classList.remove("main");
      replace(after, section(lesson.see, [result.node]), why);
      result.drawKnown();
    }
    if (know().seen) result.player?.step(Infinity);
    if (know().seen || !result.player) explain();
  }

  // explain shows the rest, once the diagram is at its end.
  function explain() {
    if (why.firstChild) return;
    noteProgress(number, { seen: true });
    if (onward) onward.classList.add("main");
    const sits = () => drawSeat(lesson.seat, desk, know().kept, kept => noteProgress(number, { kept }));
    replace(why, [
      ran.printed && drawTerminal(ran.printed),
      drawVerdict(lesson, know().choice),
      lesson.after.map(part => section(part, drawAll(part.parts, desk), part.id === "seat" && sits())),
    ]);
  }

  // mark stores how far the lesson is: ran, or seen wholly.
  function mark(what) {
    noteProgress(number, { ...what, right: know().choice === lesson.answer });
    ask();
  }

  function see() {
    mark({ ran: true });
    result.player?.focus();
    document.getElementById(lesson.see.id).scrollIntoView();
    return result.run();
  }

  const revealed = room => Number(room.detail) === number && !know().seen && mark({ seen: true });
  addEventListener("revealed", revealed, { signal: desk.departure.signal });

  ask();
  if (know().choice && !know().seen) tell(know().choice); // the room may have opened since
  return [
    el("h1", `${number}. ${lesson.title}`),
    drawHTML("div", lesson.idea),
    section(lesson.predict, drawAll(lesson.predict.parts, desk)),
    choices,
    rest,
    el("nav.row", { "aria-label": say("Lessons", "各课") }, [
      number > 1 && el("a.button", { href: lessonAddress(number - 1) }, say("← Previous (p)", "← 上一课（p）")),
      el("a.button", { href: "#/course" }, say("All lessons", "全部课程")),
      onward,
    ]),
  ];
}

function drawVerdict({ choices, answer }, choice) {
  const right = choice === answer;
  const says = right
    ? say("Correct: ", "预测正确：")
    : choice
      ? say(`You chose ${choice}; it is ${answer}: `, `你选了 ${choice}，答案是 ${answer}：`)
      : say(`The answer is ${answer}: `, `答案是 ${answer}：`);
  return drawHTML(right ? "p.note.good" : "p.note.warn", says + choices[answer - 1], { id: "verdict" });
}

// readProgress returns the reader’s progress by lesson. It stays in this browser.
const readProgress = () => JSON.parse(recall("lessons") ?? "{}");
const noteProgress = (number, what) => {
  const all = readProgress();
  keep("lessons", JSON.stringify({ ...all, [number]: { ...all[number], ...what } }));
};
