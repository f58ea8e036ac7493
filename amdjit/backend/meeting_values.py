"""Values that meet after branches, kept from being mixed up where LLVM gives control flow its
structure.

LLVM's pass StructurizeCFG moves what costs nothing (a part of the kernel's arguments, a negation, a
change of type) out of a block that runs on one side of a branch, and then lets it stand for the
undefined value on the ways around that block. That is right for one `if` with one `else`. Where a
block is reached in two ways, as in `x if a and b else y`, it replaces values that are needed (LLVM
21 and 22, StructurizeCFG.cpp: hoistZeroCostElseBlockPhiValues and simplifyHoistedPhis; LLVM 23
keeps to simple branches).

It moves nothing whose operand is computed in the same block. So each value that may come out of
such a block goes through `llvm.annotation` twice there. Instruction selection takes an annotation
for its operand, and it costs no instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["keep_meeting_values"]

_NAME = r'(?:"(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)'
_LABEL = re.compile(rf"^({_NAME}):")
_TARGET = re.compile(rf"label %({_NAME})")
_PHI = re.compile(
    r"^  %\S+ = phi (?:[a-z]+ )*?"
    r"(?P<type>ptr(?: addrspace\(\d+\))?|<\d+ x \w+>|half|bfloat|float|double|i\d+) \["
)
_INCOMING = re.compile(rf"\[ (%{_NAME}), %({_NAME}) \]")
_DEFINED = re.compile(rf"^  (%{_NAME}) = (?:(?:tail|musttail|notail) )?(\w+)")
# Instructions that cost something whatever their operands are: LLVM leaves them where they are.
_COSTLY = frozenset(
    {"load", "atomicrmw", "cmpxchg", "add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor"}
    | {
        "udiv",
        "sdiv",
        "urem",
        "srem",
        "fadd",
        "fsub",
        "fmul",
        "fdiv",
        "frem",
        "icmp",
        "fcmp",
        "select",
    }
    | {"sitofp", "uitofp", "fptosi", "fptoui"}
)
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


@dataclass
class _Block:
    """One block of a function: its lines by number, the last one of its terminator, and its
    neighbours."""

    label: str
    start: int
    end: int = 0
    terminator: int = 0
    successors: tuple[str, ...] = ()
    predecessors: list[str] = field(default_factory=list)


def keep_meeting_values(llvm_text: str) -> str:
    """Return optimised IR in which StructurizeCFG moves no value that a phi takes, but out of
    simple branches."""
    if " = phi " not in llvm_text:
        return llvm_text
    lines = llvm_text.splitlines(keepends=True)
    declarations: dict[str, None] = {}
    inserted: dict[int, list[str]] = {}
    for start, end in _functions(lines):
        _keep_in_function(lines, start, end, inserted, declarations)
    if not inserted:
        return llvm_text
    text = "".join(part for n, line in enumerate(lines) for part in (*inserted.get(n, ()), line))
    return text + "".join(f"\n{line}\n" for line in declarations if line not in llvm_text)


def _functions(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = None
    for number, line in enumerate(lines):
        if line.startswith("define "):
            start = number
        elif line.startswith("}") and start is not None:
            yield start, number
            start = None


def _keep_in_function(
    lines: list[str],
    start: int,
    end: int,
    inserted: dict[int, list[str]],
    declarations: dict[str, None],
) -> None:
    phis = [n for n in range(start, end) if " = phi " in lines[n]]
    if not phis:
        return
    blocks = _blocks(lines, start, end)
    operations = {
        found[1]: (found[2], n) for n in range(start, end) if (found := _DEFINED.match(lines[n]))
    }
    holders = {n: block for block in blocks.values() for n in phis if block.start <= n <= block.end}
    for number in phis:
        phi = _PHI.match(lines[number])
        if phi is None or number not in holders:
            continue

        def kept(
            found: re.Match[str], type: str = phi["type"], here: _Block = holders[number]
        ) -> str:
            value, source = found[1], blocks.get(found[2])
            if (
                source is None
                or not _may_be_moved(source, here, blocks)
                or _stays(value, type, source, operations)
            ):
                return found[0]
            before = inserted.setdefault(source.terminator, [])
            name = f"%amdjit.met.{source.terminator}.{len(before)}"
            before.extend(_annotated(name, value, type, declarations))
            return f"[ {name}, %{found[2]} ]"

        lines[number] = _INCOMING.sub(kept, lines[number])


def _blocks(lines: Sequence[str], start: int, end: int) -> dict[str, _Block]:
    """Return a function's blocks by label. One without a label is the function's first, to which
    nothing branches."""
    current = _Block("", start + 1)
    blocks = {"": current}
    for number in range(start + 1, end):
        label = _LABEL.match(lines[number])
        if label:
            current = blocks[label[1]] = _Block(label[1], number)
        elif lines[number].startswith(("  br ", "  switch ", "  callbr ", "  indirectbr ")):
            current.terminator = number
        if current.terminator:
            current.successors += tuple(_TARGET.findall(lines[number]))
        current.end = number
    for block in blocks.values():
        for successor in block.successors:
            if successor in blocks:
                blocks[successor].predecessors.append(block.label)
    return blocks


def _may_be_moved(source: _Block, here: _Block, blocks: dict[str, _Block]) -> bool:
    """Return whether LLVM may move values out of `source`, which ends in a branch to `here`, and
    mix them up.

    It moves them out of a block that has one successor and that a conditional branch leads to.
    """
    if len(source.successors) != 1 or all(
        len(blocks[name].successors) == 1 for name in source.predecessors
    ):
        return False
    return not _is_simple(source, here, blocks)


def _is_simple(source: _Block, here: _Block, blocks: dict[str, _Block]) -> bool:
    """Return whether `source` is one side of an `if` with `else`, whose sides are one block each
    and meet in `here`.

    `here` does more than meet and branch, so that no pass makes it one with the block after it.
    """
    if (
        len(here.predecessors) != 2
        or len(source.predecessors) != 1
        or here.successors == (source.label,)
    ):
        return False
    other = blocks[next(name for name in here.predecessors if name != source.label)]
    return (
        other.predecessors == source.predecessors
        and other.successors == (here.label,)
        and len(here.successors) != 1
    )


def _stays(value: str, type: str, source: _Block, operations: dict[str, tuple[str, int]]) -> bool:
    """Return whether a value stays where it is, because it costs something or is a phi."""
    operation, number = operations.get(value, ("", 0))
    if type.startswith("<"):
        # LLVM takes vectors apart where they leave a block, and moves the parts
        # (AMDGPUCodeGenPrepare, visitPHINode).
        return operation in _COSTLY and source.start <= number <= source.end
    return operation in _COSTLY or operation == "phi"


def _annotated(name: str, value: str, type: str, declarations: dict[str, None]) -> Iterator[str]:
    if type.startswith("ptr"):
        space = re.sub(r"\D", "", type) or "0"
        function = f"@llvm.ptr.annotation.p{space}.p0"
        declarations[f"declare {type} {function}({type}, ptr, ptr, i32, ptr)"] = None
        tail = "ptr null, ptr null, i32 0, ptr null"
        yield f"  {name}.0 = call {type} {function}({type} {value}, {tail})\n"
        yield f"  {name} = call {type} {function}({type} {name}.0, {tail})\n"
        return
    whole = f"i{_bits(type)}"
    function = f"@llvm.annotation.{whole}.p0"
    declarations[f"declare {whole} {function}({whole}, ptr, ptr, i32)"] = None
    if whole != type:
        yield f"  {name}.0 = bitcast {type} {value} to {whole}\n"
        yield f"  {name}.1 = call {whole} {function}({whole} {name}.0, ptr null, ptr null, i32 0)\n"
        yield f"  {name} = bitcast {whole} {name}.1 to {type}\n"
        return
    yield f"  {name}.0 = call {whole} {function}({whole} {value}, ptr null, ptr null, i32 0)\n"
    yield f"  {name} = call {whole} {function}({whole} {name}.0, ptr null, ptr null, i32 0)\n"


def _bits(type: str) -> int:
    if type.startswith("<"):
        count, element = type.strip("<>").split(" x ")
        return int(count) * _bits(element)
    return _BITS.get(type) or int(type[1:])
