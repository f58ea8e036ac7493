// Panels that are tables: lines, occupancy, memory.

import { h, table } from "./dom.js";
import { instructionLink, placeLink, sourceText } from "./instruction_panel.js";
import { launchAt } from "./model.js";
import { shortUnit } from "./listing.js";
import { baseName, compact, count, grouped, limitName, visible } from "./text.js";

const COLUMNS_OF_UNITS = ["VALU", "transcendental", "WMMA", "MFMA", "SALU", "scalar memory", "vector memory", "LDS", "branch", "wait", "barrier", "other"];
const MEMORY_UNITS = new Set(["scalar memory", "vector memory", "LDS"]);

/** Return the table of source lines: what each became. */
export function linesPanel(app) {
  const { kernel, version } = app;
  const lines = [...kernel.places.values()].filter(({ direct }) => direct.length)
    .sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1]);
  if (!lines.length) return nothing("No source lines: the code object has no debug information that names them.");
  const units = COLUMNS_OF_UNITS.filter((unit) => kernel.instructions.some((each) => each.unit === unit));
  const counted = Boolean(version.launch?.counts);
  const stalled = Boolean(version.launch?.cycles);
  const columns = [{ name: "line" },
    ...(stalled ? [{ name: "stalls", numeric: true, title: "stall cycles, estimated" }] : []),
    ...(counted ? [{ name: "executed", numeric: true, title: "wave-instructions" }] : []),
    { name: "live", numeric: true, title: "most VGPRs alive" }, { name: "all", numeric: true, title: "instructions" },
    ...units.map((unit) => ({ name: shortUnit(unit) || "other", numeric: true, title: unit })), { name: "source" }];
  const rows = lines.map(({ place, direct }) => {
    const all = direct.map((index) => kernel.instructions[index]);
    const sum = (value) => all.reduce((total, each) => total + (value(launchAt(version, each)) ?? 0), 0);
    return [placeLink(app, place, `${visible(baseName(kernel.files[place[0]].name))}:${place[1]}`),
      ...(stalled ? [compact(sum(({ cycles }) => Object.values(cycles?.stalls ?? {}).reduce((a, b) => a + b, 0)))] : []),
      ...(counted ? [compact(sum(({ counts }) => counts?.executions))] : []),
      Math.max(...all.map((each) => each.live)), direct.length,
      ...units.map((unit) => all.filter((each) => each.unit === unit).length || ""),
      h("code", { class: "excerpt" }, sourceText(kernel, place))];
  });
  return h("div", { class: "panel-body" }, table("Instructions by source line and unit", columns, rows));
}

/** Return what limits occupancy, what more needs, and which values are alive at the peak. */
export function occupancyPanel(app) {
  const { kernel } = app;
  const { occupancy, peak } = kernel;
  const limits = Object.entries(occupancy.limits).sort((a, b) => a[1] - b[1]);
  const most = Math.max(1, ...limits.map(([, waves]) => waves));
  return h("div", { class: "panel-body" },
    h("h3", {}, `${count(occupancy.waves_per_simd, "wave")} on a SIMD`),
    h("p", {}, occupancy.limited_by === "none" ? "All slots for waves are filled." : `Limited by ${limitName(occupancy.limited_by)}.`),
    h("ul", { class: "bars" }, limits.map(([name, waves]) => h("li", {
      class: name === occupancy.limited_by ? "c-issue" : null, style: { "--share": waves / most },
    }, h("span", {}, `${limitName(name)} alone`), h("b", {}, waves)))),
    h("h4", {}, "What more waves need"),
    occupancy.steps.length ? h("ul", { class: "steps" }, occupancy.steps.map((step) => h("li", {}, step.text)))
      : nothing(occupancy.limited_by === "none" ? "There are no more slots." : "Not known: no higher number of waves is described."),
    h("h4", {}, `Alive at the peak: ${count(peak.vgprs, "VGPR")}`),
    kernel.indexOf.has(peak.address) ? h("p", {}, instructionLink(app, peak.address)) : null,
    peak.values.length
      ? table("Variables alive at the peak", [{ name: "variable" }, { name: "type" }, { name: "registers" }],
        peak.values.map((value) => [h("code", {}, visible(value.name)), visible(value.type), h("code", {}, visible(value.registers))]))
      : nothing("No names: the debug information names no variables there."),
    peak.origins.length ? table("Lines that wrote the registers alive at the peak", [{ name: "written by" }, { name: "VGPRs", numeric: true }],
      peak.origins.map((each) => [each.place ? placeLink(app, each.place) : "an unknown line", each.vgprs])) : null);
}

