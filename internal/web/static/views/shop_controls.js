// What a teacher does is a button.
import { el, replace } from "../dom.js";
import { askToken, del, get, post, put } from "../server.js";
import { language, say } from "../words.js";
import { color } from "./shop_words.js";

// controls makes the buttons: begin with a run. connect is called when the stream is to be asked for again, with a
// token.
export function controls(connect) {
  const outcome = el("p.small", { role: "status" });
  const reason = el("div"),
    fields = el("fieldset"),
    node = el("div.controls", reason, fields, outcome);
  const burst = many(act),
    parts = { locks: [], replicas: el("div"), nodes: el("div") };
  const drawn = new Map(), // the answers that the parts show
    downs = new Map(); // when a replica was last stopped or killed
  let run = null,
    stopped = false,
    again = 0;

  // act does something, and says what became of it.
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
  const number = (name, is, most, step = "1") =>
    el("input", { type: "number", name, min: 0, max: most, step, value: is, required: true });
  const line = (label, does, ...inside) =>
    el(
      "form.row",
      {
        "aria-label": label,
        onsubmit: event => {
          event.preventDefault();
          does(event.target.elements);
        },
      },
      inside,
    );
  const button = (text, does, more) => el("button", { type: "button", onclick: does, ...more }, text);

  function draw() {
    const locked =
      run.can.administer === "no" || (run.can.administer === "token" && !sessionStorage.getItem("lockstep.token"));
    fields.disabled = locked;
    replace(
      reason,
      locked &&
        el(
          "p.note.small",
          run.can.administer === "no"
            ? say(
                "Only who started the server may do this: it has no admin.token. You may look and buy.",
                "只有启动服务器的人可以操作：它没有设置 admin.token。你可以看，也可以买。",
              )
            : [
                say(
                  "These need the admin.token. You may look and buy. ",
                  "这些操作需要 admin.token。你可以看，也可以买。",
                ),
                button(say("I have the token", "我有令牌"), async () => {
                  if (await askToken()) {
                    draw();
                    connect();
                  }
                }),
              ],
        ),
    );
    const { ttl_ms: ttl, think_ms: think, nested } = run.settings,
      seconds = ms => +(ms / 1000).toFixed(3);
    replace(
      fields,
      el("legend.unseen", say("Set the shop up", "设置商店")),
      burst.node,
      line(
        say("Lock", "锁"),
        at => act(() => put("/lock", { version: at.lock.value }), say("A new run begins.", "新的一轮开始了。")),
        el("label", say("Lock", "锁"), el("select", { name: "lock" }, options())),
        el("button", say("Use it", "使用")),
      ),
      line(
        say("Stock", "库存"),
        at => act(() => put("/inventory", { stock: +at.stock.value }), say("The shop is full again.", "库存已补满。")),
        el("label", say("Stock", "库存"), number("stock", run.initial, 1e9)),
        el("button", say("Refill", "补货")),
      ),
      button(
        say("Release a stuck lock", "释放卡住的锁"),
        () =>
          act(async () => {
            const { released } = await del("/lock");
            replace(
              outcome,
              released ? say("The lock is released.", "锁已释放。") : say("There was no lock.", "没有锁。"),
            );
          }),
        { class: "danger" },
      ),
      line(
        say("Settings", "设置"),
        at =>
          act(
            () =>
              put("/settings", {
                ttl_ms: Math.round(at.ttl.value * 1000),
                think_ms: Math.round(at.think.value * 1000),
                nested: +at.nested.value,
              }),
            say("A new run begins.", "新的一轮开始了。"),
          ),
        el("label", say("Expiry, s", "过期，秒"), number("ttl", seconds(ttl), 3600, "any")),
        el("label", say("Think time, s", "思考，秒"), number("think", seconds(think), 3600, "any")),
        el("label", say("Nested calls", "嵌套调用"), number("nested", nested, 10)),
        el("button", say("New run with these", "用这些设置开始新的一轮")),
      ),
      parts.replicas,
      parts.nodes,
    );
  }
  const options = () =>
    (parts.locks.length ? parts.locks : [{ name: run.lock, title: run.title }]).map(lock =>
      el("option", { value: lock.name, selected: lock.name === run.lock }, `${lock.name} · ${lock.title}`),
    );

  // machines shows the replicas, or the nodes, each with what can be done to it. It draws them anew only when they have
  // changed: a button that is replaced while it is pressed does nothing.
  async function machines(part, title, path, name, state, doing) {
    const all = await get(path).catch(() => null),
      focused = document.activeElement?.ariaLabel;
    if (!all || stopped || drawn.get(part) === JSON.stringify(all)) return;
    drawn.set(part, JSON.stringify(all));
    replace(
      part,
      el("h3", title),
      el(
        "ul.machines",
        all.map(one =>
          el(
            "li.row",
            el("strong", { class: one.name ? "dye " + color(run.replicas, one.name) : null }, name(one)),
            el("span.soft.small", state(one)),
            doing(one).map(([word, says, danger]) =>
              el(
                "button",
                {
                  type: "button",
                  class: danger ? "danger" : null,
                  "data-do": word,
                  "aria-label": `${says}: ${name(one)}`,
                  onclick: async () => {
                    if (danger) downs.set(one.name, new Date().toLocaleTimeString());
                    await act(
                      () => post(`${path}/${encodeURIComponent(one.name ?? one.node ?? one.id)}`, { do: word }),
                      `${name(one)}: ${says}`,
                    );
                    clearTimeout(again);
                    // by then its state is known
                    again = setTimeout(() => machines(part, title, path, name, state, doing), 1500);
                  },
                },
                says,
              ),
            ),
          ),
        ),
      ),
    );
    if (focused) [...part.querySelectorAll("button")].find(b => b.ariaLabel === focused)?.focus();
  }
  const replicas = () =>
    run.can.replicas?.length &&
    machines(
      parts.replicas,
      say("Replicas", "副本"),
      "/replicas",
      one => one.name,
      one =>
        one.state === "up" && downs.has(one.name)
          ? say(`up again; killed at ${downs.get(one.name)}`, `已恢复；${downs.get(one.name)} 被杀死过`)
          : (states()[one.state] ?? one.state),
      one =>
        [
          ["pause", say("Pause", "暂停")],
          ["resume", say("Resume", "恢复")],
          ["cut", say("Cut off from Redis", "与 Redis 断开")],
          ["mend", say("Reconnect", "重新连上")],
          ["kill", say("Kill", "杀死"), true],
        ].filter(([word]) => (one.do ?? run.can.replicas).includes(word)),
    );
  const nodes = () => {
    if (!run.can.nodes || run.lock !== "redlock") {
      drawn.delete(parts.nodes);
      replace(parts.nodes);
      return;
    }
    machines(
      parts.nodes,
      say("Redis nodes of redlock", "redlock 的 Redis 节点"),
      "/nodes",
      one => say(`node ${one.name ?? one.node}`, `节点 ${one.name ?? one.node}`),
      one => states()[one.state] ?? one.state,
      one => [
        one.state === "stopped" ? ["start", say("Start", "启动")] : ["stop", say("Stop", "停止")],
        one.state === "hung" ? ["resume", say("Resume", "恢复")] : ["hang", say("Hang", "挂起")],
        ["empty", say("Empty", "清空"), true],
      ],
    );
  };
  const states = () => ({
    up: say("up", "正常"),
    paused: say("paused", "已暂停"),
    cut: say("cut off", "已断开"),
    hung: say("hangs", "没有响应"),
    stopped: say("stopped", "已停止"),
    starting: say("starting", "启动中"),
    dead: say("dead", "已崩溃"),
  });

  // prepared is the burst that a link asks for, such as #/?lock=v0&buyers=1000. Nothing happens before its button is
  // pressed.
  function prepared(query) {
    const lock = query.get("lock"),
      n = Math.min(+query.get("buyers") || 0, most);
    if (!lock || !n) return null;
    const says = el("span", { role: "status" });
    const begin = async () => {
      try {
        await put("/lock", { version: lock });
        replace(says);
        burst.start(n);
      } catch (failure) {
        replace(says, el("span.bad", failure.message));
      }
    };
    return el(
      "p.note.row.prepared",
      button(say(`${n} buyers at once, ${lock}`, `${lock}：${n} 个买家同时购买`), begin, { class: "main" }),
      says,
    );
  }

  return {
    node,
    prepared,
    many: () => burst.start(),
    // again lets the buyers come again, with a lock.
    async again(lock) {
      if (lock !== run.lock) await act(() => put("/lock", { version: lock }));
      burst.start();
    },
    choices: () => (run && !fields.disabled ? options() : []),
    async begin(next) {
      const again = run && JSON.stringify(run) === JSON.stringify(next);
      run = next;
      if (again) return;
      draw();
      replicas();
      nodes();
      if (parts.locks.length) return;
      const untitled = () => get("/lock").then(lock => ({ locks: lock.versions.map(name => ({ name, title: "" })) }));
      parts.locks = (
        await get("/seat", { lang: language() })
          .catch(untitled)
          .catch(() => ({ locks: [] }))
      ).locks;
      if (!stopped) replace(fields.querySelector("select"), options());
    },
    stop() {
      stopped = true;
      clearTimeout(again);
      burst.stop();
    },
  };
}

