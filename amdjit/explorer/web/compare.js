// Two versions side by side, aligned by source line: code, counts and cycles of each.

import { h, replace, table } from "./dom.js";
import { launchAt } from "./model.js";
import { baseName, compact, grouped, hex, percent, visible } from "./text.js";
import { shortUnit } from "./listing.js";

const ofLaunch = (value) => ({ launch }) => launch && value(launch);
// value: of a version, undefined if it has none. estimate: whether the cycle model says it.
const FIGURES = [
  { name: "estimated cycles", value: ofLaunch(({ cycles }) => cycles?.kernel) },
  { name: "wave-instructions executed", value: ofLaunch(({ totals }) => totals?.executions) },
  { name: "bytes asked of memory", value: ofLaunch(({ totals }) => totals?.bytes) },
  { name: "cache lines touched", value: ofLaunch(({ totals }) => totals?.cache_lines) },
  { name: "LDS cycles", value: ofLaunch(({ totals }) => totals?.lds_cycles) },
  { name: "LDS conflict cycles", value: ofLaunch(({ totals }) => totals?.lds_conflict_cycles) },
  { name: "VGPRs", value: ({ kernel }) => kernel.vgprs }, { name: "SGPRs", value: ({ kernel }) => kernel.sgprs },
  { name: "VGPRs alive at the peak", value: ({ kernel }) => kernel.peak.vgprs },
  { name: "waves a SIMD", value: ({ kernel }) => kernel.occupancy.waves_per_simd, isGood: true },
  { name: "VGPR spills", value: ({ kernel }) => kernel.vgpr_spills }, { name: "SGPR spills", value: ({ kernel }) => kernel.sgpr_spills },
  { name: "LDS bytes", value: ({ kernel }) => kernel.lds_bytes }, { name: "scratch bytes", value: ({ kernel }) => kernel.scratch_bytes },
  { name: "code bytes", value: ({ kernel }) => kernel.code_bytes }, { name: "instructions", value: ({ kernel }) => kernel.instructions.length },
];

const sum = (list, value) => list.reduce((total, each) => total + (value(each) ?? 0), 0);
const counted = (name) => (version, list) => sum(list, (each) => launchAt(version, each).counts?.[name]);
// What is compared line by line. value: of a version and the line's instructions there.
const COLUMNS = [
  { name: "cycles, estimated", value: (version, list) => sum(list, (each) => cyclesOf(version, each)) },
  { name: "executed", value: counted("executions") },
  { name: "LDS conflicts", value: counted("lds_conflict_cycles") },
  { name: "conflicts of one access", value: ({ launch, kernel }, list) => (launch ? 0 : sum(list, (each) => kernel.accessOf.get(each.address)?.bank_conflicts)) },
  { name: "cache lines", value: counted("cache_lines") },
  { name: "instructions", value: (version, list) => list.length },
  { name: "live VGPRs", value: (version, list) => Math.max(0, ...list.map((each) => each.live)) },
];
const MARKS = ["①", "②"];

function cyclesOf(version, each) {
  const cycles = launchAt(version, each).cycles;
  return cycles && cycles.issue + Object.values(cycles.stalls ?? {}).reduce((total, number) => total + number, 0);
}

/** Return the instructions of two kernels by line: [{places, left, right}], in the order of the files
 * and lines, those without a line last. places: the name of the file and the line on both sides, null
 * where it is not. left, right: instructions. moved: which lines of the right were elsewhere on the
 * left, or not there: [file, line, file and line on the left]. */
