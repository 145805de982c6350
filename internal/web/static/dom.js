// Elements, made in one expression.

// el makes an HTML element. Attributes: class, data-…, aria-…; functions, such as onclick, are listeners; true is an
// empty attribute; false, null and undefined are none; style is an object. Children are texts, nodes, lists of them, or
// null.
export const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

export const svg = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// heads names the columns of a table.
export const heads = names =>
  el(
    "thead",
    null,
    el(
      "tr",
      null,
      names.map(name => el("th", { scope: "col" }, name)),
    ),
  );

// replace gives a node other children.
export function replace(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value == null) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [property, is] of Object.entries(value)) node.style.setProperty(property, is);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...flat(children));
  return node;
}

const flat = children => children.flat(Infinity).filter(child => child != null && child !== false);
