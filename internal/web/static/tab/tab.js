// The page in a tab, from a host that only serves files. Go programs in workers answer for the server: the shop and the
// scheduler’s seat. Answers that never change are files.
import { el, replace } from "../dom.js";
import { answerBy, Failure } from "../server.js";
import { say } from "../words.js";

const home = new URL("../../", import.meta.url);
const version = document.documentElement.dataset.tab; // version of the programs

export const note = el("p.tab.small");
const status = el("span", { role: "status" });

export function draw() {
  replace(note, [
    say(
      "In this tab: real lock code, embedded Redis, one thread. Times mean nothing, orders do. ",
      "在这个标签页里：真实的锁代码，内嵌 Redis，单线程。耗时不作数，只看先后。",
    ),
    el("label", [
      say("Replicas of the shop: ", "商店实例数："),
      el("select", { id: "shops", onchange: ({ target }) => choose(+target.value) }, [
        [1, 3].map(n => el("option", { value: n, selected: n === shops.length }, n)),
      ]),
    ]),
    " ",
    status,
  ]);
}

// Program is a Go program in a worker. It starts with its first request.
class Program {
  /** @type {Promise<Worker>} */
  worker = null; // resolves when the program is ready
  /** @type {Worker} */
  running = null; // null before the start and after the end
  requests = new Set(); // open requests and streams

  idleTimer = 0; // a timer: nothing is asked of it
  restartTimer = 0; // a timer: it was killed
  isCut = false; // off from Redis

  constructor(code, name, { search = false, args = [], reach = _port => null } = {}) {
    this.code = code;
    this.name = name;
    this.search = search; // computes without reading messages, so an abort ends it
    this.args = args;
    this.reach = reach; // returns the program that listens at a port
  }

  start() {
    this.worker ??= compile(this.code, this.name)
      .then(module => this.run(module).finally(() => void keepAll()))
      .catch(failure => {
        this.worker = null;
        throw failure;
      });
    return this.worker;
  }

  run(module) {
    return new Promise((ready, failed) => {
      const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
      const fail = () => {
        failed(new Failure(0, "failed", this.failure()));
        if (worker === this.running) this.handleFailure();
      };
      this.running = worker;
      worker.onmessage = ({ data, ports }) => {
        if (data === "ready") ready(worker);
        else if (!this.handleMessage(data, ports[0])) fail();
      };
      worker.onerror = fail;
      worker.postMessage({ module, args: this.args });
    });
  }

  // handleMessage handles a message that answers no request, and reports whether it is known.
  handleMessage(message, port) {
    if (message.dial) this.connect(message, port);
    return !!message.dial;
  }

  // connect connects the program to the one that listens at the address.
  async connect(dial, port) {
    const to = this.reach(Number(dial.dial.split(":")[1]));
    const worker = await (to && !to.restartTimer && to.start().catch(() => null)); // null: the start failed
    worker ? worker.postMessage(dial, [port]) : port.postMessage(null);
  }

  end() {
    this.isCut = false;
    clearTimeout(this.idleTimer);
    if (!this.running) return;
    this.running.terminate();
    this.running = this.worker = null;
  }

  // kill terminates the worker, as kill -9 ends a process, and starts it again after restartDelay.
  kill() {
    this.end();
    clearTimeout(this.restartTimer);
    this.restartTimer = setTimeout(() => {
      this.restartTimer = 0;
      if (shops.includes(this)) this.start().catch(() => {});
    }, restartDelay);
    this.rejectRequests(say("The replica was killed.", "实例已被 kill。"));
  }

  rejectRequests(says, { watchers = false } = {}) {
    for (const one of [...this.requests])
      if (!watchers || one.path.startsWith("/live")) one.drop(new Failure(0, "failed", says));
  }

  // handleFailure ends the program after a bug in it.
  handleFailure() {
    this.end();
    const says = this.failure();
    replace(status, el("b.bad", says));
    this.rejectRequests(says);
  }

  failure() {
    return say(
      `The program of ${this.name()} failed in this tab. It begins anew; what it held is gone.`,
      `这个标签页里的${this.name()}程序出错了，会重新启动；它保存的内容已丢失。`,
    );
  }

