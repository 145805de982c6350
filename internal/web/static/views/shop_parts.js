// The parts of the shop’s view that show a run, live or from a file.
import { createLanes } from "./shop_lanes.js";
import { createSections } from "./shop_sections.js";
import { createStock } from "./shop_stock.js";
import { createFindings, createStory } from "./shop_story.js";
import { countFindings } from "./shop_words.js";

// parts creates them. pick is called with two sales to draw; take handles frames of GET /live by name. Without a server
// there is nothing to buy, and no link to the seat.
export function parts(pick, server = true) {
  const mark = n => {
    for (const part of [all.story, all.storyLanes, all.lanes]) part.mark(n);
  };
  const all = {
    story: createStory(pick, mark, server),
    storyLanes: createLanes(mark),
    lanes: createLanes(mark),
    sections: createSections(pick),
    stock: createStock(),
    findings: createFindings(pick, server),
  };
  const take = {
    story(next) {
      all.story.take(next);
      all.storyLanes.take(next.picture);
      for (const part of [all.storyLanes, all.lanes, all.sections]) part.tell(next.turns);
    },
    lanes: frame => all.lanes.take(frame),
    sections: more => all.sections.take(more),
    stock: points => all.stock.take(points),
    finding: finding => all.findings.take(finding),
    tally: tally => all.findings.count(countFindings(tally, all.sections)),
  };
  return { all, take, mark };
}
