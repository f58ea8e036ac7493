"""Estimates `examples/tuned_gemm.py` on large square matrices with the cycle model: one workgroup
of the same depth runs on the emulator and represents all of them.

The assumptions are: all workgroups do the same; those on one workgroup processor share no line in
its caches (recording 2 or 6 of them, which share B, changed no figure by more than its usual
variation); those that run at the same time share L2 evenly; the clock is the boost clock. Where
caches nearly overflow, the addresses of the matrices decide what is evicted: estimates are made for
several addresses, and their median is taken.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import amdjit
from amdjit.code_object import CodeObject
from amdjit.cycles.estimate import Cycles
from amdjit.cycles.model import Launch, estimate
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.examples.tuned_gemm import BYTES, DTYPES, FORMS, Configuration, panels, product

RESULTS = {"f16": np.float16, "fp8": np.float16, "i8": np.int32}
# TFLOPS or TOPS on gfx1201. fp8: ROCm/legacy-rocm-build 5861; i8: comfy-kitchen 94 and 122; f16:
# rocm-libraries 10861, whose form is not known.
PUBLISHED = {
    ("fp8", "one buffer"): "194 to 210",
    ("fp8", "two buffers"): "158 to 173",
    ("fp8", "registers"): "183 to 189",
    ("i8", "one buffer"): "126",
    ("i8", "two buffers"): "110",
}
# BM, BN, rows and columns of waves.
SHAPES = ((128, 128, 2, 2), (256, 128, 4, 2), (128, 128, 2, 4))


@dataclass(frozen=True)
class Estimate:
    """The model's estimate of one configuration."""

    kind: str
    order: str
    configuration: Configuration
    tera: tuple[float, ...]
    """10^12 operations per second, for each address of the matrices."""
    wmma_share: float
    stalls: dict[str, float]
    """The shares of the cycles for which waves wait, by cause."""
    vgprs: int
    spills: int
    lds: int

    @property
    def middle(self) -> float:
        """The median of the estimates."""
        return statistics.median(self.tera)

    @property
    def stall(self) -> str:
        """The most frequent reason why waves wait."""
        return max(self.stalls, key=lambda name: self.stalls[name])


def estimated(
    kind: str,
    c: Configuration,
    size: int,
    in_panels: bool = False,
    places: int = 1,
    extra_lds: int = 0,
) -> Estimate:
    """Return the estimate of a product of `size` by `size` matrices of "f16", "fp8" or "i8".

    places: how many addresses of the matrices to try. extra_lds: bytes of LDS that a workgroup is
    assumed to need in addition, so that fewer of them run at the same time.
    """
    found = [
        _estimated_once(kind, c, size=size, in_panels=in_panels, place=place, extra_lds=extra_lds)
        for place in range(places)
    ]
    cycles, code_object = found[0]
    (kernel,) = code_object.kernels.values()
    return Estimate(
        kind,
        "panels" if in_panels else "rows",
        configuration=c,
        tera=tuple(2 * size**3 / each.seconds / 1e12 for each, _ in found),
        wmma_share=cycles.wmma_share,
        stalls=_shares(cycles),
        vgprs=kernel.metadata.vgpr_count,
        spills=kernel.metadata.vgpr_spills,
        lds=kernel.metadata.group_segment_bytes,
    )


def _estimated_once(
    kind: str, c: Configuration, size: int, in_panels: bool, place: int, extra_lds: int
) -> tuple[Cycles, CodeObject]:
    dtype, result = DTYPES[kind], RESULTS[kind]
    a, b = _placed((c.BM, size), dtype, place), _placed((c.BN, size), dtype, 3 * place)
    nbytes = size * size * (2 * a.itemsize + np.dtype(result).itemsize)
    if in_panels:
        a, b = (_placed(panels(each).shape, dtype, place) for each in (a, b))
    with amdjit.profile(workgroups=1, instructions=8_000_000) as profile:
        product(a, b, np.zeros((c.BM, c.BN), result), c)
    (found,) = profile.launches
    assert found.recording is not None
    workgroups = (size // c.BM) * (size // c.BN)
    items = int(np.prod(found.block))
    launch = Launch(workgroups, items, extra_lds, nbytes // LINE_BYTES)
    code_object = CodeObject.read(found.code_object)
    return estimate(code_object, found.kernel, launch, found.recording), code_object


def _placed(shape: tuple[int, ...], dtype: Any, place: int) -> Any:
    """Return a matrix of ones that begins some lines after the start of its memory."""
    count, offset = int(np.prod(shape)), 7 * place * LINE_BYTES // np.dtype(dtype).itemsize
    return np.ones(count + offset, dtype)[offset:].reshape(shape)


def _shares(cycles: Cycles) -> dict[str, float]:
    total = sum(cycles.stalls.values())
    return {name: count / total for name, count in cycles.stalls.items()}


def sensible(kind: str, form: str) -> Iterator[Configuration]:
    """Yield the configurations of a form that the table of forms considers: deep steps if LDS has
    space for them."""
    step = BYTES // np.dtype(DTYPES[kind]).itemsize
    for bm, bn, rows, columns in SHAPES:
        if form == "registers":
            yield Configuration(bm, bn, step, rows, columns, form, 0)
        else:
            yield Configuration(bm, bn, 2 * step, rows, columns, form, 16)


def best_of_form(kind: str, form: str, size: int, in_panels: bool, places: int) -> Estimate:
    """Return the estimate of a form's best sensible configuration."""
    found = [estimated(kind, c, size, in_panels, places) for c in sensible(kind, form)]
    return max(found, key=lambda each: each.middle)


def rank_forms(size: int, places: int) -> list[Estimate]:
    """Return the best estimates of each type, order of operands and form."""
    return [
        best_of_form(kind, form, size, in_panels, places)
        for kind in DTYPES
        for in_panels in (False, True)
        for form in FORMS
    ]
