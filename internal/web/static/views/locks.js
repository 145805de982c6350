// The table of locks: what each adds, and which anomalies it still shows, as the explorer found. An opened row shows
// what the step changes in the code; a cell opens in the scheduler’s seat.
import { drawAlarm, drawTerminal, el, replace } from "../dom.js";
import { drawLine } from "../highlight.js";
import { bind } from "../keys.js";
import { go, link } from "../route.js";
import { formatQuery, get, stream } from "../server.js";
import { duration, language, say, several } from "../words.js";

const lockAddress = lock => link(["locks", lock]);

export function show(main, route) {
  const stopped = new AbortController(),
    rows = new Map(); // rows by lock
  let anomalies = [],
    faults = [],
    open = ""; // the lock whose row is opened
  const progress = el("progress", { "aria-label": say("How far the exploration is", "探索进度") });
  const status = el("div.soft.small", { role: "status" }, say("Exploring …", "正在探索……"));
  const explained = el("p.note.table-says", describeUse());
  const table = el("table.anomalies");
  main.append(
    el("h1", say("What each lock adds, and what is still broken", "每种锁加了什么，还有什么问题")),
    el("p", [
      say(
        "v1–v7 each fix a flaw of the version before. The explorer ran each lock’s real code in every order of its " +
          "commands, with each fault once. A lock’s name opens what it changes in the code.",
        "v1–v7 各修复前一版的一个缺陷。探索器运行了每种锁的真实代码：命令的所有先后顺序，每种故障各一次。" +
          "点击锁名，查看它改了哪些代码。",
      ),
    ]),
    el("ul.anomalies.row", [
      el("li.row", [
        [2, 5, 9].map(steps => el("span.broken", { style: cellHeat(steps) }, steps)),
        say("steps to the anomaly; fewer steps, stronger colour", "步即可出现异常，步数越少颜色越浓"),
      ]),
      el("li.row", el("span.never", "•"), say("never", "从不出现")),
      el("li.row", el("span.unknown", "?"), say("unknown", "未知")),
      el("li.row", el("span.none", "–"), say("not promised", "不承诺")),
    ]),
    explained,
    el("div.scroll.wide", { role: "region", "aria-label": say("The table", "总表") }, table),
  );

  const leave = bind(
    ["k", "the lock before", "上一种锁", () => turn(-1)],
    ["j", "the next lock", "下一种锁", () => turn(1)],
    [null, "to another cell", "到别的格子", "← → ↑ ↓"],
  );
  table.addEventListener("keydown", move);
  const follows = ({ target }) => listStops(target.closest("tr")).includes(target) && stopAt(target);
  table.addEventListener("focusin", follows);
  for (const event of ["focusin", "mouseover"]) table.addEventListener(event, explain);

  const failed = failure => stopped.signal.aborted || main.append(replace(status, drawAlarm(failure)));
  const drawn = draw();
  drawn.then(() => fill()).catch(failed);
  follow(route);
  return {
    follow,
    leave() {
      stopped.abort();
      leave();
    },
  };

  async function draw() {
    const asked = { lang: language() },
      [index, steps] = await Promise.all([get("/seat", asked), get("/seat/steps", asked)]);
    faults = index.faults;
    anomalies = index.anomalies.filter(({ name }) => index.locks.some(({ promises }) => promises.includes(name)));
    for (const lock of index.locks)
      rows.set(lock.name, row({ ...lock, step: steps.find(({ to }) => to === lock.name) }));
    const names = anomalies.map(({ name, title, says }) =>
      el("th", { scope: "col", title: name, "data-column": name, "data-says": `${title}: ${says}` }, el("span", title)),
    );
    const first = [say("Lock", "锁"), say("Adds", "加了什么")].map(name => el("th", { scope: "col" }, name));
    const body = [...rows.values()].map(({ node }) => node);
    replace(table, el("thead", el("tr", first, names)), el("tbody", body));
    stopAt(table.querySelector("tbody a"));
    progress.max = rows.size;
    main.append(progress, status); // below the table, which grows
  }

  function row(lock) {
    const cells = new Map(anomalies.map(({ name }) => [name, el("td", { "data-column": name }, el("span", "…"))]));
    const opener = el("a", { href: lockAddress(lock.name), "aria-expanded": "false", tabindex: -1 }, lock.name);
    opener.addEventListener("click", event => {
      if (lock.name !== open) return;
      event.preventDefault(); // the row is open
      go(link(["locks"]));
    });
    const name = el("th", { scope: "row" }, opener, el("span.soft.small", " " + lock.title));
    return { lock, cells, opener, node: el("tr", name, el("td.small.adds", lock.adds), [...cells.values()]) };
  }

  // follow opens the row that the address names. v3-v4, an old form of address, opens v4.
  async function follow({ path }) {
    const asked = path[1] ?? "";
    open = asked;
    try {
      await drawn;
    } catch {
      return; // failed has shown it
    }
    if (stopped.signal.aborted || open !== asked) return;
    const one = rows.get(asked),
      pair = [...rows.values()].find(({ lock: { step } }) => step && `${step.from}-${step.to}` === asked);
    if (pair) return go(lockAddress(pair.lock.name), { instead: true });
    for (const { lock, opener } of rows.values()) opener.setAttribute("aria-expanded", String(lock.name === asked));
    table.querySelector(".opened")?.remove();
    const unknown = asked && !one && say(`There is no lock ${asked}.`, `没有“${asked}”这种锁。`);
    replace(explained, unknown || describeUse()).classList.toggle("bad", !!unknown);
    if (!one) return;
    const inside = el("div.step", say("Loading …", "加载中……")),
      columns = 2 + anomalies.length;
    one.node.after(el("tr.opened", el("td", { colspan: columns }, inside)));
    stopAt(one.opener);
    one.opener.focus({ preventScroll: true });
    one.node.scrollIntoView({ block: "start" });
    const shown = await drawDetail(one.lock).catch(drawAlarm);
    if (open === asked) replace(inside, shown);
  }

  function turn(by) {
    const all = [...rows.keys()],
      next = all[all.indexOf(open) + by];
    if (!next) return;
    open = next; // two quick keys are two rows
    go(lockAddress(next));
  }

  // fill loads the cells: those shipped with the program, or a new exploration.
  async function fill(anew = "") {
    let begun = 0;
    progress.hidden = false;
    const on = {
      row: () => {
        progress.value = begun++;
      },
      progress: ({ lock, done, of, waiting }) => {
        progress.value = begun - 1 + done / of;
        replace(status, [
          waiting
            ? say("Somebody else’s exploration goes first …", "先等别人的探索结束……")
            : say(`${lock}: ${done} of ${of} scenarios explored`, `${lock}：已探索 ${of} 个场景中的 ${done} 个`),
        ]);
      },
      cell: take,
      done: ({ seconds, shipped }) => {
        progress.hidden = true;
        const took = duration(seconds * 1000),
          again = el("button", { id: "anew", onclick: () => fill("yes").catch(failed) });
        replace(status, [
          shipped
            ? say(
                `Explored in ${took} when this program was made, from the code that it has. `,
                `构建这个程序时，用其中的代码探索得出，用时 ${took}。`,
              )
            : say(`Explored in ${took}. `, `探索用时 ${took}。`),
          shipped && replace(again, say("Explore it anew", "重新探索")),
          drawTerminal(["explore --all"]),
        ]);
      },
      failed,
    };
    await stream("/seat/table" + formatQuery({ lang: language(), anew }), on, { signal: stopped.signal });
  }

  function take({ lock, anomaly, answer, steps, scenario, link: shown }) {
    const cell = rows.get(lock)?.cells.get(anomaly),
      others = {
        "no fault": say("no fault", "没有故障"),
        nested: say("nested calls", "嵌套调用"),
        skew: say("clock skew", "时钟偏差"),
      },
      called = faults.find(({ name }) => name === scenario)?.title ?? others[scenario] ?? scenario;
    if (!cell) return;
    const [short, why] = {
      broken: [
        steps,
        say(`in ${several(steps, "step")} and in no fewer, “${called}”`, `最少 ${steps} 步，场景“${called}”`),
      ],
      never: [
        "•",
        say("never: no scenario shows it, and every schedule was explored", "从不：探索过所有场景的所有时序"),
      ],
      unknown: [
        "?",
        say(
          "unknown: no schedule shows it, but a bound was hit, or Redis does not show it",
          "未知：没有出现，但还没探索完就到了上限，或者从 Redis 看不出来",
        ),
      ],
      "n/a": ["–", say("this lock does not promise that it never happens", "这种锁不承诺它不会发生")],
    }[answer];
    const { title, says: meaning } = anomalies.find(({ name }) => name === anomaly);
    const says = [lock, say(", ", "，"), title, say(": ", "："), why].join(""),
      stops = cell.firstElementChild?.tabIndex ?? -1;
    cell.className = "filled " + (answer === "n/a" ? "none" : answer);
    if (answer === "broken") cell.style.setProperty("--heat", cellHeat(steps)["--heat"]);
    const search = answer === "never" ? "table" : "1",
      href = answer === "broken" ? shown : link(["schedule", lock], { anomaly, search });
    cell.dataset.says = answer === "broken" ? `${says}. ${meaning}` : says;
    const attributes = { tabindex: stops, "aria-label": says };
    replace(cell, [
      answer === "n/a" ? el("span", { role: "note", ...attributes }, short) : el("a", { href, ...attributes }, short),
    ]);
  }

  function explain({ target }) {
    const says = target.closest?.("[data-says]")?.dataset.says;
    if (says) replace(explained, says).classList.add("said");
  }

  // stopAt makes one place of the table reachable by Tab; arrow keys lead to the others.
  function stopAt(place) {
    for (const { node } of rows.values()) for (const stop of listStops(node)) stop.tabIndex = stop === place ? 0 : -1;
  }

  function move(event) {
    const [down, right] =
      { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
    const all = [...rows.values()].map(({ node }) => listStops(node)),
      at = all.findIndex(stops => stops.includes(event.target));
    if (down === undefined || at < 0) return;
    event.preventDefault();
    all[at + down]?.[all[at].indexOf(event.target) + right]?.focus();
  }
}

const cellHeat = steps => ({ "--heat": Math.max(10, 56 - 6 * steps) + "%" });

// listStops returns the places of a row that arrow keys lead to.
const listStops = row => [...(row?.querySelectorAll(":scope > * > [tabindex]") ?? [])];

const describeUse = () =>
  say("Point at a cell, or go there by arrow keys, to read it.", "指向一个格子，或用方向键移到它上面，查看说明。");

// drawDetail draws what a lock adds to the one before, with the code, or only the code of a lock that is no step.
async function drawDetail(lock) {
  const { step, name } = lock,
    all = step
      ? await get(`/seat/steps/${step.from}-${name}`, { lang: language() })
      : { ...lock, measured: [], gone: [], files: (await get("/seat/code", { lock: name })).map(codeFile) };
  return [
    step && el("h2", `${step.from} → ${name} `, el("span.soft", step.title)),
    el("div.step-says", [
      drawSays(say("Adds", "加了什么"), all.adds, all.cure, ...all.gone),
      drawSays(say("Costs", "代价"), all.costs),
      drawSays(say("Still broken", "仍有的问题"), all.still_broken),
      all.measured.length > 0 && drawSays(say("Measured", "实测"), ...all.measured, all.where),
      step && drawSeen(step),
    ]),
    el("div.step-code", all.files.map(drawFile)),
  ];
}

// codeFile returns a part of a lock’s code as a file without changes.
const codeFile = ({ name, text }) => ({ name, lines: text.split("\n").map(text => ({ kind: "", text })) });

// drawChanges draws what a step changes in the code: "v2-v3".
export async function drawChanges(pair) {
  const { files } = await get("/seat/steps/" + encodeURIComponent(pair), { lang: language() });
  return el("div.step-code", files.map(drawFile));
}

const drawSays = (title, ...texts) =>
  el("section.sheet", [
    el("h3", title),
    texts.filter(Boolean).map((text, i) => el("p", { class: i ? "small soft" : "" }, text)),
  ]);

function drawSeen({ shown, flaw, from, to, lab, exercise }) {
  const { lock, in: scenario, do: schedule, anomaly, beside } = shown;
  const seat = link(["schedule", lock], { in: scenario, do: schedule, anomaly, beside });
  return el("section.sheet", [
    el("h3", say("See it", "亲眼看看")),
    flaw && el("p", el("b", say(`The flaw of ${from}: `, `${from} 的缺陷：`)), flaw),
    el("p.row", [
      el("a.button.main", { href: seat }, [
        beside
          ? say(`The same schedule under ${lock} and ${beside}`, `同一时序：${lock} 与 ${beside} 并排`)
          : say(`See ${lock} do it`, `看 ${lock} 怎么做`),
      ]),
      lab && el("a.button", { href: link(["labs", lab]) }, say("The lab", "实验")),
    ]),
    drawTerminal([
      ...(lab ? [from, to].map(name => `lab ${lab} --lock ${name}`) : []),
      `diff ${from} ${to}`,
      ...(exercise ? [`check ${exercise.slice(0, 2)}`] : []),
    ]),
  ]);
}

const context = 3; // unchanged lines around a change that are shown at once

function drawFile({ name, says, head, added, removed, lines }) {
  return el("details.sheet.file", { open: !head }, [
    el("summary", [
      el("code", name),
      " ",
      added > 0 && el("span.good", `+${added} `),
      removed > 0 && el("span.bad", `−${removed} `),
      el("span.small.soft", says),
    ]),
    el("pre.diff", { tabindex: 0, role: "region", "aria-label": name }, [
      drawFolded(lines, name.endsWith(".lua") ? "lua" : "go"),
    ]),
  ]);
}

// drawFolded draws lines, with long unchanged parts behind a button.
function drawFolded(lines, syntax) {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - context), i + context + 1).some(line => line.kind !== " "),
  );
  const drawn = [];
  for (let i = 0; i < lines.length; ) {
    const from = i,
      seen = near[i];
    while (i < lines.length && near[i] === seen) i++;
    const part = lines.slice(from, i).map(line => drawLine(line, syntax));
    drawn.push(seen || part.length < 4 ? part : drawFold(part));
  }
  return drawn;
}

const drawFold = part =>
  el("button.quiet.fold", { onclick: event => event.currentTarget.replaceWith(...part) }, [
    "⋯ " + several(part.length, "unchanged line", "行未变"),
  ]);
