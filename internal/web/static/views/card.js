// A card to send: how a lock was broken, as one picture, and the address at which anybody can step through it.

import { copied, el, replace, svg } from "../dom.js";
import { beforeOf, colour, lanesOf, marksOf, saying } from "../trace.js";
import { say, several } from "../words.js";

const width = 640,
  edge = 24,
  lane = 54,
  line = 20;

// showCard shows the card of what the seat is at, and what can be done with it.
export function showCard(seat) {
  const { lock } = seat,
    { view } = seat.here;
  const done = view.shown.find(({ anomaly }) => anomaly === seat.goal);
  const address = new URL(
    seat.address({ campaign: "", beside: "", at: undefined, do: seat.prefix(done.step) }),
    location.href,
  ).href;
  const title = lock.name + say(": ", "：") + done.title;
  const text =
    say(`I broke ${lock.name} in ${several(done.step, "step")}. `, `我用 ${done.step} 步攻破了 ${lock.name}。`) + title;
  const host = el("div", { class: "trace card" });
  const card = draw({
    trace: { ...view.trace, steps: view.trace.steps.slice(0, done.step) },
    done,
    lock,
    title,
    address,
  });
  const name = `lockstep-${lock.name}-${seat.goal}`;
  const says = el("p", { class: "small", role: "status" });
  const shut = el("button", { class: "quiet", onclick: () => dialog.close() }, say("Close", "关闭"));
  const share = async () => {
    try {
      const picture = new File([await png(card)], name + ".png", { type: "image/png" });
      const files = navigator.canShare?.({ files: [picture] }) ? { files: [picture] } : {};
      await navigator.share({ title, text, url: address, ...files });
    } catch (failure) {
      if (failure.name !== "AbortError") replace(says, failure.message);
    }
  };
  const dialog = el(
    "dialog",
    { class: "card", "aria-label": say("A card to send", "卡片"), onclose: () => dialog.remove() },
    host,
    el(
      "p",
      { class: "row" },
      "share" in navigator && el("button", { class: "main", onclick: share }, say("Share", "分享")),
      el("button", { id: "save-card", onclick: () => saved(card, name) }, say("Save as SVG", "存成 SVG")),
      el("button", { onclick: event => copied(event.currentTarget, address) }, say("Copy link", "复制链接")),
      shut,
    ),
    says,
  );
  host.append(card);
  document.body.append(dialog);
  dialog.showModal();
  inline(card);
}

// draw lays the card out: the title, the lifelines, a row for each step with its words, and the address.
function draw({ trace, done, lock, title, address }) {
  const lanes = lanesOf(trace),
    left = edge + 24,
    words = left + lanes.length * lane + 12;
  const parts = [];
  let y = edge + 22;
  const write = (text, kind, x, most) => {
    for (const each of wrapped(text, most, kind)) {
      parts.push(svg("text", { x, y, class: "card-" + kind }, each));
      y += kind === "title" ? 30 : line;
    }
  };
  write(title, "title", edge, width - 2 * edge);
  write(
    lock.title + say(". Broken in ", "。攻破用了 ") + several(done.step, "step", "步"),
    "soft",
    edge,
    width - 2 * edge,
  );
  y += 12;
  for (const { at, name, actor } of lanes)
    parts.push(
      svg("text", { x: left + (at / 100) * lanes.length * lane, y, class: "card-lane " + colour(actor) }, name),
    );
  y += 10;
  trace.steps.forEach((step, i) => {
    const n = i + 1,
      breach = n === done.step,
      begin = y;
    y += 23;
    parts.push(svg("text", { x: edge, y, class: "card-soft" }, n));
    write(saying(step), "words", words, width - edge - words);
    if (breach) write("✗ " + done.says, "bad", words, width - edge - words);
    y = Math.max(y - 4, begin + 51);
    parts.push(
      svg(
        "svg",
        { x: left, y: begin, width: lanes.length * lane, height: y - begin },
        marksOf(lanes, trace, step, beforeOf(trace, i), breach),
      ),
    );
  });
  y += 34;
  const link = svg("a", { href: address });
  for (const each of wrapped(address, width - 2 * edge, "link")) {
    link.append(svg("text", { x: edge, y, class: "card-link" }, each));
    y += 15;
  }
  const height = y + edge - 12;
  return svg(
    "svg",
    { class: "card", xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height },
    svg("title", null, title),
    svg("rect", { width, height, rx: 12, class: "card-back" }),
    parts,
    link,
  );
}

const fonts = { title: "650 22px", soft: "14px", words: "15px", bad: "650 15px", link: "11px" };
const pen = document.createElement("canvas").getContext("2d");

// wrapped cuts a text into lines that fit: after a word, or after any sign of Chinese, or of an address.
function wrapped(text, most, kind) {
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

const looks = "fill stroke stroke-width stroke-dasharray font-family font-size font-weight text-anchor".split(" ");

// inline writes what the page's styles say into the picture: it has to look alike without them.
function inline(card) {
  for (const node of card.querySelectorAll("*")) {
    const style = getComputedStyle(node);
    if (node.matches("svg")) node.setAttribute("overflow", "visible");
    else for (const name of looks) node.setAttribute(name, style.getPropertyValue(name));
  }
}

const source = card => new XMLSerializer().serializeToString(card);

function saved(card, name) {
  const url = URL.createObjectURL(new Blob([source(card)], { type: "image/svg+xml" }));
  el("a", { href: url, download: name + ".svg" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// png is the card as chats show it.
async function png(card) {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(source(card));
  await image.decode();
  const canvas = el("canvas", { width: 2 * width, height: 2 * card.height.baseVal.value });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(made => canvas.toBlob(made, "image/png"));
}
