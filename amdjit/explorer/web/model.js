// The page's data with the ways through it: from places to instructions, from addresses to them.

import { baseName } from "./text.js";
import { size } from "./registers.js";

/** Return a place as the key of a map. */
export function placeKey(place) {
  return `${place[0]}:${place[1]}`;
}

/** Return a kernel with what is found in its data by looking: numbers of instructions instead of
 * addresses, instructions by place, branches. */
export function readKernel(data) {
  const kernel = { ...data };
  kernel.instructions = data.instructions.map((each, index) => instruction(each, index, data));
  kernel.indexOf = new Map(data.instructions.map((each, index) => [each.address, index]));
  kernel.accessOf = new Map(data.accesses.map((each) => [each.address, each]));
  kernel.places = byPlace(kernel.instructions);
  kernel.blockRows = data.blocks.map((block) => indexRange(block, kernel));
  kernel.branches = branches(kernel);
  kernel.mostLive = Math.max(1, ...kernel.instructions.map((each) => each.live));
  return kernel;
}

function instruction(each, index, data) {
  const outer = (data.stacks[each.stack] ?? []).map((call) => call.place).filter(Boolean);
  const places = each.place ? [each.place, ...outer] : outer;
  return {
    depth: 0, waits_for: [], waited_by: [], needs: [], ...each,
    index, outer, places,
    live: size(each.vgprs),
    liveScalars: size(each.sgprs),
    lines: places.map(([, line]) => line),
    fileNames: places.map(([file]) => baseName(data.files[file].name)),
    calls: data.stacks[each.stack] ?? [],
  };
}

/** Return for each place the instructions of its own, and those of functions inlined there. */
function byPlace(instructions) {
  const places = new Map();
  const at = (place) => {
    const key = placeKey(place);
    if (!places.has(key)) places.set(key, { place, direct: [], inlined: [] });
    return places.get(key);
  };
  for (const each of instructions) {
    if (each.place) at(each.place).direct.push(each.index);
    const seen = new Set(each.place ? [placeKey(each.place)] : []);
    for (const place of each.outer) {
      if (!seen.has(placeKey(place))) at(place).inlined.push(each.index);
      seen.add(placeKey(place));
    }
  }
  return places;
}

function indexRange(block, kernel) {
  const first = kernel.indexOf.get(block.address);
  let end = first;
  while (end < kernel.instructions.length && kernel.instructions[end].address < block.end) end += 1;
  return { first, end };
}

/** Return the jumps to other places than the next instruction: {from, to, back}. */
function branches(kernel) {
  const found = [];
  kernel.blocks.forEach((block, n) => {
    const { end } = kernel.blockRows[n];
    for (const number of block.successors) {
      const target = kernel.blocks.findIndex((other) => other.number === number);
      const to = target < 0 ? undefined : kernel.blockRows[target].first;
      if (to !== undefined && to !== end) found.push({ from: end - 1, to, back: to < end });
    }
  });
  return found;
}

/** Return the instructions of a focus, and their places. A focus is {index} of an instruction, or
 * {place}. own: the same line; outer: by inlining. */
export function related(kernel, focus) {
  const places = focus.place ? [focus.place] : kernel.instructions[focus.index].places;
  if (!places.length) return { own: focus.place ? [] : [focus.index], outer: [], places: [] };
  const found = kernel.places.get(placeKey(places[0])) ?? { direct: [], inlined: [] };
  return { own: found.direct, outer: found.inlined, places };
}

/** Return what is known of the launch at an instruction: {counts, cycles}. */
export function launchAt(version, each) {
  const { counts, cycles } = version.launch ?? {};
  return { counts: counts?.[each.address], cycles: cycles?.by_instruction[each.address] };
}
