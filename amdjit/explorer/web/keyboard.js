// Keys that work anywhere on the page.

import { toggleComparison } from "./comparison_switch.js";
import { block, move, step } from "./steps.js";

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
    n: () => step(app, 1), N: () => step(app, -1), p: () => step(app, -1), "]": () => block(app, 1), "[": () => block(app, -1),
    j: () => move(app, 1), k: () => move(app, -1),
    s: to("source", app.source), i: to("isa", app.listing), d: to("details", app.tabs.element.querySelector('[aria-selected="true"]')),
  };
}

/** Leave the search field, and keep what it found; else end the search and let go what is chosen. */
function escape(app, typing) {
  if (typing) {
    app.listing.focus();
    return;
  }
  app.toolbar.clear();
  app.store.set({ focus: null, pinned: false, hover: null, origin: null });
}
