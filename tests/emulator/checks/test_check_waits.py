"""Missing waits: none in what compilers make, and each one that is taken away is found where it was
needed."""

from __future__ import annotations

import re
from typing import Any

import pytest

import amdjit
from amdjit.code_object import CodeObject
from amdjit.emulator.checks.waits.code_object import find_missing_waits
from amdjit.examples import reduction, transpose_shuffle, wmma_gemm
from tests.emulator.building import KERNELS, assemble, compile_kernel, compile_source
from tests.emulator.checks.code_listing import found_in, listing, without
from tests.emulator.checks.wait_model import NoModel, Step, early_uses
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

NAMES = sorted(path.stem for path in KERNELS.glob("*.c"))


def waits(steps: dict[int, Step]) -> list[int]:
    return [
        pc
        for pc, step in steps.items()
        if step.name.startswith("s_wait_") and step.name.endswith("cnt")
    ]


def levels() -> list[Any]:
    """Every kernel at every level; in every run at two of them, and the large files at one."""
    cases = []
    for index, name in enumerate(NAMES):
        for level in range(4):
            usual = level == index % 4 if name.startswith("program_") else level % 2 == index % 2
            marks = () if usual else pytest.mark.exhaustive
            cases.append(pytest.param(name, f"-O{level}", marks=marks, id=f"{name}-O{level}"))
    return cases


@pytest.mark.sample(9)
@pytest.mark.parametrize(("name", "level"), levels())
def test_what_clang_makes_lacks_no_wait(name: str, level: str) -> None:
    assert find_missing_waits(compile_kernel(name, level)) == ()


def test_what_clang_makes_for_wave64_lacks_no_wait() -> None:
    for name in ("branches", "double_math", "reduction"):
        assert find_missing_waits(compile_kernel(name, "-O2", "-mwavefrontsize64")) == ()
    # Calls of functions by pointer: where the pointer is computed is no place that a call may go
    # to.
    assert find_missing_waits(compile_kernel("program_more", "-O3", "-mwavefrontsize64")) == ()


def check_mutants(name: str, level: str, every: int) -> tuple[int, int]:
    """Take waits away one by one; returns how many, and how many of them were needed by a register
    or a barrier."""
    code = compile_kernel(name, level)
    steps = listing(code)
    entries = [kernel.entry_address for kernel in CodeObject.read(code).kernels.values()]
    needed = tried = 0
    for pc in waits(steps)[::every]:
        mutant = {**steps, pc: Step("s_nop 0", 4)}
        try:
            expected = set().union(*(early_uses(mutant, entry) for entry in entries))
        except NoModel:
            continue
        assert found_in(without(code, pc)) == expected, (
            f"{name} {level} without the wait at {pc:#x}"
        )
        tried += 1
        needed += bool(expected)
    return tried, needed


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "name", ["reduction", "atomics", "matrix_shared", "cross_lane", "branches"]
)
def test_each_wait_that_is_taken_away_is_found_where_it_was_needed(name: str) -> None:
    tried, needed = check_mutants(name, "-O2", 1)
    assert tried
    assert needed


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "calls"])
def test_each_wait_of_every_kernel(name: str, level: str) -> None:
    tried, needed = check_mutants(name, level, 1)
    assert needed <= tried


