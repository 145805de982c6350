// The document of a run of the shop.
import { el } from "../dom.js";
import { drawVerdict } from "../views/shop_stock.js";
import { describeSettings, drawTitle } from "../views/shop_words.js";
import { language, say } from "../words.js";
import { drawWatched, latestFrame } from "./watched.js";

show(document.getElementById("main"), JSON.parse(document.getElementById("data").textContent));

function show(main, { at, frames, pairs }) {
  const run = latestFrame(frames, "run");
  document.title = "lockstep: " + run.lock;
  main.append(
    el("h1", drawTitle(run)),
    el("p.soft.small", describeSettings(run)),
    el("section.sheet.says", drawVerdict(latestFrame(frames, "tally"))),
  );
  drawWatched(main, frames, pairs);
  const when = new Date(at).toLocaleString(language());
  main.append(el("footer.soft.small", say(`The shop as it was on ${when}.`, `${when} 时的商店。`)));
}
