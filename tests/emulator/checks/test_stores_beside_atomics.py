"""Plain stores of two workgroups to one element are a race on every family, whatever else the
kernel does; atomic stores are none, although gfx9 and gfx11 have one instruction for both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f32, i32
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.intrinsics.sync import threadfence
from tests.emulator.checks.seeded_kernels.seeded import text_of
from tests.emulator.running_source import kernel_from

FAMILIES = ("gfx1201", "gfx1100", "gfx950", "gfx942", "gfx90a", "gfx908")
NUMPY = {
    "i8": np.int8,
    "u16": np.uint16,
    "i32": np.int32,
    "f32": np.float32,
    "i64": np.int64,
    "f64": np.float64,
}
ELEMENTS = tuple(NUMPY)
SOURCE = """\
import amdjit
from amdjit import *

@amdjit.kernel{options}
def both(x, count):
    if amdjit.threadIdx.x == 0:
        {access}
        {atomic}
"""
ACCESSES = {
    "store": "x[0] = {element}(amdjit.blockIdx.x + 1)",
    "wide": "x.store(0, x.load(2, 2) + {element}(amdjit.blockIdx.x + 1))",
    "update": "x[0] += {element}(amdjit.blockIdx.x + 1)",
}
ATOMICS = {
    "add": "atomic.add(count, 0, 1)",
    "store": "atomic.store(count, 0, 1)",
    "load": "x[4 + amdjit.blockIdx.x] = atomic.load(count, 0)",
    "swap": "atomic.cas(count, 0, 0, 1)",
    "system": 'atomic.add(count, 0, 1, scope="system")',
}


def reports(kernel: amdjit.Kernel, family: str, x: np.ndarray[Any, Any]) -> list[SanitizerReport]:
    with amdjit.use(f"emulator:{family}"), amdjit.sanitize("race", raises=False) as found:
        kernel[4, 64](x, np.zeros(1, np.int32))
    return found.reports


def cases() -> list[Any]:
    """Every access beside every atomic on every family, with and without debug information; of the
    elements one in each run."""
    found = []
    for number, family in enumerate(FAMILIES):
        for other, access in enumerate(ACCESSES):
            for third, beside in enumerate(ATOMICS):
                element = ELEMENTS[(number + other + third) % len(ELEMENTS)]
                marked = (number + third) % 2 == 0
                often = (number + other + third) % 4 == 0
                marks = () if often else pytest.mark.exhaustive
                name = f"{family}-{access}-{beside}-{element}-{marked}"
                values = (family, access, beside, element, marked)
                found.append(pytest.param(*values, marks=marks, id=name))
    return found


@pytest.mark.sample(12)
@pytest.mark.parametrize(("family", "access", "beside", "element", "marked"), cases())
def test_a_plain_store_is_a_race_beside_any_atomic(
    tmp_path: Path, family: str, access: str, beside: str, element: str, marked: bool
) -> None:
    source = SOURCE.format(
        options="" if marked else "(debug_info=False)",
        access=ACCESSES[access].format(element=element),
        atomic=ATOMICS[beside],
    )
    found = reports(kernel_from(source, "both", tmp_path), family, np.zeros(8, NUMPY[element]))
    messages = [report.message for report in found]
    first = "load" if access == "update" else "store"
    assert messages[:1] == [f"{first} of x[0] races with a store by another workgroup"], text_of(
        found
    )
    assert not any("atomic operation" in message for message in messages)


@amdjit.kernel
def stored_by_all(x, count):
    if amdjit.threadIdx.x == 0:
        atomic.store(count, 0, amdjit.blockIdx.x + 1)


@amdjit.kernel(debug_info=False)
def stored_and_loaded(x, count):
    if amdjit.threadIdx.x == 0:
        atomic.store(count, 0, amdjit.blockIdx.x + 1)
        x[amdjit.blockIdx.x] = f32(atomic.load(count, 0))


@amdjit.kernel(debug_info=False)
def loaded_at_last(x, count):
    if amdjit.threadIdx.x == 0:
        atomic.store(count, 0, amdjit.blockIdx.x + 1)
        if amdjit.blockIdx.x == 3:
            x[0] = f32(atomic.load(count, 0))


@amdjit.kernel(debug_info=False)
def unlocked_by_a_store(x, count):
    if amdjit.threadIdx.x == 0:
        while atomic.cas(count, 0, 0, 1, order="acquire") != 0:
            pass
        x[0] += f32(1)
        atomic.store(count, 0, 0, order="release")


@amdjit.kernel(debug_info=False)
def message(x, count):
    if amdjit.threadIdx.x == 0:
        if amdjit.blockIdx.x == 0:
            x[0] = f32(7)
            threadfence()
            atomic.store(count, 0, 1)
        elif atomic.load(count, 0, order="acquire") == 1:
            x[amdjit.blockIdx.x] = x[0]


SILENT = (stored_by_all, stored_and_loaded, loaded_at_last, unlocked_by_a_store, message)


@pytest.mark.sample(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_atomic_stores_are_no_race(family: str) -> None:
    for kernel in SILENT:
        found = reports(kernel, family, np.zeros(8, np.float32))
        assert not found, text_of(found)


@amdjit.kernel
def merged_stores(x, count):
    if amdjit.threadIdx.x == 0:
        if amdjit.blockIdx.x % 2:
            atomic.store(count, 0, amdjit.blockIdx.x)
        else:
            atomic.store(count, 0, i32(x[0]) + amdjit.blockIdx.x)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_atomic_store_of_two_lines_stays_one(family: str) -> None:
    found = reports(merged_stores, family, np.zeros(8, np.float32))
    assert not found, text_of(found)
