// The lock’s Go and Lua code, and the line that each sale has reached.
import { el, replace } from "../dom.js";
import { drawLine } from "../highlight.js";
import { get } from "../server.js";
import { say } from "../words.js";

export class Code {
  lock = ""; // name of the lock whose code is shown
  lines = new Map(); // "internal/lockv2/lock.go:37" → its line
  scripts = new Map(); // "compareAndDelete" → the first line of that script

  constructor(seat) {
    this.seat = seat;
    const name = say("The code", "代码");
    this.text = el("div.text", { tabindex: 0, role: "region", "aria-label": name });
    this.panel = el("section.code", this.text);
  }

  follow() {
    const { lock } = this.seat.place;
    if (lock === this.lock) return this.mark();
    this.lock = lock;
    replace(this.text);
    get("/seat/code", { lock }).then(
      parts => lock === this.lock && this.show(parts),
      failure => {
        this.lock = ""; // the next drawing asks again
        replace(this.text, el("p.note.warn", failure.message));
      },
    );
  }

  show(parts) {
    this.lines.clear();
    this.scripts.clear();
    replace(this.text, [
      parts.map(({ name, from, text }, i) => {
        const syntax = name.endsWith(".lua") ? "lua" : "go";
        const lines = text.split("\n").map((line, n) => {
          const drawn = drawLine({ kind: "", text: line }, syntax);
          this.lines.set(`${name}:${from + n}`, drawn);
          return drawn;
        });
        if (syntax === "lua") this.scripts.set(name.match(/(\w+)\.lua$/)[1], lines[0]);
        return [name === parts[i - 1]?.name ? el("p.soft", "⋯") : el("h2", el("code", name)), el("pre.diff", lines)];
      }),
    ]);
    this.mark();
  }

  // mark marks the lines that are about to run, and the scripts about to be sent.
  mark() {
    const { state, trace, choices } = this.seat.here.view;
    for (const line of this.text.querySelectorAll(".here")) {
      line.classList.remove("here");
      replace(line.querySelector(".sign"));
    }
    const latest = trace.steps.at(-1)?.actor;
    let shown;
    state.actors.forEach(({ name, places }, i) => {
      for (const { task, calls } of places) {
        const line = this.lines.get(calls.find(call => this.lines.has(call)));
        markLine(line, name, i, task);
        if (!shown || (task === name && name === latest)) shown = line ?? shown;
      }
      const next = choices.find(({ actor, fault }) => actor === name && !fault)?.token.split(":")[1];
      markLine(this.scripts.get(next), name, i, name);
    });
    const box = this.panel.parentElement;
    if (shown && box) box.scrollTop = shown.offsetTop - box.clientHeight / 3;
  }
}

// markLine marks a line with the name of a sale.
function markLine(line, name, i, task) {
  if (!line) return;
  line.classList.add("here");
  line
    .querySelector(".sign")
    .append(el("b", { class: "actor" + (i % 4), title: say(`${task} is here`, `${task} 在这里`) }, name));
}
