// Bars between panes: dragged, or moved with the arrow keys, they share out the width anew.

import { h, setStyle } from "./dom.js";

const STEP = 3;
const LEAST = 12;

/** Return shares of which two neighbours have changed by `by` percent points, none below the least
 * that a pane needs. */
export function shifted(shares, at, by) {
  const both = shares[at] + shares[at + 1];
  const first = Math.min(Math.max(shares[at] + by, LEAST), both - LEAST);
  return shares.map((share, n) => (n === at ? first : n === at + 1 ? both - first : share));
}

/** Return the shares of the width for panes that need at least so many pixels, and would like to have
 * so many: what is between is shared out by what each would like, and so is what is left over. */
export function fitted(width, least, liked) {
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const more = liked.map((size, n) => Math.max(0, size - least[n]));
  const part = Math.min(1, Math.max(0, (width - sum(least)) / (sum(more) || 1)));
  const sizes = least.map((size, n) => size + part * more[n]);
  return sizes.map((size) => 100 * size / sum(sizes));
}

/** Return bars for panes, whose shares of the width become `--share…` of their container. sharesOf:
 * returns them for a width, until somebody moves a bar. */
export function createSplitters(container, names, sharesOf) {
  let current = [];
  let moved = false;
  const bars = names.slice(1).map((name, at) => h("div", {
    class: "splitter", role: "separator", tabindex: "0", "aria-orientation": "vertical", style: { "grid-column": 2 * at + 2 },
    "aria-label": `between ${names[at]} and ${name}`, "aria-valuemin": LEAST, "aria-valuemax": 100 - LEAST,
    onkeydown: (event) => {
      const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (by === undefined) return;
      moved = true;
      set(shifted(current, at, by));
      event.preventDefault();
    },
    onpointerdown: (event) => drag(event, at),
  }));

  function drag(event, at) {
    const bar = bars[at];
    const [start, before] = [event.clientX, current];
    moved = true;
    const move = ({ clientX }) => set(shifted(before, at, (clientX - start) / container.clientWidth * 100));
    bar.setPointerCapture(event.pointerId);
    bar.addEventListener("pointermove", move);
    bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
    event.preventDefault();
  }

  function set(changed) {
    current = changed;
    changed.forEach((share, n) => setStyle(container, { [`--share${n}`]: `${share}fr` }));
    bars.forEach((bar, at) => bar.setAttribute("aria-valuenow", Math.round(changed[at])));
  }

  new ResizeObserver(([{ contentRect: { width } }]) => {
    if (width && !moved) set(sharesOf(width));
  }).observe(container);
  set(sharesOf(window.innerWidth));
  return bars;
}
