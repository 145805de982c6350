// Icons, each beside its word.
import { svg } from "../dom.js";

const drawings = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  leave: "M3 4.4 4.4 3 8 6.6 11.6 3 13 4.4 9.4 8l3.6 3.6-1.4 1.4L8 9.4 4.4 13 3 11.6 6.6 8z",
  stage: "M1 2h14v9H9v1.5l3 2H4l3-2V11H1zm1.5 1.5v6h11v-6z",
  save: "M7 1.5h2v6l2.5-2.5 1.4 1.4L8 11.3 3.1 6.4 4.5 5 7 7.5zM2 12.5h12v2H2z",
  buy: "M1 2h2.5l.5 2h11l-1.6 6.5H5.2L3.2 3.5H1zM4.5 12h3v3h-3zM11 12h3v3h-3z",
};

export const icon = name =>
  svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: drawings[name] }));
