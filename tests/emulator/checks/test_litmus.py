"""What one workgroup writes and another reads is ordered, or a race, by the fences of LLVM's memory
model (AMDGPU guide, "Memory Model"): the same on every family, wherever the fences stand."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.sanitizer import SanitizerReport
from tests.emulator.running_source import kernel_from

FAMILIES = ("gfx1201", "gfx1100", "gfx942", "gfx90a")
# The last workgroup of a grid adds up what all have stored. An atomic tells which one is the last,
# and a barrier tells the other waves.
SOURCE = """\
import amdjit
from amdjit import f32, i32, shared, syncthreads
from amdjit.intrinsics.sync import fence, threadfence, threadfence_block, threadfence_system

@amdjit.kernel
def total(part, count, out):
    flag = shared.array(1, i32)
    i = amdjit.threadIdx.x
    part[amdjit.blockIdx.x * 128 + i] = f32(amdjit.blockIdx.x)
    {release_in_all}
    syncthreads()
    if i == 0:
        {release_in_one}
        flag[0] = amdjit.atomic.add(count, 0, 1, order="{order}")
        {acquire_in_one}
    syncthreads()
    if flag[0] == amdjit.gridDim.x - 1:
        {acquire_in_all}
        s = f32(0)
        for k in range(amdjit.gridDim.x):
            s += part[k * 128 + i]
        out[i] = s
"""
NOTHING = "pass"
# Where the fence stands, what it is, and whether it reaches other workgroups.
RELEASES = {
    "none": ("in_all", NOTHING, False),
    "of_the_group": ("in_all", "threadfence_block()", False),
    "acquire_only": ("in_all", 'fence("acquire", "agent")', False),
    "in_all": ("in_all", "threadfence()", True),
    "in_one": ("in_one", "threadfence()", True),
    "release_only": ("in_one", 'fence("release", "agent")', True),
    "of_the_system": ("in_one", "threadfence_system()", True),
    "by_the_atomic": ("order", "release", True),
}
ACQUIRES = {
    "none": ("in_all", NOTHING, False),
    "of_the_group": ("in_all", "threadfence_block()", False),
    "in_all": ("in_all", "threadfence()", True),
    "in_one": ("in_one", "threadfence()", True),
    "acquire_only": ("in_all", 'fence("acquire", "agent")', True),
    "by_the_atomic": ("order", "acquire", True),
}
ORDERS = {frozenset(): "relaxed", frozenset({"release", "acquire"}): "acq_rel"}
PAIRS = list(product(RELEASES, ACQUIRES))
# Of the others, one family each.
EVERYWHERE = {("in_all", "in_all"), ("in_all", "none"), ("none", "in_all"), ("none", "in_one")}
RUNS = [
    pytest.param(
        family,
        *pair,
        marks=() if pair in EVERYWHERE or n % 4 == m else pytest.mark.exhaustive,
        id=f"{family}-{pair[0]}-{pair[1]}",
    )
    for n, pair in enumerate(PAIRS)
    for m, family in enumerate(FAMILIES)
]


def source_of(release: str, acquire: str) -> str:
    sides = product(("release", "acquire"), ("all", "one"))
    fields = {f"{what}_in_{who}": NOTHING for what, who in sides}
    orders = set()
    for what, (place, text, _) in (("release", RELEASES[release]), ("acquire", ACQUIRES[acquire])):
        if place == "order":
            orders.add(text)
        else:
            fields[f"{what}_{place}"] = text
    order = ORDERS.get(frozenset(orders)) or next(iter(orders))
    return SOURCE.format(order=order, **fields)


def races(kernel: amdjit.Kernel, family: str) -> list[SanitizerReport]:
    part, count = np.zeros(384, np.float32), np.zeros(1, np.int32)
    with amdjit.use(f"emulator:{family}"), amdjit.sanitize("race", raises=False) as found:
        kernel[3, 128](part, count, np.zeros(128, np.float32))
    return found.reports


@pytest.mark.sample(12)
@pytest.mark.parametrize(("family", "release", "acquire"), RUNS)
def test_a_release_and_an_acquire_order_workgroups(
    tmp_path: Path, family: str, release: str, acquire: str
) -> None:
    kernel = kernel_from(source_of(release, acquire), "total", tmp_path)
    found = races(kernel, family)
    if RELEASES[release][2] and ACQUIRES[acquire][2]:
        assert not found, found[0]
    else:
        assert [(report.kind, report.line) for report in found] == [("global", 21)]
