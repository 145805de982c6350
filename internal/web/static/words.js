// Everything a reader sees is in two languages, side by side in the code.

export const language = () => document.documentElement.lang;

export const say = (english, chinese) => (language() === "zh" ? chinese : english);

// several writes a number with its noun: several(1, "step", "步").
export const several = (n, noun, measure) => say(n === 1 ? `1 ${noun}` : `${n} ${noun}s`, `${n} ${measure}`);

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${+(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
}
