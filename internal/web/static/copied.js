// What a reader takes along.
import { say } from "./words.js";

// copied copies a text, and says so on the button.
export async function copied(button, text) {
  const was = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = say("Copied", "已复制");
  } catch {
    prompt(say("To copy:", "复制："), text); // the page is not from this machine, and not over HTTPS
  }
  setTimeout(() => {
    button.textContent = was;
  }, 1500);
}
