"""A choice whose condition takes several branches gives each lane its own side, which LLVM's
structurizer alone mixes up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import amdjit
from amdjit import f16, i64, u64
from amdjit.backend import emit_assembly
from amdjit.backend.phi_inputs import keep_phi_inputs
from amdjit.options import CompileOptions
from amdjit.target import Target

N = 40


def or_of_loads(a, b, box, out, s, n):  # type: ignore[no-untyped-def]
    t = amdjit.threadIdx.x
    out[t] = s if t < n or (b[box[t]] and b[t ^ 3]) else u64(t)


def and_of_loads(a, b, box, out, s, n):  # type: ignore[no-untyped-def]
    t = amdjit.threadIdx.x
    out[t] = i64(t) if t < n and (b[box[t]] or b[t ^ 3]) else s


def negated(a, b, box, out, s, n):  # type: ignore[no-untyped-def]
    t = amdjit.threadIdx.x
    out[t] = s if a[t] > f16(3) and b[box[t]] else -s


def if_of_loads(a, b, box, out, s, n):  # type: ignore[no-untyped-def]
    t = amdjit.threadIdx.x
    x = s
    if t < n or b[box[t]] or b[t ^ 5]:
        x = -s
    out[t] = x


def stored_twice(a, b, box, out, s, n):  # type: ignore[no-untyped-def]
    t = amdjit.threadIdx.x
    for _round in range(2):
        out[t] = s if t < n and b[box[t]] else u64(t)


def with_return(a, b, box, out, s, n):  # type: ignore[no-untyped-def]
    t = amdjit.threadIdx.x
    if t >= out.shape[0]:
        return
    out[t] = u64(t) if t < n or b[box[t]] else u64(3)


def values_of(kernel: Any, kind: Any) -> tuple[list[Any], Any]:
    source = np.random.default_rng(7)
    a = source.integers(0, 20, 64).astype(kind)
    b, box, t = source.random(64) < 0.5, source.integers(0, 64, 64).astype(np.int32), np.arange(64)
    s, below, far = kind(7), t < N, b[box]
    minus = np.negative(np.full(64, s))
    expected = {
        or_of_loads: np.where(below | (far & b[t ^ 3]), s, t),
        and_of_loads: np.where(below & (far | b[t ^ 3]), t, s),
        negated: np.where((a > 3) & far, s, minus),
        if_of_loads: np.where(below | far | b[t ^ 5], minus, s),
        stored_twice: np.where(below & far, s, t),
        with_return: np.where(below | far, t, 3),
    }[kernel]
    return [a, b, box, np.zeros(64, kind), s, np.int32(N)], expected.astype(kind)


KERNELS = [
    (or_of_loads, np.uint64),
    (and_of_loads, np.int64),
    (negated, np.float16),
    (if_of_loads, np.float32),
    (stored_twice, np.uint64),
    (with_return, np.uint64),
]


@pytest.mark.sample(8)
@pytest.mark.covering(2)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize(("kernel", "kind"), KERNELS, ids=lambda value: value.__name__)
def test_each_lane_gets_its_side(kernel: Any, kind: Any, level: int, wave_size: int) -> None:
    for bounds_check in (True, False):
        arguments, expected = values_of(kernel, kind)
        options = {
            "opt_level": level,
            "wave_size": wave_size,
            "bounds_check": bounds_check,
            "warnings": False,
        }
        amdjit.kernel(**options)(kernel)[1, 64](*arguments)
        assert_array_equal(arguments[3], expected)


def block(values: str, type: str, branch: str = "br i1 %c, label %side, label %right") -> str:
    """Return a function in which `side` is reached in two ways, and ends with a value for a phi."""
    return f"""define void @f({type} %v, {type} %w, i1 %c, i1 %d) {{
entry:
  {branch}

right:
  br i1 %d, label %side, label %end

side:
  {values}
  br label %end

end:
  %r = phi {type} [ %x, %side ], [ %w, %right ]
  ret void
}}
"""


@pytest.mark.parametrize(
    ("values", "type", "kept"),
    [
        ("%x = fneg float %v", "float", ["bitcast float %x to i32", "llvm.annotation.i32"]),
        ("%x = freeze i32 %v", "i32", ["i32 @llvm.annotation.i32.p0(i32 %x,"]),
        (
            "%x = freeze ptr addrspace(1) %v",
            "ptr addrspace(1)",
            ["@llvm.ptr.annotation.p1.p0(ptr addrspace(1) %x"],
        ),
        (
            "%x = fneg <2 x half> %v",
            "<2 x half>",
            ["bitcast <2 x half> %x to i32", "to <2 x half>"],
        ),
        ("%x = fneg double %v", "double", ["bitcast double %x to i64"]),
        ("%x = freeze i1 %v", "i1", ["llvm.annotation.i1"]),
        ("%x = add i32 %v, 1", "i32", []),
        ("%x = load i32, ptr null", "i32", []),
    ],
)
def test_values_that_llvm_would_move_are_kept(values: str, type: str, kept: list[str]) -> None:
    text = keep_phi_inputs(block(values, type))
    assert ("[ %x, %side ]" in text) == (not kept)
    assert all(part in text for part in kept)
    assert text.count("declare ") == bool(kept)


def test_one_if_with_one_else_is_left_to_llvm() -> None:
    simple = block("%x = fneg float %v", "float").replace(
        "br i1 %d, label %side, label %end", "br label %end"
    )
    assert keep_phi_inputs(simple) == simple
    # The block where the sides meet may become one with the next, which is reached in other ways
    # too.
    longer = simple.replace("  ret void\n", "  br label %last\n\nlast:\n  ret void\n")
    assert "llvm.annotation" in keep_phi_inputs(longer)


def test_it_costs_no_instruction(target: Target) -> None:
    options = CompileOptions(target)
    kernel = """define protected amdgpu_kernel void @k(ptr addrspace(1) %p, float %s) {
  BODY
  ret void
}
declare i32 @llvm.annotation.i32.p0(i32, ptr, ptr, i32)
"""
    kept = """%n = fneg float %s
  %m.0 = bitcast float %n to i32
  %m.1 = call i32 @llvm.annotation.i32.p0(i32 %m.0, ptr null, ptr null, i32 0)
  %m = bitcast i32 %m.1 to float
  %r = fmul float %m, %s
  store float %r, ptr addrspace(1) %p"""
    plain = "%n = fneg float %s\n  %r = fmul float %n, %s\n  store float %r, ptr addrspace(1) %p"
    codes = [emit_assembly(kernel.replace("BODY", body), target, options) for body in (kept, plain)]
    assert codes[0] == codes[1]
