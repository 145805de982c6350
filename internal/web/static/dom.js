// Builders of elements.
import { say, typed } from "./words.js";

// el creates an HTML element from a tag with classes, such as "p.soft.small", an optional object of attributes, and
// children. In the object, functions are listeners, true is an empty attribute, false, null and undefined are left out,
// and style is an object. Children are texts, nodes, lists of them, or null.
export const el = (tag, ...inside) => make(name => document.createElement(name), tag, inside);

export const kbd = key => el("kbd", { "aria-hidden": "true" }, key);

export const svg = (tag, ...inside) =>
  make(name => document.createElementNS("http://www.w3.org/2000/svg", name), tag, inside);

// drawFacts draws a list of names with their values.
export const drawFacts = all =>
  el("dl.facts", [all.map(([name, value]) => el("div", el("dt", name), el("dd", value)))]);

// drawTableHead draws the names of a table’s columns.
export const drawTableHead = names => el("thead", [el("tr", [names.map(name => el("th", { scope: "col" }, name))])]);

export function replace(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

function make(create, tag, inside) {
  const [name, ...classes] = tag.split("."),
    node = create(name),
    has = inside[0]?.constructor === Object; // attributes
  node.classList.add(...classes);
  for (const [name, value] of Object.entries(has ? inside[0] : {})) {
    if (value === false || value == null) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [property, setting] of Object.entries(value)) node.style.setProperty(property, setting);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...flat(has ? inside.slice(1) : inside));
  return node;
}

const flat = children => children.flat(Infinity).filter(child => child != null && child !== false);

export const drawAlarm = failure => el("p.note.bad", { role: "alert" }, failure.message ?? failure);

// drawTerminal folds away commands and other text for a terminal.
export const drawTerminal = (commands, ...more) =>
  el("details.terminal", el("summary", say("In the terminal", "在终端里")), commands && drawCode(commands), more);

// drawCode draws a list of commands, or what a command prints.
export const drawCode = lines =>
  el("pre", { tabindex: 0 }, [el("code", Array.isArray(lines) ? lines.map(typed).join("\n") : lines)]);

// showDialog shows something under a heading until the reader closes it.
export function showDialog(name, heading, ...inside) {
  const shut = el("button", { onclick: () => node.close() }, say("Close", "关闭"));
  const node = el("dialog." + name, { "aria-label": heading, onclose: () => node.remove() }, [
    el("h2", heading),
    inside,
    el("p.row", shut),
  ]);
  document.body.append(node);
  node.showModal();
  node.scrollTop = 0; // the button that has the focus is at the end
}

// copyText copies a text to the clipboard, and confirms it on the button.
export async function copyText(button, text) {
  const was = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = say("Copied", "已复制");
  } catch {
    prompt(say("To copy:", "复制："), text); // the page is not from this machine, and not over HTTPS
  }
  setTimeout(() => {
    button.textContent = was;
  }, 1500);
}

const drawings = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  leave: "M3 4.4 4.4 3 8 6.6 11.6 3 13 4.4 9.4 8l3.6 3.6-1.4 1.4L8 9.4 4.4 13 3 11.6 6.6 8z",
  stage: "M1 2h14v9H9v1.5l3 2H4l3-2V11H1zm1.5 1.5v6h11v-6z",
  save: "M7 1.5h2v6l2.5-2.5 1.4 1.4L8 11.3 3.1 6.4 4.5 5 7 7.5zM2 12.5h12v2H2z",
  buy: "M1 2h2.5l.5 2h11l-1.6 6.5H5.2L3.2 3.5H1zM4.5 12h3v3h-3zM11 12h3v3h-3z",
};

export const drawIcon = name =>
  svg("svg.icon", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: drawings[name] }));
