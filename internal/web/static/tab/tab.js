// The page in a tab, from a host that has files alone. What a server would answer, programs in workers do: the shop and
// the scheduler's seat, the same Go code. What never changes is a file.
import { el, replace } from "../dom.js";
import { answerBy, Failure } from "../server.js";
import { say } from "../words.js";

const home = new URL("../../", import.meta.url);
const version = document.documentElement.dataset.tab; // of the programs

export const note = el("p", { class: "tab small" });
const status = el("span", { role: "status" });

export function draw() {
  replace(
    note,
    say(
      "In this tab: real lock code, embedded Redis, one thread. Times mean nothing, orders do. ",
      "在这个标签页里：真实的锁代码，内嵌 Redis，单线程。时间没有意义，先后次序才有。",
    ),
    el(
      "label",
      null,
      say("Replicas of the shop: ", "商店副本数："),
      el(
        "select",
        { id: "shops", onchange: ({ target }) => choose(+target.value) },
        [1, 3].map(n => el("option", { value: n, selected: n === shops.length }, n)),
      ),
    ),
    " ",
    status,
  );
}

const tell = (english, chinese) => replace(status, say(english, chinese));

// Program is a Go program in a worker, which is started when it is first asked.
class Program {
  /** @type {Promise<Worker>} */
  worker = null; // once it is ready
  /** @type {Worker} */
  running = null; // until it is ended
  asked = new Set(); // what has not been answered to its end

  dead = 0; // a timer: it was killed

  constructor(code, name, { search = false, args = [] } = {}) {
    this.code = code;
    this.name = name;
    this.search = search; // it hears nothing before its end
    this.args = args;
  }

  start() {
    this.worker ??= compiled(this.code, this.name)
      .then(module => this.run(module))
      .catch(failure => {
        this.worker = null;
        throw failure;
      });
    return this.worker;
  }

  run(module) {
    return new Promise(ready => {
      const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
      const fell = () => worker === this.running && this.fell();
      this.running = worker;
      worker.onmessage = ({ data, ports }) => {
        if (data === "ready") ready(worker);
        else if (data.dial) connect(data, ports[0]);
        else fell();
      };
      worker.onerror = fell;
      worker.postMessage({ module, args: this.args });
    });
  }

  // end ends the worker. Whoever asks next starts another.
  end() {
    if (!this.running) return;
    this.running.terminate();
    this.running = this.worker = null;
  }

  // kill ends the worker as kill -9 ends a process. Like a cluster's, it is started again after a while.
  kill() {
    this.end();
    clearTimeout(this.dead);
    this.dead = setTimeout(() => {
      this.dead = 0;
      if (shops.includes(this)) this.start().catch(() => {});
    }, restart);
    this.leave(say("The replica was killed.", "副本被杀死了。"));
  }

  // leave lets whoever asked something go without an answer.
  leave(says) {
    for (const one of [...this.asked]) one.fail(new Failure(0, "failed", says));
  }

  // fell is called when the program has ended by itself, by a bug.
  fell() {
    this.end();
    const says = say(
      `The program of ${this.name()} failed in this tab. It begins anew; what it held is gone.`,
      `这个标签页里的${this.name()}程序出错了，会重新启动；它保存的内容已丢失。`,
    );
    replace(status, el("b", { class: "bad" }, says));
    this.leave(says);
  }

  // ask is fetch, with this program as the server.
  ask(path, request) {
    const { method = "GET", body, signal } = request;
    return new Promise((answer, reject) => {
      let stream = null,
        port = null;
      const leave = () => {
        this.asked.delete(one);
        signal?.removeEventListener("abort", abort);
        port?.close();
      };
      const fail = failure => {
        leave();
        stream ? stream.error(failure) : reject(failure);
      };
      const abort = () => {
        if (!this.asked.has(one)) return;
        port?.postMessage("abort");
        fail(new DOMException("aborted", "AbortError"));
        if (!this.search || !this.running) return;
        this.end();
        for (const other of this.asked) other.send();
      };
      const take = ({ data }) => {
        if (data === null) {
          leave();
          stream.close();
        } else if (data === "aborted")
          fail(new Failure(0, "aborted", say("The answer was broken off.", "响应中断了。")));
        else if (data instanceof Uint8Array) stream.enqueue(data);
        else {
          const start = begun => {
            stream = begun;
          };
          answer(new Response(new ReadableStream({ start, cancel: abort }), data));
        }
      };
      const send = async () => {
        try {
          const worker = await this.start();
          if (!this.asked.has(one)) return;
          const channel = new MessageChannel();
          port = channel.port1;
          port.onmessage = take;
          worker.postMessage({ method, path, body }, [channel.port2]);
        } catch (failure) {
          fail(failure);
        }
      };
      const one = { send, fail };
      this.asked.add(one);
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      else send();
    });
  }
}

