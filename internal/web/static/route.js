// The address after # is where the reader is: #/schedule/v2?do=A:SET is {path: ["schedule", "v2"], query}.

export function route(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

// plain is a part of an address as it was before link. One that nobody has made by link may be anything.
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// link writes an address: link(["schedule", "v2"], {do: "A:SET"}). Empty values are left out.
export function link(path, query = {}) {
  const all = Object.entries(query).filter(([, value]) => value != null && value !== "");
  const text = all.map(([name, value]) => name + "=" + encode(value)).join("&");
  return "#/" + path.map(encodeURIComponent).join("/") + (text && "?" + text);
}

// encode leaves the characters : / , = legible.
const encode = value =>
  encodeURIComponent(value)
    .replace(/%(3A|2F|2C|3D)/g, code => decodeURIComponent(code))
    .replaceAll("%20", "+");

// go goes to an address; instead of the present one, if it says so. The view is on its way there when it returns.
export function go(hash, { instead = false } = {}) {
  if (hash === location.hash) return;
  history[instead ? "replaceState" : "pushState"](null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
