// A little light on Go and Lua: comments, texts, keywords.
import { el } from "./dom.js";

const texts = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`/.source;

const lexers = Object.fromEntries(
  Object.entries({
    go: [
      "//",
      "break case chan const continue default defer else fallthrough for func go goto if import interface map " +
        "package range return select struct switch type var nil true false iota",
    ],
    lua: [
      "--",
      "and break do else elseif end false for function if in local nil not or repeat return then true until while",
    ],
  }).map(([name, [comment, words]]) => [
    name,
    new RegExp(`(?<comment>${comment}.*)|(?<text>${texts})|\\b(?<word>${words.replaceAll(" ", "|")})\\b`, "g"),
  ]),
);

// highlight gives a line of code as texts and spans. Its characters from and to are marked.
export function highlight(line, syntax, [from, to] = [0, 0]) {
  const parts = [];
  let at = 0;
  const add = (end, kind) => {
    for (const [cut, marked] of [
      [from, false],
      [to, true],
      [end, false],
    ]) {
      const text = line.slice(at, Math.min(cut, end));
      if (!text) continue;
      const part = kind ? el("span", { class: "code-" + kind }, text) : text;
      parts.push(marked ? el("mark", part) : part);
      at += text.length;
    }
  };
  for (const found of line.matchAll(lexers[syntax])) {
    const [kind] = Object.entries(found.groups).find(([, is]) => is !== undefined);
    add(found.index);
    add(found.index + found[0].length, kind);
  }
  add(line.length);
  return parts;
}
