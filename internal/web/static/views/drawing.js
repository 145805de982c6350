// What the shop’s diagrams share: motion, time, sizes and axes.

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

// createPainter paints in the next frame, and whenever a node’s size has changed, until it is stopped.
export function createPainter(node, paint) {
  let asked = 0;
  const draw = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      if (node.isConnected) paint();
    });
  };
  const watch = new ResizeObserver(draw);
  watch.observe(node);
  const stop = () => {
    watch.disconnect();
    cancelAnimationFrame(asked);
  };
  return { draw, stop };
}

// listTimes returns when the turns of a story are shown: one after the other, even those of the same moment.
export function listTimes(turns) {
  const apart = Math.max((turns.at(-1)?.at - turns[0]?.at) / 1000, 0.001);
  let before = -Infinity;
  return turns.map(({ at }) => {
    before = Math.max(at, before + apart);
    return before;
  });
}

// availableHeight returns the height that a diagram must fit on the stage, in pixels; 0: any.
export function availableHeight(picture) {
  return document.documentElement.dataset.stage ? (picture.closest(".picture")?.clientHeight ?? 0) : 0;
}

// setSize sets a diagram’s size in pixels, with one unit a pixel.
export function setSize(picture, width, height) {
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
    picture.setAttribute(name, value);
}

export const sleep = ms => new Promise(passed => setTimeout(passed, ms));

// moveTowards returns the next position of something on its way to its goal; places.moving reports whether anything
// still moves.
export function moveTowards(places, name, goal, clock, moves) {
  const at = places[name],
    far = goal - at;
  if (name === "begin") places.moving = false;
  if (!moves || at === undefined || !(Math.abs(far) > 0.5)) places[name] = goal;
  else {
    places[name] = at + far * (1 - Math.exp((places.clock - clock) / 80));
    places.moving = true;
  }
  return places[name];
}

// roundStep returns a round step of an axis; formatTime writes a time on it so that no two labels are alike.
export const roundStep = rough => {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(n => n * power).find(n => n >= rough);
};
export const formatTime = (t, step) =>
  step < 1 ? `${t.toFixed(2)} ms` : `${+(t / 1000).toFixed(Math.max(0, 3 - Math.floor(Math.log10(step))))} s`;
