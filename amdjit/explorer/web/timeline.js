// The waves of the sample over time: what each does in each cycle.

import { h, replace, table } from "./dom.js";
import { causeClass } from "./instruction_panel.js";
import { grouped, percent } from "./text.js";

// Heights of a wave's bar and of the space below it, for few waves and for many.
const ROWS = [14, 3];
const MANY = [7, 1];
const FEW = 24;
const LEFT = 64;
const AXIS = 18;
const LEGEND = [["issue", "issue"], ["memory", "wait loadcnt"], ["LDS", "wait dscnt"], ["dependency", "VALU dependency"],
  ["unit or slot busy", "unit busy"], ["barrier", "barrier"], ["branch, fetch", "branch"]];

/** Return the segment of a wave at a cycle: {start, length, what}, or undefined. segments: start,
 * length and what, one after another. */
export function segmentAt(segments, cycle) {
  let [low, high] = [0, segments.length / 3];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[3 * middle] <= cycle) low = middle + 1;
    else high = middle;
  }
  const [start, length, what] = segments.slice(3 * low - 3, 3 * low);
  return low > 0 && cycle < start + length ? { start, length, what } : undefined;
}

/** Return round numbers that divide a range of cycles into a few parts. */
export function ticks(from, to, most = 6) {
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power;
  const found = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) found.push(tick);
  return found;
}

/** Return the timeline with its controls and a table of the same in numbers. */
export function createTimeline(cycles) {
  const waves = [...cycles.timeline].sort((a, b) => a.simd - b.simd || a.slot - b.slot || a.start - b.start);
  const end = Math.max(1, ...waves.map((wave) => wave.end));
  const pitch = rowPitch(waves);
  let [from, to] = [0, end];
  const canvas = h("canvas", { "aria-hidden": "true" });
  const note = h("p", { class: "note", "aria-live": "polite" }, "");
  const view = h("div", {
    class: "timeline", tabindex: "0", role: "group",
    "aria-label": "Waves over time. Arrow keys move, plus and minus zoom. The table below has the same in numbers.",
    onkeydown: key, onpointermove: (event) => replace(note, described(event)),
  }, canvas);

  function move(low, high) {
    const size = Math.min(end, Math.max(32, high - low));
    from = Math.min(Math.max(0, low), end - size);
    to = from + size;
    draw();
    replace(note, `cycles ${grouped(Math.round(from))} to ${grouped(Math.round(to))}`);
  }

  function zoom(factor) {
    const [center, half] = [(from + to) / 2, (to - from) / 2 * factor];
    move(center - half, center + half);
  }

  function key(event) {
    const size = to - from;
    const acts = {
      ArrowLeft: () => move(from - size / 8, to - size / 8), ArrowRight: () => move(from + size / 8, to + size / 8),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Home: () => move(0, size), End: () => move(end - size, end),
    };
    if (!(event.key in acts) || event.ctrlKey || event.metaKey) return;
    acts[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }

  function described(event) {
    const box = canvas.getBoundingClientRect();
    const wave = waves[Math.floor((event.clientY - box.top) / pitch)];
    const cycle = from + (event.clientX - box.left - LEFT) / (box.width - LEFT) * (to - from);
    if (!wave || cycle < from) return "";
    const segment = segmentAt(wave.segments, cycle);
    return `${waveName(wave)}, cycle ${grouped(Math.round(cycle))}: `
      + (segment ? `${cycles.whats[segment.what]} from ${grouped(segment.start)} for ${grouped(segment.length)}` : "not there");
  }

  function draw() {
    paint(canvas, view.clientWidth, waves, cycles.whats, from, to);
  }

  new ResizeObserver(draw).observe(view);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("themechange", draw);
  const button = (text, name, act) => h("button", { type: "button", "aria-label": name, onclick: act }, text);
  return h("div", {},
    h("div", { class: "controls" }, button("+", "zoom in", () => zoom(0.5)), button("−", "zoom out", () => zoom(2)),
      button("←", "earlier", () => move(from - (to - from) / 4, to - (to - from) / 4)),
      button("→", "later", () => move(from + (to - from) / 4, to + (to - from) / 4)), button("all", "all cycles", () => move(0, end)),
      h("ul", { class: "legend" }, LEGEND.map(([name, cause]) => h("li", { class: causeClass(cause) }, name)))),
    view, note,
    waves.some((wave) => wave.merged) ? h("p", { class: "note" }, "Each part of the picture shows what takes most of its cycles; the table counts all of them.") : null,
    inNumbers(waves, cycles.whats));
}

function rowPitch(waves) {
  const [bar, gap] = waves.length > FEW ? MANY : ROWS;
  return bar + gap;
}

function waveName(wave) {
  return `workgroup ${wave.workgroup} wave ${wave.wave}, SIMD ${wave.simd} slot ${wave.slot}`;
}

function paint(canvas, width, waves, whats, from, to) {
  const scale = window.devicePixelRatio || 1;
  const [bar] = waves.length > FEW ? MANY : ROWS;
  const pitch = rowPitch(waves);
  const named = Math.ceil(12 / pitch);
  const height = waves.length * pitch + AXIS;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colours = whats.map((what) => style.getPropertyValue(`--${causeClass(what)}`).trim());
  const x = (cycle) => LEFT + (cycle - from) / (to - from) * (width - LEFT);
  context.scale(scale, scale);
  context.font = "11px system-ui, sans-serif";
  waves.forEach((wave, n) => {
    const y = n * pitch;
    context.fillStyle = style.getPropertyValue("--muted");
    if (n % named === 0) context.fillText(`S${wave.simd}.${wave.slot} wg ${wave.workgroup}.${wave.wave}`, 0, y + 10, LEFT - 6);
    for (let at = 0; at < wave.segments.length; at += 3) {
      const [start, length, what] = wave.segments.slice(at, at + 3);
      if (start + length <= from || start >= to) continue;
      const left = Math.max(LEFT, x(start));
      context.fillStyle = colours[what];
      context.fillRect(left, y, Math.max(0.4, x(start + length) - left), bar);
    }
  });
  context.fillStyle = style.getPropertyValue("--muted");
  for (const tick of ticks(from, to)) {
    context.fillRect(x(tick), 0, 0.5, height - AXIS + 4);
    if (x(tick) < width - 30) context.fillText(grouped(tick), x(tick) + 2, height - 4);
  }
}

function inNumbers(waves) {
  const columns = [{ name: "wave" }, { name: "start", numeric: true }, { name: "end", numeric: true }, { name: "issue", numeric: true },
    { name: "longest stall" }, { name: "", numeric: true }];
  return table("Waves, in cycles", columns, waves.map((wave) => {
    const all = wave.end - wave.start;
    const [cause, cycles] = Object.entries(wave.totals ?? {}).filter(([what]) => what !== "issue").sort((a, b) => b[1] - a[1])[0] ?? ["", 0];
    return [`${wave.workgroup}.${wave.wave} on ${wave.simd}.${wave.slot}`, grouped(wave.start), grouped(wave.end),
      all ? percent((wave.totals?.issue ?? 0) / all) : "", cause, cycles ? percent(cycles / all) : ""];
  }));
}
