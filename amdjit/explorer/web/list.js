// Lists of code: rows that are hovered, walked through with the keyboard, pinned, and linked with the
// rows of other lists.

import { h } from "./dom.js";
import { related } from "./model.js";

let lists = 0;
// Rows that the browser lays out together, when they come near to what is seen.
const CHUNK = 50;

/** Return rows in chunks that take no time while they are out of sight. */
export function chunks(elements) {
  return Array.from({ length: Math.ceil(elements.length / CHUNK) }, (_, n) => elements.slice(n * CHUNK, (n + 1) * CHUNK))
    .map((part) => h("div", {
      class: "chunk", role: "presentation", style: { "--rows": part.filter((element) => !element.classList.contains("far")).length },
    }, part));
}

/** Return a list of rows. rows: {element, focus} in order; those without a focus are not selectable.
 * linked: for what is related to a focus the rows of this list, {own, outer}. */
export function createList(app, label, rows, linked) {
  const { store, kernel } = app;
  const prefix = `list${(lists += 1)}-`;
  const selectable = rows.filter((row) => row.focus);
  const ordinal = new Map(selectable.map((row, n) => [row.element, n]));
  selectable.forEach(({ element }, n) => {
    element.id = prefix + n;
    element.setAttribute("role", "option");
    element.setAttribute("aria-selected", "false");
  });
  const element = h("div", {
    class: "list", role: "listbox", tabindex: "0", "aria-label": label,
    onmouseover: (event) => store.set({ hover: rowAt(event)?.focus ?? null }),
    onmouseleave: () => store.set({ hover: null }),
    onclick: (event) => {
      const row = rowAt(event);
      if (row) choose(row, true);
    },
    onkeydown: (event) => walk(event),
    onfocus: () => {
      if (current === null && selectable.length) choose(visibleRows()[0] ?? selectable[0], store.get("pinned"));
    },
  });
  let current = null;
  let marked = [];

  function rowAt(event) {
    const option = event.target.closest('[role="option"]');
    return option && selectable[ordinal.get(option)];
  }

  function visibleRows() {
    return selectable.filter((row) => !row.element.hidden && !row.element.classList.contains("filtered"));
  }

  function choose(row, pinned) {
    moveTo(row);
    store.set({ focus: row.focus, pinned, hover: null, origin: element });
  }

  function moveTo(row) {
    current?.element.classList.remove("current");
    current?.element.setAttribute("aria-selected", "false");
    current = row;
    row.element.classList.add("current");
    row.element.setAttribute("aria-selected", "true");
    element.setAttribute("aria-activedescendant", row.element.id);
    row.element.scrollIntoView({ block: "nearest" });
  }

  function walk(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = visibleRows();
    const at = shown.indexOf(current);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -shown.length, End: shown.length };
    if (event.key in steps && shown.length) {
      const to = Math.min(Math.max(at + steps[event.key], 0), shown.length - 1);
      choose(shown[to], false);
      event.preventDefault();
    } else if (event.key === "Enter" && current) {
      store.set({ focus: current.focus, pinned: !store.get("pinned"), origin: element });
      event.preventDefault();
    }
  }

  function mark({ hover, focus, pinned }) {
    for (const [other, name] of marked) other.classList.remove(name);
    marked = [];
    const shown = hover ?? focus;
    if (!shown) return;
    const { own, outer } = linked(related(kernel, shown));
    const strong = !hover && pinned ? "pinned" : "own";
    for (const [others, name] of [[own, strong], [outer, "outer"]]) {
      for (const other of others) {
        other.classList.add(name);
        marked.push([other, name]);
      }
    }
  }

  store.listen(["hover", "focus", "pinned"], mark);
  store.listen(["focus", "origin"], ({ focus, origin }) => {
    if (!focus || origin === element) return;
    const [first] = selectable.filter((row) => row.focus.index !== undefined && row.focus.index === focus.index);
    const { own, outer } = linked(related(kernel, focus));
    const target = first?.element ?? own[0] ?? outer[0];
    if (!target) return;
    if (ordinal.has(target)) moveTo(selectable[ordinal.get(target)]);
    else target.scrollIntoView({ block: "nearest" });
  });
  return element;
}
