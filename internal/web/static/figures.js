// The figures of the board: a buyer in the colour of its sale, Redis, and the lock’s key.
import { svg } from "./dom.js";

const drawFigure = (kind, box, ...parts) =>
  svg(kind, { viewBox: box, "aria-hidden": "true", focusable: "false" }, parts);
const drawPath = (kind, d) => svg("path" + kind, { d });

const closedEyes = "M11 11h4M17.5 11h4";
const eyes = { absent: closedEyes, ended: closedEyes, dead: "m11 9 4 4m0-4-4 4m6.5-4 4 4m0-4-4 4" };
const openEyes = "M13 9.5v3M19.5 9.5v3";

// drawBuyer draws a buyer with its letter. Its eyes are closed before and after its sale, and crosses when it is dead.
export const drawBuyer = (name, stance) =>
  drawFigure("svg.face", "0 0 32 40", [
    drawPath(".body", "M2 40v-5a14 13 0 0 1 28 0v5z"),
    svg("circle.skin", { cx: 16, cy: 11, r: 9.5 }),
    drawPath(".line", eyes[stance] ?? (stance.startsWith("paused") ? "M12 9v5m3-5v5m3-5v5m3-5v5" : openEyes)),
    svg("text", { x: 16, y: 36 }, name),
  ]);

// drawRedis draws a store of three discs.
export const drawRedis = () =>
  drawFigure("svg.face", "0 0 32 40", [
    drawPath(".body", "M2 9v23c0 8 28 8 28 0V9z"),
    drawPath(".skin", "M2 9c0-8 28-8 28 0s-28 8-28 0z"),
    drawPath(".line", "M2 17.5c0 8 28 8 28 0M2 25c0 8 28 8 28 0"),
  ]);

// drawKey draws the lock’s key: solid where the lock is, dashed where a sale wrongly believes it has it.
export const drawKey = kind =>
  drawFigure("svg.key." + kind, "0 0 28 14", drawPath("", "M11.5 7a4.5 4.5 0 1 1-9 0a4.5 4.5 0 0 1 9 0H26v5M20 7v4"));
