// The table: which anomalies each lock shows, as the explorer finds out. Each cell that shows one opens in the
// scheduler's seat.
import { el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { link as explored } from "../route.js";
import { get, stream, text } from "../server.js";
import { duration, language, say, several } from "../words.js";

export function show(main) {
  const stopped = new AbortController();
  const rows = new Map(),
    meanings = new Map(); // lock → its cells, by anomaly; anomaly → how it is called, and what it is
  const progress = el("progress", { "aria-label": say("How far the exploration is", "探索进度") });
  const status = el("p.soft.small", { role: "status" }, say("Exploring …", "正在探索……"));
  const explained = el("p.note.table-says", { "aria-live": "polite" }, hint());
  const table = el("table.anomalies");
  main.append(
    el("h1", say("Which lock shows which anomaly", "哪种锁会出现哪种异常")),
    el(
      "a",
      { href: "#/steps" },
      say("What each lock adds, and what it leaves broken", "每种锁新增了什么，还遗留什么问题"),
    ),
    el(
      "p",
      say(
        "Every lock’s real code, in every order of its commands, with every fault once. A cell says in how many " +
          "steps the lock shows the anomaly, at least; a click opens those steps, or lets you explore it yourself.",
        "每种锁的真实代码，命令的每一种先后顺序，每种故障各一次。格子里是出现异常最少需要的步数；点击可以打开这些步骤，不出现的可以自己去探索。",
      ),
    ),
    explained,
    el("div.scroll", { tabindex: 0, role: "region", "aria-label": say("The table", "总表") }, table),
    progress,
    status,
  );

  const leave = bind([null, "to another cell", "到别的格子", "← → ↑ ↓"]);
  table.addEventListener("keydown", move);
  for (const event of ["focusin", "mouseover"]) table.addEventListener(event, explain);

  const failed = failure => {
    if (!stopped.signal.aborted) replace(status, el("span.bad", { role: "alert" }, failure.message));
  };
  draw().catch(failed);
  return () => {
    stopped.abort();
    leave();
  };

  async function draw() {
    const { locks, anomalies } = await get("/seat", { lang: language() });
    for (const anomaly of anomalies) meanings.set(anomaly.name, anomaly);
    replace(
      table,
      el("thead", el("tr", el("th", { scope: "col" }, say("Lock", "锁")), anomalies.map(column))),
      el(
        "tbody",
        locks.map(lock => row(lock, anomalies)),
      ),
    );
    progress.max = locks.length;
    await fill();
  }

  // fill asks for the cells: those that the program has brought along, or anew.
  async function fill(anew = "") {
    let begun = 0;
    progress.hidden = false;
    await stream(
      "/seat/table" + text({ lang: language(), anew }),
      {
        row: () => {
          progress.value = begun++;
          if (begun === 2) prune();
        },
        progress: ({ lock, done, of, waiting }) => {
          progress.value = begun - 1 + done / of;
          replace(
            status,
            waiting
              ? say("Somebody else’s exploration goes first …", "先等别人的探索结束……")
              : say(`${lock}: ${done} of ${of} scenarios explored`, `${lock}：已探索 ${of} 个场景中的 ${done} 个`),
          );
        },
        cell: take,
        done: ({ seconds, shipped }) => {
          progress.hidden = true;
          const took = duration(seconds * 1000);
          replace(
            status,
            shipped
              ? say(
                  `Explored in ${took} when this program was made, from the code that it has. `,
                  `制作这个程序时用它自己的代码探索而得，用时 ${took}。`,
                )
              : say(`Explored in ${took}. `, `探索用时 ${took}。`),
            shipped &&
              el(
                "button",
                { id: "anew", onclick: () => fill("yes").catch(failed) },
                say("Explore it anew", "重新探索"),
              ),
            say(" The same in a terminal: ", " 在终端里同样可以："),
            el("code", "go run . explore --all"),
          );
        },
        failed,
      },
      { signal: stopped.signal },
    );
  }

  function column({ name, title, says }) {
    return el(
      "th",
      { scope: "col", title: name, "data-column": name, "data-says": `${title}: ${says}` },
      el("span", title),
    );
  }

  function row(lock, anomalies) {
    const cells = new Map(anomalies.map(({ name }) => [name, el("td", { "data-column": name }, "…")]));
    rows.set(lock.name, cells);
    return el(
      "tr",
      el(
        "th",
        { scope: "row", "data-says": `${lock.name}: ${lock.title}` },
        lock.name,
        el("span.soft.small", " " + lock.title),
      ),
      [...cells.values()],
    );
  }

  // prune leaves out the anomalies that the table does not look for.
  function prune() {
    for (const head of table.querySelectorAll("thead [data-column]")) {
      if (table.querySelector(`td.filled[data-column="${head.dataset.column}"]`)) continue;
      for (const cell of table.querySelectorAll(`[data-column="${head.dataset.column}"]`)) cell.remove();
    }
  }

  // take fills a cell.
  function take({ lock, anomaly, answer, steps, scenario, link }) {
    const cell = rows.get(lock)?.get(anomaly);
    if (!cell) return;
    const [short, why] = {
      broken: [
        steps,
        say(
          `in ${several(steps, "step")}, in the scenario “${scenario}”, and in no fewer`,
          `最少 ${steps} 步，场景“${scenario}”`,
        ),
      ],
      never: [
        say("never", "从不"),
        say("in no schedule of any scenario; all were explored", "所有场景的所有时序都探索过，都不出现"),
      ],
      unknown: [
        say("unknown", "未知"),
        say(
          "no schedule shows it, but a bound was hit, or nothing in Redis tells",
          "没有出现，但还没探索完就到了上限，或者 Redis 里看不出来",
        ),
      ],
      "n/a": ["–", say("this lock does not promise that it never happens", "这种锁不承诺它不会发生")],
    }[answer];
    const { title, says: meaning } = meanings.get(anomaly);
    const says = `${lock}, ${title}: ${why}`;
    cell.className = "filled " + (answer === "n/a" ? "none" : answer);
    cell.dataset.says = answer === "broken" ? `${says}. ${meaning}` : says;
    replace(
      cell,
      answer === "broken"
        ? el("a", { href: link, "aria-label": says }, steps)
        : answer !== "n/a"
          ? el("a", { href: explored(["explore", lock], { anomaly }), "aria-label": `${short}: ${says}` }, short)
          : el("span", { tabindex: -1, role: "note", "aria-label": says }, short),
    );
  }

  function explain(event) {
    const says = event.target.closest?.("[data-says]")?.dataset.says;
    if (says) replace(explained, says);
  }

  // move goes from cell to cell with the arrows.
  function move(event) {
    const [down, right] =
      { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
    const cell = event.target.closest("td");
    if (down === undefined || !cell) return;
    event.preventDefault();
    const next = table.rows[cell.parentNode.rowIndex + down]?.cells[cell.cellIndex + right];
    next?.matches("td") && next.firstElementChild?.focus();
  }
}

const hint = () =>
  say(
    "Point at a cell, or go to it with the keyboard, to read what it says.",
    "指向一个格子，或用键盘移到它上面，查看说明。",
  );
