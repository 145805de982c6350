// Values that this browser keeps for the next visit, or if it may not, for as long as the page is open.
const memory = {};

// access calls act with a storage; it returns undefined if the browser denies that, or the storage is full.
function access(where, act) {
  try {
    return act(globalThis[where]);
  } catch {
    return undefined;
  }
}

// kept returns the value stored under a name, or null. A tab's own values are in its sessionStorage.
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
