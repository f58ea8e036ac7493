"""The checks of gfx11's machine code: seeded bugs are found, and correct code is silent."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import atomic, shared
from amdjit.emulator.checks.waits.code_object import find_missing_waits
from amdjit.types import f32
from tests.emulator.building import assemble, compile_kernel, using
from tests.emulator.required_tools import needs_tools

DEVICE = "emulator:gfx1100"


@amdjit.kernel
def reversed_in_lds(x, out):
    t = amdjit.threadIdx.x
    box = shared.array(64, f32)
    box[t] = x[t]
    amdjit.syncthreads()
    out[t] = box[63 - t]


@amdjit.kernel
def without_barrier(x, out):
    t = amdjit.threadIdx.x
    box = shared.array(64, f32)
    box[t] = x[t]
    out[t] = box[63 - t]


@amdjit.kernel
def all_to_one(x, out):
    out[0] = x[amdjit.grid(1)]


@amdjit.kernel
def load_beside_atomics(x, out):
    atomic.add(out, 0, x[amdjit.grid(1)])
    if amdjit.threadIdx.x == 5:
        out[amdjit.blockIdx.x + 1] = out[0]


@amdjit.kernel
def sum_of_groups(x, out):
    atomic.add(out, 0, x[amdjit.grid(1)])


def found_in(kernel: amdjit.Kernel, grid: int) -> set[str]:
    x, out = np.arange(128, dtype=np.float32), np.zeros(64, np.float32)
    with amdjit.use(DEVICE), amdjit.sanitize(raises=False) as found:
        kernel[grid, 64](x, out)
    return {f"{report.check}/{report.kind}" for report in found.reports}


@pytest.mark.parametrize(("kernel", "grid"), [(reversed_in_lds, 1), (sum_of_groups, 2)])
def test_correct_kernels_are_silent(kernel: amdjit.Kernel, grid: int) -> None:
    assert found_in(kernel, grid) == set()


def test_races_are_found() -> None:
    assert "race/lds" in found_in(without_barrier, 1)
    assert "race/global" in found_in(all_to_one, 2)
    assert "race/global" in found_in(load_beside_atomics, 2)


@needs_tools
@pytest.mark.parametrize(
    ("name", "level"),
    [("atomics", "-O3"), ("reduction", "-O0"), ("wide_integers", "-O0"), ("calls", "-O1")],
)
def test_what_clang_makes_lacks_no_wait(name: str, level: str) -> None:
    with using(cpu="gfx1100"):
        assert find_missing_waits(compile_kernel(name, level)) == ()


@needs_tools
@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("global_load_b32 v1, v0, s[0:1]\n s_waitcnt vmcnt(0)\n v_mov_b32 v2, v1", []),
        ("global_load_b32 v1, v0, s[0:1]\n s_waitcnt vmcnt(1)\n v_mov_b32 v2, v1", ["vmcnt(0)"]),
        ("s_load_b32 s4, s[0:1], 0x0\n s_mov_b32 s5, s4", ["lgkmcnt(0)"]),
        # LDS instructions end in order, also beside a scalar load.
        (
            "ds_load_b32 v1, v0\n s_load_b32 s4, s[0:1], 0x0\n ds_load_b32 v2, v0\n"
            " s_waitcnt lgkmcnt(1)\n v_mov_b32 v3, v1",
            [],
        ),
        (
            "s_load_b32 s4, s[0:1], 0x0\n ds_load_b32 v1, v0\n"
            " s_waitcnt lgkmcnt(1)\n s_mov_b32 s5, s4",
            ["lgkmcnt(0)"],
        ),
        ("ds_load_b32 v1, v0\n s_waitcnt_lgkmcnt null, 0x0\n v_mov_b32 v2, v1", []),
        # s_waitcnt_lgkmcnt s5, 0x0: a register is added to the number (RDNA 3 ISA, 16.2): it may
        # wait for nothing.
        (
            "s_movk_i32 s5, 9\n ds_load_b32 v1, v0\n .long 0xbd850000\n v_mov_b32 v2, v1",
            ["lgkmcnt(0)"],
        ),
    ],
)
def test_waits_are_those_of_the_counters(body: str, missing: list[str]) -> None:
    found = find_missing_waits(assemble(body, cpu="gfx1100"))
    assert [item.wait.wait for item in found] == [f"s_waitcnt {counter}" for counter in missing]
