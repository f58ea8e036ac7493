"""Code that names the halves of registers, as compilers make it with +real-true16: results, waits,
undefined values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.code_object import CodeObject
from amdjit.emulator import run
from amdjit.emulator.checks.waits.code_object import find_missing_waits
from amdjit.isa.decode import decode_all
from tests.emulator.building import (
    KERNELS,
    assemble,
    compile_kernel,
    emulate,
    own_parts,
    run_on_host,
)
from tests.emulator.c_kernels import BLOCK, CASES, COUNT, GRID, Case, floats, integers
from tests.emulator.c_programs import PROGRAMS, words
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers, samples32

pytestmark = needs_tools

TRUE16 = ("-Xclang", "-target-feature", "-Xclang", "+real-true16")
WIDE = ("-mwavefrontsize64",)
HALF_KERNELS = [
    Case(
        "half_registers",
        "half_registers",
        lambda r: [
            *(integers(r, np.uint16), integers(r, np.uint16)),
            *(floats(r, np.float16), floats(r, np.float16), np.uint32(7)),
        ],
    ),
    Case(
        "half_registers",
        "half_conversions",
        lambda r: [
            integers(r, np.int16),
            floats(r, np.float16),
            floats(r, np.float32),
            np.zeros(COUNT, np.uint32),
        ],
    ),
]


def levels(cases: list[Any], share: int = 1) -> list[Any]:
    """Each case of a share at one level in every run; all at all levels, and in wave64, in the
    exhaustive one."""
    found = []
    for number, case in enumerate(cases):
        for level in range(4):
            for wide in ((), WIDE):
                quick = level == number % 4 and bool(wide) == (number % 3 == 2)
                quick = quick and number % share == 0
                marks = () if quick else pytest.mark.exhaustive
                text = f"{case}-O{level}-{64 if wide else 32}"
                found.append(pytest.param(case, (f"-O{level}", *wide), marks=marks, id=text))
    return found


@pytest.mark.sample(9)
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize(("case", "flags"), levels([*HALF_KERNELS, *HALF_KERNELS[::-1], *CASES]))
def test_kernels_give_the_hosts_results(case: Case, flags: tuple[str, ...]) -> None:
    code = compile_kernel(case.file, *flags, *TRUE16, "-ffp-contract=off")
    expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
    run_on_host(case.file, case.kernel, GRID, case.block, expected)
    emulate(code, case.kernel, GRID, case.block, given)
    for index, (mine, right) in enumerate(zip(given, expected, strict=True)):
        np.testing.assert_array_equal(mine, right, err_msg=f"argument {index}")


@pytest.mark.sample(4)
@pytest.mark.parametrize(("program", "flags"), levels(PROGRAMS, share=5))
def test_programs_give_the_hosts_results(program: tuple[str, str], flags: tuple[str, ...]) -> None:
    file, name = program
    code = compile_kernel(file, *flags, *TRUE16, "-ffp-contract=off")
    expected, given = ([words(1), words(2), np.uint32(9)] for _ in range(2))
    run_on_host(file, name, GRID, BLOCK, expected)
    emulate(code, name, GRID, BLOCK, given)
    for index in (0, 1):
        np.testing.assert_array_equal(given[index], expected[index], err_msg=f"argument {index}")


@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(("name", "unit"), [("v_alignbit_b32", 1), ("v_alignbyte_b32", 8)])
def test_alignments_shift_by_the_half_that_is_named(name: str, unit: int, half: int) -> None:
    rows = samples32(3)
    amount = rows[2] >> np.uint32(16 * half) & np.uint32(32 // unit - 1)
    pair = rows[0].astype(np.uint64) << np.uint64(32) | rows[1]
    expected = (pair >> (unit * amount).astype(np.uint64)).astype(np.uint32)
    body = f"  {name} v100, v1, v2, v3.{'lh'[half]}"
    found = run_registers(body, rows, [100], attributes="+real-true16")[0]
    np.testing.assert_array_equal(found, expected)


def test_the_kernels_use_both_halves_of_registers() -> None:
    code = CodeObject.read(compile_kernel("half_registers", "-O3", *TRUE16))
    found = [
        item
        for kernel in code.kernels.values()
        for item in decode_all(code.code(kernel), kernel.entry_address)
    ]
    upper = {
        item.mnemonic for item in found for operand in item.operands if getattr(operand, "half", 0)
    }
    assert upper >= {"v_mov_b16", "v_cndmask_b16"}
    assert len(upper) > 8


@pytest.mark.sample(8)
@pytest.mark.covering(1)
@pytest.mark.parametrize("level", ["-O1", "-O3"])
@pytest.mark.parametrize(
    "name", sorted(path.stem for path in KERNELS.glob("*.c") if "program" not in path.stem)
)
def test_what_clang_makes_lacks_no_wait(name: str, level: str) -> None:
    assert find_missing_waits(compile_kernel(name, level, *TRUE16)) == ()


def test_a_half_that_is_moved_too_early_is_found() -> None:
    body = "  global_load_d16_b16 v1, v0, s[0:1]\n  v_mov_b16 v2.l, v1.l\n"
    (found,) = find_missing_waits(assemble(body, attributes="+real-true16"))
    assert (found.wait.register, found.wait.wait) == ("v1", "s_wait_loadcnt 0x0")
    assert found.wait.text == "v_mov_b16_e32 v2.l, v1.l"


@pytest.mark.parametrize("case", HALF_KERNELS, ids=str)
@pytest.mark.parametrize("flags", [(), WIDE], ids=["32", "64"])
def test_defined_halves_are_no_finding(case: Case, flags: tuple[str, ...]) -> None:
    code = compile_kernel(case.file, "-O2", *flags, *TRUE16)
    with amdjit.sanitize("init", raises=False) as found:
        run(code, case.kernel, GRID, case.block, case.arguments(np.random.default_rng(7)))
    assert found.reports == []


# What is done to v1, of which one half was loaded from LDS that nobody has written, the other one
# is 5.
MOVES = {
    "v_mov_b16 v2.l, v1.l": False,
    "v_mov_b16 v2.l, v1.h": True,
    "v_mov_b16 v1.h, 7\n  v_mov_b16 v2.l, v1.h": False,
    "v_mov_b16 v1.l, 7\n  v_mov_b16 v2.l, v1.h": True,
    "v_mov_b16 v1.l, 7\n  s_branch .Lnext\n.Lnext:\n  v_mov_b16 v2.l, v1.h": True,
    "v_swap_b16 v1.l, v1.h\n  v_mov_b16 v2.l, v1.h": False,
    "v_swap_b16 v1.l, v1.h\n  v_mov_b16 v2.l, v1.l": True,
    "v_swap_b16 v1.h, v3.l\n  v_mov_b16 v2.l, v1.h": False,
    "v_swap_b16 v1.h, v3.l\n  v_mov_b16 v2.l, v3.l": True,
    "v_cndmask_b16 v2.l, v1.h, v1.l, s10": False,
    "v_cndmask_b16 v2.l, v1.l, v1.h, s10": True,
    "v_add_nc_u16 v2.l, v1.l, v1.l": False,
    "v_add_nc_u16 v2.l, v1.h, v1.l": True,
}


@pytest.mark.sample(6)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("moves", MOVES)
def test_an_undefined_half_is_told_from_a_defined_one(moves: str, wave_size: int) -> None:
    body = f"""{own_parts(4 * wave_size, 4 * wave_size)}
  v_mov_b32 v1, 5
  v_mov_b32 v2, 0
  v_mov_b32 v3, 3
  s_mov_b32 s10, -1
  s_mov_b32 s11, -1
  ds_load_u16_d16_hi v1, v250
  s_wait_dscnt 0x0
  {moves.replace("s10", "s10" if wave_size == 32 else "s[10:11]")}
  global_store_b16 v250, v2, s[2:3]
