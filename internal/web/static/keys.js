// Keys that do something, and their list.
import { el, showDialog } from "./dom.js";
import { say } from "./words.js";

const bindings = new Set();

// bind lets keys do something until what it returns is called. Each is [key, English, 中文, function]; a key of null is
// only listed, under the name at the function's place.
export function bind(...keys) {
  return bindWhile(() => true, ...keys);
}

// bindWhile does so for a part of a view: its keys do something while the reader is at it.
export function bindWhile(when, ...keys) {
  const all = { when, keys };
  bindings.add(all);
  return () => bindings.delete(all);
}

addEventListener("keydown", event => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    isTextField(event.target) ||
    document.querySelector("dialog[open]")
  )
    return;
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
    .map(([key, english, chinese, act]) =>
      el(
        "tr",
        el("th", { scope: "row" }, el("kbd", key ? (keyNames[key] ?? key) : act)),
        el("td", say(english, chinese)),
      ),
    );
  showDialog("keys", say("Keys", "按键"), el("table", el("tbody", rows)));
}
