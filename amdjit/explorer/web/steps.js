// Steps through the instructions: to matches of the search, to those of a line, to blocks.

import { related } from "./model.js";
import { matches } from "./query.js";

function go(app, index) {
  if (index !== undefined) app.store.set({ focus: { index }, hover: null, origin: null });
}

/** Return the numbers of the instructions that match the search. */
export function matching({ kernel, store }) {
  return kernel.instructions.filter((each) => matches(each, store.get("query"))).map((each) => each.index);
}

/** Go to the next match, or the next instruction of the same line. */
export function step(app, direction) {
  const { kernel, store } = app;
  const focus = store.get("focus");
  const query = store.get("query");
  const { own, outer } = focus ? related(kernel, focus) : { own: [], outer: [] };
  const places = query.length ? matching(app) : [...own, ...outer].sort((a, b) => a - b);
  go(app, nextOf(places, focus?.index ?? -1, direction));
}

/** Return the next of some numbers in order, around the end. */
export function nextOf(numbers, from, direction) {
  if (direction > 0) return numbers.find((number) => number > from) ?? numbers[0];
  return numbers.findLast((number) => number < from) ?? numbers.at(-1);
}

/** Go to the next block. */
export function block(app, direction) {
  go(app, nextOf(app.kernel.blockRows.map(({ first }) => first), app.store.get("focus")?.index ?? -1, direction));
}

/** Go to the instruction before or after. */
export function move(app, direction) {
  const index = (app.store.get("focus")?.index ?? -1) + direction;
  go(app, Math.min(Math.max(index, 0), app.kernel.instructions.length - 1));
}
