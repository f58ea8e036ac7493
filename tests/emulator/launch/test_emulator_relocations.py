"""Tables of addresses in a code object: the loader fills in the addresses."""

from __future__ import annotations

import numpy as np
import pytest
from building import compile_source, emulate
from required_tools import needs_tools

pytestmark = needs_tools

SOURCE = """
#include "common.h"
__attribute__((noinline)) static u32 twice(u32 a) { return a * 2; }
__attribute__((noinline)) static u32 less(u32 a) { return a - 5; }
__attribute__((noinline)) static u32 square(u32 a) { return a * a; }
static u32 (*const functions[3])(u32) = {twice, less, square};
static const u32 first[2] = {10, 20}, second[2] = {30, 40};
static const u32 *const rows[2] = {first, second};
KERNEL tables(GLOBAL u32 *x, GLOBAL u32 *y) {
  u32 i = INDEX;
  x[i] = functions[x[i] % 3](i);
  y[i] = rows[y[i] & 1][y[i] >> 1 & 1];
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_tables_of_functions_and_of_arrays(level: str) -> None:
    choices = np.arange(64, dtype=np.uint32) * 7
    found, picked = choices.copy(), choices.copy()
    emulate(compile_source(SOURCE, level), "tables", 1, 64, [found, picked])
    lanes = np.arange(64, dtype=np.uint32)
    results = np.stack([lanes * 2, lanes - 5, lanes * lanes])
    np.testing.assert_array_equal(found, results[choices % 3, lanes])
    rows = np.array([[10, 20], [30, 40]], np.uint32)
    np.testing.assert_array_equal(picked, rows[choices & 1, choices >> 1 & 1])
