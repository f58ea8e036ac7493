// Texts whose lines are linked with instructions: the sources, LLVM IR, the typed tree.

import { h } from "./dom.js";
import { chunks, createList } from "./list.js";
import { columnHead, headHeat, showValue } from "./listing.js";
import { placeKey } from "./model.js";
import { pythonParts } from "./syntax.js";
import { baseName, visible } from "./text.js";

// Lines that are shown around those with code.
const NEAR = 6;

/** Return the sources: for each file a heading and its lines, with the heat of each. */
export function createSource(app) {
  const { kernel, store } = app;
  const rows = [];
  const parts = kernel.files.map((file, number) => fileRows(kernel, file, number, rows));
  const list = linkedList(app, "Source", rows);
  list.classList.add("source");
  const heading = h("span", { class: "heat" });
  if (rows.length) list.append(columnHead("line", heading, h("span", { title: "instructions" }, "instr."), "source"));
  list.append(...parts.flat());
  if (!parts.flat().length) list.append(h("p", { class: "nothing" }, "No source lines: the code object has no debug information that names them."));
  store.listen(["heat"], ({ heat }) => {
    headHeat(heading, heat);
    for (const row of rows) if (row.key) showValue(row.heat, heat.places.get(row.key), heat.placeShare(row.key));
  });
  store.listen(["allLines"], ({ allLines }) => list.classList.toggle("near-only", !allLines));
  return list;
}

function fileRows(kernel, file, number, rows) {
  const used = [...kernel.places.values()].filter(({ place }) => place[0] === number).map(({ place }) => place[1]);
  if (!used.length) return [];
  const heading = h("div", { class: "file", role: "presentation", title: visible(file.name) }, visible(baseName(file.name)),
    file.lines ? null : h("span", {}, " text not available"));
  const lines = file.lines ? withText(file) : [...used].sort((a, b) => a - b).map((line) => ({ line, parts: [] }));
  const near = new Set(used.flatMap((line) => Array.from({ length: 2 * NEAR + 1 }, (_, n) => line - NEAR + n)));
  const own = lines.map(({ line, parts }) => sourceRow(kernel, [number, line], parts, near));
  rows.push(...own);
  return [heading, ...chunks(own.map((row) => row.element))];
}

function withText(file) {
  let open = "";
  const python = file.name.endsWith(".py");
  return file.lines.map((text, n) => {
    let parts = [["", visible(text)]];
    if (python) [parts, open] = pythonParts(visible(text), open);
    return { line: file.first + n, parts };
  });
}

function sourceRow(kernel, place, parts, near) {
  const key = placeKey(place);
  const found = kernel.places.get(key);
  const total = found ? found.direct.length + found.inlined.length : 0;
  const heat = h("span", { class: "heat" });
  const kinds = found && !found.direct.length ? "row inlined-only" : "row";
  const element = h("div", { class: found ? kinds : `row without-code${near.has(place[1]) ? "" : " far"}` },
    h("span", { class: "line" }, place[1]),
    heat,
    h("span", { class: "count", title: total ? `${total} instructions` : null }, total || ""),
    h("span", { class: "code" }, spans(parts)));
  return { element, heat, key: found ? key : null, focus: found ? { place } : null };
}

/** Return a text whose lines are given as [text, file, line]. */
export function createText(app, label, lines) {
  const rows = lines.map(([text, ...place], n) => ({
    element: h("div", { class: "row" }, h("span", { class: "line" }, isNew(place, lines[n - 1]) ? place[1] : ""),
      h("span", { class: "code" }, visible(text) || " ")),
    key: place.length && app.kernel.places.has(placeKey(place)) ? placeKey(place) : null,
    focus: place.length ? { place } : null,
  }));
  const list = linkedList(app, label, rows);
  list.classList.add("text");
  list.append(...chunks(rows.map((row) => row.element)));
  return list;
}

/** Return whether a line has another place than the one before it. */
function isNew(place, [, ...before] = []) {
  return place.length > 0 && (place[0] !== before[0] || place[1] !== before[1]);
}

function linkedList(app, label, rows) {
  const byKey = new Map();
  for (const { key, element } of rows) if (key) byKey.set(key, [...(byKey.get(key) ?? []), element]);
  const elements = (place) => byKey.get(placeKey(place)) ?? [];
  return createList(app, label, rows, ({ places }) => ({
    own: places.slice(0, 1).flatMap(elements), outer: places.slice(1).flatMap(elements),
  }));
}

function spans(parts) {
  return parts.map(([kind, text]) => (kind ? h("span", { class: kind }, text) : text));
}
