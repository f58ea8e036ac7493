"""Keep moves between lanes apart from instructions that cannot have them.

    v_mov_b32_dpp v1, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
    v_perm_b32 v1, v1, 0, v2
->
    v_perm_b32_e64_dpp v1, v1, 0, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf

is what LLVM 22 does on RDNA 3, too, where the second source of an instruction with DPP must be a
VGPR (LLVM: FeatureDPPSrc1SGPR begins with RDNA 3.5; its pull request 201494 mends the mistake).
Kernels that this happens to are compiled with a fence behind each move.
"""

from __future__ import annotations

import re

from amdjit.diagnostics.errors import BackendError
from amdjit.target import Target

__all__ = ["has_moves", "impossible_move", "keep_moves_apart", "refuse_impossible_moves"]

_MOVE = re.compile(
    r"^  (?P<name>%\S+) = (?P<call>(?:tail )?call (?P<type>i32|float) "
    r"@llvm\.amdgcn\.(?:update|mov)\.dpp\.\w+\(.*)$",
    re.MULTILINE,
)
_FENCE = "@llvm.arithmetic.fence.f32(float"
_MERGED = re.compile(r"^\s*(?P<mnemonic>\w+_e64_dpp) (?P<operands>[^;\n]*)", re.MULTILINE)
# Where the operands end: ` quad_perm:[`, ` row_shl:`, ` dpp8:[`, ` op_sel:[`, ` clamp`, ` mul:2`.
_MODIFIERS = re.compile(r" (?=\w+:|clamp)")
_VGPR = re.compile(r"-?\|?(?:neg\(|abs\()*v[\[\d]")


def has_moves(llvm_text: str, target: Target) -> bool:
    """Return whether LLVM may merge a move with an instruction that the target does not have."""
    return target.merges_moves_only_with_registers and _MOVE.search(llvm_text) is not None


def impossible_move(assembly: str) -> str | None:
    """Return an instruction with DPP whose second source is no VGPR, None if there is none."""
    for found in _MERGED.finditer(assembly):
        operands = _MODIFIERS.split(found["operands"], maxsplit=1)[0].split(", ")
        # Carries have a second destination.
        second = 3 if "_co_" in found["mnemonic"] else 2
        if len(operands) > second and not _VGPR.match(operands[second]):
            return found[0].strip()
    return None


def keep_moves_apart(llvm_text: str) -> str:
    """Return IR with a fence behind each move: it becomes no instruction, and is not merged."""

    def fenced(found: re.Match[str]) -> str:
        name, call = found["name"], found["call"]
        made = f"%amdjit.moved.{found.start()}"
        if found["type"] == "float":
            return f"  {made} = {call}\n  {name} = call float {_FENCE} {made})"
        # The result keeps the name: LLVM wants names that are numbers to be in order.
        return (
            f"  {made} = {call}\n"
            f"  {made}.float = bitcast i32 {made} to float\n"
            f"  {made}.kept = call float {_FENCE} {made}.float)\n"
            f"  {name} = bitcast float {made}.kept to i32"
        )

    text = _MOVE.sub(fenced, llvm_text)
    declaration = f"declare float {_FENCE})"
    return text if declaration in text else f"{text}\n{declaration}\n"


def refuse_impossible_moves(assembly: str, target: Target) -> None:
    """Raise BackendError if an instruction is left that the target does not have."""
    found = impossible_move(assembly)
    if found is not None:
        raise BackendError(
            f"LLVM makes an instruction that {target.name} does not have, `{found}`: the second "
            "source of an instruction with DPP must be a VGPR there. Compute what it takes from "
            "other lanes in a statement of its own, or compile for another processor."
        )
