// How far the nearest breach is at each step and after each choice, once all states of the scenario are known.
import { el } from "../dom.js";
import { away, soon, stream, text } from "../server.js";
import { language, say, several } from "../words.js";
import { called } from "./levels.js";
import { p, status } from "./seat_parts.js";

export class Distance {
  key = ""; // what was asked last
  states = 0; // so far
  waiting;
  failure;
  asking; // can be aborted
  path; // at each step, how far the nearest breach is
  choices; // after each choice
  noReturn;
  doomed;

  constructor(seat) {
    this.seat = seat;
  }

  follow() {
    const { place, tokens, at, goal } = this.seat;
    const key = place.oracle ? [place.lock, place.in, goal, place.do, at].join("\n") : "";
    if (key === this.key) return;
    this.stop();
    Object.assign(this, { key, path: null, choices: null, failure: null });
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
    // about asks until there is an answer.
    const about = async (schedule, learn) => {
      for (let answered = false; !answered && !signal.aborted; ) {
        try {
          await stream(
            "/seat/oracle" + text({ lock, in: scenario, do: schedule.join(" "), anomaly, lang: language() }),
            {
              open: () => tell({ failure: null }),
              progress: ({ states, waiting }) => tell({ states, waiting }),
              done: answer => {
                answered = true;
                tell(learn(answer));
              },
              failed: failure => {
                answered = failure.code !== "client_closed_request"; // the server ends
                tell({ failure });
              },
            },
            { signal },
          );
        } catch (failure) {
          answered = !away(failure);
          tell({ failure });
        }
        if (!answered) await new Promise(soon);
      }
    };
    const whole = ({ path, no_return: noReturn, doomed, states }) => ({ path, noReturn, doomed, states });
    const here = ({ choices }) => ({ choices });
    await about(tokens, answer => ({ ...whole(answer), ...(at === tokens.length && here(answer)) }));
    if (at < tokens.length && !this.failure) await about(tokens.slice(0, at), here);
  }

  // badge says how far a breach is after a choice.
  badge(token) {
    return this.choices && chip(this.choices[token]);
  }

  // note says it of a step, and marks the point of no return.
  note(n) {
    if (!this.path) return null;
    const mark = say("point of no return", "无法挽回的一步");
    return p("changes", chip(this.path[n]), this.noReturn === n && el("span", { class: "chip no-return" }, mark));
  }

  panel() {
    const { states, failure } = this;
    const large = say(
      "There are too many states here to count the distance. A hint still looks for the shortest way.",
      "这个场景的状态太多，距离算不完。提示仍然会去找最短路径。",
    );
    if (failure) return status("note warn", failure.code === "too_large" ? large : failure.message);
    const { goal, at, index } = this.seat;
    if (!this.path)
      return status(
        "small soft",
        el("progress", { "aria-label": say("exploring", "正在探索") }),
        this.waiting
          ? say("Another search comes first.", "前面还有一次搜索。")
          : say(`Looking at all states: ${states} so far`, `正在遍历所有状态：已有 ${states} 个`),
      );
    const far = this.path[at],
      doomed = far > 0 && (this.doomed || (this.noReturn > 0 && at >= this.noReturn));
    const says = {
      "-1": say("No way leads there any more: ", "再也到不了："),
      "-2": say("Not known, as the search hit its bound: ", "结果未知，搜索到了上限："),
      0: say("It has happened: ", "已经发生："),
    };
    return status(
      far === 0 || doomed ? "note bad answer" : "note",
      says[far] ?? say(`${several(far, "step")} to go, at least: `, `最少还差 ${far} 步：`),
      called(index, goal),
      doomed && say(". It can no longer be avoided", "。无论怎样都已无法避免"),
      say(". ", "。"),
      el("span", { class: "small soft" }, say(`From ${states} states, exactly.`, `根据 ${states} 个状态，精确得出。`)),
    );
  }
}

function chip(distance) {
  if (distance === undefined || distance === null) return null;
  const [kind, says] = {
    "-1": [" safe", say("safe for ever", "永远安全")],
    "-2": ["", say("unknown", "未知")],
    0: [" breach", say("breach", "异常")],
  }[distance] ?? ["", say(`${distance} to a breach`, `离异常 ${distance} 步`)];
  return el("span", { class: "chip" + kind }, says);
}
