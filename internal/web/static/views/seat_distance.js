// The distance to the nearest breach at each step and after each choice, once all states of the scenario are known.
import { el } from "../dom.js";
import { retryWhileAway, streamAnswer } from "../server.js";
import { language, say } from "../words.js";

export class Distance {
  key = ""; // latest question
  states = 0; // number of states counted so far
  waiting;
  failure;
  asking; // controller of the open request
  path; // distance to the nearest breach at each step
  far; // distance on the gauge, until the next one is known
  choices; // distance after each choice
  noReturn;
  doomed;

  constructor(seat) {
    this.seat = seat;
  }

  // isShown reports whether the distance is shown: in every level but the first two, or with the tool for it.
  get isShown() {
    const { embedded, isFirst, place } = this.seat;
    return !!place.oracle || (!embedded && !!place.campaign && !isFirst);
  }

  follow() {
    const { place, tokens, at, goal } = this.seat;
    const about = [place.lock, place.in, goal].join("\n");
    const key = this.isShown ? [about, place.do, place.oracle && at, language()].join("\n") : "";
    if (key === this.key) return;
    this.stop();
    if (!this.key.startsWith(about + "\n")) this.far = undefined;
    Object.assign(this, { key, path: null, choices: null, failure: null, states: 0, waiting: false });
    if (key) this.ask(tokens, at);
  }

  stop() {
    this.asking?.abort();
  }

  async ask(tokens, at) {
    const { lock, in: scenario } = this.seat.place,
      asking = new AbortController(),
      { signal } = asking,
      anomaly = this.seat.goal;
    this.asking = asking;
    const tell = news => {
      if (signal.aborted) return;
      Object.assign(this, news);
      this.seat.draw();
    };
    const listeners = {
      open: () => tell({ failure: null }),
      progress: ({ states, waiting }) => tell({ states, waiting }),
    };
    const learn = async (schedule, read) => {
      const query = { lock, in: scenario, do: schedule.join(" "), anomaly };
      const request = () => streamAnswer("/seat/oracle", query, listeners, signal);
      const lost = message => tell({ failure: { message } });
      const answer = await retryWhileAway(request, signal, lost).catch(async failure => {
        const hint = failure.code === "too_large" && (await this.seat.nextTo(query.do, anomaly).catch(() => null));
        tell({ failure, path: hint ? [...schedule.map(() => -2), hint.steps] : null });
      });
      if (answer) tell(read(answer));
    };
    const whole = ({ path, no_return: noReturn, doomed, states }) => ({ path, noReturn, doomed, states });
    const here = ({ choices }) => ({ choices });
    await learn(tokens, answer => ({ ...whole(answer), ...(at === tokens.length && here(answer)) }));
    if (this.seat.place.oracle && at < tokens.length && !this.failure) await learn(tokens.slice(0, at), here);
  }

  // drawBadge draws the distance after a choice.
  drawBadge(token) {
    return this.choices && drawChip(this.choices[token]);
  }

  // drawNote draws the distance after a step, and marks the point of no return.
  drawNote(n) {
    if (!this.path || !this.seat.place.oracle) return null;
    const mark = say("point of no return", "无法挽回的一步");
    return el("p.changes", drawChip(this.path[n]), this.noReturn === n && el("span.chip.no-return", mark));
  }

  // drawGauge draws the current distance as a meter and in words; with the tool, also whether a breach can still be
  // avoided.
  drawGauge() {
    if (!this.isShown) return null;
    const { path, states, waiting, failure, noReturn, seat } = this,
      { at, lock, hint, place, goal, here } = seat,
      isBreached = here.view.shown.some(({ anomaly }) => anomaly === goal);
    if (path || isBreached) this.far = isBreached ? 0 : path[at];
    const { far } = this,
      isDoomed = far > 0 && (this.doomed || (noReturn > 0 && at >= noReturn));
    const isKnown = path || isBreached,
      unknown =
        !isKnown &&
        (failure?.message ??
          (waiting
            ? say("waiting for another search", "等前面的搜索结束")
            : (states || far === undefined) && say(`counting … ${states} states`, `计算中……${states} 个状态`)));
    const max = Math.max(lock.level?.steps ?? 0, far ?? 0, 1),
      label = unknown ? el("span.chip", unknown) : drawChip(far);
    const meter = {
      value: unknown || far === -2 ? 0 : far < 0 ? max : far,
      "aria-label": say("How far from a breach", "距异常步数"),
      "aria-valuetext": label.textContent,
    };
    return [
      el("p.gauge" + (hint ? ".told" : ""), el("meter", { max, low: 2.5, high: 2.5, optimum: max, ...meter }), label),
      place.oracle &&
        path &&
        !failure &&
        el("p.small.soft", [
          isDoomed && say("It can no longer be avoided. ", "无论怎样都已无法避免。"),
          say(`From ${states} states, exactly.`, `根据 ${states} 个状态，精确得出。`),
        ]),
    ];
  }
}

function drawChip(distance) {
  if (distance === undefined || distance === null) return null;
  const [kind, says] = {
    "-1": [" good", say("safe forever", "永远安全")],
    "-2": ["", say("unknown", "未知")],
    0: [" bad", say("breach", "异常")],
  }[distance] ?? ["", say(`${distance} to a breach`, `离异常 ${distance} 步`)];
  return el("span", { class: "chip" + kind }, says);
}
