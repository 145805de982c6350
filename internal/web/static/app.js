// The page around the views: header, switches, and the router.
import { el, replace } from "./dom.js";
import { bind, showKeys } from "./keys.js";
import { go, link, route } from "./route.js";
import { soon } from "./server.js";
import { language, say } from "./words.js";

// views by the first part of the address. Those with a name are in the header; the others belong to one of them.
const views = {
  "": { load: () => import("./views/shop.js"), name: ["Shop", "商店"] },
  course: { load: () => import("./views/course.js"), name: ["Course", "课程"] },
  schedule: { load: () => import("./views/seat.js"), name: ["Seat", "调度席"] },
  campaign: { moved: () => link(["schedule"]) },
  explore: { moved: toSearch },
  table: { load: () => import("./views/table.js"), name: ["Locks", "锁"] },
  steps: { load: () => import("./views/steps.js"), of: "table" },
  labs: { load: () => import("./views/labs.js"), name: ["Labs", "实验"] },
  room: { load: () => import("./views/room.js"), of: "course" },
  join: { load: () => import("./views/join.js"), of: "course" },
};

// toSearch is where an exploration is asked for now: in the seat.
function toSearch({ path: [, lock], query }) {
  const { in: scenario = lock ? "" : "--faults expiry=1", anomaly, each } = Object.fromEntries(query);
  return link(["schedule", lock ?? "v2"], { in: scenario, anomaly, search: each ? "each" : "1" });
}

const root = document.documentElement;
const page = document.getElementById("page");
const tab = root.dataset.tab ? await import("./tab/tab.js") : null; // there is no server
for (const name of tab ? ["room", "join"] : []) delete views[name];
const main = el("main", { id: "main", tabindex: -1 });
const nothing = { leave() {} };
let shown = nothing; // the view: its name, leave, and follow, if it can go to another address of its own

function keep(name, value) {
  root.dataset[name] = value;
  try {
    localStorage.setItem("lockstep." + name, value);
  } catch {
    /* it is not kept */
  }
}

const dark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

function switchTheme() {
  keep("theme", dark() ? "light" : "dark");
  drawHeader();
}

function switchSize() {
  keep("size", root.dataset.size === "large" ? "normal" : "large");
  drawHeader();
}

function switchLanguage() {
  root.lang = language() === "zh" ? "en" : "zh";
  try {
    localStorage.setItem("lockstep.lang", root.lang);
  } catch {
    /* it is not kept */
  }
  const url = new URL(location.href);
  if (url.searchParams.has("lang")) {
    url.searchParams.set("lang", root.lang);
    history.replaceState(null, "", url);
  }
  drawHeader();
  show(true);
}

const header = el("header", { class: "top" });

function drawHeader() {
  const focused = header.contains(document.activeElement) && document.activeElement.id;
  const first = route().path[0] ?? "",
    at = views[first]?.of ?? first;
  const links = Object.entries(views)
    .filter(([, view]) => view.name)
    .map(([name, view]) =>
      el("a", { href: "#/" + name, "aria-current": name === at ? "page" : null }, say(...view.name)),
    );
  const button = (id, text, title, act, pressed) =>
    el("button", { id, class: "quiet", title, "aria-label": title, "aria-pressed": pressed, onclick: act }, text);
  replace(
    header,
    el(
      "a",
      {
        class: "skip",
        href: "#main",
        onclick: event => {
          event.preventDefault();
          main.focus();
        },
      },
      say("To the content", "跳到正文"),
    ),
    el("a", { class: "brand", href: "#/" }, "lockstep"),
    el("nav", { "aria-label": say("Views", "视图") }, links),
    el(
      "div",
      { class: "switches" },
      button("lang", say("中文", "English"), say("中文", "English"), switchLanguage),
      button("theme", dark() ? "☀" : "☾", say("Dark", "深色"), switchTheme, String(dark())),
      button(
        "size",
        "A+",
        say("Large, for a projector (A+)", "大字号，用于投影（A+）"),
        switchSize,
        String(root.dataset.size === "large"),
      ),
      button("keys", "?", say("Keys (?)", "按键（?）"), showKeys),
    ),
  );
  tab?.draw();
  if (focused) document.getElementById(focused)?.focus();
}

let latest = 0; // the show that counts
let stale = false; // what is there has to be drawn anew, whatever address comes meanwhile

async function show(anew = false) {
  const now = route(),
    name = now.path[0] ?? "",
    turn = ++latest;
  stale ||= anew;
  const view = views[name];
  if (!view || view.moved) return go(view?.moved(now) ?? "#/", { instead: true });
  if (!stale && shown.name === name && shown.follow) return shown.follow(now);
  const module = await view.load().catch(() => null);
  if (turn !== latest) return;
  if (!module) return missing(turn);
  stale = false;
  const again = shown.name === name;
  shown.leave();
  if (!again) scrollTo(0, 0);
  document.title = say(...(view.name ?? views[view.of].name)) + " · lockstep";
  drawHeader();
  replace(main);
  main.className = name || "shop";
  const left = module.show(main, now);
  shown = typeof left === "function" ? { name, leave: left } : { name, ...left };
  if (!again && !first) main.focus({ preventScroll: true });
  first = false;
}

// missing says that a view cannot be loaded. A browser keeps in mind that a module was not there: the page is loaded
// anew as soon as the server is back.
function missing(turn) {
  shown.leave();
  shown = nothing;
  drawHeader();
  const says = say(
    "The server does not answer, so this view cannot be loaded. Asking again …",
    "服务器没有应答，这个视图加载不了。正在重试……",
  );
  replace(main, el("p", { class: "note bad", role: "alert" }, says));
  const ask = () =>
    turn === latest &&
    fetch("web/app.js", { cache: "no-store" }).then(
      () => location.reload(),
      () => soon(ask),
    );
  soon(ask);
}

let first = true;

replace(page, header, tab?.note, main);
drawHeader();
bind(
  ["?", "this list", "这张列表", showKeys],
  ["D", "dark or light", "深色或浅色", switchTheme],
  ["A", "large or normal size", "大字号或正常字号", switchSize],
  ["L", "中文", "English", switchLanguage],
);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawHeader);
addEventListener("hashchange", () => show());
// A page that is put aside for the back button keeps no stream: a browser has six connections to a server, for all its
// tabs.
addEventListener("pagehide", () => {
  shown.leave();
  shown = nothing;
});
addEventListener("pageshow", event => {
  if (event.persisted) show(true);
});
show();
if (!tab && sessionStorage.getItem("lockstep.joined") !== null) views.join.load().then(({ attend }) => attend());