  // ask sends a request to this program, as fetch does to a server.
  ask(path, request) {
    const { method = "GET", body, signal } = request;
    return new Promise((answer, reject) => {
      let stream = null,
        port = null;
      const leave = () => {
        if (this.requests.delete(one) && this.search && !this.requests.size)
          this.idleTimer = setTimeout(() => this.end(), patience);
        signal?.removeEventListener("abort", abort);
        port?.close();
      };
      const fail = failure => {
        leave();
        stream ? stream.error(failure) : reject(failure);
      };
      const drop = failure => {
        port?.postMessage("abort");
        fail(failure);
      };
      const abort = () => {
        if (!this.requests.has(one)) return;
        drop(new DOMException("aborted", "AbortError"));
        if (!this.search || !this.running) return;
        this.end();
        for (const other of this.requests) other.send();
      };
      const take = ({ data }) => {
        if (!this.requests.has(one)) return; // a late message
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
          if (!this.requests.has(one)) return;
          const channel = new MessageChannel();
          port = channel.port1;
          port.onmessage = take;
          worker.postMessage({ method, path, body }, [channel.port2]);
        } catch (failure) {
          fail(failure);
        }
      };
      const one = { path, send, drop };
      clearTimeout(this.idleTimer);
      this.requests.add(one);
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      else send();
    });
  }
}

// Stage is a program with workers of its own: it plays a lab with its replicas. It ends with its answer.
class Stage extends Program {
  replicas = new Map(); // programs by name

  handleMessage(message, port) {
    const { start: name, args, kill } = message;
    if (name) {
      const one = new Program(this.code, this.name, { args, reach: () => this });
      this.replicas.set(name, one);
      one.start().then(
        () => port.postMessage(true),
        () => port.postMessage(false),
      );
    } else if (kill) {
      this.replicas.get(kill)?.end();
      port.postMessage(true);
    }
    return super.handleMessage(message, port) || !!name || !!kill;
  }

  end() {
    for (const one of this.replicas.values()) one.end();
    this.replicas.clear();
    super.end();
  }

  async ask(path, request) {
    const answer = await super.ask(path, request);
    const over = new TransformStream({ flush: () => this.end() });
    return new Response(answer.body.pipeThrough(over), answer);
  }
}

const restartDelay = 1000; // pause before a killed replica starts again, in ms
const patience = 30_000; // idle time after which a search ends, in ms: its memory has grown
const shopName = () => say("the shop", "商店"),
  seatName = () => say("the scheduler’s seat", "调度席");
const shopOf = name => new Program("shop", shopName, { args: [name], reach: reachReplica });
const seat = new Program("seat", seatName),
  search = new Program("seat", seatName, { search: true }), // a click does not wait for a hint
  redis = shopOf("redis"),
  alone = [shopOf("alone")],
  three = ["r1", "r2", "r3"].map(shopOf),
  lab = new Stage("shop", () => say("the lab", "实验"), {
    search: true,
    args: ["lab"],
    reach: port => lab.replicas.get("r" + (port - 8080)),
  });
let shops = alone,
  nextSeller = 0; // index of the replica that sells next

// reachReplica returns the program that three replicas reach at a port: one another, or Redis.
function reachReplica(port) {
  return shops === three && (port > 8080 ? three[port - 8081] : redis);
}

// choose ends the shop, and starts it again with n replicas.
function choose(n) {
  const left = shops;
  shops = n === 3 ? three : alone;
  for (const one of [...left, redis]) {
    one.end();
    one.rejectRequests(say("The shop begins anew.", "商店重新开始。"));
  }
}

const describeReplicas = () =>
  shops.map((one, i) => ({
    name: `r${i + 1}`,
    state: one.restartTimer ? "dead" : one.isCut ? "cut" : "up",
    do: shops === three ? [one.isCut ? "mend" : "cut", "kill"] : ["kill"],
  }));

// changeReplica kills, cuts off or reconnects a replica. The others learn of its death; its watchers move on when it is
// cut off.
async function changeReplica(one, what) {
  const path = `/replicas/${one.args[0]}/${what}`;
  if (what === "kill") {
    one.kill();
    for (const other of shops)
      if (other.running && !other.restartTimer) other.ask(path, { method: "POST" }).catch(() => {});
  } else {
    await one.ask(path, { method: "POST" });
    one.isCut = what === "cut";
    if (one.isCut) one.rejectRequests(say("The replica is cut off.", "这个实例已断开。"), { watchers: true });
  }
  return Response.json(describeReplicas());
}

const modules = new Map(); // a program's name → its code, compiled once for all workers

function compile(code, name) {
  if (!modules.has(code)) {
    const module = load(code, name).catch(failure => {
      modules.delete(code);
      throw failure;
    });
    modules.set(code, module);
  }
  return modules.get(code);
}

