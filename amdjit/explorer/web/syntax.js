// The parts of a line of code, for its colours: lists of [kind, text], which together are the line.

const INSTRUCTION = /(?<modifier>\b[a-z_]+:[^\s,]+|\b(?:offset|th|scope|offen|idxen|glc|slc|dlc|nv|off|null)\b)|(?<vgpr>\b[va](?:\d+(?:\.[lh])?|\[\d+:\d+\])(?!\w))|(?<sgpr>\b(?:s(?:\d+|\[\d+:\d+\])|ttmp\w+|vcc(?:_lo|_hi)?|exec(?:_lo|_hi)?|m0|scc)(?!\w))|(?<number>(?<![\w.])-?(?:0x[\da-f]+|\d+(?:\.\d+)?)(?![\w.]))/gi;
const PYTHON = /(?<comment>#.*$)|(?<string>[rbf]*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))|(?<word>\b[A-Za-z_]\w*\b)|(?<number>\b\d[\w.]*)/g;
const KEYWORDS = new Set(("and as assert break class continue def del elif else except False finally for from global if "
  + "import in is lambda None nonlocal not or pass raise return True try while with yield").split(" "));

/** Return the parts of an instruction: its mnemonic, registers, numbers and modifiers. */
export function instructionParts(text) {
  const [mnemonic] = text.match(/^\S*/);
  const parts = mnemonic ? [["mnemonic", mnemonic]] : [];
  return parts.concat(split(text.slice(mnemonic.length), INSTRUCTION, (groups) =>
    Object.keys(groups).find((kind) => groups[kind] !== undefined)));
}

/** Return the parts of a line of Python, and the quotes of a string that goes on after it. open: the
 * quotes of the string in which the line begins, or "". */
export function pythonParts(line, open = "") {
  if (open) {
    const end = line.indexOf(open);
    if (end < 0) return [[["string", line]], open];
    const rest = pythonParts(line.slice(end + 3));
    return [[["string", line.slice(0, end + 3)], ...rest[0]], rest[1]];
  }
  const start = line.search(/"""|'''/);
  const before = start < 0 ? line : line.slice(0, start);
  if (start < 0 || /#/.test(before)) return [plainPython(line), ""];
  const quotes = line.slice(start, start + 3);
  const end = line.indexOf(quotes, start + 3);
  if (end < 0) return [[...plainPython(before), ["string", line.slice(start)]], quotes];
  const rest = pythonParts(line.slice(end + 3));
  return [[...plainPython(before), ["string", line.slice(start, end + 3)], ...rest[0]], rest[1]];
}

function plainPython(text) {
  return split(text, PYTHON, (groups) => {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    return kind === "word" ? (KEYWORDS.has(groups.word) ? "keyword" : "") : kind;
  });
}

function split(text, pattern, kindOf) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) parts.push(["", text.slice(end, match.index)]);
    parts.push([kindOf(match.groups), match[0]]);
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push(["", text.slice(end)]);
  return parts;
}
