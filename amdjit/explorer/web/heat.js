// By what the page can colour code: each measure with its values.

import { launchAt } from "./model.js";

const counted = (name) => (version, each) => launchAt(version, each).counts?.[name];

// short: above its column. value: of an instruction, undefined if it is not known. estimate: whether it comes from the cycle
// model. needs: what the page must have for it. most: whether a line's value is the most of its
// instructions, not their sum.
export const MEASURES = [
  { key: "live", short: "live", name: "live VGPRs", most: true, value: (version, each) => each.live },
  { key: "static", short: "issue", name: "issue cycles of one execution", value: (version, each) => each.issue },
  { key: "executions", short: "exec.", name: "executions (waves)", needs: "counts", most: true, value: counted("executions") },
  { key: "stalls", short: "stalls", name: "stall cycles", needs: "cycles", estimate: true,
    value: (version, each) => sumOf(launchAt(version, each).cycles?.stalls) },
  { key: "issue", short: "issue", name: "issue cycles", needs: "cycles", estimate: true,
    value: (version, each) => launchAt(version, each).cycles?.issue },
  { key: "bytes", short: "bytes", name: "bytes asked for", needs: "counts", value: counted("bytes") },
  { key: "cache_lines", short: "lines", name: "cache lines touched", needs: "counts", value: counted("cache_lines") },
  { key: "lds_conflict_cycles", short: "confl.", name: "LDS conflict cycles", needs: "counts", value: counted("lds_conflict_cycles") },
  { key: "idle", short: "idle", name: "inactive lanes", needs: "counts",
    value: (version, each) => idleLanes(launchAt(version, each).counts, version.kernel.wave_size) },
];

function sumOf(stalls) {
  return stalls && Object.values(stalls).reduce((sum, cycles) => sum + cycles, 0);
}

function idleLanes(counts, waveSize) {
  return counts?.executions && counts.executions * waveSize - (counts.active_lanes ?? 0);
}

/** Return the measures for which a version has values. */
export function measuresOf(version) {
  return MEASURES.filter(({ needs }) => !needs || version.launch?.[needs]);
}

/** Return the measure that a page begins with: what says most about where time goes. */
export function firstMeasure(version) {
  const keys = measuresOf(version).map(({ key }) => key);
  return ["stalls", "executions", "live"].find((key) => keys.includes(key));
}

/** Return values of a measure by instruction, and by place, each with its share of the most. */
export function heatOf(version, key) {
  const measure = MEASURES.find((each) => each.key === key);
  const values = version.kernel.instructions.map((each) => measure.value(version, each) ?? 0);
  const most = Math.max(...values, 0);
  const places = new Map();
  for (const [place, { direct, inlined }] of version.kernel.places) {
    const parts = (direct.length ? direct : inlined).map((index) => values[index]);
    places.set(place, measure.most ? Math.max(...parts) : parts.reduce((sum, part) => sum + part, 0));
  }
  const mostOfPlaces = Math.max(...places.values(), 0);
  return {
    measure, values, places, most, mostOfPlaces,
    shares: values.map((value) => share(value, most)),
    placeShare: (place) => share(places.get(place) ?? 0, mostOfPlaces),
  };
}

/** Return how warm a value is, from 0 to 1. The square root keeps what is small visible. */
export function share(value, most) {
  return value > 0 && most > 0 ? Math.sqrt(value / most) : 0;
}