# What to assemble, and the instructions that come too early.
SEEDED = {
    "s_load_b64 s[2:3], s[0:1], 0x0\n s_add_co_u32 s4, s2, s3": "s_add_co_u32 s4, s2, s3",
    "s_load_b32 vcc_lo, s[0:1], 0x0\n s_cbranch_vccnz 0": "s_cbranch_vccnz 0",
    "s_load_b32 s2, s[0:1], 0x0\n s_mov_b32 s2, 0": "s_mov_b32 s2, 0",
    "s_load_b32 s2, s[0:1], 0x0\n s_load_b32 s2, s[0:1], 0x4": "s_load_b32 s2, s[0:1], 0x4",
    "global_load_b32 v1, v0, s[0:1]\n v_add_nc_u32 v2, v1, v1": "v_add_nc_u32_e32 v2, v1, v1",
    "global_load_b32 v1, v0, s[0:1]\n global_load_b32 v2, v0, s[0:1]\n s_wait_loadcnt 0x1\n "
    "v_mov_b32 v3, v2": ("v_mov_b32_e32 v3, v2"),
    "global_load_b128 v[4:7], v0, s[0:1]\n global_store_b32 v0, v7, s[0:1]": "global_store_b32 "
    "v0, v7, s[0:1]",
    "global_load_b32 v1, v0, s[0:1]\n ds_load_b32 v1, v0\n s_wait_loadcnt_dscnt 0x0": (
        "ds_load_b32 v1, v0"
    ),
    "global_atomic_add_u32 v1, v0, v2, s[0:1] th:TH_ATOMIC_RETURN\n v_mov_b32 v1, 0": (
        "v_mov_b32_e32 v1, 0"
    ),
    "scratch_load_b32 v1, off, off\n s_wait_storecnt 0x0\n v_readfirstlane_b32 s2, v1": (
        "v_readfirstlane_b32 s2, v1"
    ),
    "global_load_b32 v1, v0, s[0:1]\n v_s_exp_f32 s2, v1": "v_s_exp_f32 s2, v1",
    "flat_load_b32 v1, v[2:3]\n s_wait_loadcnt 0x0\n v_mov_b32 v4, v1": "v_mov_b32_e32 v4, v1",
    "buffer_load_b32 v1, v0, s[4:7], null offen\n v_mov_b32 v4, v1": "v_mov_b32_e32 v4, v1",
    "ds_load_b64 v[2:3], v0\n ds_load_b32 v4, v0\n s_wait_dscnt 0x1\n v_dual_mov_b32 v5, v3 :: "
    "v_dual_mov_b32 v6, v4": ("v_dual_mov_b32 v5, v3 :: v_dual_mov_b32 v6, v4"),
    "ds_add_rtn_u32 v1, v0, v2\n s_wait_loadcnt 0x0\n v_mov_b32 v4, v1": "v_mov_b32_e32 v4, v1",
    "ds_bpermute_b32 v1, v0, v2\n v_mov_b32 v4, v1": "v_mov_b32_e32 v4, v1",
    "ds_store_b32 v0, v1\n s_barrier_signal -1\n s_barrier_wait -1": "s_barrier_signal -1",
    "s_sendmsg_rtn_b32 s2, sendmsg(MSG_RTN_GET_REALTIME)\n s_mov_b32 s3, s2": "s_mov_b32 s3, s2",
    "s_barrier_signal_isfirst -1\n s_cselect_b32 s2, 1, 0\n s_barrier_wait -1": (
        "s_cselect_b32 s2, 1, 0"
    ),
    "s_barrier_signal_isfirst -1\n s_wait_kmcnt 0x1\n s_cbranch_scc1 0": "s_cbranch_scc1 0",
    "s_barrier_signal_isfirst -1\n s_cmp_eq_u32 s2, 0\n s_cbranch_scc1 0": "s_cmp_eq_u32 s2, 0",
    "s_barrier_signal_isfirst -1\n s_cbranch_vccz 1f\n s_nop 0\n 1: s_add_co_ci_u32 s2, s3, s4": (
        "s_add_co_ci_u32 s2, s3, s4"
    ),
    "s_barrier_signal_isfirst 2\n s_barrier_wait -1\n s_cbranch_scc0 0": "s_cbranch_scc0 0",
    "s_barrier_signal_isfirst m0\n s_barrier_wait 1\n s_cbranch_scc0 0": "s_cbranch_scc0 0",
    "s_barrier_leave\n s_and_b32 s2, s3, s4": "s_and_b32 s2, s3, s4",
    "1: v_mov_b32 v2, v1\n global_load_b32 v1, v0, s[0:1]\n s_cbranch_scc1 1b": (
        "v_mov_b32_e32 v2, v1"
    ),
}
CORRECT = [
    "global_load_b32 v1, v0, s[0:1]\n global_load_b32 v1, v0, s[0:1] offset:4\n s_wait_loadcnt "
    "0x0\n v_mov_b32 v2, v1",
    "global_load_d16_b16 v1, v0, s[0:1]\n global_load_d16_hi_b16 v1, v0, s[0:1]\n s_wait_loadcnt "
    "0x0",
    "global_load_b32 v1, v0, s[0:1]\n v_mov_b32 v0, 0\n s_wait_loadcnt 0x0\n v_mov_b32 v2, v1",
    "global_store_b32 v0, v1, s[0:1]\n v_mov_b32 v1, 0\n v_mov_b32 v0, 0",
    "ds_store_b32 v0, v1\n s_wait_dscnt 0x0\n s_barrier_signal -1\n s_barrier_wait -1",
    "ds_load_b32 v2, v0\n s_barrier_signal -1\n s_barrier_wait -1\n s_wait_dscnt 0x0\n v_mov_b32 "
    "v3, v2",
    "flat_load_b32 v1, v[2:3]\n s_wait_loadcnt_dscnt 0x0\n v_mov_b32 v4, v1",
    "s_load_b32 s2, s[0:1], 0x0\n s_wait_idle\n s_mov_b32 s3, s2",
    "s_barrier_signal_isfirst -1\n s_wait_kmcnt 0x0\n s_cselect_b32 s2, 1, 0\n s_barrier_wait -1",
    "s_barrier_signal_isfirst -1\n s_mul_i32 s2, s3, 5\n s_barrier_wait -1\n s_cbranch_scc1 0",
    "s_barrier_signal_isfirst 3\n s_barrier_wait 3\n s_cmp_eq_u32 s2, 0",
    "s_barrier_signal_isfirst m0\n s_mov_b32 s2, 0\n s_wait_kmcnt 0x0\n s_cbranch_scc1 0",
]


