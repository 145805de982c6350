// Keyboard shortcuts, and the list of them.
import { el, showDialog } from "./dom.js";
import { say } from "./words.js";

const bindings = new Set();

// bind activates keys and returns a function that deactivates them. Each is [key, English, 中文, function]; with null as
// the key, the entry is only listed, and its last element is the name to show.
export function bind(...keys) {
  return bindWhile(() => true, ...keys);
}

// bindWhile does the same for keys that act only while when() returns true.
export function bindWhile(when, ...keys) {
  const all = { when, keys };
  bindings.add(all);
  return () => bindings.delete(all);
}

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTextField(event.target) || document.querySelector("dialog[open]")) return;
  const now = [...bindings].reverse().filter(({ when }) => when());
  for (const [key, , , act] of now.flatMap(({ keys }) => keys)) {
    if (key !== event.key || (key === " " && isPressable(event.target))) continue;
    event.preventDefault();
    return act(event);
  }
});

const isTextField = at =>
  at.matches?.(
    "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=range])",
  );

const isPressable = at => at.matches?.("button, a, summary");

const keyNames = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space", Escape: "Esc" };

export function showKeys() {
  const rows = [...bindings]
    .flatMap(({ keys }) => keys)
    .filter(([, english]) => english)
    .map(([key, english, chinese, act]) => {
      const name = el("th", { scope: "row" }, el("kbd", key ? (keyNames[key] ?? key) : act));
      return el("tr", name, el("td", say(english, chinese)));
    });
  showDialog("keys", say("Keys", "快捷键"), el("table", el("tbody", rows)));
}
