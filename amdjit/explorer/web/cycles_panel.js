// What the cycle model says about a launch: stalls by cause, assumptions, the roofline, the waves.

import { h } from "./dom.js";
import { stallBars } from "./instruction_panel.js";
import { createTimeline } from "./timeline.js";
import { count, duration, grouped, compact, percent } from "./text.js";
import { nothing } from "./tables.js";

/** Return the panel of cycles. */
export function cyclesPanel({ version }) {
  const { launch } = version;
  if (!launch) return nothing("No launch: cycles and counts are those of a launch on the emulator under amdjit.profile().");
  const { cycles, roofline, totals } = launch;
  return h("div", { class: "panel-body" },
    cycles ? estimated(cycles) : nothing(`No estimate of cycles: ${launch.no_cycles ?? "none was made"}.`),
    roofline ? roof(roofline) : null,
    totals ? totalsOf(totals) : null);
}

function estimated(cycles) {
  return [
    h("h3", { class: "estimate" }, `${grouped(cycles.kernel)} cycles, ${duration(cycles.seconds)}`),
    h("p", {}, `Estimated: ${grouped(cycles.per_wgp)} cycles for ${count(cycles.sampled_workgroups, "workgroup")} on one WGP; `
      + `${percent(cycles.wmma_share)} of the WMMA peak, ${percent(cycles.valu_share)} of the VALU peak.`),
    cycles.assumptions.length
      ? [h("p", {}, "It rests on what was not measured:"), h("ul", { class: "assumptions" }, cycles.assumptions.map((each) => h("li", {}, each)))] : null,
    h("h4", {}, "Stall cycles of all sampled waves, by cause"), stallBars(cycles.stalls),
    h("h4", {}, "Waves"), cycles.timeline.length ? createTimeline(cycles) : nothing("No waves were recorded."),
  ];
}

function roof(roofline) {
  return [h("h4", {}, "Roofline"),
    h("p", {}, `${compact(roofline.operations)} ${roofline.type} operations and ${compact(roofline.bytes)} bytes: `
      + `${grouped(roofline.intensity)} operations a byte, ${roofline.bound === "size" ? "too small a launch to tell what bounds it" : `bound by ${roofline.bound}`}. At ${compact(roofline.peak)} operations and `
      + `${compact(roofline.bandwidth)} bytes a second it takes ${duration(roofline.seconds)} at least, less only where caches hold bytes from before.`),
    h("p", { class: "note" }, roofline.source)];
}

function totalsOf(totals) {
  const units = Object.entries(totals.units ?? {}).sort((a, b) => b[1] - a[1]);
  const most = units[0]?.[1] ?? 1;
  return [h("h4", {}, "Executed wave-instructions, by unit"),
    h("ul", { class: "bars" }, units.filter(([, number]) => number).map(([unit, number]) =>
      h("li", { style: { "--share": number / most } }, h("span", {}, unit), h("b", {}, grouped(number)))))];
}
