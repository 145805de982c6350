// The parts of the shop’s view in a document, without a server.
import { el, replace } from "../dom.js";
import { drawTrace } from "../trace.js";
import { drawLegend } from "../views/shop_lanes.js";
import { parts as shopParts } from "../views/shop_parts.js";
import { say } from "../words.js";

// latestFrame returns the data of the newest frame of a name.
export const latestFrame = (frames, name) => frames?.findLast(frame => frame.name === name)?.data;

// drawWatched passes the frames of GET /live to the parts of the shop’s view. pairs holds traces of two sales.
export function drawWatched(main, frames, pairs) {
  const drawn = el("div.scroll", { "aria-live": "polite" });
  const pick = (a, b) => {
    const trace = pairs[`${a} ${b}`] ?? pairs[`${b} ${a}`];
    replace(drawn, [
      el("h2", say(`${a} and ${b}, command by command`, `${a} 和 ${b} 的每条命令`)),
      trace
        ? drawTrace(trace)
        : el("p.soft", say("Their commands are not in this file.", "这个文件里没有它们的命令。")),
    ]);
    drawn.scrollIntoView({ block: "nearest" });
  };
  const { all: parts, take } = shopParts(pick, false);
  const part = (title, of, more) => el("section.sheet.shop", el("h2", title), of.node, more);
  const run = latestFrame(frames, "run"),
    wrong = latestFrame(frames, "story"),
    sales = latestFrame(frames, "lanes")?.sales ?? [],
    latest = sales.some(sale => !wrong?.picture.sales.some(one => one.name === sale.name));
  main.append(
    ...[
      wrong && part(say("What went wrong", "出了什么问题"), parts.story, [parts.storyLanes.node, drawLegend()]),
      latest && part(say("The latest sales", "最近的订单"), parts.lanes, drawLegend()),
      part(say("Critical sections", "临界区"), parts.sections),
      drawn,
      part(say("Stock and sold", "库存与已售"), parts.stock),
      part(say("All events", "全部事件"), parts.findings),
    ].filter(Boolean),
  );
  if (run) for (const part of Object.values(parts)) part.begin(run);
  for (const { name, data } of frames) take[name]?.(data);
  for (const picture of [parts.storyLanes, parts.lanes]) picture.freeze();
}
