// The settings and actions of the shop.
import { drawAlarm, el, replace } from "../dom.js";
import { del, formatQuery, get, mayDo, post, put, unlock } from "../server.js";
import { language, say } from "../words.js";
import { colourClass } from "./shop_words.js";

// drawForm draws a row of fields with a button, and calls does with the fields.
function drawForm(label, does, inside) {
  const onsubmit = event => {
    event.preventDefault();
    does(event.target.elements);
  };
  return el("form.row", { "aria-label": label, onsubmit }, inside);
}

// createControls creates the controls; begin sets the run. connect reopens the stream with a token; listed is called
// when the locks are known.
export function createControls(connect, listed) {
  const outcome = el("p.small", { role: "status" });
  const reason = el("div"),
    fields = el("fieldset"),
    node = el("div.controls", reason, fields, outcome);
  const burst = createBurst(act),
    parts = { locks: [], replicas: el("div"), nodes: el("div") };
  const drawnAnswers = new Map(), // the answers that the parts show
    stopTimes = new Map(); // replica → time of its last stop
  let run = null,
    stopped = false,
    again = 0,
    checks = () => {}; // checks the lock that a link names

  async function act(does, done) {
    replace(outcome);
    try {
      const answer = await does();
      if (done) replace(outcome, el("span.good", done));
      return answer;
    } catch (failure) {
      replace(outcome, el("span.bad", failure.message));
      return undefined;
    }
  }
  const number = (name, value, most, step = "1") =>
    el("input", { type: "number", name, min: 0, max: most, step, value, required: true });
  const button = (text, does, more) => el("button", { type: "button", onclick: does, ...more }, text);

  function draw() {
    const locked = !mayDo(run.can.administer);
    fields.disabled = locked;
    const open = async () => {
      if (!(await unlock())) return;
      draw();
      connect();
    };
    const why =
      run.can.administer === "no"
        ? say(
            "Only who started the server may do this: it has no admin.token. You may look and buy.",
            "只有启动服务器的人可以操作：它没有设置 admin.token。你可以看，也可以买。",
          )
        : [
            say("These need the token. You may look and buy. ", "这些操作需要令牌。你可以看，也可以买。"),
            button(say("I have the token", "我有令牌"), open),
          ];
    replace(reason, locked && el("p.note.small", why));
    const { ttl_ms: ttl, think_ms: think, nested } = run.settings,
      seconds = ms => +(ms / 1000).toFixed(3);
    const fresh = say("A new run begins.", "新的一轮开始了。"),
      full = say("The shop is full again.", "库存已补满。");
    const use = at => act(() => put("/lock", { version: at.lock.value }), fresh);
    const refill = at => act(() => put("/inventory", { stock: +at.stock.value }), full);
    const set = at => {
      const [ttl_ms, think_ms] = [at.ttl, at.think].map(({ value }) => Math.round(value * 1000));
      return act(() => put("/settings", { ttl_ms, think_ms, nested: +at.nested.value }), fresh);
    };
    // release says who has the lock, and takes it from that holder only once its reader has confirmed it.
    const release = async () => {
      const { type, holder, ttl_ms } = (await act(() => get("/lock")))?.key ?? {},
        named = holder ? { holder } : { force: true };
      if (!type) return;
      const take = async () => {
        const answer = await act(() => del("/lock" + formatQuery(named)));
        const released = say("The lock is released.", "锁已清除。");
        if (answer) replace(outcome, answer.released ? released : say("There was no lock.", "没有锁。"));
      };
      const s = Math.ceil(ttl_ms / 1000),
        left = ttl_ms < 0 ? say("never expires", "永不过期") : say(`expires in ${s} s`, `${s} 秒后过期`);
      const asks = say(
        `The holder is ${holder} (${left}). If it is still at work, the next sale gets in beside it. `,
        `持有者是 ${holder}（${left}）。如果它还在执行，下一单会与它同时进入临界区。`,
      );
      const sure = button(say("It is dead: take the lock", "它已崩溃：清除它的锁"), take, { class: "danger" });
      replace(outcome, type === "none" ? say("There was no lock.", "没有锁。") : [asks, sure]);
    };
    replace(fields, [
      el("legend.unseen", say("Shop settings", "设置商店")),
      burst.node,
      drawForm(say("Lock", "锁"), use, [
        el("label", say("Lock", "锁"), el("select", { name: "lock" }, options())),
        el("button", say("Apply", "应用")),
      ]),
      drawForm(say("Stock", "库存"), refill, [
        el("label", say("Stock", "库存"), number("stock", run.initial, 1e9)),
        el("button", say("Refill", "补库存")),
      ]),
      button(say("Release a stuck lock", "清除残留的锁"), release, { class: "danger" }),
      drawForm(say("Settings", "设置"), set, [
        el("label", say("Expiry, s", "过期时间（秒）"), number("ttl", seconds(ttl), 3600, "any")),
        el("label", say("Think time, s", "业务耗时（秒）"), number("think", seconds(think), 3600, "any")),
        el("label", say("Nested calls", "嵌套调用"), number("nested", nested, 10)),
        el("button", say("Restart with these", "按此设置重新开始")),
      ]),
      parts.replicas,
      parts.nodes,
    ]);
  }
  // options lists the steps of the evolution, and the other locks under a heading of their own.
  const options = (selected = run.lock) => {
    const locks = parts.locks.length ? parts.locks : [{ name: run.lock, title: run.title }];
    const [steps, others] = [true, false].map(step =>
      locks
        .filter(({ name }) => /^v\d+$/.test(name) === step)
        .map(({ name, title }) => el("option", { value: name, selected: name === selected }, `${name} · ${title}`)),
    );
    return [steps, others.length > 0 && el("optgroup", { label: say("more", "更多") }, others)];
  };

  // machines draws the replicas or nodes with their actions, and only when they have changed: a button that is replaced
  // while it is pressed does nothing.
  async function machines(part, title, path, name, doing) {
    const all = await get(path).catch(() => null),
      focused = document.activeElement?.ariaLabel;
    if (!all || stopped || drawnAnswers.get(part) === JSON.stringify(all)) return;
    drawnAnswers.set(part, JSON.stringify(all));
    const button = (one, word) => {
      const says = actionWords()[word],
        danger = ["kill", "empty"].includes(word),
        at = `${path}/${encodeURIComponent(one.name ?? one.node ?? one.id)}`;
      const onclick = async () => {
        if (danger) stopTimes.set(one.name, new Date().toLocaleTimeString());
        await act(() => post(at, { do: word }), `${name(one)}: ${says}`);
        clearTimeout(again);
        const look = () => machines(part, title, path, name, doing);
        again = setTimeout(look, 1500); // one that was killed is known to be dead by then
        look();
      };
      const label = { "data-do": word, "aria-label": `${says}: ${name(one)}` };
      return el("button", { type: "button", class: danger ? "danger" : null, ...label, onclick }, says);
    };
    const row = one =>
      el("li.row", [
        el("strong", { class: one.name ? "dye " + colourClass(run.replicas, one.name) : null }, name(one)),
        el("span.soft.small", state(one)),
        doing(one).map(word => button(one, word)),
      ]);
    replace(part, el("h3", title), el("ul.machines", all.map(row)));
    if (focused) [...part.querySelectorAll("button")].find(b => b.ariaLabel === focused)?.focus();
  }
  const replicas = () => {
    const doing = one =>
      ["pause", "resume", "cut", "mend", "kill"].filter(x => (one.do ?? run.can.replicas).includes(x));
    if (run.can.replicas?.length)
      machines(parts.replicas, say("Replicas", "实例"), "/replicas", ({ name }) => name, doing);
  };
  const nodes = () => {
    if (!run.can.nodes || run.lock !== "redlock") {
      drawnAnswers.delete(parts.nodes);
      replace(parts.nodes);
      return;
    }
    const name = one => say(`node ${one.name ?? one.node}`, `节点 ${one.name ?? one.node}`),
      title = say("Redis nodes of redlock", "redlock 的 Redis 节点");
    machines(parts.nodes, title, "/nodes", name, ({ state }) => [
      state === "stopped" ? "start" : "stop",
      state === "hung" ? "resume" : "hang",
      "empty",
    ]);
  };
  const state = ({ state, name }) =>
    state === "up" && stopTimes.has(name)
      ? say(`up again; killed at ${stopTimes.get(name)}`, `已恢复；${stopTimes.get(name)} 被 kill 过`)
      : (actionWords()[state] ?? state);

  // drawPrepared draws the burst that a link asks for, such as #/?lock=v0&buyers=1000. Nothing runs before its button
  // is pressed. It reports a wrong number at once, and an unknown lock once the locks are known.
  const preparedNode = el("div", { hidden: true });
  function drawPrepared(query) {
    const lock = query.get("lock"),
      buyers = query.get("buyers"),
      n = Number(buyers),
      result = el("span", { role: "status" });
    const wrong = text => {
      preparedNode.hidden = false;
      replace(preparedNode, drawAlarm(text));
    };
    const begin = () =>
      put("/lock", { version: lock }).then(
        () => burst.start(n),
        failure => replace(result, el("span.bad", failure.message)),
      );
    checks = () =>
      lock &&
      !parts.locks.some(({ name }) => name === lock) &&
      wrong(say(`There is no lock ${lock}.`, `没有“${lock}”这种锁。`));
    if (buyers !== null && !(Number.isInteger(n) && n >= 1 && n <= most))
      wrong(say(`${buyers} is no number of buyers: from 1 to ${most}.`, `买家数应为 1 到 ${most}，不能是 ${buyers}。`));
    else if (lock && n) {
      const text = say(`${n} buyers at once, ${lock}`, `${lock}：${n} 个买家同时购买`);
      preparedNode.hidden = false;
      replace(preparedNode, el("p.note.row.prepared", button(text, begin, { class: "main" }), result));
    }
    return preparedNode;
  }

  return {
    node,
    prepared: drawPrepared,
    many: () => burst.start(),
    // again repeats the burst with a lock.
    async again(lock) {
      if (lock !== run.lock) await act(() => put("/lock", { version: lock }));
      burst.start();
    },
    choices: lock => (run && !fields.disabled ? options(lock) : []),
    // recover clears an error message.
    recover: () => outcome.querySelector(".bad") && replace(outcome),
    async begin(next) {
      const drawn = JSON.stringify(run);
      run = next;
      if (drawn === JSON.stringify(run)) return;
      draw();
      replicas();
      nodes();
      if (parts.locks.length) return;
      const seat = await get("/seat", { lang: language() }).catch(() => null);
      parts.locks = seat?.locks ?? [];
      if (stopped) return;
      replace(fields.querySelector("select"), options());
      if (parts.locks.length) checks();
      listed();
    },
    stop() {
      stopped = true;
      clearTimeout(again);
      burst.stop();
    },
  };
}

