// Both languages of every text, side by side.

export const language = () => document.documentElement.lang;

export const say = (english, chinese) => (language() === "zh" ? chinese : english);

// several returns a number with its noun: several(1, "step", "步").
export const several = (n, noun, measure) => say(n === 1 ? `1 ${noun}` : `${n} ${noun}s`, `${n} ${measure}`);

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${+(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
}
