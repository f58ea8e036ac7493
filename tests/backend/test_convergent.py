"""Instructions that combine lanes run where they are written: with the same active lanes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import amdjit
from amdjit import i32
from amdjit.backend.convergent import keep_convergent_in_place
from amdjit.backend.llvm import emit_assembly, optimise
from amdjit.intrinsics import wave
from amdjit.options import CompileOptions
from amdjit.target import find_target

# Intrinsics, their operands, and the instruction that each becomes. Those of LDS, DPP, readlane
# and ballot are right in LLVM 22: the test notices if another version moves them.
MOVES = {
    "permlane64.i32": ("i32 %x", "v_permlane64"),
    "permlane16.i32": ("i32 %x, i32 %x, i32 %s, i32 %s, i1 false, i1 false", "v_permlane16_b32"),
    "permlanex16.i32": ("i32 %x, i32 %x, i32 %s, i32 %s, i1 false, i1 false", "v_permlanex16_b32"),
    "permlane16.var": ("i32 %x, i32 %x, i32 %y, i1 false, i1 false", "v_permlane16_var"),
    "permlanex16.var": ("i32 %x, i32 %x, i32 %y, i1 false, i1 false", "v_permlanex16_var"),
    "permlane.bcast": ("i32 %x, i32 %s, i32 %s", "v_permlane_bcast"),
    "permlane.up": ("i32 %x, i32 %s, i32 %s", "v_permlane_up"),
    "permlane.down": ("i32 %x, i32 %s, i32 %s", "v_permlane_down"),
    "permlane.xor": ("i32 %x, i32 %s, i32 %s", "v_permlane_xor"),
    "permlane.idx.gen": ("i32 %x, i32 %s", "v_permlane_idx_gen"),
    "mov.dpp8.i32": ("i32 %x, i32 123456", "dpp8:"),
    "update.dpp.i32": ("i32 %y, i32 %x, i32 273, i32 15, i32 15, i1 false", "row_shr"),
    "ds.swizzle": ("i32 %x, i32 100", "ds_swizzle"),
    "ds.bpermute": ("i32 %y, i32 %x", "ds_bpermute"),
    "readlane.i32": ("i32 %x, i32 %s", "v_readlane"),
    "readfirstlane.i32": ("i32 %x", "v_readfirstlane"),
}  # fmt: skip
_RDNA2 = ("update.dpp.i32", "ds.swizzle", "ds.bpermute", "readlane.i32", "readfirstlane.i32")
_RDNA3 = ("mov.dpp8.i32", "permlane16.i32", "permlanex16.i32", "permlane64.i32", *_RDNA2)
_RDNA4 = ("permlane16.var", "permlanex16.var", *_RDNA3)
_GFX1250 = tuple(name for name in MOVES if name.startswith("permlane."))
TARGETS = {
    ("gfx942", 64): _RDNA2,
    ("gfx1030", 32): ("mov.dpp8.i32", *_RDNA2),
    ("gfx1100", 32): _RDNA3,
    ("gfx1100", 64): _RDNA3,
    ("gfx1201", 32): _RDNA4,
    ("gfx1201", 64): _RDNA4,
    ("gfx1250", 32): (*_RDNA4, *_GFX1250),
}
ENTRY = """
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.wave.barrier()
define amdgpu_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %o, i32 %s) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %a = getelementptr i32, ptr addrspace(1) %p, i32 %t
  %x = load i32, ptr addrspace(1) %a
  %b = getelementptr i32, ptr addrspace(1) %a, i32 64
  %y = load i32, ptr addrspace(1) %b
  %q = getelementptr i32, ptr addrspace(1) %o, i32 %t
"""
# What uses the result is in a branch.
BRANCH = """
  MOVE(r)
  %c = icmp sgt i32 %t, %y
  br i1 %c, label %then, label %end
then:
  store i32 %r, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
"""
# Lanes leave the loop one by one.
LOOP = """
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @llvm.amdgcn.wave.barrier()
  MOVE(r)
  store volatile i32 %r, ptr addrspace(1) %q
  %next = add i32 %i, 1
  %c = icmp sgt i32 %next, %y
  br i1 %c, label %end, label %loop
