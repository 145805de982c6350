// Both languages of every text, side by side.

export const language = () => document.documentElement.lang;

export const say = (english, chinese) => (language() === "zh" ? chinese : english);

// typed returns a lockstep command as one types it, so that it answers in the page’s language.
export const typed = command => `go run . ${command}${command.includes(" --lang ") ? "" : say("", " --lang zh")}`;

// several returns a number with its noun: several(1, "step", "步").
export const several = (n, noun, measure) => say(n === 1 ? `1 ${noun}` : `${n} ${noun}s`, `${n} ${measure}`);

export function duration(ms) {
  if (ms < 1000) return Math.round(ms) + say(" ms", " 毫秒");
  return +(ms / 1000).toFixed(ms < 10000 ? 1 : 0) + say(" s", " 秒");
}
