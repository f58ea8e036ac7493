// Numbers and texts as the page shows them.

const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

/** Return text with characters that are not seen, or that change the direction of others, by their
 * numbers: source code must not look like other code. */
export function visible(text) {
  return text.replace(INVISIBLE, (character) =>
    `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** Return an integer with commas, other numbers with a few digits. */
export function grouped(number) {
  return number.toLocaleString("en-US", { maximumFractionDigits: Math.abs(number) < 10 ? 2 : 1 });
}

/** Return a number in at most five characters: 950, 1.23k, 45.6M. */
export function compact(number) {
  const size = Math.abs(number);
  if (size < 1000) return Number.isInteger(number) ? String(number) : number.toPrecision(3);
  const power = Math.min(Math.floor(Math.log10(size) / 3), 5);
  const scaled = number / 1000 ** power;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(scaled))));
  return scaled.toFixed(digits) + ["", "k", "M", "G", "T", "P"][power];
}

/** Return a share as a percentage. */
export function percent(share) {
  return `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;
}

/** Return an address. */
export function hex(address) {
  return address.toString(16).padStart(4, "0");
}

/** Return a time in a unit that suits it. */
export function duration(seconds) {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) {
    if (seconds >= size) return `${(seconds / size).toPrecision(3)} ${unit}`;
  }
  return `${(seconds * 1e9).toPrecision(3)} ns`;
}

/** Return a number with its noun: "1 wave", "2 waves". */
export function count(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

const LIMITS = { vgprs: "VGPRs", lds: "LDS", none: "wave slots" };

/** Return the name of what limits occupancy. */
export function limitName(limit) {
  return LIMITS[limit] ?? limit;
}

/** Return the last part of a path. */
export function baseName(path) {
  return path.replace(/[\\/]+$/, "").split(/[\\/]/).pop() || path;
}
