// The table: which anomalies each lock shows, as the explorer finds out. Each cell that shows one opens in the scheduler's seat.
import { el, replace } from "../dom.js";
import { bind } from "../keys.js";
import { get, stream, text } from "../server.js";
import { duration, language, say } from "../words.js";

export function show(main) {
  const stopped = new AbortController(), started = performance.now();
  const rows = new Map(); // lock → its cells, by anomaly
  const progress = el("progress", { "aria-label": say("How far the exploration is", "探索进度") });
  const status = el("p", { class: "soft small", role: "status" }, say("Exploring …", "正在探索……"));
  const explained = el("p", { class: "note table-says", "aria-live": "polite" }, hint());
  const table = el("table", { class: "anomalies" });
  main.append(
    el("h1", null, say("Which lock shows which anomaly", "哪种锁会出现哪种异常")),
    el("p", null, say("Every lock’s real code, in every order of its commands, with every fault once. A cell says in how many steps the lock shows " +
      "the anomaly, at least; a click opens those steps.", "每种锁的真实代码，命令的每一种先后顺序，每种故障各一次。格子里是出现异常最少需要的步数；点击可以打开这些步骤。")),
    explained, el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say("The table", "总表") }, table), progress, status);

  const leave = bind([null, "to another cell", "到别的格子", "← → ↑ ↓"]);
  table.addEventListener("keydown", move);
  for (const event of ["focusin", "mouseover"]) table.addEventListener(event, explain);

  draw().catch(failure => {
    if (!stopped.signal.aborted) replace(status, el("span", { class: "bad", role: "alert" }, failure.message));
  });
  return () => { stopped.abort(); leave(); };

  async function draw() {
    const { locks, anomalies } = await get("/seat", { lang: language() });
    const columns = anomalies.filter(anomaly => !anomaly.by_name);
    replace(table, head(columns), el("tbody", null, locks.map(lock => row(lock, columns))));
    progress.max = locks.length * columns.length;
    progress.value = 0;
    await stream("/seat/table" + text({ lang: language() }), {
      row: ({ lock }) => replace(status, say(`Exploring ${lock} …`, `正在探索 ${lock}……`)),
      cell: take,
      done: ({ seconds }) => {
        progress.hidden = true;
        const took = duration(seconds * 1000 || performance.now() - started);
        replace(status, say(`Explored in ${took}. The same in a terminal: `, `探索用时 ${took}。在终端里同样可以：`), el("code", null, "go run . explore --all"));
      },
      failed: ({ message }) => replace(status, el("span", { class: "bad", role: "alert" }, message)),
    }, { signal: stopped.signal });
  }

  function head(columns) {
    return el("thead", null, el("tr", null, el("th", { scope: "col" }, say("Lock", "锁")),
      columns.map(({ name, says }) => el("th", { scope: "col", title: says, "data-says": `${name}: ${says}` }, el("span", null, name)))));
  }

  function row(lock, columns) {
    const cells = new Map(columns.map(({ name }) => [name, el("td", { "data-column": name }, el("span", { class: "soft" }, "…"))]));
    rows.set(lock.name, cells);
    return el("tr", null,
      el("th", { scope: "row", "data-says": `${lock.name}: ${lock.title}` }, lock.name, el("span", { class: "soft small" }, " " + lock.title)),
      [...cells.values()]);
  }

  // take fills a cell.
  function take({ lock, anomaly, answer, steps, says, link }) {
    const cell = rows.get(lock)?.get(anomaly);
    if (!cell) return;
    const focused = cell.contains(document.activeElement);
    const words = { never: say("never", "从不"), unknown: say("unknown", "未知"), "n/a": "–" };
    const short = answer === "broken" ? el("a", { href: link, "aria-label": `${lock}, ${anomaly}: ${says}` }, String(steps))
      : el("span", { tabindex: -1, "aria-label": `${lock}, ${anomaly}: ${says || words[answer]}` }, words[answer]);
    cell.className = answer === "n/a" ? "none" : answer;
    cell.dataset.says = `${lock}, ${anomaly}: ${says || words[answer]}`;
    replace(cell, short);
    if (focused) short.focus();
    progress.value++;
  }

  function explain(event) {
    const says = event.target.closest?.("[data-says]")?.dataset.says;
    if (says) replace(explained, says);
  }

  // move goes from cell to cell with the arrows.
  function move(event) {
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
    const cell = event.target.closest("td");
    if (down === undefined || !cell) return;
    event.preventDefault();
    const next = table.rows[cell.parentNode.rowIndex + down]?.cells[cell.cellIndex + right];
    next?.matches("td") && next.firstElementChild?.focus();
  }
}

const hint = () => say("Point at a cell, or go to it with the keyboard, to read what it says.", "指向一个格子，或用键盘移到它上面，查看说明。");
