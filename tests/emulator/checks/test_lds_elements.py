"""Reports and faults name the element of the shared array."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import f32, f64, i8, shared, syncthreads, threadIdx
from amdjit.backend import emit_object, optimise
from amdjit.intrinsics import math
from amdjit.options import CompileOptions, named_target
from amdjit.target import TRIPLE

X = np.ones(64, np.float32)


@amdjit.device_function
def rows():
    grid = shared.array((4, 5), f64)
    return grid


@amdjit.kernel
def several(x, where: amdjit.Const):
    flags = shared.array(3, i8)
    box = shared.array(64, f32)
    grid = rows()
    t = threadIdx.x
    flags[t % 3], box[t], grid[t % 4, 2] = 1, x[t], x[t]
    if where == "flags":
        x[t] = flags[2 - t % 3]
    elif where == "box":
        x[t] = box[63 - t]
    else:
        x[t] = f32(grid[3 - t % 4, 2])


@pytest.mark.parametrize(
    ("where", "shape", "last"), [("flags", (3,), None), ("box", (64,), None), ("grid", (4, 5), 2)]
)
def test_races_are_at_an_element(where: str, shape: tuple[int, ...], last: int | None) -> None:
    with amdjit.sanitize("race", raises=False) as found:
        several[1, 64](X.copy(), where)
    reports = [
        report for report in found.reports if report.kind == "lds" and "load" in report.message
    ]
    assert {report.array for report in reports} == {where}
    for report in reports:
        assert report.shape == shape
        assert report.index is not None
        assert all(0 <= i < extent for i, extent in zip(report.index, shape, strict=True))
        assert last is None or report.index[1] == last
        assert f"{where}[{', '.join(map(str, report.index))}]" in report.message


def test_what_was_never_written_is_at_an_element() -> None:
    @amdjit.kernel
    def half(x):
        first, second = shared.array((2, 32), f32), shared.array(32, f32)
        first[0, threadIdx.x], second[threadIdx.x] = 1, 2
        syncthreads()
        x[threadIdx.x] = first[1, threadIdx.x] + second[threadIdx.x]

    with amdjit.sanitize("init", raises=False) as found:
        half[1, 32](X.copy())
    assert [(report.array, report.index, report.shape) for report in found.reports] == [
        ("first", (1, 0), (2, 32))
    ]


def test_a_fault_is_at_an_element() -> None:
    @amdjit.kernel
    def beyond(x):
        tile = shared.array((4, 8), f32)
        tile[x.shape[0] - 60, threadIdx.x % 8] = x[threadIdx.x]
        x[threadIdx.x] = tile[0, 0]

    with pytest.raises(amdjit.KernelFault) as caught:
        beyond[1, 32](X.copy())
    assert (caught.value.array, caught.value.index, caught.value.shape) == ("tile", (4, 0), (4, 8))
    assert "it is tile[4, 0] of shape (4, 8)" in str(caught.value)


def test_dynamic_lds_begins_behind_the_placed_arrays() -> None:

    @amdjit.kernel
    def both(x):
        own, added = shared.array(32, f32), shared.dynamic(f32)
        t = threadIdx.x
        own[t], added[t] = x[t], 2 * x[t]
        syncthreads()
        x[t] = own[31 - t] + added[31 - t]

    x = np.arange(32, dtype=np.float32)
    both[1, 32, 0, 128](x)
    assert np.array_equal(x, 3 * np.arange(31, -1, -1))


def test_a_library_without_lds_leaves_the_places_known() -> None:
    @amdjit.kernel
    def linked(x: f64[:]):
        own = shared.array(32, f64)
        own[threadIdx.x] = math.sin(x[threadIdx.x])
        x[threadIdx.x] = own[0]

    with amdjit.sanitize("race", raises=False) as found:
        linked[1, 64](np.ones(64))
    assert {report.array for report in found.reports} == {"own"}


def test_variables_that_the_optimiser_splits_keep_their_places() -> None:
    """LLVM makes one variable of each element of a small array that is indexed by constants
    only."""

    @amdjit.kernel
    def split(x):
        pair, box = shared.array(2, f32), shared.array(64, f32)
        t = threadIdx.x
        if t == 0:
            pair[0], pair[1] = x[3], x[4]
        box[t] = x[t]
        x[t] = pair[0] - pair[1] + box[63 - t]

    compiled = split.compile(f32[:])
    assert (
        '@"split.shared.0"' in compiled.optimized_llvm
        or "@split.shared.0" in compiled.optimized_llvm
    )
    assert compiled.optimized_llvm.count(", !absolute_symbol") == 3
    with amdjit.sanitize("race", raises=False) as found:
        split[1, 64](X.copy())
    assert {report.array for report in found.reports} == {"pair", "box"}
    assert {report.shape for report in found.reports} == {(2,), (64,)}


def test_lds_that_amdjit_does_not_place_is_left_to_llvm() -> None:
    listed = '!amdjit.lds = !{!0}\n!0 = !{!"a", i32 0, i32 16}\n'
    body = (
        "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
        "  %v = load float, ptr addrspace(3) @a\n  %w = load float, ptr addrspace(3) @b\n"
        "  %s = fadd float %v, %w\n  store float %s, ptr addrspace(1) %p\n"
        "  store float %s, ptr addrspace(3) @a\n  store float %s, ptr addrspace(3) @b\n  ret "
        "void\n}\n"
    )
    for other in ("float", "[5 x float]"):
        variables = (
            "@a = internal addrspace(3) global float poison, align 16\n"
            f"@b = internal addrspace(3) global {other} poison, align 16\n"
        )
        options = CompileOptions(named_target("gfx1201"))
        text = optimise(
            f'target triple = "{TRIPLE}"\n{variables}{body}{listed}', options.target, options
        )
        assert "addrspace(3) global" in text
        assert "absolute_symbol" not in text
        emit_object(text, options.target, options)
