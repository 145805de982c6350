// The course: a lesson asks what will happen before it shows what does.
import { el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { go } from "../route.js";
import { get } from "../server.js";
import { language, say } from "../words.js";
import { Desk, drawAll, html, Result, runner, seat, typed } from "./course_parts.js";
import { leads, tell as tellRoom } from "./participant.js";

const pause = 5000; // between two looks for a room that is not open yet

export function show(main, route) {
  const body = el("article.course");
  main.append(body);
  let number = 0,
    last = 0,
    gone = false,
    drawn = "", // the lesson that is there, as the address names it
    turnOf = 0,
    timer = 0,
    desk = null; // of the lesson that is there
  const turn = by => number + by >= 1 && number + by <= last && go(address(number + by));
  const leave = bind(
    ["n", "the next lesson", "下一课", () => turn(1)],
    ["p", "the lesson before", "上一课", () => turn(-1)],
  );

  async function follow(route) {
    const [name = "", heading] = route.path[1]?.split("#") ?? []; // #/course/03#explain
    const jump = () => {
      const at = heading && document.getElementById(heading); // none, if what is asked comes first
      at ? at.scrollIntoView() : scrollTo(0, 0);
    };
    if (name && name === drawn) return jump();
    const asked = Number(name);
    number = asked;
    drawn = "";
    silence();
    try {
      const { lessons } = await get("/course", { lang: language() });
      last = lessons.length;
      if (name && !lessons.some(({ number }) => number === asked))
        throw Error(say(`There is no lesson ${name}; there are 1 to ${last}.`, `没有第 ${name} 课，共 ${last} 课。`));
      const lesson = name && (await get(address(asked).slice(1), { lang: language() }));
      if (gone || asked !== number) return;
      desk?.leave();
      desk = lesson ? new Desk() : null;
      replace(body, ...(lesson ? page(lesson, last, tell, desk) : list(lessons)));
      drawn = name;
      jump();
    } catch (failure) {
      if (!gone) replace(body, el("p.note.bad", { role: "alert" }, failure.message));
    }
  }

  // tell tells the room what was chosen, as soon as one is open. A lesson does not wait for it, nor fail with it.
  async function tell(choice) {
    const mine = silence(),
      lesson = number;
    try {
      const room = await get("/room");
      if (mine !== turnOf || leads(room)) return;
      if (room.open) await tellRoom(room, "/room/answer", { lesson, choice });
      else timer = setTimeout(tell, pause, choice);
    } catch {
      /* the room is full, or has been closed */
    }
  }
  const silence = () => {
    clearTimeout(timer);
    return ++turnOf;
  };

  follow(route);
  return {
    follow,
    leave() {
      gone = true;
      silence();
      desk?.leave();
      leave();
    },
  };
}

export const address = number => "#/course/" + String(number).padStart(2, "0");

function list(lessons) {
  const all = progress();
  const mark = ({ number }) =>
    !all[number]?.seen
      ? null
      : all[number].right
        ? el("span.chip.good", say("✓ predicted", "✓ 预测对了"))
        : el("span.chip", say("done", "已学"));
  return [
    el("h1", say("The course", "课程")),
    el(
      "p",
      say(
        "One idea a lesson, in ten minutes: predict, run, see why. Begin with the first.",
        "每课一个要点，十分钟：先预测，再运行，再看原因。从第一课开始。",
      ),
    ),
    el(
      "ol.steps-all",
      lessons.map(lesson =>
        el(
          "li.sheet",
          el("h2", el("a", { href: address(lesson.number) }, `${lesson.number}. ${lesson.title}`), " ", mark(lesson)),
          html("div", { class: "small" }, lesson.idea),
        ),
      ),
    ),
    // a page in a tab has nobody to answer
    !document.documentElement.dataset.tab &&
      el("p", el("a", { href: "#/room" }, say("For who teaches: the room predicts together", "给讲师：全班一起预测"))),
  ];
}

// page draws a lesson as far as its reader is: the question, then the command, then the rest. It tells the room what is
// chosen.
function page(lesson, last, tell, desk) {
  const rest = el("div"),
    after = el("div");
  const choices = el("ol.choices");
  const know = () => progress()[lesson.number] ?? {};
  const section = sectionOf(lesson.number);
  const ran = lesson.run.parts.at(-1),
    [command] = ran.commands;
  const result = new Result(command, ran, desk);

  function ask() {
    const { choice, seen } = know();
    const at = [...choices.children].findIndex(item => item.contains(document.activeElement));
    replace(
      choices,
      lesson.choices.map((text, i) =>
        el(
          "li",
          html(
            "button",
            {
              class: "choice",
              "aria-pressed": String(choice === i + 1),
              disabled: !!seen,
              onclick: () => choose(i + 1),
            },
            `<b>${i + 1}</b><span>${text}</span>`,
          ),
        ),
      ),
    );
    if (at >= 0 && !seen) choices.children[at]?.querySelector("button").focus();
    if (choice && !rest.firstChild) replace(rest, section(lesson.run, begins()), after);
    if (seen) reveal();
  }

  // begins is the command and its button.
  const begins = () => [
    runner(command, see, { id: "play", class: "main" }),
    typed(
      lesson.run.parts.slice(0, -1).map(({ html: says }) => html("div", null, says)),
      el("pre", { tabindex: 0 }, el("code", "go run . " + command.line)),
    ),
  ];

  function choose(choice) {
    keep(lesson.number, { choice });
    ask();
    tell(choice);
  }

  // reveal shows what the lesson knows of the run, and the rest.
  function reveal() {
    if (after.firstChild) return;
    const { choice } = know();
    result.known();
    replace(
      after,
      section(lesson.see, [result.node, ran.printed && typed(el("pre", { tabindex: 0 }, el("code", ran.printed)))]),
      verdict(lesson, choice),
      lesson.after.map(part =>
        section(
          part,
          drawAll(part.parts, desk),
          part.id === "seat" && seat(lesson.seat, desk, know().kept, kept => keep(lesson.number, { kept })),
        ),
      ),
    );
  }

  // see runs the command.
  function see() {
    keep(lesson.number, { seen: true, right: know().choice === lesson.answer });
    ask();
    result.player?.focus();
    document.getElementById(lesson.see.id).scrollIntoView();
    return result.run();
  }

  ask();
  if (know().choice && !know().seen) tell(know().choice); // before the room was open, perhaps
  return [
    el("h1", `${lesson.number}. ${lesson.title}`),
    html("div", null, lesson.idea),
    section(lesson.predict, drawAll(lesson.predict.parts, desk)),
    choices,
    rest,
    el(
      "nav.row",
      { "aria-label": say("Lessons", "各课") },
      lesson.number > 1 && el("a.button", { href: address(lesson.number - 1) }, say("← before (p)", "← 上一课（p）")),
      el("a.button", { href: "#/course" }, say("All lessons", "全部课程")),
      lesson.number < last &&
        el("a.button.main", { href: address(lesson.number + 1) }, say("Next (n) →", "下一课（n）→")),
    ),
  ];
}

// sectionOf draws the sections of a lesson; a heading is a link to itself.
const sectionOf =
  number =>
  ({ id, title }, ...inside) =>
    el(
      "section",
      { "aria-labelledby": id },
      el("h2", { id }, el("a.here", { href: address(number) + "#" + id }, title)),
      inside,
    );

// verdict says whether the prediction was right.
function verdict(lesson, choice) {
  const right = choice === lesson.answer;
  return html(
    "p",
    { id: "verdict", class: "note " + (right ? "good" : "warn") },
    right
      ? say("You were right: ", "预测正确：") + lesson.choices[choice - 1]
      : say(`You chose ${choice}; it is ${lesson.answer}: `, `你选了 ${choice}，答案是 ${lesson.answer}：`) +
          lesson.choices[lesson.answer - 1],
  );
}

// progress is kept in the browser alone, by lesson.
function progress() {
  try {
    return JSON.parse(localStorage.getItem("lockstep.course")) ?? {};
  } catch {
    return memory;
  }
}

let memory = {}; // where nothing is kept

function keep(number, what) {
  const all = progress();
  memory = { ...all, [number]: { ...all[number], ...what } };
  try {
    localStorage.setItem("lockstep.course", JSON.stringify(memory));
  } catch {
    /* it is not kept */
  }
}
