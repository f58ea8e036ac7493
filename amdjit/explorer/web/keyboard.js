// Keys that work anywhere on the page.

import { toggleComparison } from "./comparison_switch.js";
import { related } from "./model.js";
import { matches } from "./query.js";

/** Listen to the keys of the page. */
export function listenToKeys(page) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || page.help.open) return;
    const { app } = page;
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "Escape") escape(app, typing);
    else if (!typing && actions(page)[event.key]) actions(page)[event.key]();
    else if (!typing && /^[1-9]$/.test(event.key)) app.tabs.selectNumber(Number(event.key) - 1);
    else return;
    event.preventDefault();
  });
}

function actions(page) {
  const { app } = page;
  const { store } = app;
  const to = (pane, element) => () => {
    store.set({ narrow: pane });
    element.focus();
  };
  return {
    "/": () => app.toolbar.search.focus(), "?": () => page.help.showModal(), t: () => page.theme.next(), c: () => toggleComparison(page),
    h: () => app.toolbar.nextHeat(), w: () => store.set({ waits: !store.get("waits") }),
    v: () => page.show((app.number + 1) % page.versions.length),
    n: () => step(app, 1), p: () => step(app, -1), "]": () => block(app, 1), "[": () => block(app, -1),
    j: () => move(app, 1), k: () => move(app, -1),
    s: to("source", app.source), i: to("isa", app.listing), d: to("details", app.tabs.element.querySelector('[aria-selected="true"]')),
  };
}

function escape(app, typing) {
  if (typing) {
    app.toolbar.clear();
    app.listing.focus();
  } else app.store.set({ focus: null, pinned: false, hover: null, origin: null });
}

function go(app, index) {
  if (index !== undefined) app.store.set({ focus: { index }, hover: null, origin: null });
}

/** Go to the next match, or the next instruction of the same line. */
function step(app, direction) {
  const { kernel, store } = app;
  const focus = store.get("focus");
  const query = store.get("query");
  const { own, outer } = focus ? related(kernel, focus) : { own: [], outer: [] };
  const places = query.length
    ? kernel.instructions.filter((each) => matches(each, query)).map((each) => each.index)
    : [...own, ...outer].sort((a, b) => a - b);
  go(app, nextOf(places, focus?.index ?? -1, direction));
}

/** Return the next of some numbers in order, around the end. */
export function nextOf(numbers, from, direction) {
  if (direction > 0) return numbers.find((number) => number > from) ?? numbers[0];
  return numbers.findLast((number) => number < from) ?? numbers.at(-1);
}

function block(app, direction) {
  go(app, nextOf(app.kernel.blockRows.map(({ first }) => first), app.store.get("focus")?.index ?? -1, direction));
}

function move(app, direction) {
  const index = (app.store.get("focus")?.index ?? -1) + direction;
  go(app, Math.min(Math.max(index, 0), app.kernel.instructions.length - 1));
}
