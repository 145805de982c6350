// What a browser keeps for the next time, or else this page for as long as it is open.
const memory = {};

// kept is what was kept under a name; null: nothing. A tab has a session of its own.
export function kept(name, where = "localStorage") {
  try {
    return globalThis[where].getItem("lockstep." + name);
  } catch {
    return memory[name] ?? null;
  }
}

export function keep(name, value, where = "localStorage") {
  memory[name] = value;
  try {
    globalThis[where].setItem("lockstep." + name, value);
  } catch {
    /* it is not kept */
  }
}

export function forget(name, where = "localStorage") {
  delete memory[name];
  try {
    globalThis[where].removeItem("lockstep." + name);
  } catch {
    /* nothing was kept */
  }
}
