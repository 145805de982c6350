// Syntax highlighting of Go and Lua: comments, strings and keywords.
import { el } from "./dom.js";

const texts = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`/.source;

const createLexer = (comment, words) =>
  new RegExp(`(?<comment>${comment}.*)|(?<text>${texts})|\\b(?<word>${words.replaceAll(" ", "|")})\\b`, "g");

const lexers = {
  go: createLexer(
    "//",
    "break case chan const continue default defer else fallthrough for func go goto if import interface map " +
      "package range return select struct switch type var nil true false iota",
  ),
  lua: createLexer(
    "--",
    "and break do else elseif end false for function if in local nil not or repeat return then true until while",
  ),
};

const lineElements = { "+": "ins", "-": "del" };

// drawLine draws a line of code, or of a difference.
export const drawLine = ({ kind, text, mark = undefined }, syntax) =>
  el((lineElements[kind] ?? "span") + ".line", { style: { "--tabs": text.match(/^\t*/)[0].length } }, [
    el("i.sign", kind),
    highlight(text, syntax, mark),
    "\n",
  ]);

// highlight returns a line of code as texts and spans, with the characters between from and to marked.
function highlight(line, syntax, [from, to] = [0, 0]) {
  const parts = [];
  let at = 0;
  const add = (end, kind) => {
    for (const cut of [from, to, end]) {
      const text = line.slice(at, Math.min(cut, end));
      if (!text) continue;
      const part = kind ? el("span", { class: "code-" + kind }, text) : text;
      parts.push(at >= from && at < to ? el("mark", part) : part);
      at += text.length;
    }
  };
  for (const found of line.matchAll(lexers[syntax])) {
    const [kind] = Object.entries(found.groups).find(([, text]) => text !== undefined);
    add(found.index);
    add(found.index + found[0].length, kind);
  }
  add(line.length);
  return parts;
}