@pytest.mark.parametrize("body", SEEDED)
def test_a_use_that_comes_too_early_is_named(body: str) -> None:
    found = find_missing_waits(assemble(body, lds=64, private=16))
    assert [item.wait.text for item in found] == [SEEDED[body]]


@pytest.mark.parametrize("body", CORRECT)
def test_code_that_needs_no_further_wait_passes(body: str) -> None:
    assert find_missing_waits(assemble(body, lds=64, private=16)) == ()


FIRST = """
#include "common.h"
KERNEL early(GLOBAL int *x) {
  if (__builtin_amdgcn_s_barrier_signal_isfirst(-1)) x[0] = 1;
  __builtin_amdgcn_s_barrier_wait(-1);
}
KERNEL late(GLOBAL int *x) {
  int first = __builtin_amdgcn_s_barrier_signal_isfirst(-1);
  __builtin_amdgcn_s_barrier_wait(-1);
  if (first) x[0] = 1;
}
"""


def test_the_first_at_a_barrier_is_known_after_a_wait_or_the_barrier() -> None:
    """LLVM puts in a wait for SCC where nothing else waits for it."""
    code = compile_source(FIRST, "-O2")
    assert found_in(code) == set()
    steps = listing(code)
    kernel = CodeObject.read(code).kernels["early"]
    pcs = sorted(pc for pc in steps if pc >= kernel.entry_address)
    wait = next(pc for pc in pcs if steps[pc].name == "s_wait_kmcnt")
    assert found_in(without(code, wait)) == {wait + steps[wait].size}


def test_the_report_names_kernel_lines_and_the_wait_that_is_missing() -> None:
    source = """
#include "common.h"
KERNEL twice(const GLOBAL int *in, GLOBAL int *out) {
    int value = in[0];
    out[0] = 2 * value;
}
"""
    code = compile_source(source, "-O1")
    addresses = {step.text: pc for pc, step in listing(code).items()}
    text = str(find_missing_waits(without(code, addresses["s_wait_kmcnt 0x0"]))[0])
    assert text.startswith("twice: s")
    assert "s_wait_kmcnt 0x0 is missing" in text
    assert re.search(r"kernel\.c:5\n  loaded at .*kernel\.c:4\n  instruction: s_lshl_b32", text), (
        text
    )


def test_what_amdjit_makes_lacks_no_wait() -> None:
    for module in (reduction, wmma_gemm, transpose_shuffle):
        for name, kernel in vars(module).items():
            if isinstance(kernel, amdjit.Kernel):
                types = ARGUMENTS[name]
                assert (
                    find_missing_waits(kernel.compile(*types, target="gfx1201").code_object) == ()
                ), name


ARGUMENTS = {
    "sum_per_block": (amdjit.f32[:], amdjit.f32[:]),
    "wmma_gemm": (amdjit.f16[:, :], amdjit.f16[:, :], amdjit.f32[:, :]),
    "transpose_shuffle": (amdjit.f16[:], amdjit.f16[:]),
}