const most = 2000; // buyers, see POST /bursts

// many lets N buyers buy at once.
function many(act) {
  const bar = el("progress", { "aria-label": say("Answered", "已响应"), hidden: true });
  const cancel = el(
    "button",
    { type: "button", hidden: true, onclick: () => act(() => del("/bursts/" + id)) },
    say("Cancel", "取消"),
  );
  const n = el("input", { type: "number", min: 1, value: 200, required: true, oninput: () => fits(true) });
  const wrong = el("p.small.bad", { role: "alert" });
  const start = el("button", say("Buy at once", "同时购买"));
  const result = el("p.small", { role: "status" });
  const form = el(
    "form.row",
    {
      "aria-label": say("Many buyers", "很多买家"),
      onsubmit: event => {
        event.preventDefault();
        go();
      },
    },
    el("label", n, say("buyers", "个买家")),
    start,
    cancel,
    bar,
  );
  let id = null,
    timer = 0;

  // fits says at the field what is wrong with it; while it is being typed, only that nothing is any more.
  function fits(typing) {
    const fine = +n.value <= most;
    n.setAttribute("aria-invalid", String(!fine));
    if (fine || !typing)
      replace(
        wrong,
        !fine &&
          say(
            `No more than ${most} buyers at once: each takes a connection.`,
            `最多 ${most} 个买家同时购买：每个买家占一个连接。`,
          ),
      );
    return fine;
  }
  async function go() {
    if (!fits(false)) return n.focus();
    const begun = await act(() => post("/bursts", { n: +n.value, c: +n.value }));
    if (!begun) return;
    id = begun.id;
    replace(result);
    under(true);
    look();
  }
  function under(way) {
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
    under(false);
    const r = now.result;
    if (!r) return;
    const failed = r.failed + r.unknown,
      seconds = r.seconds.toFixed(1);
    replace(
      result,
      say(
        `${r.requests} buyers: ${r.ok} sold, ${r.sold_out} sold out, ${failed} failed; ${seconds} s`,
        `${r.requests} 个买家：卖出 ${r.ok}，售完 ${r.sold_out}，失败 ${failed}；${seconds} 秒`,
      ),
    );
  }
  return {
    node: el("div", form, wrong, result),
    start(buyers = n.value) {
      if (start.disabled) return;
      n.value = buyers;
      form.requestSubmit(start);
    },
    stop: () => clearTimeout(timer),
  };
}
