// The page around the views: header, switches, and the router.
import { drawAlarm, el, replace } from "./dom.js";
import { bind, showKeys } from "./keys.js";
import { go, link, route } from "./route.js";
import { reloadSoon } from "./server.js";
import { keep, recall } from "./store.js";
import { language, say } from "./words.js";

// views lists the views by the first part of the address. Those with a name are in the header; the others have moved.
const views = {
  "": { load: () => import("./views/shop.js"), name: ["Shop", "商店"] },
  course: { load: () => import("./views/course.js"), name: ["Course", "课程"] },
  schedule: { load: () => import("./views/seat.js"), name: ["Seat", "调度席"] },
  campaign: { moved: () => link(["schedule"]) },
  explore: { moved: toSearch },
  locks: { load: () => import("./views/locks.js"), name: ["Locks", "锁"] },
  labs: { load: () => import("./views/labs.js"), name: ["Labs", "实验"] },
  table: { moved: () => "#/locks" },
  steps: { moved: now => moveBelow(["locks"], now) },
  room: { moved: now => moveBelow(["course", "room"], now) },
  join: { moved: now => moveBelow(["course", "join"], now) },
};

// moveBelow returns the new address of something below a view that has moved.
const moveBelow = (path, now) => link([...path, ...now.path.slice(1)]);

// toSearch returns the seat’s address that stands for an old exploration.
function toSearch({ path: [, lock], query }) {
  const { in: scenario = lock ? "" : "--faults expiry=1", anomaly, each } = Object.fromEntries(query);
  return link(["schedule", lock ?? "v2"], { in: scenario, anomaly, search: each ? "each" : "1" });
}

const root = document.documentElement;
const page = document.getElementById("page");
const tab = root.dataset.tab ? await import("./tab/tab.js") : null; // program in place of a server
const main = el("main", { id: "main", tabindex: -1 });
const noView = { leave() {} };
let shown = noView; // the view: its name, leave, and follow, if it can go to another address of its own

const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

const switchTheme = () => choose("theme", isDark() ? "light" : "dark");
const switchSize = () => choose("size", root.dataset.size === "large" ? "normal" : "large");

function choose(name, value) {
  root.dataset[name] = value;
  keep(name, value);
  drawHeader();
}

function switchLanguage() {
  root.lang = language() === "zh" ? "en" : "zh";
  keep("lang", root.lang);
  const url = new URL(location.href);
  if (url.searchParams.has("lang")) {
    url.searchParams.set("lang", root.lang);
    history.replaceState(history.state, "", url);
  }
  drawHeader();
  dispatchEvent(new Event("languagechange"));
  show(true);
}

const header = el("header.top");

function drawHeader() {
  const focused = header.contains(document.activeElement) && document.activeElement.id;
  const at = route().path[0] ?? "";
  const links = Object.entries(views)
    .filter(([, view]) => view.name)
    .map(([name, view]) =>
      el("a", { href: "#/" + name, "aria-current": name === at ? "page" : null }, say(...view.name)),
    );
  const nav = el("nav", { "aria-label": say("Views", "视图") }, links);
  const button = (id, text, title, act, pressed) =>
    el("button.quiet", { id, title, "aria-label": title, "aria-pressed": pressed, onclick: act }, text);
  const skip = event => {
    event.preventDefault();
    main.focus();
  };
  replace(header, [
    el("a.skip", { href: "#main", onclick: skip }, say("To the content", "跳到正文")),
    el("a.brand", { href: "#/" }, "lockstep"),
    nav,
    el("div.switches", [
      button("lang", say("中文", "English"), say("中文", "English"), switchLanguage),
      button("theme", isDark() ? "☀" : "☾", say("Dark", "深色"), switchTheme, String(isDark())),
      button("size", "A+", say("A+: large", "A+：大字号"), switchSize, String(root.dataset.size === "large")),
      button("keys", "?", say("Keys (?)", "快捷键（?）"), showKeys),
    ]),
    tab?.note,
  ]);
  tab?.draw();
  const current = nav.querySelector("[aria-current]"); // a phone may not show all of them
  if (current) nav.scrollLeft = current.offsetLeft - nav.offsetLeft + (current.offsetWidth - nav.clientWidth) / 2;
  if (focused) document.getElementById(focused)?.focus();
}

