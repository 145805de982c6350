// What was seen of a shop: the parts of its view, without a server.
import { el, replace } from "../dom.js";
import { drawTrace } from "../trace.js";
import { lanes, legend } from "../views/shop_lanes.js";
import { sections } from "../views/shop_sections.js";
import { stock } from "../views/shop_stock.js";
import { findings, story } from "../views/shop_story.js";
import { counts } from "../views/shop_words.js";
import { say } from "../words.js";

// last is the newest frame of a name.
export const last = (frames, name) => frames?.findLast(frame => frame.name === name)?.data;

// watched gives the frames of GET /live to the parts of the shop's view. Pairs are what two sales did.
export function watched(main, frames, pairs) {
  const drawn = el("div.scroll", { "aria-live": "polite" });
  const pick = (a, b) => {
    const trace = pairs[`${a} ${b}`] ?? pairs[`${b} ${a}`];
    replace(
      drawn,
      el("h2", say(`${a} and ${b}, command by command`, `${a} 和 ${b} 的每条命令`)),
      trace
        ? drawTrace(trace)
        : el("p.soft", say("Their commands are not in this file.", "这个文件里没有它们的命令。")),
    );
    drawn.scrollIntoView({ block: "nearest" });
  };
  const alone = { server: false };
  const mark = n => {
    for (const part of [parts.story, parts.told, parts.lanes]) part.mark(n);
  };
  const parts = {
    story: story(pick, mark, alone),
    told: lanes(mark),
    lanes: lanes(mark),
    sections: sections(pick),
    stock: stock(),
    findings: findings(pick, alone),
  };
  const part = (title, of, more) => el("section.sheet.shop", el("h2", title), of.node, more);
  const run = last(frames, "run"),
    wrong = last(frames, "story"),
    sales = last(frames, "lanes")?.sales ?? [],
    latest = sales.some(sale => !wrong?.picture.sales.some(one => one.name === sale.name));
  main.append(
    ...[
      wrong && part(say("What went wrong", "出了什么问题"), parts.story, [parts.told.node, legend()]),
      latest && part(say("The latest sales", "最近的单"), parts.lanes, legend()),
      part(say("Critical sections", "临界区"), parts.sections),
      drawn,
      part(say("Stock and sold", "库存与已售"), parts.stock),
      part(say("All that was seen", "看到的全部"), parts.findings),
    ].filter(Boolean),
  );
  const on = {
    lanes(frame) {
      parts.lanes.take(frame);
      parts.lanes.freeze();
    },
    sections: more => parts.sections.take(more),
    stock: points => parts.stock.take(points),
    finding: finding => parts.findings.take(finding),
    story(story) {
      parts.story.take(story);
      parts.told.take(story.picture);
      parts.told.freeze();
      for (const part of [parts.told, parts.lanes]) part.tell(story.turns);
    },
  };
  if (run) for (const part of Object.values(parts)) part.begin(run);
  for (const { name, data } of frames) on[name]?.(data);
  const tally = last(frames, "tally");
  if (tally) parts.findings.count(counts(tally, parts.sections));
}
