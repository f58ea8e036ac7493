"""Keep DPP moves out of instructions that would then read something else than what was moved.

    %m = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 7, i32 255, i32 15, i32 15, i1 true)
->
    %a = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 7, i32 255, i32 15, i32 15, i1 true)
    %b = bitcast i32 %a to float
    %c = call float @llvm.arithmetic.fence.f32(float %b)
    %m = bitcast float %c to i32

LLVM makes a move part of the instruction that uses it (GCNDPPCombine.cpp): `v_mov_b32_dpp` and
`v_add3_u32` become `v_add3_u32_e64_dpp`, whose first source comes from another lane. A fence is no
instruction, and nothing is merged through it. LLVM 22 errs in three ways:

- Since gfx11, instructions of three operands can have DPP. If what is moved is a constant or the
  same in all lanes, SIFoldOperands later makes it the second source, which the first one takes the
  place of: now that one comes from another lane (fixed by LLVM's pull request 218393).
- Lanes that keep their old value get the other source of the instruction if the old value changes
  nothing in it. 1 is no such value for `v_mul_u32_u24`, which takes 24 bits of the other source,
  and of 64 bits the same ones are compared for either half.
- Some instructions that it makes do not exist: no `v_mad_co_u64_u32` has DPP, and on gfx11.0 the
  second source must be a VGPR (pull request 201494).

`fence_risky_moves` fences the moves of the first two kinds: those of constants, and of values that
are not known to differ between lanes. The third kind shows in the machine code, where
`amdjit.compiler` looks for it and, if need be, fences all moves. LLVM merges no move by DPP8.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from amdjit.target import Target, emulated_for

__all__ = ["fence_all_moves", "fence_risky_moves"]

_OPERAND = r"%[^\s,)]+|splat \([^)\n]*\)|<[^>\n]*>|[^\s,)]+"
_MOVE = re.compile(
    r"^  (?P<name>%\S+) = (?P<call>(?:\w+ )?call (?:[^@\n]* )?"
    r"(?P<type>half|bfloat|float|double|i\d+|<\d+ x \w+>) "
    r"@llvm\.amdgcn\.(?:update|mov)\.dpp\.\w+\((?P<operands>[^\n]*), i32 \d+, "
    r"i32 (?P<rows>-?\d+), i32 (?P<banks>-?\d+), i1 (?P<zero>\w+)\)[^\n]*)$",
    re.MULTILINE,
)
_MOVED = re.compile(rf"(?:<\d+ x \w+>|\w+) (?:noundef )?({_OPERAND})(?:, |$)")
_DEFINED = re.compile(
    r"^  (?P<name>%\S+) = (?:(?:tail|notail|musttail) )?(?P<what>\w+) (?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_VALUE = re.compile(r"(?<!label )%[-\w$.]+")
_INTRINSIC = re.compile(r"@llvm\.([\w.]+)\(")
_ALL = frozenset({"15", "-1"})
_FLOATS = {"half": "f16", "float": "f32", "double": "f64"}
_FLOATS_OF = {16: "half", 32: "float", 64: "double"}
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
# Names of moves behind which a fence stands.
_KEPT, _APART = "%amdjit.kept.", "%amdjit.apart."
# The first processors that have DPP in instructions of three operands.
_IN_THREE_OPERANDS = (11, 0, 0)

# What is in a VGPR whatever it is computed from.
_PER_LANE = (
    "amdgcn.workitem.id.",
    "amdgcn.mbcnt.",
    "amdgcn.update.dpp.",
    "amdgcn.mov.dpp",
    "amdgcn.permlane",
    "amdgcn.ds.bpermute",
    "amdgcn.ds.permute",
    "amdgcn.ds.swizzle",
    "amdgcn.set.inactive.",
)
_PER_LANE_OPERATIONS = frozenset({"atomicrmw", "cmpxchg"})
# What is in a VGPR if an operand is. Vectors that are put together may hold constants, too.
_FROM_OPERANDS = frozenset({
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr",
    "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "trunc", "zext", "sext", "fptrunc", "fpext",
    "fptoui", "fptosi", "uitofp", "sitofp", "ptrtoint", "inttoptr", "bitcast", "addrspacecast",
    "getelementptr", "select", "icmp", "fcmp", "phi", "freeze", "load", "extractelement",
    "extractvalue",
})  # fmt: skip
_NOT_FROM_OPERANDS = ("amdgcn.", "experimental.", "ptrmask")
# A constant selector may choose constant bytes alone.
_SELECTOR = re.compile(r"@llvm\.amdgcn\.perm\([^\n]*, i32 (%[-\w$.]+)\)")


def fence_all_moves(llvm_text: str) -> str:
    """Return optimised IR in which no move becomes part of another instruction."""
    return _fenced(llvm_text, lambda move: not move["name"].startswith(_KEPT), _APART)


def fence_risky_moves(llvm_text: str, target: Target) -> str:
    """Return optimised IR in which moves become part of an instruction only where that is right.

    Where amdjit cannot decode the machine code, and would not see that an instruction does not
    exist, no move does.
    """
    if ".dpp." not in llvm_text:
        return llvm_text
    if emulated_for(target) is None:
        return fence_all_moves(llvm_text)
    values: dict[int, _Values] = {}

    def is_wrong(move: re.Match[str]) -> bool:
        if _misreads_old(move):
            return True
        if target.isa < _IN_THREE_OPERANDS:
            return False
        start = llvm_text.rindex("\ndefine ", 0, move.start())
        if start not in values:
            values[start] = _Values(llvm_text[start : llvm_text.index("\n}", start)])
        return not values[start].differ(_operands(move)[-1])

    return _fenced(llvm_text, is_wrong, _KEPT)


def _operands(move: re.Match[str]) -> list[str]:
    """Return the old value, if there is one, and what is moved."""
    return _MOVED.findall(move["operands"])


def _misreads_old(move: re.Match[str]) -> bool:
    """Return whether lanes keep a constant that LLVM may wrongly take for one that changes
    nothing."""
    old, type = _operands(move)[0], move["type"]
    if move["zero"] == "true" and {move["rows"], move["banks"]} <= _ALL:
        return False
    if type.startswith("<"):
        return old.startswith(("<", "splat"))
    if not re.fullmatch(r"-?\d+", old):
        return False
    return int(old) not in (0, -1) if type == "i64" else int(old) == 1


class _Values:
    """The values that a function computes."""

    def __init__(self, function: str) -> None:
        self._defined = {
            found["name"]: (found["what"], found["rest"].partition(", !")[0])
            for found in _DEFINED.finditer(function)
        }
        self._known: dict[str, bool] = {}

    def differ(self, name: str) -> bool:
        """Return whether LLVM certainly computes a value for each lane, in a VGPR."""
        pending = [name]
        while pending:
            value = pending[-1]
            operands = self._operands(value)
            # Phis may lead back to themselves.
            new = [each for each in operands if each not in self._known and each not in pending]
            found = self._is_per_lane(value) or any(map(self._known.get, operands))
            if found or not new:
                self._known[value] = found
                pending.pop()
            else:
                pending.append(new[0])
        return self._known[name]

    def _is_per_lane(self, value: str) -> bool:
        what, rest = self._defined.get(value, ("", ""))
        if what == "load":
            return "addrspace(3)" in rest
        return what in _PER_LANE_OPERATIONS or _called(what, rest).startswith(_PER_LANE)

    def _operands(self, value: str) -> list[str]:
        what, rest = self._defined.get(value, ("", ""))
        called = _called(what, rest)
        if called == "amdgcn.perm":
            return [each for each in _SELECTOR.findall(rest) if each in self._defined]
        if what not in _FROM_OPERANDS and (not called or called.startswith(_NOT_FROM_OPERANDS)):
            return []
        return [each for each in _VALUE.findall(rest) if each in self._defined]


def _called(what: str, rest: str) -> str:
    """Return the name of the intrinsic that an instruction calls, or nothing."""
    found = _INTRINSIC.search(rest) if what == "call" else None
    return found[1] if found else ""


def _fenced(llvm_text: str, is_fenced: Callable[[re.Match[str]], bool], prefix: str) -> str:
    declarations: dict[str, None] = {}

    def fenced(move: re.Match[str]) -> str:
        if not is_fenced(move):
            return move[0]
        name, type = move["name"], move["type"]
        # LLVM has fences of floats only.
        whole = _floats_like(type)
        called = f"{whole} @llvm.arithmetic.fence.{_mangled(whole)}({whole}"
        declarations[f"declare {called})"] = None
        made = f"{prefix}{move.start()}"
        # The result keeps the name: LLVM wants names that are numbers to be in order.
        if whole == type:
            return f"  {made} = {move['call']}\n  {name} = call {called} {made})"
        return (
            f"  {made} = {move['call']}\n"
            f"  {made}.float = bitcast {type} {made} to {whole}\n"
            f"  {made}.fenced = call {called} {made}.float)\n"
            f"  {name} = bitcast {whole} {made}.fenced to {type}"
        )

    text = _MOVE.sub(fenced, llvm_text)
    return text + "".join(f"\n{line}\n" for line in declarations if line not in llvm_text)


def _floats_like(type: str) -> str:
    """Return the type of floats that has as many bits as another one."""
    if type in _FLOATS:
        return type
    count, _, element = type.strip("<>").rpartition(" x ")
    bits = int(count or 1) * (_BITS.get(element) or int(element[1:]))
    return _FLOATS_OF.get(bits) or f"<{bits // 32} x float>"


def _mangled(type: str) -> str:
    count, _, element = type.strip("<>").rpartition(" x ")
    return f"{f'v{count}' if count else ''}{_FLOATS[element]}"
