// The whole code at a glance: live registers along it with the steps of occupancy, units, heat and
// loops. A slider: arrow keys and clicks move through the code.

import { h, replace, s } from "./dom.js";
import { hex } from "./text.js";

const HEIGHT = 92;
const CURVE = 66;
const LEFT = 34;
const RIGHT = 128;

/** Return the overview of a version. */
export function createOverview(app) {
  const { kernel, store } = app;
  const count = kernel.instructions.length;
  const svg = s("svg", { height: HEIGHT, width: "100%", "aria-hidden": "true" });
  const slider = h("div", {
    class: "overview", role: "slider", tabindex: "0", "aria-label": "Position in the code",
    "aria-valuemin": "0", "aria-valuemax": Math.max(0, count - 1), "aria-valuenow": "0",
    onkeydown: (event) => step(event), onclick: (event) => jump(event.clientX),
    onpointermove: (event) => store.set({ hover: { index: at(event.clientX) } }),
    onpointerleave: () => store.set({ hover: null }),
  }, svg);
  let position = 0;
  let width = 0;

  const plotWidth = () => Math.max(1, width - LEFT - RIGHT);
  const at = (x) => Math.min(count - 1, Math.max(0, Math.floor((x - slider.getBoundingClientRect().left - LEFT) / plotWidth() * count)));
  const jump = (x) => count && store.set({ focus: { index: at(x) }, pinned: true, hover: null, origin: slider });

  function step(event) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20, Home: -count, End: count };
    if (!(event.key in steps) || !count) return;
    const index = Math.min(count - 1, Math.max(0, position + steps[event.key]));
    store.set({ focus: { index }, pinned: false, origin: slider });
    event.preventDefault();
  }

  function draw() {
    if (!width) return;
    replace(svg, count ? picture(app, plotWidth(), store.get("heat")) : []);
    cursor(store.get("hover") ?? store.get("focus"));
  }

  function cursor(focus) {
    svg.querySelector(".cursor")?.remove();
    if (focus?.index === undefined) return;
    position = focus.index;
    const each = kernel.instructions[position];
    slider.setAttribute("aria-valuenow", position);
    slider.setAttribute("aria-valuetext", `instruction ${position + 1} of ${count}, ${each.live} VGPRs alive`);
    const x = LEFT + (position + 0.5) / count * plotWidth();
    svg.append(s("g", { class: "cursor" }, s("line", { x1: x, x2: x, y1: 0, y2: HEIGHT }),
      s("text", { x: x + 4, y: 10 }, `${hex(each.address)}  ${each.live}`)));
  }

  new ResizeObserver(([{ contentRect }]) => {
    ({ width } = contentRect);
    draw();
  }).observe(slider);
  store.listen(["heat"], draw);
  store.listen(["hover", "focus"], ({ hover, focus }) => cursor(hover ?? focus));
  return slider;
}

function picture({ kernel }, width, heat) {
  const count = kernel.instructions.length;
  const top = Math.max(kernel.vgprs, kernel.mostLive);
  const x = (index) => LEFT + index / count * width;
  const y = (registers) => CURVE - registers / top * (CURVE - 8);
  const steps = kernel.instructions.map((each, n) => `L${x(n).toFixed(1)} ${y(each.live).toFixed(1)}H${x(n + 1).toFixed(1)}`).join("");
  const peak = kernel.indexOf.get(kernel.peak.address);
  return [
    loopBands(kernel, x),
    s("path", { class: "pressure", d: `M${LEFT} ${CURVE}${steps}V${CURVE}Z` }),
    limits(kernel, top, x, y, width),
    s("text", { class: "axis", x: LEFT - 4, y: y(top) + 8, "text-anchor": "end" }, top),
    s("text", { class: "axis", x: LEFT - 4, y: CURVE, "text-anchor": "end" }, "0"),
    peak === undefined ? [] : s("circle", { class: "peak", cx: x(peak + 0.5), cy: y(kernel.peak.vgprs), r: 2.5 }),
    strip(kernel.instructions.map((each) => unitClass(each.unit)), x, CURVE + 4, 8),
    heat ? warmth(heat, x, width) : [],
    s("text", { class: "axis", x: LEFT + width + 6, y: CURVE + 11 }, "units"),
    s("text", { class: "axis", x: LEFT + width + 6, y: CURVE + 23 }, heat ? heat.measure.name : ""),
  ];
}

function limits(kernel, top, x, y, width) {
  const lines = [{ registers: kernel.vgprs, text: `${kernel.vgprs} allocated, ${kernel.occupancy.waves_per_simd} waves`, kind: "allocated" }];
  for (const step of kernel.occupancy.steps) {
    if (step.vgprs !== null && step.vgprs < kernel.vgprs) lines.push({ registers: step.vgprs, text: `${step.vgprs}: ${step.waves} waves`, kind: "step" });
  }
  let last = -20;
  return lines.filter(({ registers }) => registers <= top).map(({ registers, text, kind }) => {
    const height = y(registers);
    const label = height - last < 10 ? null : s("text", { class: "axis", x: LEFT + width + 6, y: height + 4 }, text);
    if (label) last = height;
    return [s("line", { class: `limit ${kind}`, x1: x(0), x2: LEFT + width, y1: height, y2: height }), label].filter(Boolean);
  });
}

function loopBands(kernel, x) {
  const numbers = kernel.blocks.map((block) => block.number);
  return kernel.loops.flatMap((loop) => loop.blocks.map((number) => {
    const { first, end } = kernel.blockRows[numbers.indexOf(number)];
    return s("rect", { class: "band", x: x(first), width: x(end) - x(first), y: 0, height: CURVE });
  }));
}

/** Return the class of a unit in pictures. */
export function unitClass(unit) {
  return `u-${unit.replaceAll(" ", "-")}`;
}

/** Return runs of equal classes as rectangles. */
function strip(classes, x, y, height) {
  const runs = [];
  classes.forEach((name, n) => {
    if (runs.length && runs.at(-1).name === name) runs.at(-1).end = n + 1;
    else runs.push({ name, start: n, end: n + 1 });
  });
  return runs.map(({ name, start, end }) => s("rect", { class: name, x: x(start), width: Math.max(0.5, x(end) - x(start)), y, height }));
}

/** Return the heat, at most one rectangle for each pixel: the warmest instruction there. */
function warmth(heat, x, width) {
  const bins = Math.min(heat.shares.length, Math.ceil(width));
  const warm = new Array(bins).fill(0);
  heat.shares.forEach((share, n) => {
    const bin = Math.floor(n * bins / heat.shares.length);
    warm[bin] = Math.max(warm[bin], share);
  });
  return warm.map((share, bin) => {
    if (!share) return [];
    const [start, end] = [bin, bin + 1].map((n) => x(n / bins * heat.shares.length));
    return s("rect", { class: "warm", x: start, width: end - start, y: CURVE + 16, height: 8, "fill-opacity": share.toFixed(2) });
  });
}