const restart = 1000; // until a killed replica is started again
const shopName = () => say("the shop", "商店"),
  seatName = () => say("the scheduler’s seat", "调度席");
const shopOf = name => new Program("shop", shopName, { args: [name] });
const seat = new Program("seat", seatName),
  search = new Program("seat", seatName, { search: true }), // a click does not wait for a hint
  redis = shopOf("redis"),
  alone = [shopOf("alone")],
  three = ["r1", "r2", "r3"].map(shopOf);
let shops = alone,
  turn = 0; // of the replica that sells next

// connect leads a connection from one worker to the one that has the address: a replica, or what they share.
async function connect(dial, port) {
  const nth = Number(dial.dial.split(":")[1]) - 8081,
    to = nth >= 0 ? three[nth] : redis;
  if (!to || to.dead || !shops.includes(three[0])) return port.postMessage(null);
  (await to.start()).postMessage(dial, [port]);
}

// choose ends the shop, and begins it anew with so many replicas.
function choose(n) {
  const left = shops;
  shops = n === 3 ? three : alone;
  for (const one of [...left, redis]) {
    one.end();
    one.leave(say("The shop begins anew.", "商店重新开始。"));
  }
}

const replicas = () => shops.map(one => ({ name: one.args[0], state: one.dead ? "dead" : "up", do: ["kill"] }));

const modules = new Map(); // a program's name → its code, compiled once for all workers

function compiled(code, name) {
  if (!modules.has(code)) {
    const module = load(code, name).catch(failure => {
      modules.delete(code);
      throw failure;
    });
    modules.set(code, module);
  }
  return modules.get(code);
}

// load fetches a program, which is compressed whatever the host does.
async function load(code, name) {
  const packed = await kept(new URL(`${code}.packed?v=${version}`, home));
  const all = Number(packed.headers.get("Content-Length")),
    mb = bytes => (bytes / 1e6).toFixed(1);
  let bytes = 0;
  const count = new TransformStream({
    transform(piece, out) {
      bytes += piece.length;
      tell(
        `Loading ${name()}: ${mb(bytes)}${all ? ` of ${mb(all)}` : ""} MB`,
        `正在加载${name()}：${mb(bytes)}${all ? ` / ${mb(all)}` : ""} MB`,
      );
      out.enqueue(piece);
    },
  });
  const program = packed.body.pipeThrough(count).pipeThrough(new DecompressionStream("gzip"));
  const headers = { "Content-Type": "application/wasm" };
  const module = await WebAssembly.compileStreaming(new Response(program, { headers }));
  replace(status);
  return module;
}

// kept fetches a file that is kept for when there is no network, and those of other versions no more. A browser keeps
// files only for a page by https, or on this machine.
async function kept(url) {
  const files = await globalThis.caches?.open("lockstep").catch(() => null);
  const old = await files?.match(url);
  if (old) return old;
  const answer = await fetch(url);
  if (!answer.ok) throw new Failure(answer.status, "", `${url.pathname}: ${answer.status}`);
  if (files) {
    for (const other of await files.keys()) if (new URL(other.url).pathname === url.pathname) await files.delete(other);
    files.put(url, answer.clone()).catch(() => {}); // there is no room for it
  }
  return answer;
}

const still = /^\/(seat|seat\/table|seat\/steps(\/[^/]+)?|course(\/[^/]+)?)$/;

answerBy((path, request) => {
  const { pathname, searchParams } = new URL(path, "http://tab");
  if (still.test(pathname)) {
    const end = pathname === "/seat/table" ? ".txt" : ".json";
    return fetch(new URL("still/" + (searchParams.get("lang") ?? "en") + pathname + end, home), request);
  }
  if (pathname.startsWith("/room")) return Promise.resolve(Response.json({ open: false }));
  if (/^\/seat\/(hint|oracle|explore)$/.test(pathname)) return search.ask(path, request);
  if (pathname.startsWith("/seat/")) return seat.ask(path, request);
  if (pathname === "/replicas") return Promise.resolve(Response.json(replicas()));
  const named = shops.find(one => pathname === "/replicas/" + one.args[0]);
  if (named) return Promise.resolve(Response.json(named.kill() ?? {}));
  const live = shops.filter(one => !one.dead);
  if (!live.length) return Promise.reject(new Failure(0, "no_replica", say("No replica lives.", "没有活着的副本。")));
  return live[pathname === "/inventory/sale" ? turn++ % live.length : 0].ask(path, request);
});

// It works without, while there is a network.
navigator.serviceWorker?.register(new URL("keep.js", home)).catch(() => {});
