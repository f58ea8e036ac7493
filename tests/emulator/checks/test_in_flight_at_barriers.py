"""Accesses that are still under way when a wave signals a barrier race with what other waves do
behind it (Triton's issue of a load of LDS that a later store overtook), on every family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator import run
from tests.emulator.building import assemble
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

NEW = {
    "kernarg": "s_wait_kmcnt 0x0",
    "loads": "s_wait_loadcnt 0x0",
    "one_lds": "s_wait_dscnt 0x1",
    "lds": "s_wait_dscnt 0x0",
    "stores": "s_wait_storecnt 0x0",
    "barrier": "s_barrier_signal -1\n s_barrier_wait -1",
    "load": "global_load_b32",
    "store": "global_store_b32",
    "ds_load": "ds_load_b32",
    "ds_store": "ds_store_b32",
    "pair": "ds_load_2addr_b32 v[6:7], v3, v3",
    "pointers": "s_load_b128",
}
OLD = NEW | {
    "kernarg": "s_waitcnt lgkmcnt(0)",
    "loads": "s_waitcnt vmcnt(0)",
    "one_lds": "s_waitcnt lgkmcnt(1)",
    "lds": "s_waitcnt lgkmcnt(0)",
    "stores": "s_waitcnt_vscnt null, 0x0",
    "barrier": "s_barrier",
}
CDNA = OLD | {
    "stores": "s_waitcnt vmcnt(0)",
    "load": "global_load_dword",
    "store": "global_store_dword",
    "ds_load": "ds_read_b32",
    "ds_store": "ds_write_b32",
    "pointers": "s_load_dwordx4",
}
FAMILIES = {
    "gfx1201": NEW,
    "gfx1100": OLD,
    "gfx1150": OLD,
    "gfx950": CDNA,
    "gfx942": CDNA,
    "gfx90a": CDNA,
    "gfx908": CDNA,
}
# v1: a place of the work-item's own; v3: one of the other wave; v5: a value.
BODY = """
  {pointers} s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 2, v0
  v_xor_b32_e32 v3, {other:#x}, v1
  v_mov_b32_e32 v5, 7
  {kernarg}
  {load} v2, v1, s[4:5]
  {loads}
  {ds_store} v1, v2
  {lds}
  {barrier}
  {first}
  {wait}
  {barrier}
  {second}
  {lds}
  {loads}
  {store} v1, v5, s[6:7]
"""
LDS_LOAD, LDS_STORE = "{ds_load} v4, v3", "{ds_store} v1, v5"
LOAD, STORE = "{load} v4, v3, s[4:5]", "{store} v1, v5, s[4:5]"
# What comes before the barrier, what after it, what must be waited for in between, and whether that
# is so on CDNA, whose waves of a workgroup share a cache that keeps their accesses in order.
MATRIX = {
    "lds_load_then_store": (LDS_LOAD, LDS_STORE, "lds", True),
    "lds_store_then_load": (LDS_STORE, LDS_LOAD, "lds", True),
    "lds_store_then_store": (LDS_STORE, "{ds_store} v3, v2", "lds", True),
    "load_then_store": (LOAD, STORE, "loads", False),
    "store_then_load": (STORE, LOAD, "stores", False),
    "second_of_two": ("{ds_load} v6, v1\n {ds_load} v4, v3\n {one_lds}", LDS_STORE, "lds", True),
}
# Nothing is wrong although something is under way.
HARMLESS = {
    "first_of_two": ("{ds_load} v4, v3\n {ds_load} v6, v1\n {one_lds}", LDS_STORE),
    "another_place": (LDS_LOAD, "{ds_store} v1, v5 offset:512"),
    "two_loads": (LDS_LOAD, LDS_LOAD),
    "own_place": ("{ds_load} v4, v1", LDS_STORE),
}


def found(family: str, first: str, second: str, wait: str) -> list[SanitizerReport]:
    words: dict[str, Any] = FAMILIES[family] | {"other": 256 if family.startswith("gfx9") else 128}
    words |= {"first": first.format(**words), "second": second.format(**words)}
    body = BODY.format(**words, wait=words[wait] if wait else "")
    code = assemble(body, lds=2048, cpu=family)
    items = words["other"] // 2
    x, y = np.arange(items, dtype=np.int32), np.zeros(items, np.int32)
    with (
        amdjit.use(f"emulator:{family}"),
        amdjit.sanitize("race", raises=False) as reports,
    ):
        run(code, "kernel", 1, items, [x, y])
    return reports.reports


@pytest.mark.sample(4)
@pytest.mark.covering(1)
@pytest.mark.parametrize("case", MATRIX)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_under_way_races_behind_the_barrier(family: str, case: str) -> None:
    first, second, wait, everywhere = MATRIX[case]
    assert found(family, first, second, wait) == []
    reports = found(family, first, second, "")
    if family.startswith("gfx9") and not everywhere:
        assert reports == []
    else:
        expected = "fence" if case == "store_then_load" else "wait"
        assert [report.kind for report in reports] == [expected]


@pytest.mark.covering(1)
@pytest.mark.parametrize("case", HARMLESS)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_under_way_elsewhere_is_no_race(family: str, case: str) -> None:
    assert found(family, *HARMLESS[case], "") == []
