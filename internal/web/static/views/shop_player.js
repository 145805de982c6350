// Replays of the past: at a speed, by hand, or from event to event.
import { reducedMotion, sleep } from "./drawing.js";

const stillPause = 500; // pause between two pictures with reduced motion, in ms
const numberPause = 1500; // pause at each number of the story, in ms, except at normal speed

const nextFrame = () =>
  reducedMotion.matches ? sleep(stillPause) : new Promise(drawn => requestAnimationFrame(drawn));

// createPlayer plays one film at a time. A film has the times from and to in ms, the sorted moments at which something
// happened, the numbered ones among them, and show, called with a time, or null for the present. begins is called
// before the past is shown, ends after it, changed with every change.
export function createPlayer({ begins, ends, changed }) {
  let film = null,
    at = 0,
    turn = 0, // number of the current playback; 0: none
    turns = 0,
    /** @type {(value?: any) => void} */
    finish = () => {};

  function seek(t) {
    if (!film) return;
    if (t >= film.to) return stop();
    at = Math.max(t, film.from);
    film.show(at);
    changed();
  }
  function stop() {
    if (!film) return;
    const shown = film;
    film = null;
    turn = 0;
    shown.show(null);
    ends();
    changed();
    finish();
  }
  // load inserts a film. Its promise resolves when the film is over.
  function load(next) {
    stop();
    begins();
    film = next;
    seek(film.from);
    return new Promise(resolve => {
      finish = resolve;
    });
  }
  // play plays at a speed, or the whole film within that many ms. It pauses at each number, except at normal speed.
  async function play({ speed = 0, within = 0 }) {
    if (!film || turn) return;
    const mine = ++turns,
      { from, to, numbers = [] } = film;
    const linger =
      speed === 1 ? 0 : Math.min(numberPause, within ? within / 2 / Math.max(numbers.length, 1) : Infinity);
    const pace = speed || (to - from) / Math.max(within - linger * numbers.length, 1);
    turn = mine;
    changed();
    for (let before = performance.now(); turn === mine; ) {
      await nextFrame();
      if (turn !== mine) return;
      const now = performance.now(),
        next = at + (now - before) * pace,
        number = numbers.find(n => n > at && n <= next);
      before = now;
      seek(number ?? next);
      if (number === undefined || !linger || turn !== mine) continue;
      await sleep(linger);
      before = performance.now();
    }
  }
  function pause() {
    turn = 0;
    changed();
  }
  return {
    load,
    seek,
    stop,
    play,
    pause,
    step(by) {
      if (!film) return;
      pause();
      const { moments, from, to } = film;
      seek(by > 0 ? (moments.find(t => t > at) ?? to) : (moments.findLast(t => t < at) ?? from));
    },
    playing: () => turn > 0,
    now: () => (film ? { at, from: film.from, to: film.to, says: film.says?.(at) } : null), // null: the present
  };
}
