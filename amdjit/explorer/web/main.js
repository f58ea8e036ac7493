// The page: reads its data, builds its parts for one version, and again when another is chosen.

import { h, replace } from "./dom.js";
import { cyclesPanel } from "./cycles_panel.js";
import { firstMeasure, heatOf, measuresOf } from "./heat.js";
import { createHelp } from "./help.js";
import { createInstructionPanel } from "./instruction_panel.js";
import { listenToKeys } from "./keyboard.js";
import { createListing } from "./listing.js";
import { readKernel } from "./model.js";
import { createOverview } from "./overview.js";
import { createSource, createText } from "./source.js";
import { createSplitters, fitted } from "./splitter.js";
import { createStore } from "./store.js";
import { createSummary } from "./summary.js";
import { linesPanel, memoryPanel, nothing, occupancyPanel } from "./tables.js";
import { createTabs } from "./tabs.js";
import { createTheme } from "./theme.js";
import { createToolbar } from "./toolbar.js";
import { hex, visible } from "./text.js";

// Characters of a line beside its text, in the source and in the instructions without their arrows,
// and those of details.
const BESIDE_SOURCE = 20;
const BESIDE_INSTRUCTION = 33;
const DETAILS = 52;
// The longest lines that get their whole width. Some instructions, such as s_delay_alu, are longer.
const LONGEST_SOURCE = 90;
const LONGEST_INSTRUCTION = 44;
// Pixels that the panes have at least: source, instructions, details.
const LEAST = [270, 480, 390];

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const kernels = data.kernels.map((kernel, number) => ({ ...readKernel(kernel), number }));
  const versions = data.versions.map((version) => ({ ...version, kernel: kernels[version.kernel] }));
  const page = { versions, moved: data.moved, compared: data.moved !== null, pair: [0, 1], theme: createTheme(), help: createHelp(), app: null, comparing: false };
  const main = h("main", {});
  document.body.append(main, page.help);
  page.show = (n) => show(page, main, n);
  page.show(0);
  listenToKeys(page);
  addEventListener("beforeprint", () => page.app.tabs.buildAll());
}

function show(page, main, number) {
  const version = page.versions[number];
  const { kernel } = version;
  const key = firstMeasure(version);
  const store = createStore({
    focus: null, hover: null, pinned: false, origin: null, heat: heatOf(version, key), query: [], only: false, waits: false, allLines: false,
    narrow: "isa",
  });
  const app = { page, number, version, kernel, store };
  page.app = app;
  app.measures = measuresOf(version);
  app.tabs = createTabs("Details", panels(app), "instruction");
  app.source = createSource(app);
  app.listing = createListing(app);
  const [source, isa, details] = [pane("source", "Source", app.source), pane("isa", "Instructions", app.listing),
    pane("details", "Details", app.tabs.element)];
  const panes = h("div", { class: "panes" });
  const liked = widths(kernel);
  const sizes = [LEAST, liked].map(([source, instructions, details]) => [source, instructions + app.listing.gutters, details]);
  const [first, second] = createSplitters(panes, ["source", "instructions", "details"], (width) => fitted(width, ...sizes));
  panes.append(source, first, isa, second, details);
  const overview = createOverview(app);
  app.toolbar = createToolbar(app);
  app.explorer = h("div", { class: "explorer" }, overview, app.toolbar.element, paneButtons(store), panes, statusLine(app));
  store.listen(["narrow"], ({ narrow }) => { panes.dataset.shown = narrow; });
  app.comparison = page.compared ? h("div", { hidden: true }) : null;
  replace(main, createSummary(app), app.comparison, app.explorer);
  goToHash(app);
  store.listen(["focus", "pinned"], ({ focus, pinned }) => keepHash(kernel, focus, pinned));
}

/** Return the pixels that the three panes would like to have: those of their longest lines. */
function widths(kernel) {
  const probe = h("span", { class: "code probe" }, "0".repeat(100));
  document.body.append(probe);
  const character = probe.getBoundingClientRect().width / 100;
  probe.remove();
  const lines = [...kernel.places.values()].map(({ place: [file, line] }) => kernel.files[file].lines?.[line - kernel.files[file].first]?.length ?? 0);
  const longest = (lengths) => lengths.reduce((most, length) => Math.max(most, length), 0);
  const texts = kernel.instructions.map((each) => each.text.length);
  return [BESIDE_SOURCE + Math.min(LONGEST_SOURCE, longest(lines)), BESIDE_INSTRUCTION + Math.min(LONGEST_INSTRUCTION, longest(texts)), DETAILS]
    .map((count) => count * character);
}

function pane(key, name, content) {
  return h("section", { class: `pane ${key}`, "aria-label": name }, content);
}

function paneButtons(store) {
  const buttons = [["source", "Source"], ["isa", "Instructions"], ["details", "Details"]].map(([key, name]) =>
    h("button", { type: "button", "data-pane": key, onclick: () => store.set({ narrow: key }) }, name));
  store.listen(["narrow"], ({ narrow }) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.pane === narrow));
  });
  return h("div", { class: "pane-buttons", role: "group", "aria-label": "Part of the page" }, buttons);
}

function panels(app) {
  const { kernel } = app;
  const text = (label, lines, missing) => () => (lines.length ? createText(app, label, lines) : nothing(missing));
  return [
    { key: "instruction", name: "Instruction", build: () => createInstructionPanel(app), print: false },
    { key: "lines", name: "Lines", build: () => linesPanel(app) },
    { key: "occupancy", name: "Occupancy", build: () => occupancyPanel(app) },
    { key: "memory", name: "Memory", build: () => memoryPanel(app) },
    { key: "cycles", name: "Cycles", build: () => cyclesPanel(app) },
    { key: "llvm", name: "LLVM IR", print: false, build: text("Optimized LLVM IR", kernel.optimized_llvm, "No LLVM IR: this code object was not compiled by amdjit here.") },
    { key: "tree", name: "Typed tree", print: false, build: text("Typed tree", kernel.typed_tree, "No typed tree: this code object was not compiled by amdjit here.") },
  ];
}

function statusLine({ kernel, store }) {
  const line = h("p", { class: "status" });
  store.listen(["hover", "focus"], ({ hover, focus }) => {
    const index = (hover ?? focus)?.index;
    const each = kernel.instructions[index];
    replace(line, each ? [h("code", {}, `${hex(each.address)}  ${visible(each.text)}`), each.meaning ? ` — ${each.meaning}` : ` — ${each.unit}`]
      : "Press ? for the keys.");
  });
  return line;
}

function keepHash(kernel, focus, pinned) {
  const hash = pinned && focus?.index !== undefined ? `#${hex(kernel.instructions[focus.index].address)}` : "";
  // A page inside of a notebook has no address of its own.
  if (hash && location.protocol !== "about:") history.replaceState(null, "", hash);
}

function goToHash({ kernel, store }) {
  const index = kernel.indexOf.get(parseInt(location.hash.slice(1), 16));
  if (index !== undefined) requestAnimationFrame(() => store.set({ focus: { index }, pinned: true, origin: null }));
}

start();