const most = 2000; // buyers, see POST /bursts

const actionWords = () => ({
  up: say("up", "正常"),
  paused: say("paused", "已暂停"),
  hung: say("hangs", "没有响应"),
  stopped: say("stopped", "已停止"),
  starting: say("starting", "启动中"),
  dead: say("dead", "已崩溃"),
  pause: say("Pause", "暂停"),
  resume: say("Resume", "恢复"),
  mend: say("Reconnect", "重新连上"),
  kill: say("Kill", "kill"),
  start: say("Start", "启动"),
  stop: say("Stop", "停止"),
  hang: say("Hang", "卡住"),
  empty: say("Empty", "清空"),
  cut: say("Cut off from Redis", "与 Redis 断开"),
});

// createBurst creates the form that lets many buyers buy at once.
function createBurst(act) {
  const bar = el("progress", { "aria-label": say("Answered", "已响应"), hidden: true });
  const cancel = el("button", { type: "button", hidden: true, onclick: () => act(() => del("/bursts/" + id)) }, [
    say("Cancel", "取消"),
  ]);
  const n = el("input", { type: "number", min: 1, value: 200, required: true, oninput: () => checkNumber(true) });
  const wrong = el("p.small.bad", { role: "alert" });
  const start = el("button", say("Buy at once", "同时购买"));
  const result = el("p.small", { role: "status" });
  const label = el("label", n, say("buyers", "个买家"));
  const row = drawForm(say("Many buyers", "很多买家"), go, [label, start, cancel, bar]);
  let id = null,
    timer = 0;

  // checkNumber reports whether the number of buyers is valid. It shows an error only when the form is submitted, and
  // clears it as the reader types.
  function checkNumber(typing) {
    const fine = +n.value <= most;
    n.setAttribute("aria-invalid", String(!fine));
    if (fine || !typing)
      replace(wrong, [
        !fine &&
          say(`No more than ${most} buyers at once: each takes a connection.`, `最多 ${most} 个买家：每个占一个连接。`),
      ]);
    return fine;
  }
  async function go() {
    if (!checkNumber(false)) return n.focus();
    const begun = await act(() => post("/bursts", { n: +n.value, c: +n.value }));
    if (!begun) return;
    id = begun.id;
    replace(result);
    setRunning(true);
    look();
  }
  function setRunning(way) {
    bar.hidden = cancel.hidden = !way;
    start.disabled = way;
  }
  async function look() {
    const now = await get("/bursts/" + id).catch(() => ({ done: true }));
    bar.max = now.requests || 1;
    bar.value = now.answered || 0;
    if (!now.done) {
      timer = setTimeout(look, 250);
      return;
    }
    setRunning(false);
    const r = now.result;
    if (!r) return;
    const failed = r.failed + r.unknown,
      seconds = r.seconds.toFixed(1);
    replace(result, [
      say(
        `${r.requests} buyers: ${r.ok} sold, ${r.sold_out} sold out, ${failed} failed; ${seconds} s`,
        `${r.requests} 个买家：卖出 ${r.ok}，售罄 ${r.sold_out}，失败 ${failed}；${seconds} 秒`,
      ),
    ]);
  }
  return {
    node: el("div", row, wrong, result),
    start(buyers = n.value) {
      if (start.disabled) return;
      n.value = buyers;
      row.requestSubmit(start);
    },
    stop: () => clearTimeout(timer),
  };
}
