"""Tables of addresses in a code object: the loader fills in the addresses."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import BackendError
from amdjit.emulator import run
from tests.emulator.building import compile_source, emulate
from tests.emulator.launch.hip_programs import compile_program
from tests.emulator.required_tools import needs_tools

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


VARIABLES = """
struct Base { DEVICE virtual int of(int x) const { return x; } };
struct Times : Base {
  int factor;
  DEVICE Times(int factor) : factor(factor) {}
  DEVICE int of(int x) const override { return x * factor; }
};
static DEVICE int hidden[4] = {1, 2, 3, 4};
static __attribute__((constant)) int table[3] = {5, 6, 7};
DEVICE int *inside = &hidden[2];
NOINLINE int one(int x) { return x + 1; }
NOINLINE int two(int x) { return x + 2; }
DEVICE int (*functions[2])(int) = {one, two};
KERNEL mixed(int *o, int n) {
  int i = THREAD;
  Times times(3);
  Base base;
  const Base *chosen = n > i ? &times : &base;
  o[i] = hidden[i & 3] + table[i % 3] + *inside + chosen->of(i) + functions[i & 1](i);
  if (n < 0) hidden[i & 3] = n;
}
void host() {
  extern void use(const void *);
  use(&hidden);
  use(&table);
}
"""
ABS64 = 3


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("processor", ["gfx1201", "gfx1100", "gfx942", "gfx90a"])
@pytest.mark.parametrize("is_stripped", [False, True])
def test_variables_that_the_host_names(processor: str, is_stripped: bool, tmp_path: Path) -> None:
    code = compile_program(VARIABLES, processor)
    assert ABS64 in {each.type for each in CodeObject.read(code).relocations}
    if is_stripped:  # functions are named by tables of pointers only
        (tmp_path / "a.co").write_bytes(code)
        subprocess.run(["llvm-strip-22", tmp_path / "a.co"], check=True)
        code = (tmp_path / "a.co").read_bytes()
    out, i = np.zeros(64, np.int32), np.arange(64)
    run(code, "mixed", 1, 64, [out, np.int32(10)])
    hidden, table = np.array([1, 2, 3, 4])[i & 3], np.array([5, 6, 7])[i % 3]
    virtual = np.where(i < 10, 3 * i, i)
    np.testing.assert_array_equal(out, hidden + table + 3 + virtual + i + 1 + (i & 1))


def test_a_relocation_that_is_not_for_loaders_is_refused() -> None:
    code = bytearray(compile_program(VARIABLES))
    relocation = next(r for r in CodeObject.read(bytes(code)).relocations if r.type == ABS64)
    entry = struct.pack("<QQq", relocation.address, relocation.symbol << 32 | 3, relocation.addend)
    at = code.index(entry)
    code[at + 8 : at + 12] = struct.pack("<I", 12)
    with pytest.raises(BackendError, match="relocation of type 12"):
        run(bytes(code), "mixed", 1, 64, [np.zeros(64, np.int32), np.int32(1)])


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
