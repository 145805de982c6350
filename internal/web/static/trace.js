// A trace of the server as a sequence diagram.
import { svg } from "./dom.js";

// drawTrace draws trace.Trace. Options: current, the step that is marked, counted from 1; onstep, called with the one that is clicked;
// compact leaves out the sentences.
export function drawTrace(trace, { current = 0, onstep = null, compact = false } = {}) {
  return svg("svg", { class: "trace", "data-steps": trace.steps.length, "data-current": current, "data-compact": compact || !onstep });
}
