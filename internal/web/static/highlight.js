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

// highlight gives a line of code as texts and spans.
export function highlight(line, syntax) {
  const parts = [];
  let from = 0;
  for (const found of line.matchAll(lexers[syntax])) {
    const [kind] = Object.entries(found.groups).find(([, is]) => is !== undefined);
    parts.push(line.slice(from, found.index), el("span", { class: "code-" + kind }, found[0]));
    from = found.index + found[0].length;
  }
  return [...parts, line.slice(from)];
}
