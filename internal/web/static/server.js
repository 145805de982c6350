// Requests to the server that sent this page.
import { drawAlarm, el, replace } from "./dom.js";
import { language, say } from "./words.js";

// Failure is an unsuccessful answer. Its status is 0 if there was no answer.
export class Failure extends Error {
  constructor(status, code, message) {
    super(message.replace(/^[a-z](?=[a-z]* )/, first => first.toUpperCase())); // unless it begins with a name
    Object.assign(this, { status, code });
  }
}

// fetchAnswer sends a request over the network, or to the programs of a page in a tab.
/** @type {(path: string, request: RequestInit) => Promise<Response>} */
let fetchAnswer = (path, request) => fetch(path, { cache: "no-store", ...request });
export const answerBy = other => {
  fetchAnswer = other;
};

export const get = (path, query) => ask("GET", path + formatQuery(query));
export const post = (path, body) => ask("POST", path, body);
export const put = (path, body) => ask("PUT", path, body);
export const del = path => ask("DELETE", path);

export async function save(path, query, name) {
  const answer = await send(path + formatQuery(query), {});
  download(await answer.blob(), name);
}

export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// formatQuery returns a query string without empty values.
export function formatQuery(query) {
  const all = Object.entries(query ?? {}).filter(([, value]) => value != null && value !== "");
  return all.length ? "?" + new URLSearchParams(all) : "";
}

async function ask(method, path, body) {
  const answer = await send(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  return answer.status === 204 ? null : answer.json();
}

// send sends a request, and asks for the admin token as long as the server requires one and the reader does not cancel.
async function send(path, request) {
  const token = sessionStorage.getItem("lockstep.token");
  const headers = { ...request.headers };
  if (token) headers.Authorization = "Bearer " + token;
  if (request.body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetchAnswer(path, { ...request, headers });
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Failure) throw error;
    throw new Failure(0, "unreachable", say("The server does not answer.", "服务器没有响应。"));
  }
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  const failure = new Failure(answer.status, error?.code ?? "", explainError(answer, error));
  const refused = answer.status === 401 || (answer.status === 403 && token);
  if (refused) sessionStorage.removeItem("lockstep.token");
  if (!refused || !(await askToken(token ? failure.message : ""))) throw failure;
  return send(path, request);
}

// explainError returns an error in the reader’s language, or the server’s own words where there is no translation.
function explainError({ status, statusText }, error) {
  if (!error) return `${status} ${statusText}`;
  const { code, message } = error;
  if (language() !== "zh" || /[\u4e00-\u9fff]/.test(message)) return message;
  return chineseErrors[code] ?? `请求失败（${code}）：${message}`;
}

const chineseErrors = {
  bad_gateway: "实例没有响应，可能已经卖出。",
  burst_running: "上一次抢购还没结束；请等待，或取消。",
  busy: "服务器正忙，请稍后再试。",
  cannot_pause: "这个操作系统不能暂停进程。",
  dropped: "已被移出课堂。",
  ending: "服务器正在退出。",
  forbidden: "没有权限：令牌不对；没有令牌时，启动要设 admin.token 或 admin.open。",
  internal: "服务器内部错误。",
  lock_timeout: "等锁超时。",
  no_burst: "没有这次抢购，或者已经结束。",
  no_command: "Redis 没有这种锁要用的命令。",
  no_nodes: "没有 redlock 要用的节点。",
  no_order: "账本里没有这个订单。",
  no_participant: "课堂里没有这个人。",
  no_replica: "没有可用的实例。",
  no_room: "课堂尚未开始。",
  no_sale: "没有这一单的记录。",
  no_such_node: "没有这个节点。",
  no_such_replica: "没有这个实例。",
  not_found: "页面不存在。",
  not_holder: "锁已经换了持有者。",
  not_running: "这个实例正在重新启动。",
  order_in_flight: "这一单可能还在处理。",
  outcome_unknown: "结果未知，可能已经卖出。",
  redis_unavailable: "Redis 不可用。",
  room_full: "课堂人数已满。",
  run_over: "这一轮已经结束。",
  too_large: "状态太多，算不完。",
  unauthorized: "需要令牌。",
  unknown_lock: "没有这种锁。",
};

// askToken asks for the admin token and reports whether the reader entered one. wrong says why the last one was
// refused.
function askToken(wrong = "") {
  const token = el("input", { type: "password", autocomplete: "off", required: true });
  const form = el("form", { method: "dialog" }, [
    el("h2", say("Only with the token", "需要令牌")),
    el("p", say("Whoever started the server knows its admin.token.", "启动服务器的人知道它的 admin.token。")),
    wrong && drawAlarm(wrong),
    el("label", "admin.token ", token),
    el("p.row", [
      el("button", { value: "given" }, say("Unlock", "解锁")),
      el("button.quiet", { formnovalidate: true }, say("Cancel", "取消")),
    ]),
  ]);
  const dialog = el("dialog", { "aria-label": "admin.token" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise(answered =>
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue === "given") sessionStorage.setItem("lockstep.token", token.value);
      answered(dialog.returnValue === "given");
    }),
  );
}

