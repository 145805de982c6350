// What runs a Go program in a worker. The first message is its code and its arguments; all others the program takes
// itself.
// @ts-expect-error: it is of the compiler that compiled the program
import "./wasm_exec.js";

// What one worker has seen is put in order with what another has: by more than milliseconds.
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
