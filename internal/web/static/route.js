// The address after # as a route: #/schedule/v2?do=A:SET is {path: ["schedule", "v2"], query}.

export function route(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

// decode undoes the encoding of a path segment. A segment that a person typed may not be encoded.
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// link returns an address: link(["schedule", "v2"], {do: "A:SET"}). Empty values are left out.
export function link(path, query = {}) {
  const all = Object.entries(query).filter(([, value]) => value != null && value !== "");
  const text = all.map(([name, value]) => name + "=" + encode(value)).join("&");
  return "#/" + path.map(encodeURIComponent).join("/") + (text && "?" + text);
}

// encode encodes a query value, and keeps : / , = legible.
const encode = value =>
  encodeURIComponent(value)
    .replace(/%(3A|2F|2C|3D)/g, code => decodeURIComponent(code))
    .replaceAll("%20", "+");

// go opens an address. With instead, it replaces the current history entry. The view follows asynchronously.
export function go(hash, { instead = false } = {}) {
  if (hash === location.hash) return;
  history[instead ? "replaceState" : "pushState"](null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