/** Return the tables of memory instructions and of LDS conflicts. */
export function memoryPanel(app) {
  const { kernel, version } = app;
  if (!kernel.accesses.length) {
    const some = kernel.instructions.some((each) => MEMORY_UNITS.has(each.unit));
    return nothing(some ? "Not known: the memory instructions are not described." : "The kernel has no memory instructions.");
  }
  const counted = Boolean(version.launch?.counts);
  // What tells good accesses from bad ones comes first: the pane may be narrow.
  const columns = [{ name: "instruction" },
    ...(counted ? [{ name: "used", numeric: true, title: "bytes asked for, of the bytes of the cache lines touched" },
      { name: "lines each", numeric: true, title: "cache lines of 128 bytes that a request touches" }, { name: "requests", numeric: true }] : []),
    { name: "stride", numeric: true, title: "bytes from a lane to the next" }, { name: "bytes", numeric: true, title: "of a lane" },
    { name: "policy" }, { name: "space" }, { name: "kind" }];
  const rows = kernel.accesses.map((access) => [instructionLink(app, access.address, true),
    ...(counted ? coalescing(access, version.launch.counts[access.address]) : []),
    access.uniform ? "uniform" : access.lane_stride ?? "?", access.width, access.policy || "", access.space, access.kind]);
  return h("div", { class: "panel-body" }, table("Memory instructions", columns, rows), conflicts(app), registerBanks(kernel));
}

function registerBanks({ register_banks: kinds }) {
  return kinds.map((each) => [
    h("h4", {}, `VGPR banks: ${each.addresses} of ${count(each.count, `${each.instructions} instruction`)} with operands in one bank`),
    h("p", {}, each.cycles === null ? "What that costs is not known." : `Each costs ${count(each.cycles, "more cycle")}.`),
    h("p", { class: "note" }, each.source),
  ]);
}

function coalescing({ space }, counts) {
  if (!counts?.requests) return ["", "", ""];
  // A scalar load is one lane's: nothing in its line is left to others.
  const lines = space === "scalar" ? 0 : counts.cache_lines ?? 0;
  return [lines ? `${Math.round(100 * (counts.bytes ?? 0) / (128 * lines))} %` : "",
    lines ? compact(lines / counts.requests) : "", compact(counts.requests)];
}

function conflicts(app) {
  const { kernel, version } = app;
  const accesses = kernel.accesses.filter((access) => access.space === "LDS");
  if (!accesses.length) return null;
  const counted = Boolean(version.launch?.counts);
  const columns = [{ name: "instruction" }, { name: "of one access", numeric: true, title: "cycles beyond those without conflicts, by the lanes' stride" },
    ...(counted ? [{ name: "cycles", numeric: true }, { name: "conflicts", numeric: true }] : [])];
  const rows = accesses.map((access) => {
    const counts = version.launch?.counts?.[access.address];
    const many = (access.bank_conflicts ?? 0) > 0 || (counts?.lds_conflict_cycles ?? 0) > 0;
    return { class: many ? "warn" : null, cells: [instructionLink(app, access.address, true), access.bank_conflicts ?? "?",
      ...(counted ? [grouped(counts?.lds_cycles ?? 0), grouped(counts?.lds_conflict_cycles ?? 0)] : [])] };
  });
  return table("LDS bank conflicts, in cycles", columns, rows);
}

/** Return a remark that something is not there, and why. */
export function nothing(text) {
  return h("p", { class: "nothing" }, text);
}