"""
    code = assemble(body, lds=512, attributes="+real-true16", wave_size=wave_size)
    arrays = [np.zeros(wave_size, np.uint32), np.zeros(wave_size, np.uint32)]
    with amdjit.sanitize("init", raises=False) as found:
        run(code, "kernel", 1, wave_size, arrays)
    assert bool(found.reports) == MOVES[moves], found.reports


@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("product", ["f32_16x16x16_f16", "f16_16x16x16_f16", "i32_16x16x16_iu8"])
def test_null_as_the_addend_of_a_matrix_product_is_zero(product: str) -> None:
    count, factor = (4, 4) if product.startswith("f16") else (8, 2 if "iu8" in product else 4)
    lines = [f"  v_add_nc_u32 v{8 + n}, {0x3C00 + n}, v0" for n in range(8)]
    lines += [f"  v_mov_b32 v{n}, -1" for n in (*range(20, 28), *range(30, 38))]
    for first, addend in ((20, "null"), (30, "0")):
        operands = (
            f"v[{first}:{first + count - 1}], v[8:{7 + factor}], v[12:{11 + factor}], {addend}"
        )
        lines.append(f"  v_wmma_{product} {operands}")
    stores = [
        f"  global_store_b32 v250, v{first + n}, s[2:3] offset:{128 * (place * count + n)}"
        for place, first in enumerate((20, 30))
        for n in range(count)
    ]
    found = np.zeros((2, count, 32), np.uint32)
    code = assemble("\n".join([own_parts(128, found.nbytes), *lines, *stores, ""]))
    emulate(code, "kernel", 1, 32, [np.zeros(32, np.uint32), found])
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0].any()
