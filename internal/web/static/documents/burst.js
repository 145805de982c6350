// The document of a burst: the buyers’ answers and, if the shop was watched, what its locks did.
import { drawFacts, el } from "../dom.js";
import { drawVerdict } from "../views/shop_stock.js";
import { duration, say } from "../words.js";
import { drawWatched } from "./watched.js";

show(document.getElementById("main"), JSON.parse(document.getElementById("data").textContent));

function show(main, { result, says, frames, pairs }) {
  main.append(
    el("h1", [
      say(
        `${result.requests} buyers at once, with ${result.lock}`,
        `${result.requests} 个买家同时购买：${result.lock}`,
      ),
    ]),
    el("section.sheet", drawVerdict({ ...result, says, in_flight: result.in_flight ?? 0 }), drawAnswers(result)),
    el("section.sheet", el("h2", say("How long the answers took", "响应用时")), drawLatency(result.latency_ms)),
  );
  if (frames?.length) drawWatched(main, frames, pairs ?? {});
  main.append(el("footer.soft.small", say("Made by lockstep burst.", "由 lockstep burst 生成。")));
}

function drawAnswers(result) {
  const counted = [
    [say("sold", "卖出"), result.ok],
    [say("sold out", "售罄"), result.sold_out],
    [say("failed", "失败"), result.failed],
    [say("unknown", "结果未知"), result.unknown],
    ...Object.entries({ ...result.failures, ...result.unknowns }),
  ];
  const took = [say("in", "用时"), duration(result.seconds * 1000)];
  return drawFacts([...counted.filter(([, n]) => n > 0), took]);
}

function drawLatency(of) {
  return el("table.latency", [
    el("tbody", [
      Object.entries(of).map(([name, ms]) =>
        el("tr", [
          el("th", { scope: "row" }, name),
          el("td", el("meter", { min: 0, max: of.max || 1, value: ms, "aria-label": name })),
          el("td", duration(ms)),
        ]),
      ),
    ]),
  ]);
}
