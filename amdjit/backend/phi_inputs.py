"""Keep the inputs of phi nodes in the blocks that compute them.

    taken:                              taken:
      %n = fneg float %x                  %n = fneg float %x
      br label %end                       %b = bitcast float %n to i32
                                          %k = call i32 @llvm.annotation.i32.p0(i32 %b, ...)
                                 ->       %m = bitcast i32 %k to float
                                          br label %end
    end:                                end:
      %r = phi float [ %n, %taken ],      %r = phi float [ %m, %taken ],
                     [ %y, %second ],                    [ %y, %second ],
                     [ %y, %entry ]                      [ %y, %entry ]

LLVM's pass StructurizeCFG moves what costs nothing (a part of the kernel's arguments, a negation, a
change of type) out of a block on one side of a branch, and lets it stand for the undefined value on
the paths around that block. That is right for one `if` with one `else`. If a block is reached by
two paths, as in `x if a and b else y`, it replaces values that are needed (LLVM 21 and 22,
StructurizeCFG.cpp: hoistZeroCostElseBlockPhiValues and simplifyHoistedPhis; LLVM 23 does this for
simple branches only).

It moves nothing whose operand is computed in the same block. So each value that it could move goes
through two instructions there, the last of them `llvm.annotation`. Instruction selection replaces
an annotation by its operand: it costs no instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from amdjit.late_methods import dataclass, field

__all__ = ["keep_phi_inputs"]

_NAME = r'(?:"(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)'
_LABEL = re.compile(rf"^({_NAME}):")
_TARGET = re.compile(rf"label %({_NAME})")
_PHI = re.compile(
    r"^  %\S+ = phi (?:[a-z]+ )*?"
    r"(?P<type>ptr(?: addrspace\(\d+\))?|<\d+ x \w+>|half|bfloat|float|double|i\d+) \["
)
_INCOMING = re.compile(rf"\[ (%{_NAME}), %({_NAME}) \]")
_DEFINED = re.compile(rf"^  (%{_NAME}) = (?:(?:tail|musttail|notail) )?(\w+)")
# Instructions that cost something whatever their operands are. LLVM does not move them.
_COSTLY = frozenset({
    "load", "atomicrmw", "cmpxchg", "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl",
    "lshr", "ashr", "and", "or", "xor", "icmp", "select", "fadd", "fsub", "fmul", "fdiv", "frem",
    "fcmp", "sitofp", "uitofp", "fptosi", "fptoui",
})  # fmt: skip
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


@dataclass
class _Block:
    """A block of a function: the numbers of its lines and its neighbours."""

    label: str
    start: int
    end: int = 0
    terminator: int = 0
    successors: tuple[str, ...] = ()
    predecessors: list[str] = field(default_factory=list)


def keep_phi_inputs(llvm_text: str) -> str:
    """Return optimised IR in which StructurizeCFG moves values out of simple branches only."""
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
    """Return a function's blocks by label. The first may have none: nothing branches to it."""
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
    """Return whether LLVM may wrongly move values out of `source`, which branches to `here`.

    It moves values out of blocks with one successor to which a conditional branch leads.
    """
    if len(source.successors) != 1 or all(
        len(blocks[name].successors) == 1 for name in source.predecessors
    ):
        return False
    return not _is_simple(source, here, blocks)


def _is_simple(source: _Block, here: _Block, blocks: dict[str, _Block]) -> bool:
    """Return whether `source` is one side of an `if` with `else` whose sides meet in `here`.

    Each side is one block, and `here` does more than branch, so that no pass merges it with the
    block after it.
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
        # LLVM takes vectors apart where they leave a block and moves their elements
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
