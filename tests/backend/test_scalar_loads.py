"""The workgroup's size is read with one 16-bit scalar load where the processor has it."""

from __future__ import annotations

import re
from dataclasses import replace

import amdjit
from amdjit import f32
from amdjit.backend.lds import keep_narrow_loads
from amdjit.options import named_target


@amdjit.kernel
def ids(out):
    i = amdjit.grid(1)
    out[i] = f32(i)


@amdjit.kernel
def ids_2d(out):
    column, row = amdjit.grid(2)
    out[row, column] = f32(row)


def test_gfx12_needs_no_mask() -> None:
    asm = ids.compile(f32[:], target="gfx1201").asm_full
    assert len(re.findall("s_load_u16", asm)) == 1
    assert "0xffff" not in asm


def test_two_sizes_are_one_load() -> None:
    asm = ids_2d.compile(f32[:, :], target="gfx1201").asm_full
    assert not re.search("global_load|s_load_u16", asm)
    assert len(re.findall("s_load_b32 .*, 0x1c", asm)) == 1


def test_loads_that_are_not_of_16_constant_bits_stay() -> None:
    target = named_target("gfx1201")
    one = "  %a = load i16, ptr addrspace(4) %p, align 4, !range !1\n"
    others = (
        "  %b = load i16, ptr addrspace(1) %p, align 4\n"
        "  %c = load i32, ptr addrspace(4) %p, align 4\n"
        "  %d = load volatile i16, ptr addrspace(4) %p, align 4\n"
    )
    assert keep_narrow_loads(one + others, target) == one.replace("align 4", "align 2") + others
    assert keep_narrow_loads(others, target) == others
    assert keep_narrow_loads(one + one, target) == one + one
    assert keep_narrow_loads(one, replace(target, isa=(11, 0, 0))) == one
