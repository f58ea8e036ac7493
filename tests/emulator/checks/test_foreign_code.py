"""Reports about C kernels, whose arguments and addresses have no Python names."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import SanitizerReport
from amdjit.emulator import run
from tests.emulator.building import assemble, compile_source, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools


def reports_of(
    source: str, check: str, *arguments: Any, flags: str = "-O2"
) -> list[SanitizerReport]:
    """Compile kernel k and run it with 32 work-items."""
    code = compile_source(f'#include "common.h"\n{source}', flags)
    with amdjit.sanitize(check, raises=False) as found:
        run(code, "k", 1, 32, list(arguments))
    return found.reports


def integers() -> Any:
    return np.arange(32, dtype=np.int32)


def test_a_flat_load_of_private_memory_is_called_so() -> None:
    source = """KERNEL k(GLOBAL int *x, int n) {
      int a[32]; for (int i = 0; i < n; i++) a[i] = i;
      x[LANE] = a[LANE];
    }"""
    (report,) = reports_of(source, "init", integers(), np.int32(5), flags="-O0")
    assert "the work-item's private memory" in report.message
    assert (report.kind, report.thread, report.line) == ("undefined-store", (5, 0, 0), 4)


def test_a_flat_load_of_lds_is_called_so() -> None:
    source = """static int f(int *p) { return *(volatile int *)p; }
    KERNEL k(GLOBAL int *x, int n) {
      static SHARED int b[32]; b[LANE & 15] = 1;
      x[LANE] = f((n ? (int *)b : (int *)x) + LANE);
    }"""
    (report,) = reports_of(source, "init", integers(), np.int32(5), flags="-O0")
    assert "byte 64 of the workgroup's LDS" in report.message
    assert (report.thread, report.address) == ((16, 0, 0), 64)


# Each of four waves accesses other columns of 16 rows, as matrix kernels do to keep out of bank
# conflicts.
SWIZZLED = """
  s_load_b64 s[22:23], s[0:1], 0x8
  s_bfe_u32 s28, ttmp8, 0x50019
  v_dual_mov_b32 v25, 1 :: v_dual_and_b32 v14, 15, v0
  v_dual_mov_b32 v26, 2 :: v_dual_lshlrev_b32 v17, 1, v0
  s_lshl_b32 s39, s28, 3
  v_bfe_i32 v20, v0, 4, 1
  v_and_b32 v17, 24, v17
  v_and_b32 v29, 0x208, v20
  v_lshlrev_b32 v15, 5, v14
  v_xor3_b32 v29, s39, v29, v17
  v_add_nc_u32 v23, v15, v29
  s_cmp_ge_u32 s28, {waves}
  s_cbranch_scc1 .Lstored
  ds_store_b64 v23, v[25:26]
.Lstored:
  s_wait_dscnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
  v_lshlrev_b32 v24, 3, v0
  ds_load_b64 v[8:9], {place}
  s_wait_dscnt 0x0
  v_add_nc_u32 v1, v8, v9
  v_lshlrev_b32 v0, 2, v0
  s_wait_kmcnt 0x0
  global_store_b32 v0, v1, s[22:23]
"""


def test_waves_that_swizzle_the_same_rows_are_told_apart() -> None:
    def counts(waves: int, place: str) -> list[int]:
        """Let the first waves store; return how often loads gave something undefined."""
        x = np.zeros(128, np.uint32)
        with amdjit.sanitize("init", raises=False) as found:
            code = assemble(SWIZZLED.format(waves=waves, place=place), lds=1024)
            emulate(code, "kernel", 1, 128, [x.copy(), x])
        return [report.count for report in found.reports]

    assert counts(waves=4, place="v24") == []
    assert counts(waves=1, place="v23") == [3]


def test_atomic_operations_that_go_wrong_are_called_so() -> None:
    source = "KERNEL k(GLOBAL int *x) { __atomic_fetch_add(x + LANE, 1, __ATOMIC_RELAXED); }"
    (report,) = reports_of(source, "memory", np.zeros(31, np.int32))
    assert (
        report.message
        == "atomic operation of 4 bytes at args[0][31], outside of args[0] of shape (31,)"
    )
    source = (
        "KERNEL k(GLOBAL char *x) { __atomic_fetch_add((GLOBAL int *)(x + 2), 1, "
        "__ATOMIC_RELAXED); }"
    )
    (report,) = reports_of(source, "memory", np.zeros(32, np.int8))
    assert report.message.startswith("atomic operation of 4 bytes at args[0][2] (0x")


def test_long_advice_is_broken() -> None:
    source = "KERNEL k(GLOBAL int *x) { x[0] = x[0] + 1; }"
    code = compile_source(f'#include "common.h"\n{source}')
    with amdjit.sanitize("race", raises=False) as found:
        run(code, "k", 2, 32, [np.zeros(1, np.int32)])
    lines = found.reports[0].render().splitlines()
    assert max(map(len, lines)) <= 118
    assert lines[-1].startswith("          ")
