"""What reports say of C kernels, whose arguments and addresses have no names of Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
from building import compile_source
from required_tools import needs_tools

import amdjit
from amdjit import SanitizerReport
from amdjit.emulator import run

pytestmark = needs_tools


def reports_of(source: str, check: str, *arguments: Any, flags: str = "-O2") -> list[SanitizerReport]:
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


def test_atomic_operations_that_go_wrong_are_called_so() -> None:
    source = "KERNEL k(GLOBAL int *x) { __atomic_fetch_add(x + LANE, 1, __ATOMIC_RELAXED); }"
    (report,) = reports_of(source, "memory", np.zeros(31, np.int32))
    assert report.message == "atomic operation of 4 bytes at args[0][31], outside of args[0] of shape (31,)"
    source = "KERNEL k(GLOBAL char *x) { __atomic_fetch_add((GLOBAL int *)(x + 2), 1, __ATOMIC_RELAXED); }"
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
