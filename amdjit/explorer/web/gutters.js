// Arrows beside the instructions: jumps and loops on the left, waits on the right.

import { replace, s } from "./dom.js";
import { assignLanes } from "./lanes.js";

const ROW = 20;
const STEP = 6;
const MOST_LANES = 9;
const LOOP = 5;

const middle = (row) => row * ROW + ROW / 2;

/** Return a picture beside the rows: {svg, width}. */
function gutter(name, width, height, ...children) {
  return { width, svg: s("svg", { class: `gutter ${name}`, width, height: height * ROW, "aria-hidden": "true" }, children) };
}

/** Return the number of lanes that a picture has room for. */
function room(lanes) {
  return Math.min(MOST_LANES, Math.max(0, ...lanes.map((lane) => lane + 1)));
}

/** Return the picture of jumps, with a bar for each loop. rowOf: the row of an instruction. */
export function jumpGutter({ kernel }, rowOf, height) {
  const { branches, loops } = kernel;
  const left = Math.max(0, ...loops.map((loop) => loop.depth)) * LOOP + 2;
  const lanes = assignLanes(branches);
  const width = left + 16 + STEP * room(lanes);
  const arrows = branches.map(({ from, to, back }, n) => {
    const x = Math.max(left, width - 8 - STEP * (lanes[n] + 1));
    const [start, end] = [middle(rowOf(from)), middle(rowOf(to))];
    return s("g", { class: back ? "jump back" : "jump" },
      s("path", { d: `M${width - 4} ${start}H${x + 3}Q${x} ${start} ${x} ${start + 3 * Math.sign(end - start)}`
        + `V${end - 3 * Math.sign(end - start)}Q${x} ${end} ${x + 3} ${end}H${width - 6}` }),
      s("path", { class: "tip", d: `M${width - 2} ${end}l-6 -3v6z` }));
  });
  return gutter("jumps", width, height, loops.map((loop) => loopBar(kernel, loop, rowOf)), arrows);
}

function loopBar(kernel, loop, rowOf) {
  const numbers = kernel.blocks.map((block) => block.number);
  const ranges = loop.blocks.map((number) => kernel.blockRows[numbers.indexOf(number)]).filter(Boolean);
  return ranges.map(({ first, end }) => s("rect", {
    class: "loop", x: (loop.depth - 1) * LOOP, width: LOOP - 2,
    y: (rowOf(first) - 1) * ROW, height: (end - first + 1) * ROW,
  }));
}

/** Return the picture of waits: from each wait to the memory instructions that it is for. All of them
 * are faint if asked for; those of the instruction in focus are strong. */
export function waitGutter({ kernel, store }, rowOf, height) {
  const { instructions, indexOf } = kernel;
  const combs = instructions.filter((each) => each.waits_for.length).map((each) => ({
    wait: each.index, sources: each.waits_for.map((address) => indexOf.get(address)).filter((index) => index !== undefined),
  })).filter(({ sources }) => sources.length);
  const lanes = assignLanes(combs.map(({ wait, sources }) => ({
    from: Math.min(wait, ...sources), to: Math.max(wait, ...sources),
  })));
  const draw = (comb, n) => combPath(comb, lanes[n] % MOST_LANES, rowOf);
  const all = s("g", { class: "all" });
  const chosen = s("g", { class: "chosen" });
  store.listen(["waits"], ({ waits }) => replace(all, waits ? combs.map(draw) : []));
  store.listen(["hover", "focus"], ({ hover, focus }) => {
    const index = (hover ?? focus)?.index;
    replace(chosen, index === undefined ? [] : combs
      .map((comb, n) => [comb, n])
      .filter(([comb]) => comb.wait === index || comb.sources.includes(index) || needed(instructions[index], comb, instructions))
      .map(([comb, n]) => draw(comb, n)));
  });
  return gutter("waits", 14 + STEP * room(lanes), height, all, chosen);
}

function needed(each, comb, instructions) {
  return each.needs.includes(instructions[comb.wait].address);
}

function combPath({ wait, sources }, lane, rowOf) {
  const x = 10 + STEP * lane;
  const rows = [wait, ...sources].map(rowOf);
  return s("g", { class: "wait", "data-wait": wait },
    s("path", { d: `M${x} ${middle(Math.min(...rows))}V${middle(Math.max(...rows))}` }),
    s("path", { class: "start", d: `M2 ${middle(rowOf(wait))}H${x}` }),
    sources.map((index) => {
      const y = middle(rowOf(index));
      return [s("path", { d: `M${x} ${y}H6` }), s("path", { class: "tip", d: `M1 ${y}l6 -3v6z` })];
    }));
}