let latest = 0; // the show that counts
let stale = false; // the shown view must be redrawn, whatever the next address is

async function show(anew = false) {
  const now = route(),
    name = now.path[0] ?? "",
    turn = ++latest,
    { y } = history.state ?? {}; // scroll position when this address was left
  stale ||= anew;
  if (views[name]?.moved) return go(views[name].moved(now), { instead: true });
  const view = views[name] ?? { load: async () => ({ show: showUnknown }), name: ["?", "?"] };
  if (!stale && shown.name === name && shown.follow) {
    restore(y);
    return shown.follow(now);
  }
  const module = await view.load().catch(() => null);
  if (turn !== latest) return;
  if (!module) return showMissing(turn);
  stale = false;
  const again = shown.name === name;
  shown.leave();
  if (!again) scrollTo(0, 0);
  document.title = say(...view.name) + " · lockstep";
  drawHeader();
  replace(main);
  main.className = name || "shop";
  restore(y);
  const left = module.show(main, now);
  shown = typeof left === "function" ? { name, leave: left } : { name, ...left };
  if (!again && !first) main.focus({ preventScroll: true });
  first = false;
}

function showUnknown(main, { path: [name] }) {
  const says = say(
    `There is no view “${name}”. The bar above has them all.`,
    `没有“${name}”这个页面。全部页面见导航栏。`,
  );
  main.append(el("h1", "lockstep"), drawAlarm(says));
  return () => {};
}

// showMissing says that a view cannot be loaded, and loads the page again once the server is back.
function showMissing(turn) {
  shown.leave();
  shown = noView;
  drawHeader();
  const says = say(
    "The server does not answer, so this view cannot be loaded. Asking again …",
    "服务器没有响应，这个页面加载不了。正在重试……",
  );
  replace(main, drawAlarm(says));
  reloadSoon(() => turn === latest);
}

let first = true;
let restored = new AbortController();
const patience = 5000; // longest wait for a view to reach its former height, in ms

// restore scrolls to the reader’s last position as soon as the view is long enough, unless the reader acts first.
function restore(y) {
  restored.abort();
  if (!y) return;
  restored = new AbortController();
  const signal = AbortSignal.any([restored.signal, AbortSignal.timeout(patience)]);
  const grown = new ResizeObserver(() => root.scrollHeight < y + innerHeight || scrollTo(0, y));
  grown.observe(main);
  signal.addEventListener("abort", () => grown.disconnect());
  for (const does of ["wheel", "keydown", "pointerdown"]) addEventListener(does, () => restored.abort(), { signal });
}

replace(page, header, main);
drawHeader();
bind(
  ["?", "this list", "显示本列表", showKeys],
  ["D", "dark or light", "深色或浅色", switchTheme],
  ["A", "large or normal size", "大字号或正常字号", switchSize],
  ["L", "中文", "English", switchLanguage],
);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawHeader);
addEventListener("hashchange", () => show());
history.scrollRestoration = "manual"; // a browser would scroll before the view is there
addEventListener("scrollend", () => history.replaceState({ ...history.state, y: scrollY }, ""));
// A page in the back-forward cache must not hold a stream: a browser has six connections to a server for all its tabs.
addEventListener("pagehide", () => {
  shown.leave();
  shown = noView;
});
addEventListener("pageshow", event => {
  if (event.persisted) show(true);
});
show();
if (!tab && recall("joined", "sessionStorage") !== null)
  import("./views/participant.js").then(({ attend }) => attend());
