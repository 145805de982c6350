// What has happened, shown again: played slowly, moved by hand, or from event to event.
import { reducedMotion, sleep } from "./shop_words.js";

const stillPause = 500; // between two pictures, in ms, for who wants no motion
const numberPause = 1500; // how long it stays at a number of the story, in ms, unless it is played as it was

const nextFrame = () =>
  reducedMotion.matches ? sleep(stillPause) : new Promise(drawn => requestAnimationFrame(drawn));

// player shows films, one at a time. A film has the times from and to, in ms; the moments at which something happened,
// in order; the numbers among them; show, called with a time, or with null when the present is shown again.
// begins is called before the past is shown, ends when it is not any more, changed with whatever changes.
export function createPlayer({ begins, ends, changed }) {
  let film = null,
    at = 0,
    turn = 0, // of the play that is on; 0: none
    turns = 0,
    /** @type {(kept?: any) => void} */
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
  // load puts a film in; what it returns is kept when the film is over.
  function load(next) {
    stop();
    begins();
    film = next;
    seek(film.from);
    return new Promise(kept => {
      finish = kept;
    });
  }
  // play goes on at a speed; or so that the whole film takes so many ms. Slow, it lingers at each number.
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
    // step goes to the next event, or to the one before.
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
