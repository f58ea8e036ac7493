// Search, heat, and the switches of the page.

import { h, replace } from "./dom.js";
import { heatOf } from "./heat.js";
import { toggleComparison } from "./comparison_switch.js";
import { parseQuery } from "./query.js";
import { matching, step } from "./steps.js";
import { shortUnit } from "./listing.js";
import { count, grouped, visible } from "./text.js";

/** Return the toolbar: its element, its search field, and what keys do with it. */
export function createToolbar(app) {
  const { page, kernel, store, version } = app;
  const found = h("output", { class: "found", "aria-live": "polite" });
  const search = h("input", {
    type: "search", placeholder: "search: v_wmma, line:26", "aria-label": "Search instructions", spellcheck: "false", autocomplete: "off",
    oninput: () => store.set({ query: parseQuery(`${search.value} ${unit.value && `unit:${unit.value}`}`) }),
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      step(app, event.shiftKey ? -1 : 1);
      event.preventDefault();
    },
  });
  const unit = h("select", { "aria-label": "Unit", onchange: () => search.dispatchEvent(new Event("input")) },
    h("option", { value: "" }, "all units"),
    kernel.units.filter((name) => kernel.instructions.some((each) => each.unit === name))
      .map((name) => h("option", { value: name.replaceAll(" ", "_") }, shortUnit(name) || name)));
  const heat = h("select", { "aria-label": "Heat", onchange: () => store.set({ heat: heatOf(version, heat.value) }) },
    app.measures.map(({ key, name, estimate }) => h("option", { value: key }, estimate ? `${name} (estimated)` : name)));
  heat.value = store.get("heat").measure.key;
  store.listen(["query", "focus"], ({ query, focus }) => {
    const error = query.find((condition) => condition.error)?.error;
    const places = matching(app);
    const at = places.indexOf(focus?.index);
    const all = count(places.length, "match").replace(/matchs$/, "matches");
    replace(found, error ?? (query.length ? (at < 0 ? all : `${grouped(at + 1)} of ${all}`) : ""));
  });
  const theme = h("button", { type: "button", onclick: () => page.theme.next() });
  page.theme.listen((choice) => {
    replace(theme, { auto: "◐", light: "☀", dark: "☾" }[choice]);
    theme.setAttribute("aria-label", `Theme: ${choice}`);
  });
  const element = h("div", { class: "toolbar", role: "toolbar", "aria-label": "Tools" },
    versionSelect(app),
    page.compared ? h("button", { type: "button", onclick: () => toggleComparison(page) }, "compare") : null,
    h("label", {}, "heat ", heat), search, unit,
    toggle(store, "only", "only matches"), found, h("span", { class: "space" }),
    toggle(store, "waits", "all waits"), toggle(store, "allLines", "all lines"),
    theme, h("button", { type: "button", "aria-label": "Keys", onclick: () => page.help.showModal() }, "?"));
  return {
    element, search,
    clear() {
      search.value = "";
      unit.value = "";
      store.set({ query: [] });
    },
    nextHeat() {
      heat.selectedIndex = (heat.selectedIndex + 1) % heat.options.length;
      heat.dispatchEvent(new Event("change"));
    },
  };
}

function versionSelect({ page, number }) {
  if (page.versions.length < 2) return null;
  const select = h("select", { "aria-label": "Version", onchange: () => page.show(select.selectedIndex) },
    page.versions.map((version) => h("option", {}, visible(version.name))));
  select.selectedIndex = number;
  return select;
}

function toggle(store, name, text) {
  const button = h("button", { type: "button", onclick: () => store.set({ [name]: !store.get(name) }) }, text);
  store.listen([name], (values) => button.setAttribute("aria-pressed", String(values[name])));
  return button;
}
