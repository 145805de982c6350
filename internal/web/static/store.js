// Values stored in this browser, or in memory where storage is denied.
const memory = {};

// access calls act with a storage, and returns undefined if the browser denies it or it is full.
function access(where, act) {
  try {
    return act(globalThis[where]);
  } catch {
    return undefined;
  }
}

// recall returns the value stored under a name, or null. sessionStorage belongs to one tab.
export function recall(name, where = "localStorage") {
  const value = access(where, storage => storage.getItem("lockstep." + name));
  return value === undefined ? (memory[name] ?? null) : value;
}

export function keep(name, value, where = "localStorage") {
  memory[name] = value;
  access(where, storage => storage.setItem("lockstep." + name, value));
}

export function forget(name, where = "localStorage") {
  delete memory[name];
  access(where, storage => storage.removeItem("lockstep." + name));
}
