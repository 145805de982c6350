// Why a burst oversells: two buyers read the same stock, and both write one less.
import { drawTableHead, el, replace } from "../dom.js";
import { duration, say } from "../words.js";

const stepTime = 1500; // length of a step, in ms

const listSteps = trace =>
  trace.steps
    .filter(({ command }) => command)
    .map(({ actor, command, reply, stock, at_ms: at }) => {
      const reads = command.startsWith("GET ");
      return { actor, at, reads, number: reads ? reply : stock, stock };
    });

// isCollision reports whether two buyers of a trace read the same stock before either writes.
export function isCollision(trace) {
  const [a, b, ...writes] = listSteps(trace);
  return writes.length === 2 && a.reads && b.reads && a.actor !== b.actor && a.number === b.number;
}

// createCollision draws such a trace, with a film in slow motion.
export function createCollision(trace) {
  const steps = listSteps(trace),
    [{ actor: first, number: stock }, { actor: second }] = steps,
    took = steps.at(-1).at - steps[0].at;
  const does = ({ reads, number }) =>
    reads ? say(`reads ${number}`, `读到 ${number}`) : say(`writes ${number}`, `写入 ${number}`);
  const rows = steps.map((step, i) => {
    const fell = step.stock !== (steps[i - 1]?.stock ?? stock);
    const square = (who, i) => step.actor === who && el("span.square.actor" + i, does(step));
    return el("tr", [
      el("td", square(first, 0)),
      el("td", { class: fell ? "fell" : step.reads ? null : "stays" }, step.stock),
      el("td", square(second, 1)),
    ]);
  });
  const sentence = el("p.large", { role: "status" }),
    counter = el("span.counter");
  const names = [
    say(`Buyer ${first}`, `买家 ${first}`),
    [say("Stock ", "库存 "), counter],
    say(`Buyer ${second}`, `买家 ${second}`),
  ];
  const slowly = say(`${duration(took)} of this burst, slowed down`, `这次抢购中的 ${duration(took)}，慢放`);
  const node = el("div.pane.why", [
    el("h2", took ? slowly : say("Two buyers, no lock", "两个买家，没有锁")),
    el("table", drawTableHead(names), el("tbody", rows)),
    sentence,
  ]);
  const sentences = [
    say("Two buyers arrive.", "来了两个买家。"),
    say(`${first} reads the stock: ${stock}.`, `${first} 读库存：${stock}。`),
    say(`${second} reads ${stock}, too: nothing is written yet.`, `${second} 也读到 ${stock}：还没有人写回。`),
    say(`${steps[2].actor} writes one less.`, `${steps[2].actor} 减一后写回。`),
    say("Two sold, and the stock fell by one.", "卖出两件，库存只减少一件。"),
  ];
  function show(t) {
    const n = t === null ? steps.length : Math.min(Math.floor(t / stepTime), steps.length);
    for (const [i, row] of rows.entries()) row.classList.toggle("later", i >= n);
    sentence.className = n === steps.length ? "large bad" : "large";
    if (sentence.textContent !== sentences[n]) replace(sentence, sentences[n]);
    replace(counter, steps[n - 1]?.stock ?? stock);
  }
  show(null);
  const moments = steps.map((_, i) => (i + 1) * stepTime),
    to = (steps.length + 1) * stepTime;
  return { node, film: { from: 0, to, moments, show }, within: to };
}
