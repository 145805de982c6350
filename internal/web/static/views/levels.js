// The levels of the campaign: what the server says of each lock, and what this browser has kept of it; and what an
// anomaly is called.
import { el } from "../dom.js";
import { link } from "../route.js";

const step = /^v\d+$/;
export const stepsOf = index => index.locks.filter(({ name }) => step.test(name));
export const branchesOf = index => index.locks.filter(({ name }) => !step.test(name));

// play is where a level is played.
export const play = ({ name, level }, query = {}) =>
  level?.anomaly
    ? link(["schedule", name], { in: level.in, mode: "break", anomaly: level.anomaly, campaign: 1, ...query })
    : link(["campaign"]);

// solution is the shortest schedule that was found here. What was kept of a level that is another one by now does not
// count.
export function solution({ name, level }) {
  const kept = all()[name];
  const same = kept && level && ["anomaly", "in"].every(each => kept[each] === level[each]);
  return same ? kept : null;
}

// keep keeps a solution, if none was shorter.
export function keep(lock, { steps, schedule }) {
  if (solution(lock)?.steps <= steps) return;
  const { anomaly, in: scenario } = lock.level;
  memory = { ...all(), [lock.name]: { anomaly, in: scenario, steps, schedule } };
  try {
    localStorage.setItem("lockstep.campaign", JSON.stringify(memory));
  } catch {
    /* it is not kept */
  }
}

let memory = {}; // where nothing is kept

function all() {
  try {
    return JSON.parse(localStorage.getItem("lockstep.campaign")) ?? {};
  } catch {
    return memory;
  }
}

// called is a text, with its anomalies called as people call them; the term is in the tooltip.
export const called = ({ anomalies }, text) =>
  text.split(/([a-z]+(?:-[a-z]+)*)/).map(word => {
    const one = anomalies.find(({ name }) => name === word);
    return one ? el("span", { title: `${word}: ${one.says}` }, one.title) : word;
  });
