"""Keep convergent instructions in the blocks and with the lanes that they are written for.

    %d = call i32 @llvm.amdgcn.permlane64.i32(i32 %x)
->
    %convergent.0 = call i32 asm sideeffect "", "=v,0"(i32 %x)
    %d = call i32 @llvm.amdgcn.permlane64.i32(i32 %convergent.0)
    call void (...) @llvm.fake.use(i32 %d)

LLVM 22 has lost the mark "convergent" of some intrinsics on their machine instructions (its pull
requests 182162 and 183334 set it for moves of lanes). It then moves them (MachineSink, MachineLICM,
MachineCSE) to where other lanes are active:

- into a branch that alone uses the result: the matrix products of gfx11, and moves of lanes whose
  source is then inactive;
- out of a loop whose lanes leave one by one, or to an equal instruction before a branch: moves of
  lanes. Products read all lanes wherever they are.

A `fake.use` beside the instruction holds it back from branches, and becomes no instruction. Other
uses in its block would not: they may move with it, except a product that adds to it, which is held
back itself. An operand that comes from an empty `asm` with side effects differs from every other
value, in each iteration, so what reads it neither leaves the loop nor equals another instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, takewhile

from amdjit.diagnostics.errors import BackendError
from amdjit.target import Target

__all__ = ["keep_convergent_in_place"]

_TYPE = r"(?P<type>i\d+|half|bfloat|float|double|ptr(?: addrspace\(\d+\))?|<[^>]*>)"
# Operands may have attributes, such as `range(i32 0, 256)`, and results too.
_ATTRIBUTES = r"(?: (?:noundef|nonnull|zeroext|signext|inreg|(?:range|nofpclass)\([^)]*\)))*"
_CALL = re.compile(
    rf"^  (?P<name>%\S+) = (?:tail |notail |musttail )?call(?: .*?)? {_TYPE} @llvm\.amdgcn\."
)
_OPERAND = re.compile(rf"{_TYPE}{_ATTRIBUTES} (?P<value>.+)")
_COMMA = re.compile(r", (?![^(]*\))")
_PRODUCT = re.compile(_CALL.pattern + r"wmma\.")
# Moves of lanes without the mark: those with a uniform pattern (`permlane16`, `update.dpp`) and
# those of LDS (`ds.swizzle`) have it.
_MOVE = re.compile(
    _CALL.pattern
    + r"(?P<operation>permlane64|permlanex?16\.var|mov\.dpp8"
    + r"|permlane\.(?:bcast|up|down|xor|idx\.gen))\b[^(]*\((?P<operands>.*)\)(?P<rest>[^)]*)$",
    re.MULTILINE,
)
_LOCATION = re.compile(r", !dbg !\d+")
_LABEL = re.compile(r"^[^\s;}].*:(?:\s|$)")
_DECLARATION = "declare void @llvm.fake.use(...)"
_BRANCHES = ("  br ", "  switch ")


def keep_convergent_in_place(llvm_text: str, target: Target) -> str:
    """Return optimised IR in which no product and no move of lanes may leave its block."""
    products = target.isa[0] == 11 and "@llvm.amdgcn.wmma." in llvm_text
    if not products and not _MOVE.search(llvm_text):
        return llvm_text
    numbers = count()
    lines: list[str] = []
    for function in _functions(llvm_text.split("\n")):
        if products:
            function = _with_products_kept(function)
        # Nothing leaves the only block of a function.
        if any(line.startswith(_BRANCHES) for line in function):
            function = _with_moves_kept(function, numbers)
        lines += function
    text = "\n".join(lines)
    if "@llvm.fake.use" not in text or _DECLARATION in text:
        return text
    return f"{text}\n{_DECLARATION}\n"


def _functions(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines up to the end of each function, and those after the last."""
    function: list[str] = []
    for line in lines:
        function.append(line)
        if line == "}":
            yield function
            function = []
    yield function


def _with_moves_kept(function: list[str], numbers: Iterator[int]) -> list[str]:
    kept = []
    for line in function:
        found = _MOVE.match(line)
        if found is None:
            kept.append(line)
            continue
        operands = _COMMA.split(found["operands"])
        # The first operand of a `.var` is what lanes without a source get.
        moved = 1 if found["operation"].endswith(".var") else 0
        operand = _OPERAND.fullmatch(operands[moved])
        if operand is None:
            raise BackendError(f"an operand that is not understood: {line.strip()}")
        location = _LOCATION.search(found["rest"])
        here = f"%convergent.{next(numbers)}"
        end = location[0] if location else ""
        type_ = operand["type"]
        operands[moved] = f"{type_} {here}"
        kept += [
            f'  {here} = call {type_} asm sideeffect "", "=v,0"({type_} {operand["value"]}){end}',
            line.replace(f"({found['operands']})", f"({', '.join(operands)})"),
            _use(found),
        ]
    return kept


def _with_products_kept(function: list[str]) -> list[str]:
    """Return the lines with a use after each product that no other one of its block takes."""
    kept = []
    for number, line in enumerate(function):
        kept.append(line)
        found = _PRODUCT.match(line)
        if found is not None and not _is_taken(found["name"], function[number + 1 :]):
            kept.append(_use(found))
    return kept


def _is_taken(name: str, later: list[str]) -> bool:
    use = re.compile(rf"{re.escape(name)}(?![\w.$-])")
    block = takewhile(lambda line: not _LABEL.match(line), later)
    return any(_PRODUCT.match(line) and use.search(line) for line in block)


def _use(found: re.Match[str]) -> str:
    return f"  call void (...) @llvm.fake.use({found['type']} {found['name']})"
