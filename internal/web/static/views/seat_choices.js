// What can happen next, and what cannot.
import { el, kbd } from "../dom.js";
import { short } from "../trace.js";
import { say } from "../words.js";

export function choicesPanel(seat) {
  const { choices, disabled, over, state } = seat.here.view;
  const numbered = choices.map((choice, i) => ({ ...choice, i }));
  const plain = numbered.filter(choice => !choice.fault);
  const allowed = Object.keys(state.left),
    cannot = disabled.filter(({ what }) => !allowed.includes(what));
  return [
    el("h2", null, say("What happens next?", "接下来发生什么？")),
    over && el("p", null, say("Nothing more will happen: everybody has ended.", "不会再发生什么了：都结束了。")),
    el(
      "ul",
      { class: "choices" },
      plain.map(choice => el("li", null, button(seat, choice))),
    ),
    allowed.length > 0 && [
      el("h2", null, say("Faults", "故障")),
      el(
        "ul",
        { class: "choices palette" },
        allowed.map(name =>
          palette(
            seat,
            name,
            state.left[name],
            numbered.filter(({ fault }) => fault === name),
            disabled.find(({ what }) => what === name),
          ),
        ),
      ),
    ],
    el(
      "ul",
      { class: "choices" },
      cannot.map(({ what, why }) =>
        el(
          "li",
          { class: "cannot" },
          !why.startsWith(what) && [el("b", null, what === "time" ? say("time", "时间") : what), " "],
          why,
        ),
      ),
    ),
  ];
}

function palette(seat, name, left, choices, disabled) {
  const says = seat.index.faults.find(fault => fault.name === name)?.says;
  return el(
    "li",
    null,
    el(
      "p",
      { class: "fault", title: says },
      el("span", { class: "chip warn" }, name),
      " ",
      el(
        "span",
        { class: "soft small" },
        left === 0 ? say("none left", "已用完") : say(`${left} left`, `还剩 ${left} 次`),
      ),
      left > 0 && choices.length === 0 && disabled && el("span", { class: "soft small" }, " · ", disabled.why),
    ),
    choices.map(choice => button(seat, choice)),
  );
}

// choiceSays is what a choice does, in the words of its button.
export const choiceSays = choice => choice.says || choice.token;

function button(seat, choice) {
  const hinted = seat.hint?.next === choice.token;
  return el(
    "button",
    {
      class: ["choice", hinted && "hinted"].filter(Boolean).join(" "),
      "data-focus": "choice" + choice.i,
      "data-token": choice.token,
      onclick: () => seat.take(choice.token),
    },
    choice.i < 9 && kbd(choice.i + 1),
    el(
      "span",
      { class: "what" },
      el("span", null, choiceSays(choice)),
      choice.command && el("code", null, short(choice.command)),
    ),
    hinted && el("span", { class: "chip" }, say("hint", "提示")),
    seat.oracle.badge(choice.token),
  );
}
