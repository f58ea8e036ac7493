"""Seventy C programs at all levels of optimisation, in waves of 32 and 64, give what the same C
gives on the host.

All have one signature: two arrays of words, which they read and write, and a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.emulator.building import compile_kernel, emulate, run_on_host
from tests.emulator.c_programs import BLOCK, GRID, PROGRAMS, words
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools


def test_there_are_forty_kinds() -> None:
    assert len(PROGRAMS) >= 65
    assert len({name for _, name in PROGRAMS}) == len(PROGRAMS)


def cases() -> list[Any]:
    """Each program at one level in every run, some in wave64 too; at all of them in the exhaustive
    one."""
    found = []
    for index, (file, name) in enumerate(PROGRAMS):
        usual = (3, 0, 2, 1)[index % 4]
        for level in range(4):
            for wave_size in (32, 64):
                quick = level == usual and (wave_size == 32 or index % 8 == 2)
                marks = () if quick else pytest.mark.exhaustive
                case = f"{name}-O{level}-{wave_size}"
                found.append(
                    pytest.param(file, name, f"-O{level}", wave_size, marks=marks, id=case)
                )
    return found


@pytest.mark.sample(14)
@pytest.mark.parametrize(("file", "name", "level", "wave_size"), cases())
def test_programs_give_the_hosts_results(file: str, name: str, level: str, wave_size: int) -> None:
    wide = ["-mwavefrontsize64"] if wave_size == 64 else []
    code = compile_kernel(file, level, "-ffp-contract=off", *wide)
    for number in (3, 14):
        expected, given = ([words(1), words(2), np.uint32(number)] for _ in range(2))
        run_on_host(file, name, GRID, BLOCK, expected)
        emulate(code, name, GRID, BLOCK, given)
        for index in (0, 1):
            np.testing.assert_array_equal(
                given[index], expected[index], err_msg=f"argument {index}, n = {number}"
            )
