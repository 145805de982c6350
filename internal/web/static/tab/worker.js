// What runs a Go program in a worker. The first message is its code; all others are answered by the program itself.
// @ts-expect-error: it is of the compiler that compiled the program
import "./wasm_exec.js";

addEventListener(
  "message",
  async ({ data: module }) => {
    const go = new /** @type {any} */ (globalThis).Go();
    try {
      await go.run(await WebAssembly.instantiate(module, go.importObject));
    } finally {
      postMessage("ended");
    }
  },
  { once: true },
);
