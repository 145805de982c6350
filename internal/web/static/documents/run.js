// A run of the shop, as it was when it was saved.
import { el } from "../dom.js";
import { verdict } from "../views/shop_stock.js";
import { settings, title } from "../views/shop_words.js";
import { language, say } from "../words.js";
import { last, watched } from "./watched.js";

show(document.getElementById("main"), JSON.parse(document.getElementById("data").textContent));

function show(main, { at, frames, pairs }) {
  const run = last(frames, "run");
  document.title = "lockstep: " + run.lock;
  main.append(
    el("h1", title(run)),
    el("p.soft.small", settings(run)),
    el("section.sheet.says", verdict(last(frames, "tally"))),
  );
  watched(main, frames, pairs);
  const when = new Date(at).toLocaleString(language());
  main.append(el("footer.soft.small", say(`The shop as it was on ${when}.`, `${when} 时的商店。`)));
}
