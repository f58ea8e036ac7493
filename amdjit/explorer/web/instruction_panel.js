// What is known of the instruction in focus, or of the line in focus.

import { h, replace } from "./dom.js";
import { launchAt, related } from "./model.js";
import { laneMaps } from "./fragments.js";
import { members } from "./registers.js";
import { baseName, compact, count, grouped, hex, percent, visible } from "./text.js";
import { shortUnit } from "./listing.js";

// Lines and instructions that are listed while nothing is chosen.
const MOST = 6;

/** Return the panel of the focus. */
export function createInstructionPanel(app) {
  const { store, kernel } = app;
  const panel = h("div", { class: "panel-body", "aria-live": "off" });
  let last;
  const show = ({ hover, focus, pinned, heat }) => {
    const shown = (pinned ? focus : hover ?? focus) ?? heat;
    // Buttons of the panel point at instructions while they have the focus: they must not go away.
    if (shown === last || (hover && panel.contains(document.activeElement))) return;
    last = shown;
    if (shown === heat) replace(panel, warmest(app));
    else if (shown.index !== undefined) replace(panel, ofInstruction(app, kernel.instructions[shown.index]));
    else replace(panel, ofLine(app, shown));
  };
  store.listen(["hover", "focus", "pinned", "heat"], show);
  return panel;
}

/** Return what is shown while nothing is chosen: the lines and instructions with most heat. */
function warmest(app) {
  const { kernel, store } = app;
  const heat = store.get("heat");
  const lines = [...heat.places].filter(([, value]) => value).sort((a, b) => b[1] - a[1]).slice(0, MOST)
    .map(([key, value]) => ({ value, place: kernel.places.get(key).place }));
  const instructions = heat.values.map((value, index) => ({ value, index })).filter(({ value }) => value)
    .sort((a, b) => b.value - a.value || a.index - b.index).slice(0, MOST);
  const { name } = heat.measure;
  const bars = (items, most, link) => h("ul", { class: "bars warmest" }, items.map((item) =>
    h("li", { style: { "--share": item.value / most } }, link(item), h("b", {}, compact(item.value)))));
  return [
    h("p", { class: "hint" }, "Choose an instruction or a source line to see all about it."),
    lines.length ? [h("h4", {}, `Lines with most ${name}`),
      bars(lines, lines[0].value, ({ place }) => h("span", {}, placeLink(app, place), " ", h("code", {}, sourceText(kernel, place))))] : null,
    instructions.length ? [h("h4", {}, `Instructions with most ${name}`),
      bars(instructions, instructions[0].value, ({ index }) => h("span", {}, instructionLink(app, kernel.instructions[index].address)))] : null,
  ];
}

function ofInstruction(app, each) {
  const { kernel, version } = app;
  const access = kernel.accessOf.get(each.address);
  return [
    h("h3", { class: "code" }, visible(each.text)),
    each.meaning ? h("p", { class: "meaning" }, each.meaning) : null,
    facts([
      ["address", hex(each.address)], ["size", count(each.size, "byte")], ["unit", each.unit],
      ["issue", each.issue === undefined ? "not known" : count(each.issue, "cycle")],
      ["block", `${each.block}${each.depth ? `, ${count(each.depth, "loop")} around it` : ""}`],
    ]),
    stack(app, each),
    links(app, "Waits for", each.waits_for), links(app, "Waited for by", each.waited_by), links(app, "Ready by", each.needs),
    access ? [h("h4", {}, "Memory"), facts(accessFacts(access))] : null,
    launchFacts(version, each),
    each.unit === "WMMA" ? laneMaps(app, each) : null,
    liveRegisters(kernel, each),
  ];
}

function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** Return a button that goes to an instruction. short: with its mnemonic only. */
export function instructionLink(app, address, short = false) {
  const { kernel, store } = app;
  const index = kernel.indexOf.get(address);
  if (index === undefined) return h("span", { class: "code" }, hex(address));
  const each = kernel.instructions[index];
  return h("button", {
    type: "button", class: "link code",
    onclick: () => store.set({ focus: { index }, pinned: true, hover: null, origin: null }),
    onfocus: () => store.set({ hover: { index } }), onblur: () => store.set({ hover: null }),
  }, h("span", { class: "address" }, hex(address)), ` ${visible(short ? each.mnemonic : each.text)}`);
}

/** Return a button that goes to a source line. */
export function placeLink(app, place, text) {
  const { kernel, store } = app;
  const name = `${visible(baseName(kernel.files[place[0]].name))}:${place[1]}`;
  return h("button", {
    type: "button", class: "link", onclick: () => store.set({ focus: { place }, pinned: true, hover: null, origin: null }),
  }, text ?? name);
}

function stack(app, each) {
  if (!each.place && !each.calls.length) return h("p", { class: "nothing" }, "No source line: the debug information names none for this address.");
  return h("ol", { class: "stack" },
    each.place ? h("li", {}, placeLink(app, each.place), h("code", {}, sourceText(app.kernel, each.place))) : null,
    each.calls.map((call) => h("li", {}, h("span", {}, visible(call.function || "a function"), " inlined at "),
      call.place ? placeLink(app, call.place) : "an unknown place",
      call.place ? h("code", {}, sourceText(app.kernel, call.place)) : null)));
}

