// Runs a Go program in a worker. The first message has its code and arguments; the program takes all others itself.
// @ts-expect-error: it is of the compiler that compiled the program
import "./wasm_exec.js";

// Events of several workers are ordered by time, so milliseconds are too coarse.
globalThis.Date = /** @type {any} */ (
  class extends Date {
    getTime() {
      return performance.timeOrigin + performance.now();
    }
  }
);

addEventListener(
  "message",
  async ({ data: { module, args } }) => {
    const go = new /** @type {any} */ (globalThis).Go();
    go.argv.push(...args);
    try {
      await go.run(await WebAssembly.instantiate(module, go.importObject));
    } finally {
      postMessage("ended");
    }
  },
  { once: true },
);
