// The levels: their state in this browser, the path of levels in the seat, and the card of the one being played.
import { el } from "../dom.js";
import { go, link } from "../route.js";
import * as store from "../store.js";
import { say, several } from "../words.js";
import { describeScenario, drawOption, drawSelect } from "./seat_parts.js";

const stepName = /^v\d+$/;
export const listLevels = index => index.locks.filter(({ name }) => stepName.test(name));

// levelAddress returns the address of a level.
export const levelAddress = ({ name, level }) =>
  link(["schedule", name], { in: level?.in, mode: "break", anomaly: level?.anomaly, campaign: 1 });

// startAddress returns the address of the first open level, or of the first if all are solved.
export const startAddress = index => levelAddress(firstOpenLevel(index) ?? listLevels(index)[0]);

export const firstOpenLevel = index => listLevels(index).find(lock => lock.level?.anomaly && !solutionOf(lock));

const readAllNotes = () => JSON.parse(store.recall("campaign") ?? "{}");

// readNotes returns what is stored of a level: the shortest schedule, whether each one was hinted, and whether a hint
// was asked for since the beginning. Notes of a level that has changed since do not count.
function readNotes({ name, level }) {
  const noted = readAllNotes()[name];
  return noted && level && noted.anomaly === level.anomaly && noted.in === level.in ? noted : {};
}

const solutionOf = lock => (readNotes(lock).steps ? readNotes(lock) : null);

function writeNotes(lock, what) {
  const { anomaly, in: scenario } = lock.level;
  const notes = { ...readNotes(lock), anomaly, in: scenario, ...what };
  store.keep("campaign", JSON.stringify({ ...readAllNotes(), [lock.name]: notes }));
}

// keepSolution stores a solution unless a shorter one is known.
export function keepSolution(lock, { steps, schedule }) {
  const known = readNotes(lock),
    best = known.steps <= steps ? known : { steps, schedule };
  writeNotes(lock, { ...best, hinted: !!known.asked && (!known.steps || known.hinted) });
}

// noteHint notes that the solution that follows is one with a hint.
export const noteHint = seat => isPlayed(seat) && writeNotes(seat.lock, { asked: true });

// countStars counts the stars of a level: solved, in the fewest steps, without a hint.
export const countStars = lock =>
  solutionOf(lock) ? [true, !isLonger(lock), !readNotes(lock).hinted].filter(Boolean).length : 0;

// explainTerms replaces the names of anomalies in a text by their titles, with the name in the tooltip.
export const explainTerms = ({ anomalies }, text) =>
  text.split(RegExp(`${say("", " ?")}\\b(${anomalies.map(({ name }) => name).join("|")})\\b`)).map((part, i) => {
    const one = anomalies.find(({ name }) => name === part);
    return i % 2 ? el("span", { title: `${part}: ${one.says}` }, one.title) : part;
  });

// isPlayed reports whether scenario and goal are still the level’s.
export const isPlayed = ({ lock, place, full, goal }) =>
  place.campaign && lock?.level?.anomaly && full.view.scenario === lock.level.in && goal === lock.level.anomaly;

// solvedStep returns the step that solves the level, if it is played and solved.
export const solvedStep = seat =>
  isPlayed(seat) && seat.full.view.shown.find(({ anomaly }) => anomaly === seat.goal)?.step;

export function levelAfter({ index, lock }) {
  const steps = listLevels(index);
  return steps[steps.indexOf(lock) + 1 || steps.length];
}

// nextLevel returns the next level’s address, if a level is being played.
export const nextLevel = seat => seat.place.campaign && levelAfter(seat) && levelAddress(levelAfter(seat));

// isLonger reports whether the solution has more steps than necessary.
const isLonger = lock => solutionOf(lock).steps > lock.level.steps;

// describeResult returns how a level was solved, or its fewest steps.
function describeResult(lock) {
  const { steps } = lock.level ?? {},
    yours = solutionOf(lock)?.steps;
  if (!yours) return steps ? say(`open, shortest ${steps}`, `未通关，最少 ${steps} 步`) : "";
  const most = yours > steps ? say(`shortest ${steps}`, `最少可以 ${steps} 步`) : say("the fewest", "步数最少"),
    stars = countStars(lock);
  return say(`✓ in ${yours} steps, ${most}, ${several(stars, "star")}`, `✓ ${yours} 步，${most}，${stars} 星`);
}

// drawLevelPath draws a dot for each level, and the list of side levels.
export function drawLevelPath({ index, lock: current }) {
  const dot = lock => {
    const number = lock.name.slice(1),
      says = [say("Level ", "关卡 ") + number, describeResult(lock)].filter(Boolean).join(say(": ", "：")),
      attributes = { title: says, "aria-label": says, "aria-current": lock === current ? "true" : null },
      href = levelAddress(lock);
    const kind = solutionOf(lock) ? (countStars(lock) < 3 ? "warn" : "good") : null;
    return el("a", { class: kind, href, "data-focus": "level-" + lock.name, ...attributes }, number);
  };
  const sides = index.locks.filter(({ name }) => !stepName.test(name)),
    choose = value => value && go(levelAddress(sides.find(({ name }) => name === value)));
  const dots = listLevels(index).map(lock => el("li", dot(lock)));
  return el("nav.level.row", { "aria-label": say("Levels", "关卡") }, [
    el("ol", dots),
    drawSelect("side", say("Side levels", "支线关卡"), choose, [
      drawOption("", say("Side", "支线"), false),
      sides.map(lock => drawOption(lock.name, `${lock.name} · ${lock.title}`, lock === current)),
    ]),
  ]);
}

// drawLevelCard describes the level being played: the reader’s progress and the possible faults.
export function drawLevelCard(seat) {
  const { lock, index } = seat,
    { level, title, name } = lock,
    steps = listLevels(index),
    done = steps.filter(solutionOf),
    fewest = done.filter(one => !isLonger(one)).length;
  const played = isPlayed(seat),
    taken = solvedStep(seat) || seat.tokens.length,
    isLong = played && level.steps < taken, // longer than necessary
    count = isLong ? taken : `${taken}/${level?.steps}`;
  const shorter = say(`There is a shorter way: ${level?.steps} steps`, `有更短的走法：${level?.steps} 步`);
  const back = say("You changed the scenario. Back to the level", "场景改过了，回到这一关");
  const all = say(
    `${done.length}/${steps.length} solved · ${fewest} optimal`,
    `已通关 ${done.length}/${steps.length}，其中 ${fewest} 关步数最少`,
  );
  const parts = [
    el("b", steps.includes(lock) ? say("Level ", "关卡 ") : say("Side level ", "支线 "), name),
    title,
    played && el("b.count", say(`${count} steps`, `${count} 步`)),
    isLong && !seat.here.view.over && el("span.warn", shorter),
    played && describeScenario(seat),
    !played && level?.anomaly && el("a", { href: levelAddress(lock) }, back),
    level && !level.anomaly && say("Nothing breaks it in any scenario of the table.", "总表的所有场景都攻不破它。"),
  ];
  const joined = parts.filter(Boolean).map((part, i) => [i > 0 && " · ", part]);
  return el("p.small.card", joined, el("span.soft", " · ", all));
}

// noteSolved stores the solution if the level is solved. At the beginning, earlier hints no longer count.
export function noteSolved(seat) {
  const steps = solvedStep(seat);
  if (steps) keepSolution(seat.lock, { steps, schedule: seat.prefix(steps) });
  else if (isPlayed(seat) && !seat.place.do && readNotes(seat.lock).asked) writeNotes(seat.lock, { asked: false });
}