const programOf = code => new URL(`${code}.packed?v=${version}`, home);

// load fetches and compiles a program. It is compressed whatever the host does.
async function load(code, name) {
  const packed = await fetchKept(programOf(code));
  const all = Number(packed.headers.get("Content-Length")),
    mb = bytes => (bytes / 1e6).toFixed(1);
  let bytes = 0;
  const count = new TransformStream({
    transform(piece, out) {
      bytes += piece.length;
      const says = say(
        `Loading ${name()}: ${mb(bytes)}${all ? ` of ${mb(all)}` : ""} MB `,
        `正在加载${name()}：${mb(bytes)}${all ? ` / ${mb(all)}` : ""} MB `,
      );
      replace(status, says, el("progress", { "aria-label": says, value: all ? bytes / all : null }));
      out.enqueue(piece);
    },
  });
  const program = packed.body.pipeThrough(count).pipeThrough(new DecompressionStream("gzip"));
  const headers = { "Content-Type": "application/wasm" };
  const module = await WebAssembly.compileStreaming(new Response(program, { headers }));
  replace(status);
  return module;
}

const fetched = new Map(); // address → promise that resolves when the file is cached

// fetchKept fetches a file from the cache or else the network, caches it, and drops other versions. Browsers cache only
// over HTTPS or on this machine.
async function fetchKept(url) {
  const files = await globalThis.caches?.open("lockstep").catch(() => null);
  await fetched.get(url.href);
  const old = await files?.match(url);
  if (old) return old;
  const answer = await fetch(url);
  if (!answer.ok) throw new Failure(answer.status, "", `${url.pathname}: ${answer.status}`);
  if (files) {
    for (const other of await files.keys()) if (new URL(other.url).pathname === url.pathname) await files.delete(other);
    fetched.set(
      url.href,
      files.put(url, answer.clone()).catch(() => {}),
    ); // the storage may be full
  }
  return answer;
}

const staticPaths = /^\/(seat|seat\/table|seat\/code|seat\/steps(\/[^/]+)?|labs|course(\/[^/]+)?)$/;

answerBy((path, request) => {
  const { pathname, searchParams } = new URL(path, "http://tab");
  if (pathname === "/seat/table" && searchParams.get("anew")) return search.ask(path, request);
  if (staticPaths.test(pathname)) {
    const end = pathname === "/seat/table" ? ".txt" : ".json";
    const of = searchParams.has("lock") ? "/" + searchParams.get("lock") : ""; // lock whose code is wanted
    return fetch(new URL("still/" + (searchParams.get("lang") ?? "en") + pathname + of + end, home), request);
  }
  if (pathname.startsWith("/room")) return Promise.resolve(Response.json({ open: false }));
  if (/^\/seat\/(hint|oracle|explore)$/.test(pathname)) return search.ask(path, request);
  if (pathname.startsWith("/seat/")) return seat.ask(path, request);
  if (pathname.startsWith("/labs/")) return lab.ask(path, request);
  if (pathname === "/replicas") return Promise.resolve(Response.json(describeReplicas()));
  const named = shops.find((_, i) => pathname === `/replicas/r${i + 1}`);
  if (named) return changeReplica(named, JSON.parse(String(request.body)).do);
  const live = shops.filter(one => !one.restartTimer);
  if (!live.length) return Promise.reject(new Failure(0, "no_replica", say("No replica lives.", "没有存活的实例。")));
  return chooseReplica(pathname, live).ask(path, request);
});

// chooseReplica chooses who answers. Watchers watch the last replica: readers kill the first, and with it what it has
// seen.
function chooseReplica(pathname, live) {
  if (pathname === "/inventory/sale") return live[nextSeller++ % live.length];
  const connected = it => !it.isCut;
  return (pathname.startsWith("/live") ? live.findLast(connected) : live.find(connected)) ?? live[0];
}

let isKeeping = false;

// keepAll caches the page’s files and both programs, so that no view needs a network. It runs once: with the first
// program, or after a while without one.
async function keepAll() {
  if (isKeeping) return;
  isKeeping = true;
  try {
    await navigator.serviceWorker?.register(new URL("keep.js", home));
    if (!(await navigator.serviceWorker?.ready)) return;
    for (const code of ["shop", "seat"]) await fetchKept(programOf(code));
  } catch {
    // The browser may refuse to cache.
  }
}
setTimeout(() => modules.size || keepAll(), patience);
