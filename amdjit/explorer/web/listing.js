// The machine code: a row for each instruction, with its heat, the registers alive before it, and
// arrows of jumps and waits beside it.

import { h } from "./dom.js";
import { chunks, createList } from "./list.js";
import { jumpGutter, waitGutter } from "./gutters.js";
import { instructionParts } from "./syntax.js";
import { baseName, compact, count, hex, visible } from "./text.js";
import { matches } from "./query.js";

const UNITS = {
  VALU: "VALU", transcendental: "TRANS", WMMA: "WMMA", MFMA: "MFMA", SALU: "SALU", "scalar memory": "SMEM",
  "vector memory": "VMEM", LDS: "LDS", branch: "BR", wait: "WAIT", barrier: "BAR", other: "",
};

/** Return the short name of a unit. */
export function shortUnit(unit) {
  return UNITS[unit] ?? unit;
}

/** Return the list of instructions; `gutters` are the pixels that the arrows beside them take. */
export function createListing(app) {
  const { kernel, store } = app;
  const rows = kernel.instructions.map((each) => instructionRow(each, kernel));
  const list = createList(app, "Instructions", rows, ({ own, outer }) => ({
    own: own.map((index) => rows[index].element), outer: outer.map((index) => rows[index].element),
  }));
  const body = h("div", { class: "rows" }, kernel.blocks.map((block, n) => blockGroup(kernel, n, rows)));
  const height = kernel.instructions.length + kernel.blocks.length;
  const rowOf = (index) => index + 1 + kernel.blockRows.findIndex(({ end }) => index < end);
  list.classList.add("listing");
  const [jumps, waits] = [jumpGutter(app, rowOf, height), waitGutter(app, rowOf, height)];
  list.gutters = jumps.width + waits.width;
  const heading = h("span", { class: "heat" });
  list.append(h("div", { class: "canvas", style: { "--jumps": `${jumps.width + 4}px`, "--waits": `${waits.width}px` } },
    columnHead("addr.", heading, "unit", "instruction", h("span", { class: "live", title: "VGPRs alive before it" }, "live"), "line"),
    h("div", { class: "code-canvas" }, body, jumps.svg, waits.svg)));
  store.listen(["heat"], ({ heat }) => {
    headHeat(heading, heat);
    showHeat(rows, heat);
  });
  store.listen(["query", "only"], ({ query, only }) => filter(kernel, list, rows, query, only));
  return list;
}

/** Return the headings above the columns of a list. */
export function columnHead(...names) {
  return h("div", { class: "column-head", role: "presentation" }, names.map((name) => (typeof name === "string" ? h("span", {}, name) : name)));
}

/** Name the measure of the heat above its column. */
export function headHeat(heading, { measure }) {
  heading.textContent = measure.short;
  heading.title = measure.name;
}

function instructionRow(each, kernel) {
  const parts = instructionParts(visible(each.text)).map(([kind, text]) => (kind ? h("span", { class: kind }, text) : text));
  const heat = h("span", { class: "heat" });
  const element = h("div", {
    class: `row${["WMMA", "MFMA"].includes(each.unit) ? " matrix" : ""}`, "data-index": each.index, "data-unit": each.unit,
    "aria-description": each.meaning,
  },
  h("span", { class: "address" }, hex(each.address)),
  heat,
  h("span", { class: "unit" }, shortUnit(each.unit)),
  h("span", { class: "code" }, parts),
  h("span", { class: "live", title: `${each.live} VGPRs alive before it`, style: { "--live": each.live / kernel.mostLive } }, each.live),
  h("span", { class: "line", title: placeTitle(each, kernel) }, each.place ? each.place[1] : "–"));
  return { element, heat, focus: { index: each.index } };
}

function placeTitle(each, kernel) {
  return each.place ? `${baseName(kernel.files[each.place[0]].name)}:${each.place[1]}` : "no source line";
}

function blockGroup(kernel, n, rows) {
  const block = kernel.blocks[n];
  const { first, end } = kernel.blockRows[n];
  const loop = kernel.loops.find((each) => each.number === block.loop);
  const header = kernel.loops.find((each) => each.header === block.number);
  const notes = [
    header ? `loop ${header.number} begins` : loop ? `in loop ${loop.number}` : null,
    loop && loop.depth > 1 ? `depth ${loop.depth}` : null,
    count(end - first, "instruction"),
    block.predecessors.length ? `from ${block.predecessors.join(", ")}` : null,
    block.successors.length ? `to ${block.successors.join(", ")}` : null,
  ].filter(Boolean);
  return h("div", {
    class: "block", role: "group", "aria-label": `block ${block.number}, ${notes.join(", ")}`,
    "data-loop": loop ? "yes" : null,
  },
  h("div", { class: "block-head", "aria-hidden": "true" },
    h("b", {}, `block ${block.number}`), h("span", {}, notes.join(" · "))),
  chunks(rows.slice(first, end).map((row) => row.element)));
}

function showHeat(rows, heat) {
  rows.forEach((row, index) => showValue(row.heat, heat.values[index], heat.shares[index]));
}

/** Show a value of heat in its cell. */
export function showValue(cell, value, share) {
  cell.style.setProperty("--heat", share.toFixed(3));
  cell.textContent = value ? compact(value) : "";
}

function filter(kernel, list, rows, query, only) {
  rows.forEach(({ element }, index) => {
    const out = query.length > 0 && !matches(kernel.instructions[index], query);
    element.classList.toggle("dimmed", out && !only);
    element.classList.toggle("filtered", out && only);
  });
  list.classList.toggle("filtering", only && query.length > 0);
}
