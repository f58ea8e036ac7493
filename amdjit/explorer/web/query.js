// What the search field asks for: words that stand in an instruction, and conditions such as
// `unit:lds`, `line:26`, `block:3`, `loop:2`, `live:>=96`, `file:gemm`.

const COMPARE = /^(<=|>=|<|>|=)?(\d+)$/;
const NUMBERS = {
  line: (instruction) => instruction.lines,
  block: (instruction) => [instruction.block],
  loop: (instruction) => [instruction.depth],
  live: (instruction) => [instruction.live],
  address: (instruction) => [instruction.address],
};
const TEXTS = {
  unit: (instruction) => [instruction.unit],
  file: (instruction) => instruction.fileNames,
};

/** Return the conditions of a query; those that are not understood have an `error`. */
export function parseQuery(text) {
  return text.trim().split(/\s+/).filter(Boolean).map((word) => {
    const [, key, value] = word.match(/^(\w+):(.+)$/) ?? [];
    if (key in TEXTS) return { key, text: value.toLowerCase().replaceAll("_", " ") };
    if (!(key in NUMBERS)) return { text: word.toLowerCase() };
    const [, sign = "=", digits] = value.match(COMPARE) ?? [];
    if (digits === undefined) return { error: `${key}: wants a number, such as ${key}:12 or ${key}:>=12` };
    return { key, sign, number: Number(digits) };
  });
}

/** Return whether an instruction meets all conditions. */
export function matches(instruction, conditions) {
  return conditions.every((condition) => {
    if (condition.error) return true;
    if (condition.key in TEXTS) {
      return TEXTS[condition.key](instruction).some((text) => text.toLowerCase().includes(condition.text));
    }
    if (condition.key) return NUMBERS[condition.key](instruction).some((value) => holds(value, condition));
    return instruction.text.toLowerCase().includes(condition.text);
  });
}

function holds(value, { sign, number }) {
  if (sign === "<") return value < number;
  if (sign === ">") return value > number;
  if (sign === "<=") return value <= number;
  return sign === ">=" ? value >= number : value === number;
}