export function alignedLines(left, right, moved) {
  const lines = new Map();
  const before = new Map(moved.map(([file, line, ...then]) => [`${file}:${line}`, then.length ? then.join(":") : `new ${file}:${line}`]));
  [left, right].forEach((kernel, side) => {
    for (const each of kernel.instructions) {
      const place = each.place ? [kernel.files[each.place[0]].name, each.place[1]] : null;
      const here = place ? place.join(":") : "";
      const key = (side && before.get(here)) || here;
      if (!lines.has(key)) lines.set(key, { places: [null, null], sides: [[], []] });
      lines.get(key).places[side] = place;
      lines.get(key).sides[side].push(each);
    }
  });
  const order = ({ places }) => places[0] ?? places[1] ?? ["", Infinity];
  const compare = ([file, line], [other, there]) => (file === "") - (other === "") || (file < other ? -1 : file > other ? 1 : line - there);
  return [...lines.values()].sort((a, b) => compare(order(a), order(b)))
    .map(({ places, sides: [before, after] }) => ({ places, left: before, right: after }));
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

/** Return the view that compares two versions of a page. back: leads to one of them. */
export function createComparison(page, back) {
  const view = h("div", { class: "comparison" });
  const show = () => replace(view, head(page, show, back), ...compared(page));
  show();
  return view;
}

/** Return which two versions are compared, to choose from. */
function head(page, show, back) {
  const select = (side) => {
    const element = h("select", { "aria-label": ["first version", "second version"][side], onchange: () => {
      page.pair = page.pair.map((number, n) => (n === side ? element.selectedIndex : number));
      show();
    } }, page.versions.map(({ name }) => h("option", {}, visible(name))));
    element.selectedIndex = page.pair[side];
    return h("label", {}, `${MARKS[side]} `, element);
  };
  return h("div", { class: "compared" }, h("button", { type: "button", onclick: back }, "one version"), select(0), select(1));
}

/** Return where the lines of one version are in another one, as `alignedLines` takes it. */
function movedBetween(page, [one, other]) {
  const [first, second] = [page.versions[one].kernel, page.versions[other].kernel];
  return (page.moved[`${first.number},${second.number}`] ?? []).map(([file, line, thenFile, thenLine]) =>
    [second.files[file].name, line, ...(thenFile === undefined ? [] : [first.files[thenFile].name, thenLine])]);
}

/** Return the lines of the two versions. Places are known from the earlier kernel to the later one. */
function linesOf(page) {
  const [one, other] = page.pair;
  const kernels = page.pair.map((number) => page.versions[number].kernel);
  if (kernels[0].number <= kernels[1].number) return alignedLines(kernels[0], kernels[1], movedBetween(page, [one, other]));
  return alignedLines(kernels[1], kernels[0], movedBetween(page, [other, one]))
    .map(({ places, left, right }) => ({ places: [...places].reverse(), left: right, right: left }));
}

function compared(page) {
  const versions = page.pair.map((number) => page.versions[number]);
  const lines = linesOf(page);
  const values = lines.map((line) => COLUMNS.map(({ value }) => [value(versions[0], line.left), value(versions[1], line.right)]));
  const used = COLUMNS.map((_, n) => n).filter((n) => values.some((row) => row[n].some(Boolean)));
  const detail = h("div", { class: "side-by-side" });
  const show = (line) => {
    replace(detail, sideBySide(line, versions));
    detail.scrollIntoView({ block: "nearest" });
  };
  const groups = used.flatMap((n) => [...MARKS, "change"].map((name) => ({ name, group: COLUMNS[n].name, numeric: true })));
  const units = lines.map(unitChanges);
  const differ = units.some(Boolean);
  const rows = lines.map((line, n) => ({
    class: used.some((column) => values[n][column][0] !== values[n][column][1]) ? "changed" : null,
    cells: [lineCell(line, versions, show), ...used.flatMap((column) => cells(values[n][column])), ...(differ ? [units[n]] : [])],
  }));
  const first = lines.map((line, n) => ({ line, by: Math.abs(values[n][used[0]][1] - values[n][used[0]][0]) }))
    .reduce((best, each) => (each.by > best.by ? each : best), { line: lines[0], by: -1 });
  if (first.line) replace(detail, sideBySide(first.line, versions));
  return [figures(versions), detail,
    table("By line", [{ name: "line" }, ...groups, ...(differ ? [{ name: "units" }] : [])], rows)];
}

function figures(versions) {
  const rows = FIGURES.map(({ name, value, isGood }) => ({ name, isGood, both: versions.map(value) }))
    .filter(({ both }) => both.some(Boolean))
    .map(({ name, isGood, both: [before, after] }) => [name, number(before), number(after), before === undefined || after === undefined ? "" : delta(before, after, isGood),
      before && after !== undefined && before !== after ? `${after > before ? "+" : "−"}${percent(Math.abs(after - before) / before)}` : ""]);
  return table("The whole", [{ name: "" }, ...MARKS.map((name) => ({ name, numeric: true })), { name: "change", numeric: true }, { name: "", numeric: true }], rows);
}

function number(value) {
  return value === undefined ? "–" : grouped(value);
}

function cells([before, after]) {
  return [before ? compact(before) : "", after ? compact(after) : "", delta(before, after)];
}

function lineCell(line, versions, show) {
  return h("span", { class: "line-cell" }, h("button", { type: "button", class: "link", onclick: () => show(line) }, lineName(line)), sourceText(line, versions));
}

/** Return the name of a line, where it is on the left and, if that is elsewhere, on the right. */
function lineName({ places }) {
  const [one, other] = places.filter(Boolean);
  const name = ([file, line]) => `${visible(baseName(file))}:${line}`;
  if (!one) return "no source line";
  if (!other || name(one) === name(other)) return name(one);
  return `${name(one)} → ${one[0] === other[0] ? other[1] : name(other)}`;
}

function sourceText({ places }, versions) {
  for (const [side, place] of places.entries()) {
    const found = place && versions[side].kernel.files.find(({ name }) => name === place[0]);
    const text = found?.lines?.[place[1] - found.first];
    if (text) return h("code", { class: "excerpt" }, visible(text.trim()));
  }
  return "";
}

/** Return a change in its colour. isGood: whether more is better. */
function delta(before, after, isGood = false) {
  const by = after - before;
  return by ? h("b", { class: by > 0 === isGood ? "less" : "more" }, `${by > 0 ? "+" : "−"}${compact(Math.abs(by))}`) : "";
}

function unitChanges({ left, right }) {
  const tally = (list, unit) => list.filter((each) => each.unit === unit).length;
  const units = [...new Set([...left, ...right].map((each) => each.unit))];
  return units.map((unit) => [unit, tally(right, unit) - tally(left, unit)]).filter(([, by]) => by)
    .map(([unit, by]) => `${shortUnit(unit) || "other"} ${by > 0 ? "+" : "−"}${compact(Math.abs(by))}`).join(", ");
}

function sideBySide(line, versions) {
  const extra = versions.map((version) => [version.launch?.cycles ? ["cycles", cyclesOf] : null,
    version.launch?.counts ? ["executed", (of, each) => launchAt(of, each).counts?.executions] : null].filter(Boolean));
  const cells = (each, side) => [h("td", { class: "code" }, each ? [h("span", { class: "address" }, hex(each.address)), ` ${visible(each.text)}`] : ""),
    ...extra[side].map(([, value]) => h("td", { class: "number" }, each ? compact(value(versions[side], each) ?? 0) : ""))];
  const rows = alignedInstructions(line.left, line.right).map(([before, after]) =>
    h("tr", { class: before && after ? null : "changed" }, cells(before, 0), cells(after, 1)));
  const heads = versions.map((version, side) => [h("th", { scope: "col" }, `${MARKS[side]} ${visible(version.name)}`),
    ...extra[side].map(([name]) => h("th", { scope: "col", class: "number" }, name))]);
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": `Instructions of ${lineName(line)}` },
    h("table", {}, h("caption", {}, `${lineName(line)} `, sourceText(line, versions)), h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
}
