"""Long basic blocks are scheduled in pieces and compute the same values."""

from __future__ import annotations

import re

import pytest

from amdjit.backend import emit_assembly, emit_object, optimise
from amdjit.backend.blocks import LONGEST_REGION, cut_long_blocks
from amdjit.options import CompileOptions
from amdjit.target import Target

BARRIER = "  tail call void @llvm.amdgcn.sched.barrier(i32 0)\n"
HEAD = "define amdgpu_kernel void @long(ptr addrspace(1) %p, i32 %n) {\n"


def straight(count: int) -> str:
    """Return a kernel of that many multiplications and additions that cannot be folded, and a
    store."""
    lines = ["  %x0 = load i32, ptr addrspace(1) %p\n"]
    lines += [
        f"  %x{i} = {'mul' if i % 2 else 'xor'} i32 %x{i - 1}, {2 * i + 1}\n"
        for i in range(1, count)
    ]
    return (
        HEAD
        + "entry:\n"
        + "".join(lines)
        + f"  store i32 %x{count - 1}, ptr addrspace(1) %p\n  ret void\n}}\n"
    )


def stretches(text: str) -> list[int]:
    """Return how many instructions lie between two ends of a scheduling region, in IR."""
    lengths = [0]
    for line in text.splitlines(keepends=True):
        if line == BARRIER or not line.startswith("  "):
            lengths.append(0)
        elif not line.startswith("   "):
            lengths[-1] += 1
    return lengths


def test_short_blocks_are_left_alone_however_many_there_are() -> None:
    block = "".join(f"  %x{{0}}_{i} = mul i32 %n, {i}\n" for i in range(500))
    blocks = "".join(f"b{n}:\n{block.format(n)}  br label %b{n + 1}\n" for n in range(6))
    text = f"{HEAD}{blocks}b6:\n  ret void\n}}\n"
    assert cut_long_blocks(text) is text


def test_no_stretch_of_a_long_block_is_longer_than_a_region() -> None:
    text = straight(5 * LONGEST_REGION)
    cut = cut_long_blocks(text)
    assert max(stretches(text)) > 5 * LONGEST_REGION
    assert max(stretches(cut)) == LONGEST_REGION
    assert cut.count(BARRIER) == 5
    assert cut.replace(BARRIER, "").startswith(text)


def test_the_barriers_declaration_stands_once() -> None:
    text = (
        straight(2 * LONGEST_REGION) + "\ndeclare void @llvm.amdgcn.sched.barrier(i32 immarg) #1\n"
    )
    assert cut_long_blocks(text).count("declare void @llvm.amdgcn.sched.barrier(") == 1


@pytest.mark.parametrize("order", ["sched.group.barrier(i32 8, i32 1, i32 0", "iglp.opt(i32 0"])
def test_a_block_that_its_author_has_ordered_is_left_whole(order: str) -> None:
    text = straight(2 * LONGEST_REGION).replace(
        "  ret", f"  call void @llvm.amdgcn.{order})\n  ret"
    )
    assert cut_long_blocks(text) is text


def test_phis_switches_and_debug_records_stay_together() -> None:
    phis = "".join(f"  %p{i} = phi i32 [ {i}, %entry ]\n" for i in range(LONGEST_REGION + 5))
    body = "".join(
        f"  %s{i} = add i32 %p{i}, %n\n    #dbg_value(i32 %n, !1, !DIExpression(), !2)\n"
        for i in range(9)
    )
    switch = "  switch i32 %n, label %out [\n    i32 1, label %out\n  ]\n"
    text = (
        f"{HEAD}entry:\n  br label %b\n\nb:          ; preds = "
        f"%entry\n{phis}{body}{switch}\nout:\n  ret void\n}}\n"
    )
    cut = cut_long_blocks(text)
    assert cut.count(BARRIER) == 1
    assert f"{phis}{BARRIER}{body}{switch}" in cut


def test_the_machine_code_of_a_long_kernel_is_ordered_in_pieces(
    target: Target, options: CompileOptions
) -> None:
    optimised = optimise(straight(3 * LONGEST_REGION), target, options)
    assembly = emit_assembly(optimised, target, options)
    pieces = re.split(r"; sched_barrier mask\(0x00000000\)", assembly)
    assert len(pieces) == 4
    assert all(100 < piece.count("\n") < 2 * LONGEST_REGION for piece in pieces[:3])


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_a_long_kernel_compiles_at_every_level(target: Target, opt_level: int) -> None:
    options = CompileOptions(target, opt_level=opt_level)
    optimised = optimise(straight(2 * LONGEST_REGION + 7), target, options)
    assert BARRIER in optimised
    assert emit_object(optimised, target, options).startswith(b"\x7fELF")
