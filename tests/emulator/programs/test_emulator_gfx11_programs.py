"""The C programs, compiled for gfx1100 at all levels, give what the same C gives on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from building import compile_kernel, compile_source, emulate, run_on_host, using
from c_programs import BLOCK, GRID, PROGRAMS, words
from required_tools import needs_tools

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


@pytest.mark.parametrize(("file", "name", "level", "wave_size"), cases())
def test_programs_for_gfx1100_give_the_hosts_results(
    file: str, name: str, level: str, wave_size: int
) -> None:
    wide = ["-mwavefrontsize64"] if wave_size == 64 else []
    with using(cpu="gfx1100"):
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
