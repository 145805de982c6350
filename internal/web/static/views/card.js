// An image to share: how a lock was broken, with the address at which anybody can step through it.

import { copyText, el, replace, showDialog, svg } from "../dom.js";
import { download } from "../server.js";
import { colourClass, describeStep, drawMarks, listLanes, stateBefore } from "../trace.js";
import { say, several } from "../words.js";

const width = 640,
  edge = 24,
  lane = 54,
  line = 20;

// showCard shows the image of the current schedule, with buttons to share and save it.
export function showCard(seat) {
  const { lock, goal, here } = seat,
    { trace, done } = { ...here.view, done: here.view.shown.find(({ anomaly }) => anomaly === goal) };
  const place = { campaign: "", beside: "", search: "", at: undefined, do: seat.prefix(done.step) };
  const address = new URL(seat.address(place), location.href).href;
  const title = lock.name + say(": ", "：") + done.title,
    name = `lockstep-${lock.name}-${goal}`;
  const steps = say(
    `I broke ${lock.name} in ${several(done.step, "step")}. `,
    `我用 ${done.step} 步攻破了 ${lock.name}。`,
  );
  const card = drawCard({ trace: { ...trace, steps: trace.steps.slice(0, done.step) }, done, lock, title, address });
  const status = el("p.small", { role: "status" });
  const share = async () => {
    try {
      const files = [new File([await renderPNG(card)], name + ".png", { type: "image/png" })];
      const sent = { title, text: steps + title, url: address };
      await navigator.share(navigator.canShare?.({ files }) ? { ...sent, files } : sent);
    } catch (failure) {
      if (failure.name !== "AbortError") replace(status, failure.message);
    }
  };
  const save = () => download(new Blob([serialize(card)], { type: "image/svg+xml" }), name + ".svg");
  showDialog("card", say("Share image", "分享图片"), [
    el("div.trace.card", card),
    el("p.row", [
      "share" in navigator && el("button.main", { onclick: share }, say("Share", "分享")),
      el("button", { id: "save-card", onclick: save }, say("Save as SVG", "存成 SVG")),
      el("button", { onclick: event => copyText(event.currentTarget, address) }, say("Copy link", "复制链接")),
    ]),
    status,
  ]);
  inlineStyles(card);
}

// drawCard draws the title, the lifelines, a row for each step, and the address.
function drawCard({ trace, done, lock, title, address }) {
  const lanes = listLanes(trace),
    left = edge + 24,
    wide = lanes.length * lane,
    words = left + wide + 12,
    broken = say(". Broken in ", "。攻破用了 ") + several(done.step, "step", "步");
  const parts = [];
  let y = edge + 22;
  const write = (text, kind, x = edge, into = parts) => {
    for (const each of wrapText(text, width - edge - x, kind)) {
      into.push(svg("text", { x, y, class: "card-" + kind }, each));
      y += { title: 30, link: 15 }[kind] ?? line;
    }
    return into;
  };
  write(title, "title");
  write(lock.title + broken, "soft");
  y += 12;
  for (const { at, name, actor } of lanes)
    parts.push(svg("text", { x: left + (at / 100) * wide, y, class: "card-lane " + colourClass(actor) }, name));
  y += 10;
  trace.steps.forEach((step, i) => {
    const n = i + 1,
      breach = n === done.step,
      begin = y;
    y += 23;
    parts.push(svg("text.card-soft", { x: edge, y }, n));
    write(describeStep(step), "words", words);
    if (breach) write("✗ " + done.says, "bad", words);
    y = Math.max(y - 4, begin + 51);
    const marks = drawMarks(lanes, trace, step, stateBefore(trace, i), breach);
    parts.push(svg("svg", { x: left, y: begin, width: wide, height: y - begin }, marks));
  });
  y += 34;
  const link = svg("a", { href: address }, write(address, "link", edge, []));
  const height = y + edge - 12;
  return svg("svg.card", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height }, [
    svg("title", title),
    svg("rect.card-back", { width, height, rx: 12 }),
    parts,
    link,
  ]);
}

const fonts = { title: "650 22px", soft: "14px", words: "15px", bad: "650 15px", link: "11px" };
const pen = document.createElement("canvas").getContext("2d");

// wrapText breaks a text into lines that fit: after a word, a Chinese character, or any character of an address.
function wrapText(text, most, kind) {
  pen.font = `${fonts[kind]} ${kind === "link" ? "monospace" : getComputedStyle(document.body).fontFamily}`;
  const pieces = text.match(
    kind === "link" ? /./gu : /[\u2e80-\u9fff\uff00-\uffef]|[^\s\u2e80-\u9fff\uff00-\uffef]+\s*|\s+/gu,
  );
  const lines = [""];
  for (const piece of pieces ?? []) {
    if (lines.at(-1) && pen.measureText(lines.at(-1) + piece.trimEnd()).width > most) lines.push("");
    lines[lines.length - 1] += piece;
  }
  return lines;
}

const fontProperties = ["font-family", "font-size", "font-weight", "text-anchor"];
const styleProperties = ["fill", "stroke", "stroke-width", "stroke-dasharray", ...fontProperties];

// inlineStyles copies the computed styles into the image, so that it looks the same outside the page.
function inlineStyles(card) {
  for (const node of card.querySelectorAll("*")) {
    const style = getComputedStyle(node);
    if (node.matches("svg")) node.setAttribute("overflow", "visible");
    else for (const name of styleProperties) node.setAttribute(name, style.getPropertyValue(name));
  }
}

const serialize = card => new XMLSerializer().serializeToString(card);

// renderPNG returns the image as a PNG, which chats can show.
async function renderPNG(card) {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(serialize(card));
  await image.decode();
  const canvas = el("canvas", { width: 2 * width, height: 2 * card.height.baseVal.value });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(made => canvas.toBlob(made, "image/png"));
}
