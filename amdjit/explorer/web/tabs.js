// Tabs: one of several panels is shown. Panels are built when they are first shown, or printed.

import { h } from "./dom.js";

/** Return tabs. entries: {key, name, build}. shown: the key of the first panel. */
export function createTabs(label, entries, shown) {
  const buttons = entries.map(({ key, name }, n) => h("button", {
    type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `panel-${key}`, "aria-selected": "false", tabindex: "-1",
    onclick: () => select(n), onkeydown: (event) => walk(event, n),
  }, name));
  const panels = entries.map(({ key, print }) => h("div", {
    role: "tabpanel", id: `panel-${key}`, "aria-labelledby": `tab-${key}`, hidden: true, class: `panel${print === false ? " screen-only" : ""}`,
  }));

  function build(n) {
    if (!panels[n].hasChildNodes()) panels[n].append(entries[n].build());
  }

  function select(n) {
    build(n);
    buttons.forEach((button, other) => {
      button.setAttribute("aria-selected", String(other === n));
      button.tabIndex = other === n ? 0 : -1;
      panels[other].hidden = other !== n;
    });
  }

  function walk(event, n) {
    const to = { ArrowRight: n + 1, ArrowLeft: n - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    const target = (to + buttons.length) % buttons.length;
    select(target);
    buttons[target].focus();
    event.preventDefault();
  }

  select(Math.max(0, entries.findIndex(({ key }) => key === shown)));
  return {
    element: h("div", { class: "tabs" }, h("div", { role: "tablist", "aria-label": label }, buttons), panels),
    select: (key) => select(entries.findIndex((entry) => entry.key === key)),
    selectNumber: (n) => n < entries.length && select(n),
    buildAll: () => entries.forEach((entry, n) => entry.print !== false && build(n)),
  };
}