/** Return the text of a source line without its margin, "" if it is not there. */
export function sourceText(kernel, [file, line]) {
  const { first, lines } = kernel.files[file];
  return visible((lines?.[line - first] ?? "").trim());
}

function links(app, title, addresses) {
  if (!addresses.length) return null;
  return [h("h4", {}, title), h("ul", { class: "links" }, addresses.map((address) => h("li", {}, instructionLink(app, address))))];
}

function accessFacts(access) {
  const or = (value, text = String(value)) => (value === undefined ? "not known" : text);
  return [
    ["access", `${access.space} ${access.kind}`], ["width", `${access.width} bytes a lane`],
    ["uniform", or(access.uniform, access.uniform ? "one address for all lanes" : "an address for each lane")],
    ["lane stride", or(access.lane_stride, `${access.lane_stride} bytes`)],
    ["cache policy", access.policy || "default"],
    ...(access.space === "LDS" ? [["bank conflicts", or(access.bank_conflicts, count(access.bank_conflicts ?? 0, "more cycle"))]] : []),
  ];
}

const COUNT_NAMES = {
  taken: "branches taken", requests: "requests", bytes: "bytes asked for", cache_lines: "cache lines",
  lds_cycles: "LDS cycles", lds_conflict_cycles: "of them conflicts", contention: "contending lanes", barrier_waits: "waits of waves",
};

function launchFacts(version, each) {
  if (!version.launch) return null;
  const { counts, cycles } = launchAt(version, each);
  if (!counts && !cycles) return h("p", { class: "nothing" }, "Not executed in this launch.");
  const lanes = counts?.executions ? [["active lanes", `${percent((counts.active_lanes ?? 0) / counts.executions / version.kernel.wave_size)}`]] : [];
  const rest = Object.entries(COUNT_NAMES).filter(([name]) => counts?.[name]).map(([name, title]) => [title, grouped(counts[name])]);
  return [
    h("h4", {}, "In this launch"),
    counts ? facts([["executions", count(counts.executions ?? 0, "wave")], ...lanes, ...rest]) : null,
    cycles ? [h("h4", { class: "estimate" }, "Estimated cycles, all sampled waves"), stallBars({ issue: cycles.issue, ...cycles.stalls })] : null,
  ];
}

/** Return bars of cycles by cause, the longest first. */
export function stallBars(cycles) {
  const sorted = Object.entries(cycles).filter(([, number]) => number).sort((a, b) => b[1] - a[1]);
  const most = sorted[0]?.[1] ?? 1;
  const total = sorted.reduce((sum, [, number]) => sum + number, 0);
  return h("ul", { class: "bars" }, sorted.map(([cause, number]) => h("li", { class: causeClass(cause), style: { "--share": number / most } },
    h("span", {}, cause), h("b", {}, grouped(number)), h("small", {}, percent(number / total)))));
}

/** Return the class of what a wave does in a cycle, for its colour. */
export function causeClass(cause) {
  if (cause === "issue") return "c-issue";
  if (cause === "wait dscnt") return "c-lds";
  if (cause.startsWith("wait ") || cause.startsWith("memory")) return "c-memory";
  if (cause.endsWith("dependency")) return "c-dependency";
  if (cause === "unit busy" || cause === "other wave issues") return "c-busy";
  if (cause === "barrier") return "c-barrier";
  return cause === "idle" ? "c-idle" : "c-fetch";
}

function liveRegisters(kernel, each) {
  const live = new Set(members(each.vgprs));
  const rows = Math.ceil(Math.max(kernel.vgprs, ...live, 1) / 32);
  const cells = Array.from({ length: rows * 32 }, (_, n) => h("i", { class: live.has(n) ? "on" : n < kernel.vgprs ? "" : "off", title: n < 256 ? `v${n}` : `a${n - 256}` }));
  return [
    h("h4", {}, `${count(each.live, "VGPR")} and ${count(each.liveScalars, "SGPR")} alive before it`),
    h("div", { class: "registers", role: "img", "aria-label": `alive: v ${each.vgprs ?? "none"}; s ${each.sgprs ?? "none"}` }, cells),
    h("p", { class: "ranges code" }, `v ${each.vgprs ?? "–"}`, h("br"), `s ${each.sgprs ?? "–"}`),
  ];
}

function ofLine(app, { place }) {
  const { kernel } = app;
  const { own, outer } = related(kernel, { place });
  const units = new Map();
  for (const index of [...own, ...outer]) {
    const unit = kernel.instructions[index].unit;
    units.set(unit, (units.get(unit) ?? 0) + 1);
  }
  const rows = [...units].sort((a, b) => b[1] - a[1]);
  return [
    h("h3", {}, `${visible(baseName(kernel.files[place[0]].name))}:${place[1]}`),
    h("pre", {}, sourceText(kernel, place)),
    facts([["own instructions", own.length], ["by inlining", outer.length],
      ["most VGPRs alive", Math.max(0, ...[...own, ...outer].map((index) => kernel.instructions[index].live))]]),
    h("ul", { class: "bars" }, rows.map(([unit, number]) => h("li", { style: { "--share": number / rows[0][1] } },
      h("span", {}, shortUnit(unit) || "other"), h("b", {}, number)))),
    h("h4", {}, "Instructions"),
    h("ul", { class: "links" }, [...own, ...outer].slice(0, 200).map((index) => h("li", {}, instructionLink(app, kernel.instructions[index].address)))),
  ];
}
