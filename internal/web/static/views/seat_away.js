// A server that does not answer now, and may answer soon.

const pause = 1000; // until it is asked again

// away reports whether a failure is that of such a server: no answer, half of one, or a proxy's.
export const away = ({ status = 0 }) => [0, 502, 503, 504].includes(status);

// soon does something after a pause, until what it returns is called.
export function soon(act) {
  const timer = setTimeout(act, pause);
  return () => clearTimeout(timer);
}
