// Who this browser is in the room: a participant, without a name, or the one who teaches.
import { say } from "../words.js";

let name = "";

// participant is a name made by chance; it lasts as long as the tab.
export function participant() {
  try {
    name ||= sessionStorage.getItem("lockstep.participant") ?? "";
  } catch {
    /* it is not kept */
  }
  name ||= [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
  try {
    sessionStorage.setItem("lockstep.participant", name);
  } catch {
    /* it is not kept */
  }
  return name;
}

const animals = [
  ["Rat", "鼠"],
  ["Ox", "牛"],
  ["Tiger", "虎"],
  ["Rabbit", "兔"],
  ["Dragon", "龙"],
  ["Snake", "蛇"],
  ["Horse", "马"],
  ["Goat", "羊"],
  ["Monkey", "猴"],
  ["Rooster", "鸡"],
  ["Dog", "狗"],
  ["Pig", "猪"],
];

// badge is what the board calls this participant by: an animal and a number, as called says them.
export const badge = () => Number.parseInt(participant().slice(0, 8), 16) % (animals.length * 99);
export function called(badge) {
  const [english, chinese] = animals[badge % animals.length],
    number = Math.floor(badge / animals.length) + 1;
  return say(`${english} ${number}`, `${chinese} ${number} 号`);
}

// leads reports whether this browser teaches in the room that is open: its own lessons do not count. lead makes it so.
export function leads(room) {
  try {
    return room.open && localStorage.getItem("lockstep.leads") === room.until;
  } catch {
    return leading === room.until;
  }
}
let leading = ""; // where nothing is kept
export function lead(room) {
  leading = room.until;
  try {
    localStorage.setItem("lockstep.leads", leading);
  } catch {
    /* it is not kept */
  }
}
