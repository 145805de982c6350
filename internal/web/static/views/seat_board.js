// The board: the sales, Redis, and the lock’s key. Under each figure are its next commands and the faults that can hit
// it.
import { el, kbd, replace } from "../dom.js";
import { drawBuyer, drawKey, drawRedis } from "../figures.js";
import { colourClass, shorten } from "../trace.js";
import { duration, say } from "../words.js";
import { describeActor, describeChoice, faultTitle } from "./seat_parts.js";

const ofRedis = /^(expiry|slow|failover|rollback|evict|redis-clock|node-)/;
const ofConnection = /^(lost-|late|resend)/;
const mostUnfolded = 2; // faults that need not be folded away

// drawBoard draws a figure for each sale, and Redis after the first.
function drawBoard(seat) {
  const { view } = seat.here,
    { choices, disabled, state, over } = view;
  const isActor = name => state.actors.some(actor => actor.name === name);
  const ownerOf = ({ actor, fault }) => (ofRedis.test(fault) || !isActor(actor) ? "Redis" : actor);
  const numbered = choices.map((choice, i) => ({ ...choice, i }));
  const reasonOf = name => disabled.find(({ what }) => what === name)?.why;
  const draw = (name, kind, face, key, says, notes) =>
    el("div.figure." + kind, { role: "group", "aria-label": name }, [
      el("div.head", face, el("b", name), key && drawKey(key), el("p", says)),
      drawChoices(seat, name, numbered, ownerOf, notes),
    ]);
  const buyers = state.actors.map((actor, i) => {
    const { name, stance } = actor;
    const key = seat.hasLock && (name === state.holder ? "held" : stance.endsWith("inside") && "believed");
    const notes = ["ended", "dead"].includes(stance) ? [] : [reasonOf(name)];
    return draw(name, colourClass(i), drawBuyer(name, stance), key, describeActor(seat, view, actor), notes);
  });
  const rest = Object.entries(state.left).filter(([name]) => !choices.some(({ fault }) => fault === name));
  const notes = rest.map(([name, left]) => [
    faultTitle(seat, name) + say(": ", "："),
    left ? (reasonOf(name) ?? say(`${left} left`, `还剩 ${left} 次`)) : say("none left", "已用完"),
  ]);
  notes.unshift(over && say("No moves left.", "没有可执行的步骤了。"));
  const key = seat.hasKey && !isActor(state.holder) && "held";
  return buyers.toSpliced(1, 0, draw("Redis", "redis", drawRedis(), key, describeRedis(seat), notes));
}

// drawChoices draws the buttons of a figure: its next commands, then its faults, and those of its connection.
function drawChoices(seat, name, choices, ownerOf, notes) {
  const own = choices.filter(choice => ownerOf(choice) === name);
  const buttons = accepts => own.filter(accepts).map(choice => drawButton(seat, choice));
  const faults = buttons(({ fault }) => fault && !ofConnection.test(fault)),
    lost = buttons(({ fault }) => ofConnection.test(fault)),
    all = [faults, lost.length > 0 && [el("p", `${name} ⇄ Redis`), lost]],
    { unfolded } = seat,
    ontoggle = ({ target }) => (target.open ? unfolded.add(name) : unfolded.delete(name));
  const count = faults.length + lost.length;
  return el("div.acts", [
    buttons(({ fault }) => !fault),
    count > mostUnfolded
      ? el("details", { open: unfolded.has(name), ontoggle }, [
          el("summary", { "data-focus": "faults-" + name }, say(`Faults (${count})`, `故障（${count}）`)),
          all,
        ])
      : all,
    notes.filter(Boolean).map(note => el("p.cannot", note)),
  ]);
}

function drawButton(seat, choice) {
  const { i, token, fault, command } = choice,
    hinted = seat.hint?.named && seat.hint.next === token;
  const kind = hinted ? ".hinted" : fault ? ".fault" : "",
    title = command && shorten(command);
  const attributes = { title, "data-focus": "choice" + i, "data-token": token, onclick: () => seat.take(token) };
  return el("button.choice" + kind, attributes, [
    i < 9 && kbd(i + 1),
    el("span.what", [
      fault && el("b.warn", faultTitle(seat, fault) + say(": ", "：")),
      describeChoice(choice),
      command && el("code", { "aria-hidden": "true" }, title),
    ]),
    hinted && el("span.chip", say("hint", "提示")),
    seat.place.oracle && seat.distance.drawBadge(token),
  ]);
}

// describeRedis returns the stock, the lock’s holder and the time; with several nodes, the holder on each.
function describeRedis({ hasKey, here }) {
  const { state, trace } = here.view,
    step = trace.steps.at(-1),
    stock = state.servers.flatMap(({ keys }) => keys).find(({ name }) => name === "inventory")?.values[0];
  const describeLock = (holder, left) => {
    if (!holder) return say("free", "空闲");
    const owner = holder === "nobody" ? say("nobody’s", "无主") : say(`${holder}’s`, `${holder} 的`);
    return owner + (left ? say(", ", "，") + duration(left) : "");
  };
  const downs = { crashed: say("down", "宕机"), hung: say("hangs", "卡住") };
  const nodes = step?.nodes?.map(({ lock, health }, i) => `n${i + 1} ${downs[health] ?? describeLock(lock)}`);
  const all = [
    stock && say(`stock ${stock}`, `库存 ${stock}`),
    (hasKey || (step?.lock && !nodes)) && say("lock: ", "锁：") + describeLock(step?.lock, step?.expires_ms),
    ...(nodes ?? []),
    state.servers.some(({ lags }) => lags) && say("its replica lags", "从节点落后"),
    state.at_ms > 0 && `◷ ${duration(state.at_ms)}`,
  ];
  return all.filter(Boolean).join(" · ");
}

// redrawBoard draws the board, and animates the key to its new owner. An unchanged board keeps its buttons, so that a
// press on one is not lost.
export function redrawBoard(seat, board) {
  const figures = drawBoard(seat);
  if (figures.map(figure => figure.outerHTML).join("") === board.innerHTML) return;
  const at = () => board.querySelector(".key.held"),
    from = at()?.getBoundingClientRect();
  replace(board, figures);
  const key = at(),
    to = key?.getBoundingClientRect();
  if (!from || !to || from.x === to.x || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const there = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
  key.animate({ transform: [there, "none"] }, { duration: 350, easing: "ease-in-out" });
}
