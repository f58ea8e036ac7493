// The head of the page: what the kernel is, and its main figures.

import { h } from "./dom.js";
import { placeLink } from "./instruction_panel.js";
import { compact, count, duration, grouped, limitName, percent, visible } from "./text.js";

/** Return the head of the page for a version. */
export function createSummary(app) {
  const { kernel, version } = app;
  const missing = [...kernel.missing, ...(version.launch?.missing ?? [])];
  return h("div", { class: "summary" },
    h("div", { class: "title" }, h("h1", {}, visible(kernel.kernel)), h("p", { class: "target" }, [kernel.target, `wave${kernel.wave_size}`, kernel.wgp_mode ? "WGP mode" : "CU mode",
      `workgroups of up to ${kernel.workgroup_size}`, kernel.producer && `by ${visible(kernel.producer)}`].filter(Boolean).join(" · "))),
    h("dl", { class: "figures" }, staticFigures(kernel), version.launch ? launchFigures(version.launch) : []),
    causes(app, version.launch?.causes ?? kernel.causes),
    missing.length ? h("ul", { class: "missing", "aria-label": "What could not be found out" },
      missing.map((sentence) => h("li", {}, visible(sentence)))) : null);
}

/** Return what costs most: a sentence for each cause, with its line. */
function causes(app, found) {
  if (!found?.length) return null;
  const item = (cause) => h("li", { class: cause.basis === "model" ? "estimate" : null }, linkTo(app, cause), ` ${visible(cause.sentence)}`);
  return h("section", { class: "causes", "aria-label": "Look here first" }, h("h2", {}, "Look here first"), h("ol", {}, found.map(item)));
}

function linkTo(app, { file, line }) {
  const number = app.kernel.files.findIndex(({ name }) => name === file);
  return number < 0 ? null : placeLink(app, [number, line]);
}

/** Return the extents of a launch without those of one at the end: 4 × 2. */
function size([x, y, z]) {
  return (z > 1 ? [x, y, z] : y > 1 ? [x, y] : [x]).join(" × ");
}

function figure(name, value, note, kind) {
  return h("div", { class: kind }, h("dt", {}, name), h("dd", {}, value, note ? h("small", {}, note) : null));
}

function staticFigures(kernel) {
  const { occupancy, peak } = kernel;
  const spills = kernel.vgpr_spills + kernel.sgpr_spills;
  return [
    figure("VGPRs", kernel.vgprs, `${peak.vgprs} live at most`),
    figure("SGPRs", kernel.sgprs, `${peak.sgprs} live there`),
    figure("Waves a SIMD", occupancy.waves_per_simd, occupancy.limited_by === "none" ? "all slots" : `limited by ${limitName(occupancy.limited_by)}`),
    figure("LDS", grouped(kernel.lds_bytes), "bytes a workgroup"),
    figure("Scratch", grouped(kernel.scratch_bytes), spills ? `bytes, ${count(spills, "spill")}` : "bytes, no spills", spills ? "warn" : null),
    figure("Instructions", grouped(kernel.instructions.length), `${grouped(kernel.code_bytes)} bytes`),
  ];
}

function launchFigures({ grid, block, waves, totals, cycles, roofline }) {
  const figures = [figure("Launch", size(grid), `groups of ${size(block)}, ${count(waves, "wave")}`)];
  if (totals?.executions) figures.push(figure("Executed", compact(totals.executions), "wave-instructions"));
  if (totals?.bytes) figures.push(figure("Asked of memory", compact(totals.bytes), "bytes"));
  if (cycles) {
    const rests = cycles.assumptions.length ? "estimate" : null;
    figures.push(figure("Cycles", grouped(cycles.kernel), `${duration(cycles.seconds)}, estimated`, rests));
    const share = cycles.wmma_share > 0 ? ["WMMA", cycles.wmma_share] : ["VALU", cycles.valu_share];
    figures.push(figure(`${share[0]} peak`, percent(share[1]), "estimated", rests));
  }
  if (roofline) figures.push(boundBy(roofline));
  return figures;
}

function boundBy({ bound, seconds }) {
  if (bound === "size") return figure("Bound by", "?", "too small a launch to tell");
  return figure("Bound by", bound, `${duration(seconds)} at least${bound === "memory" ? ", caches cold" : ""}`);
}
