// Two versions side by side, aligned by source line: what grew, and the instructions of both.

import { h, replace, table } from "./dom.js";
import { compact, grouped, hex, visible } from "./text.js";
import { shortUnit } from "./listing.js";

const FIGURES = [["VGPRs", (kernel) => kernel.vgprs], ["SGPRs", (kernel) => kernel.sgprs], ["VGPRs alive at the peak", (kernel) => kernel.peak.vgprs],
  ["waves a SIMD", (kernel) => kernel.occupancy.waves_per_simd], ["VGPR spills", (kernel) => kernel.vgpr_spills],
  ["SGPR spills", (kernel) => kernel.sgpr_spills], ["LDS bytes", (kernel) => kernel.lds_bytes],
  ["scratch bytes", (kernel) => kernel.scratch_bytes], ["code bytes", (kernel) => kernel.code_bytes], ["instructions", (kernel) => kernel.instructions.length]];

/** Return the instructions of two kernels by line: [{file, line, left, right}], in the order of the
 * files and lines, those without a line last. left, right: instructions. moved: which lines of the
 * right were elsewhere on the left, or not there: [file, line, file and line on the left]. */
export function alignedLines(left, right, moved) {
  const lines = new Map();
  const before = new Map(moved.map(([file, line, ...then]) => [`${file}:${line}`, then.length ? then.join(":") : `new ${file}:${line}`]));
  [left, right].forEach((kernel, side) => {
    for (const each of kernel.instructions) {
      const [file, line] = each.place ? [kernel.files[each.place[0]].name, each.place[1]] : ["", Infinity];
      const here = `${file}:${line}`;
      const key = (side && before.get(here)) || here;
      if (!lines.has(key)) lines.set(key, { file, line, sides: [[], []] });
      lines.get(key).sides[side].push(each);
    }
  });
  return [...lines.values()]
    .sort((a, b) => (a.file === "") - (b.file === "") || (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line))
    .map(({ file, line, sides: [before, after] }) => ({ file, line, left: before, right: after }));
}

/** Return pairs of instructions of two lists in their order, equal mnemonics side by side: by the
 * longest common subsequence, or, of long lists, one after another. */
export function alignedInstructions(left, right) {
  if (left.length * right.length > 250000) {
    return Array.from({ length: Math.max(left.length, right.length) }, (_, n) => [left[n], right[n]]);
  }
  const best = Array.from({ length: left.length + 1 }, () => new Int32Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      best[i][j] = left[i].mnemonic === right[j].mnemonic ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i].mnemonic === right[j].mnemonic) pairs.push([left[i++], right[j++]]);
    else if (j >= right.length || (i < left.length && best[i + 1][j] >= best[i][j + 1])) pairs.push([left[i++], undefined]);
    else pairs.push([undefined, right[j++]]);
  }
  return pairs;
}

/** Return the view that compares two versions. moved: as `alignedLines` takes it. back: leads to one of them. */
export function createComparison([left, right], moved, back) {
  const lines = alignedLines(left.kernel, right.kernel, moved);
  const detail = h("div", { class: "side-by-side" });
  const show = (line) => replace(detail, sideBySide(line, left, right));
  const rows = lines.map((line) => ({
    class: line.left.length === line.right.length ? null : "changed",
    cells: [h("button", { type: "button", class: "link", onclick: () => show(line) }, lineName(line)), sourceText(line, [left, right]),
      line.left.length, line.right.length, delta(line.left.length, line.right.length), mostLive(line.left), mostLive(line.right), unitChanges(line)],
  }));
  const first = lines.reduce((best, line) => (change(line) > change(best) ? line : best), lines[0]);
  if (first) show(first);
  return h("div", { class: "comparison" },
    h("p", {}, h("button", { type: "button", onclick: back }, "one version")),
    table(`${left.name} and ${right.name}`, [{ name: "" }, { name: left.name, numeric: true }, { name: right.name, numeric: true }, { name: "change", numeric: true }],
      FIGURES.map(([name, value]) => [name, grouped(value(left.kernel)), grouped(value(right.kernel)), delta(value(left.kernel), value(right.kernel))])),
    table("Lines", [{ name: "line" }, { name: "" }, { name: `instructions ${left.name}`, numeric: true }, { name: right.name, numeric: true }, { name: "change", numeric: true },
      { name: `live ${left.name}`, numeric: true }, { name: right.name, numeric: true }, { name: "units" }], rows),
    detail);
}

function change(line) {
  return Math.abs(line.right.length - line.left.length);
}

function lineName({ file, line }) {
  return file ? `${visible(file.split(/[\\/]/).pop())}:${line}` : "no source line";
}

function sourceText({ file, line }, versions) {
  for (const { kernel } of versions) {
    const found = kernel.files.find(({ name }) => name === file);
    const text = found?.lines?.[line - found.first];
    if (text) return h("code", { class: "excerpt" }, visible(text.trim()));
  }
  return "";
}

function delta(before, after) {
  const by = after - before;
  return by ? h("b", { class: by > 0 ? "more" : "less" }, `${by > 0 ? "+" : "−"}${grouped(Math.abs(by))}`) : "";
}

function mostLive(instructions) {
  return instructions.length ? Math.max(...instructions.map((each) => each.live)) : "";
}

function unitChanges({ left, right }) {
  const tally = (list, unit) => list.filter((each) => each.unit === unit).length;
  const units = [...new Set([...left, ...right].map((each) => each.unit))];
  return units.map((unit) => [unit, tally(right, unit) - tally(left, unit)]).filter(([, by]) => by)
    .map(([unit, by]) => `${shortUnit(unit) || "other"} ${by > 0 ? "+" : "−"}${compact(Math.abs(by))}`).join(", ");
}

function sideBySide(line, left, right) {
  const cell = (each) => h("td", { class: "code" }, each ? [h("span", { class: "address" }, hex(each.address)), ` ${visible(each.text)}`] : "");
  const rows = alignedInstructions(line.left, line.right).map(([before, after]) =>
    h("tr", { class: before && after ? null : "changed" }, cell(before), cell(after)));
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": `Instructions of ${lineName(line)}` },
    h("table", {}, h("caption", {}, lineName(line)), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, left.name), h("th", { scope: "col" }, right.name))),
      h("tbody", {}, rows)));
}
