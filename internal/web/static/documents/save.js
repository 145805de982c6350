// Saves a run of the shop as a document that needs no server.
import { download, get } from "../server.js";
import { language } from "../words.js";

const mostPairs = 10; // saved pairs of each kind of finding
const loadTime = 10_000; // longest time to load all pairs, in ms

// save downloads the run that the frames describe.
export async function save(frames) {
  const empty = await fetch(new URL("run.html", import.meta.url));
  if (!empty.ok) throw new Error(`${empty.url}: ${empty.status}`);
  // Escaped, no text of the data can end its script element.
  const data = JSON.stringify({ at: Date.now(), frames, pairs: await loadPairs(frames) }).replaceAll("<", "\\u003c"),
    document = (await empty.text())
      .replace('lang="en"', `lang="${language()}"`)
      .replace('id="data">null<', () => `id="data">${data}<`);
  download(new Blob([document], { type: "text/html" }), `lockstep-shop-${frames[0].data.lock}.html`);
}

// loadPairs loads the traces of two sales for each turn of the story and for the latest findings of each kind.
async function loadPairs(frames) {
  const traces = {},
    kinds = {},
    deadline = performance.now() + loadTime;
  const turns = frames.findLast(({ name }) => name === "story")?.data.turns ?? [],
    found = frames.filter(({ name, data }) => name === "finding" && data.bad).map(({ data }) => data);
  for (const { kind, sales } of [...turns, ...found.reverse()]) {
    const [a, b] = sales,
      name = sales.join(" ");
    kinds[kind] ??= 0;
    if (sales.length !== 2 || traces[name] || kinds[kind] >= mostPairs || performance.now() > deadline) continue;
    const trace = await get("/live/pair", { a, b, lang: language() }).catch(() => null);
    if (!trace) continue; // nothing is known of them any more
    traces[name] = trace;
    kinds[kind]++;
  }
  return traces;
}
