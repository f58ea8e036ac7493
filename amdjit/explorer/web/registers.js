// Sets of registers, as the data and the assembler write them.

/** Return the numbers of a set such as "0-7 12". */
export function members(text) {
  const numbers = [];
  for (const run of (text || "").split(" ").filter(Boolean)) {
    const [first, last = first] = run.split("-").map(Number);
    for (let number = first; number <= last; number += 1) numbers.push(number);
  }
  return numbers;
}

/** Return how many numbers such a set has. */
export function size(text) {
  return (text || "").split(" ").filter(Boolean).reduce((sum, run) => {
    const [first, last = first] = run.split("-").map(Number);
    return sum + last - first + 1;
  }, 0);
}

/** Return the vector registers that an instruction names, in order: [{first, last, text}]. */
export function vectorOperands(text) {
  return [...text.matchAll(/\bv(?:(\d+)|\[(\d+):(\d+)\])(?!\w)/g)].map((match) => ({
    first: Number(match[1] ?? match[2]), last: Number(match[1] ?? match[3]), text: match[0],
  }));
}

/** Return the operands of an instruction, without its mnemonic and its modifiers. */
export function operandTexts(text) {
  return text.replace(/^\S+\s*/, "").split(",").map((part) => part.trim().split(/\s/)[0]).filter(Boolean);
}
