// Where arrows beside a list run, so that they do not cover each other.

/** Return a lane for each span {from, to} of rows, from 0 next to the list: short spans near, and no
 * two that share rows in one lane. */
export function assignLanes(spans) {
  const ends = spans.map(({ from, to }) => [Math.min(from, to), Math.max(from, to)]);
  const order = spans.map((_, n) => n).sort((a, b) => (ends[a][1] - ends[a][0]) - (ends[b][1] - ends[b][0]) || a - b);
  const lanes = [];
  const result = new Array(spans.length);
  for (const n of order) {
    const [first, last] = ends[n];
    let lane = lanes.findIndex((taken) => taken.every(([low, high]) => last < low || high < first));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push([first, last]);
    result[n] = lane;
  }
  return result;
}