// mayDo reports whether the reader may do what is open to all ("open"), or to who has the token ("token").
export const mayDo = way => way === "open" || (way === "token" && !!sessionStorage.getItem("lockstep.token"));

// unlock asks for the admin token until it is right, which the list of a room’s participants tells.
export const unlock = async () => (await askToken()) && get("/room/participants").catch(({ status }) => status === 404);

// stream reads server-sent events and calls on[name](data, id) for each. It returns when the stream ends. With resume
// it reconnects until the signal aborts, and calls on.open and on.lost as the connection comes and goes.
/** @param {{ signal?: AbortSignal, resume?: boolean, method?: string }} options */
export async function stream(path, on, options = {}) {
  const { signal, resume, method } = options;
  for (let last = ""; ; ) {
    try {
      const answer = await send(path, { method, signal, headers: last ? { "Last-Event-ID": last } : {} });
      on.open?.();
      for await (const event of readEvents(answer.body)) {
        last = event.id ?? last;
        on[event.name]?.(event.data === "" ? null : JSON.parse(event.data), event.id);
      }
      if (!resume) return;
      on.lost?.(new Failure(0, "ended", say("The server ended the stream.", "服务器结束了事件流。")));
    } catch (error) {
      if (signal?.aborted) return;
      if (!resume || !(error instanceof Failure || error instanceof TypeError)) throw error;
      on.lost?.(error);
    }
    await new Promise(passed => {
      setTimeout(passed, retryInterval);
      signal?.addEventListener("abort", passed);
    });
    if (signal?.aborted) return;
  }
}

async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader(); // some browsers cannot iterate over a stream
  try {
    for (let rest = ""; ; ) {
      const { value: piece, done } = await reader.read();
      if (done) return;
      const blocks = (rest + piece).replace(/\r\n/g, "\n").split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const event = { name: "message", data: [], id: undefined };
        for (const line of block.split("\n")) {
          const [, field, value] = line.match(/^([^:]*):? ?(.*)$/);
          if (field === "event") event.name = value;
          if (field === "data") event.data.push(value);
          if (field === "id") event.id = value;
        }
        if (event.data.length) yield { ...event, data: event.data.join("\n") };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const retryInterval = 1000; // pause before a retry, in ms

// isAway reports whether a server may answer again soon: it gave no answer, half of one, or a proxy answered for it.
export const isAway = ({ status = 0 }) => [0, 502, 503, 504].includes(status);

const describeLoss = () => say("Connection lost. Retrying…", "连接断开，正在重试……");

// retryWhileAway repeats a request until the server answers or the signal aborts. lost shows the connection’s failure.
export async function retryWhileAway(request, signal, lost) {
  while (!signal.aborted) {
    try {
      return await request();
    } catch (failure) {
      if (!isAway(failure) || failure.code === "failed") throw failure; // a program in a tab would fail again
      if (!signal.aborted) lost(describeLoss(), failure);
      await new Promise(runSoon);
    }
  }
  return undefined;
}

// streamAnswer reads a stream that ends with an answer, and returns the answer, or nothing once the signal aborts.
// listeners handle its other events.
export async function streamAnswer(path, query, listeners, signal) {
  let answer = null,
    failure = new Failure(0, "ended", "");
  const done = found => {
    answer = found;
  };
  const failed = ({ code, message }) => {
    failure = new Failure(code === "client_closed_request" ? 0 : 422, code, message); // the server is ending
  };
  await stream(path + formatQuery({ ...query, lang: language() }), { ...listeners, done, failed }, { signal });
  if (!answer && !signal.aborted) throw failure;
  return answer;
}

// drawLoaded draws in a node what load returns, and tries again while the server is away and the node is in the page.
export async function drawLoaded(node, waiting, load) {
  const end = new AbortController();
  const lost = (says, { code }) => {
    replace(node, drawAlarm(says));
    if (code === "no_module") reloadSoon(() => node.isConnected);
    if (code === "no_module" || !node.isConnected) end.abort();
  };
  replace(node, waiting);
  try {
    const drawn = await retryWhileAway(load, end.signal, lost);
    if (drawn) replace(node, drawn);
  } catch (failure) {
    replace(node, el("p.note.warn", failure.message));
  }
}

// whenLoaded returns a module for drawLoaded. A browser caches that a module was missing, so only a reload asks again.
export const whenLoaded = module =>
  module.catch(() => {
    throw new Failure(0, "no_module", describeLoss());
  });

// runSoon calls a function after a pause, unless the function that it returns is called before.
export function runSoon(act) {
  const timer = setTimeout(act, retryInterval);
  return () => clearTimeout(timer);
}

// reloadSoon reloads the page once the server is back, if the reader is still there.
export async function reloadSoon(isThere) {
  await new Promise(runSoon);
  if (!isThere()) return;
  const again = () => reloadSoon(isThere);
  await fetch("web/app.js", { cache: "no-store" }).then(() => location.reload(), again);
}
