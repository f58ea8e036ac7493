"""The C programs, compiled for gfx1100 at all levels, and for the other processors of gfx11, give
what the same C gives on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from tests.emulator.building import compile_kernel, compile_source, emulate, run_on_host, using
from tests.emulator.c_programs import BLOCK, GRID, PROGRAMS, words
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
_EVERY = 7


def cases() -> list[Any]:
    """Some of the programs at one level each in every run; all of them in the exhaustive one."""
    found = []
    for index, (file, name) in enumerate(PROGRAMS):
        for level in range(4):
            for wave_size in (32, 64):
                turn = index // _EVERY
                usual = (turn % 4, (32, 64)[turn % 3 == 1])
                quick = index % _EVERY == 0 and (level, wave_size) == usual
                marks = () if quick else pytest.mark.exhaustive
                case = f"{name}-O{level}-{wave_size}"
                found.append(
                    pytest.param(file, name, f"-O{level}", wave_size, marks=marks, id=case)
                )
    return found


def others() -> list[Any]:
    """For each of the other processors one program, and all programs in the exhaustive run; for
    gfx1150 those with floats, for which it has scalar instructions."""
    found = []
    processors = ("gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153")
    for place, cpu in enumerate(processors):
        own = [case for case in PROGRAMS if cpu != "gfx1150" or "float" in case[0]]
        for index, (file, name) in enumerate(own):
            marks = () if index == 2 * place % len(own) else pytest.mark.exhaustive
            found.append(pytest.param(cpu, file, name, marks=marks, id=f"{cpu}-{name}"))
    return found


@pytest.mark.sample(3)
@pytest.mark.parametrize(("file", "name", "level", "wave_size"), cases())
def test_programs_for_gfx1100_give_the_hosts_results(
    file: str, name: str, level: str, wave_size: int
) -> None:
    check_program("gfx1100", file, name, level, wave_size)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("cpu", "file", "name"), others())
def test_programs_for_others_of_gfx11_give_the_hosts_results(
    cpu: str, file: str, name: str
) -> None:
    check_program(cpu, file, name, "-O2", 32)


def check_program(cpu: str, file: str, name: str, level: str, wave_size: int) -> None:
    wide = ["-mwavefrontsize64"] if wave_size == 64 else []
    with using(cpu=cpu):
        code = compile_kernel(file, level, "-ffp-contract=off", *wide)
        for number in (3, 14):
            expected, given = ([words(1), words(2), np.uint32(number)] for _ in range(2))
            run_on_host(file, name, GRID, BLOCK, expected)
            emulate(code, name, GRID, BLOCK, given)
            for index in (0, 1):
                np.testing.assert_array_equal(given[index], expected[index])


@pytest.mark.parametrize("wave_size", [32, 64])
def test_workgroups_of_a_grid_of_three_dimensions_know_their_places(wave_size: int) -> None:
    """They are in SGPRs, and only those that the kernel asks for."""
    source = """#include "common.h"
#define GROUP(axis) __builtin_amdgcn_workgroup_id_##axis()
#define ITEM(axis) __builtin_amdgcn_workitem_id_##axis()
KERNEL all(GLOBAL u32 *x) {
  u32 group = GROUP(x) + 3 * (GROUP(y) + 2 * GROUP(z));
  x[group * 30 + ITEM(x) + 5 * (ITEM(y) + 3 * ITEM(z))] = GROUP(x) | GROUP(y) << 8 | GROUP(z) << 16;
}
KERNEL last(GLOBAL u32 *x) { if (ITEM(x) == 0) x[GROUP(z)] = GROUP(z) + 1; }
"""
    wide = ["-mwavefrontsize64"] if wave_size == 64 else []
    with using(cpu="gfx1100"):
        code = compile_source(source, "-O2", *wide)
        x = np.zeros(3 * 2 * 4 * 30, np.uint32)
        emulate(code, "all", (3, 2, 4), (5, 3, 2), [x])
        group = np.arange(x.size) // 30
        np.testing.assert_array_equal(x, group % 3 | group // 3 % 2 << 8 | group // 6 << 16)
        x = np.zeros(6, np.uint32)
        emulate(code, "last", (2, 3, 6), 64, [x])
        assert x.tolist() == [1, 2, 3, 4, 5, 6]


def test_uniform_floats_use_the_scalar_instructions_of_gfx1150() -> None:
    """So that the tests above run them."""
    source = """#include "common.h"
KERNEL scale(GLOBAL const float *x, GLOBAL float *y) {
  float a = x[0], b = x[1];
  for (u32 i = 0; i < 5; i++) a = a * b + 1.5f < b ? a + b : a * b;
  y[ITEM] = a;
}
"""
    source = source.replace("ITEM", "__builtin_amdgcn_workitem_id_x()")
    values = np.array([1.25, 0.75], np.float32)
    with using(cpu="gfx1150"):
        code = compile_source(source, "-O2", "-ffp-contract=off")
        found = np.zeros(32, np.float32)
        emulate(code, "scale", 1, 32, [values, found])
    a, b = values
    for _ in range(5):
        a = a + b if a * b + np.float32(1.5) < b else a * b
    assert found.tolist() == [float(a)] * 32
    listing = " ".join(item.text for item in amdjit.inspect_object(code).instructions)
    assert {"s_mul_f32", "s_add_f32", "s_cmp_lt_f32"} <= set(listing.split())