end:
  ret void
}
"""
# A second move of the same value has fewer lanes.
TWICE = """
  MOVE(r)
  store volatile i32 %r, ptr addrspace(1) %q
  %c = icmp sgt i32 %t, %y
  br i1 %c, label %then, label %end
then:
  MOVE(z)
  store volatile i32 %z, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
"""


def code_of(body: str, name: str, processor: str, wave_size: int, level: int) -> list[str]:
    """Return the instructions and labels of a kernel with that intrinsic."""
    operands, _ = MOVES[name]
    call = rf"%\1 = call i32 @llvm.amdgcn.{name}({operands})"
    types = re.sub(r" [^ ,]+(?=,|$)", "", operands)
    text = f"declare i32 @llvm.amdgcn.{name}({types})" + ENTRY + body
    target = find_target(processor)
    options = CompileOptions(target, opt_level=level, wave_size=wave_size)
    assembly = emit_assembly(
        optimise(re.sub(r"MOVE\((\w)\)", call, text), target, options), target, options
    )
    return assembly.split("s_endpgm")[0].split("\n")


def places(code: list[str], pattern: str) -> list[int]:
    return [place for place, line in enumerate(code) if re.search(pattern, line)]


@pytest.mark.sample(4)
@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize(("processor", "wave_size"), TARGETS)
def test_moves_of_lanes_stay_with_their_lanes(processor: str, wave_size: int, level: int) -> None:
    for name in TARGETS[processor, wave_size]:
        instruction = MOVES[name][1]
        what = (processor, wave_size, name)
        branch = code_of(BRANCH, name, processor, wave_size, level)
        masks = places(branch, r"v_cmpx|saveexec|s_and_b(32|64) exec|s_cbranch")
        assert places(branch, instruction)[0] < masks[0], (what, branch)
        loop = code_of(LOOP, name, processor, wave_size, level)
        assert places(loop, instruction)[0] > places(loop, r"^\.LBB")[0], (what, loop)
        twice = code_of(TWICE, name, processor, wave_size, level)
        assert len(places(twice, instruction)) == 2, (what, twice)


@pytest.mark.parametrize(
    ("result", "operand"),
    [
        ("range(i32 0, 256) i32", "i32 range(i32 0, 256) %x"),
        ("noundef i32", "i32 noundef %x"),
        ("unknown(i1 0) fast i32", "i32 %x"),
        ("noundef range(i32 0, 9) i32", "i32 noundef range(i32 0, 9) %x"),
        ("i32", "i32 7"),
        ("i32", "i32 poison"),
    ],
)
def test_moves_with_attributes_are_kept(result: str, operand: str) -> None:
    call = f"  %r = tail call {result} @llvm.amdgcn.permlane64.i32({operand}), !dbg !7"
    value = operand.rsplit(" ", 1)[1]
    kept = keep_convergent_in_place(f"a:\n{call}\n  br label %b", find_target("gfx1201"))
    assert kept.split("\n")[1:4] == [
        f'  %convergent.0 = call i32 asm sideeffect "", "=v,0"(i32 {value}), !dbg !7',
        call.replace(operand, "i32 %convergent.0"),
        "  call void (...) @llvm.fake.use(i32 %r)",
    ]


@pytest.mark.sample(6)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("processor", ["gfx1100", "gfx1151", "gfx1201"])
def test_a_move_of_half_a_wave_before_a_branch(processor: str, level: int) -> None:
    @amdjit.kernel(opt_level=level, wave_size=64)
    def folded(x, out):
        lane = amdjit.lane_id()
        value = x[lane]
        moved = i32(wave.permlane64(value))
        if lane > 40:
            value += moved
        out[lane] = value

    x = np.arange(64, dtype=np.int32) * 3
    out = np.zeros(64, np.int32)
    with amdjit.use(f"emulator:{processor}"):
        folded[1, 64](x, out)
    lanes = np.arange(64)
    np.testing.assert_array_equal(out, np.where(lanes > 40, x + x[lanes ^ 32], x))
