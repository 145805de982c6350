// The search of every schedule: its form, progress and result. The shortest schedule goes into the seat’s diagram.
import { copyText, el, replace } from "../dom.js";
import { route as read } from "../route.js";
import { retryWhileAway, streamAnswer } from "../server.js";
import { language, say, several, typed } from "../words.js";
import { explainTerms } from "./levels.js";
import { describeScenario, drawOption, drawScenarioForm, drawSelect, drawStatus } from "./seat_parts.js";

let latest = { about: "", answer: null }; // latest result, for readers who come back

const drawButton = (focus, kind, text, act) => el("button", { "data-focus": focus, class: kind, onclick: act }, text);

export class Search {
  running = null; // controller of the running search
  about = ""; // query that the result answers
  more = false; // the scenario's fields are shown
  result = el("section.result");

  constructor(seat) {
    this.seat = seat;
  }

  // query returns what to search for.
  get query() {
    const { lock, in: scenario, anomaly, search } = this.seat.place;
    const named = this.seat.lock?.promises.includes(anomaly) || anomaly === "starved";
    const [each, table] = [search === "each" && !named, search === "table"];
    return { lock, in: scenario, anomaly: named ? anomaly : "", each, table };
  }

  stop() {
    this.running?.abort();
    this.running = null;
  }

  // drawPanel draws the form and the result.
  drawPanel() {
    const { seat } = this,
      { anomaly, each, table } = this.query,
      wanted = seat.place.anomaly;
    const about = JSON.stringify([this.query, language()]);
    if (this.about !== about) {
      this.stop();
      this.about = about;
      if (latest.about === about) this.drawFound(latest.answer);
      else replace(this.result);
    }
    const look = value => {
      const one = value === "each" ? { search: "each", anomaly: "" } : { search: "1", anomaly: value };
      seat.addressBar.go(seat.address(one));
    };
    const titles = new Map(seat.index.anomalies.map(({ name, title }) => [name, title]));
    const names = [...new Set([...(seat.lock?.promises ?? []), "starved"])];
    return [
      el("h2", say("Search every schedule", "搜索所有时序")),
      wanted &&
        !titles.has(wanted) &&
        el("p.note.warn", say(`There is no anomaly “${wanted}”.`, `没有“${wanted}”这种异常。`)),
      el("p.small", el("b", say("Scenario", "场景")), " · ", table ? describeTable() : describeScenario(seat)),
      el("p.row", [
        say("Look for", "寻找"),
        drawSelect("look-for", say("Look for", "寻找"), look, [
          drawOption("", say("any anomaly", "任何一种异常"), !anomaly && !each),
          drawOption("each", say("each anomaly", "每一种异常"), each),
          names.map(name => drawOption(name, titles.get(name), name === anomaly)),
        ]),
        drawButton("explore", "main", say("Search", "搜索"), () => this.explore()),
      ]),
      this.result,
      el(
        "details",
        { open: this.more, ontoggle: event => (this.more = event.target.open) },
        el("summary", { "data-focus": "fields" }, say("More: change the scenario", "更多：修改场景")),
        drawScenarioForm(seat),
      ),
    ];
  }

  // explore searches every schedule, on the server or in the tab, until one is found or all are explored.
  async explore(why = "") {
    this.stop();
    const running = new AbortController(),
      { signal } = running,
      { about } = this;
    this.running = running;
    let far = say("The code is about to start …", "即将开始……");
    const status = drawStatus("", far);
    const stop = () => {
      this.stop();
      replace(this.result, drawStatus("note", say("Stopped. Nothing is known: ", "已停止，结果未知："), far));
    };
    const name = { "aria-label": say("searching", "正在搜索") };
    replace(this.result, el("progress", name), status, drawButton("stop", null, say("Stop", "停止"), stop));
    const progress = ({ schedules, states, depth, waiting }) => {
      if (schedules) far = describeCounts(schedules, states, depth);
      replace(status, waiting ? say("Another search comes first.", "前面还有一次搜索。") : far);
    };
    const search = () => streamAnswer("/seat/explore", { ...this.query, why }, { progress }, signal);
    const answer = await retryWhileAway(search, signal, lost => replace(status, lost)).catch(failure => failure);
    if (signal.aborted || read(this.seat.addressBar.at()).path[0] !== "schedule") return; // the reader has left
    this.running = null;
    if (!answer.document) return void replace(this.result, el("p.note.bad", { role: "alert" }, answer.message));
    latest = { about, answer };
    this.drawFound(answer);
    this.show(0);
  }

  // show opens a schedule that was found, at its end.
  show(i) {
    const link = latest.answer.links[i];
    const { in: scenario, do: schedule } = Object.fromEntries(link ? read(link).query : []);
    if (link) this.seat.change({ do: schedule, ...(this.query.table && { in: scenario, search: "1" }) });
  }

  // drawFound shows the verdict, the schedules that break the lock, and what was tested.
  drawFound({ document: report, says, seen, tested, shown }) {
    const kind = { broken: "bad", holds: "good", unknown: "warn" }[report.verdict];
    const rate = report.seconds.toFixed(report.seconds < 10 ? 1 : 0);
    const whys = shown.filter(({ why }) => why);
    const found = ({ title, trace }, i) =>
      drawButton("found" + i, null, `${title} · ${several(trace.steps.length, "step", "步")}`, () => this.show(i));
    const explained = !shown.length || whys.length || this.query.anomaly === "starved";
    replace(this.result, [
      drawStatus("note answer " + kind, el("strong", explainTerms(this.seat.index, says))),
      el("p.row", [
        shown.map(found),
        !explained && drawButton("why", null, say("Why?", "为什么？"), () => this.explore("true")),
        drawButton("copy", "quiet", say("Copy command", "复制命令"), event => this.copy(event.currentTarget)),
      ]),
      whys.map(({ title, why }) => el("div.note", whys.length > 1 && el("b", title), this.drawLines(why))),
      el("details", { open: report.verdict !== "broken" }, [
        el("summary", say("What was put to the test", "检验了什么")),
        el("ul", [
          el("li", seen, say(` In ${rate} s.`, `用时 ${rate} 秒。`)),
          tested.map(line => el("li", line)),
          report.cut.length > 0 && el("li", say("Left out: ", "没有包括："), report.cut.join(say("; ", "；"))),
        ]),
      ]),
    ]);
  }

  drawLines(text) {
    return text.split("\n").map(line => el("p", explainTerms(this.seat.index, line)));
  }

  copy(button) {
    const { lock, in: scenario, anomaly, each, table } = this.query;
    if (table) return copyText(button, typed("explore --all"));
    const flags = [scenario, anomaly && "--anomaly " + anomaly, each && "--each"];
    return copyText(button, typed(["explore", lock, ...flags].filter(Boolean).join(" ")));
  }
}

// describeTable names the scenarios that the table of locks tries.
const describeTable = () =>
  say(
    "each of the table: no fault, nested calls, one attempt each, long work, clock skew, and each fault once",
    "总表的每一个：没有故障、嵌套调用、每单只试一次、业务耗时长、时钟偏差，以及每种故障各一次",
  );

const describeCounts = (schedules, states, depth) =>
  say(
    `${several(schedules, "schedule")}, ${several(states, "state")}, ${several(depth, "step")} deep so far`,
    `到目前为止 ${schedules} 种时序，${states} 个状态，深度 ${depth}`,
  );
