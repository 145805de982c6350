import { el } from "../dom.js";

// called is a text, with its anomalies called as people call them; the term is in the tooltip.
export const called = ({ anomalies }, text) =>
  text.split(/([a-z]+(?:-[a-z]+)*)/).map(word => {
    const one = anomalies.find(({ name }) => name === word);
    return one ? el("span", { title: `${word}: ${one.says}` }, one.title) : word;
  });
