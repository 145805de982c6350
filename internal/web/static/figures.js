// The small figures of the board: a buyer in the colour of its sale, Redis, and the key that is the lock.
import { svg } from "./dom.js";

const figure = (kind, box, ...parts) => svg(kind, { viewBox: box, "aria-hidden": "true", focusable: "false" }, parts);
const path = (kind, d) => svg("path" + kind, { d });

const shut = "M11 11h4M17.5 11h4";
const eyes = { absent: shut, ended: shut, dead: "m11 9 4 4m0-4-4 4m6.5-4 4 4m0-4-4 4" };
const open = "M13 9.5v3M19.5 9.5v3";

// drawBuyer draws a buyer with its letter: asleep or done with its eyes shut, dead with crosses for them.
export const drawBuyer = (name, stance) =>
  figure("svg.face", "0 0 32 40", [
    path(".body", "M2 40v-5a14 13 0 0 1 28 0v5z"),
    svg("circle.skin", { cx: 16, cy: 11, r: 9.5 }),
    path(".line", eyes[stance] ?? (stance.startsWith("paused") ? "M12 9v5m3-5v5m3-5v5m3-5v5" : open)),
    svg("text", { x: 16, y: 36 }, name),
  ]);

// drawRedis draws a store of three discs.
export const drawRedis = () =>
  figure("svg.face", "0 0 32 40", [
    path(".body", "M2 9v23c0 8 28 8 28 0V9z"),
    path(".skin", "M2 9c0-8 28-8 28 0s-28 8-28 0z"),
    path(".line", "M2 17.5c0 8 28 8 28 0M2 25c0 8 28 8 28 0"),
  ]);

// drawKey draws the lock's key: whole where the lock is, a shadow where somebody only believes to have it.
export const drawKey = kind =>
  figure("svg.key." + kind, "0 0 28 14", svg("circle", { cx: 7, cy: 7, r: 4.5 }), path("", "M11.5 7H26v5M20 7v4"));
