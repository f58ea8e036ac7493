"""`amdjit.emulator.run`: arguments of every width, structures by value, and errors that say what to
give instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator import run
from tests.emulator.building import compile_source, device
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

WIDTHS = """
#include "common.h"
KERNEL widths(GLOBAL double *out, u8 a, short b, u32 c, long d, f16 e, float f, double g, char h) {
  double values[8] = {a, b, c, (double)d, (double)e, f, g, h};
  for (int k = 0; k < 8; ++k)
    out[k] = values[k];
}
"""
STRUCTURES = """
#include "common.h"
struct Inner { u8 tag; double weight; };
struct Point { float x, y; struct Inner inner[2]; };
KERNEL structures(struct Point p, GLOBAL double *out, struct Inner last) {
  out[0] = p.x + p.y;
  out[1] = p.inner[0].tag * p.inner[0].weight + p.inner[1].tag * p.inner[1].weight;
  out[2] = last.tag + last.weight;
}
"""
INNER = np.dtype([("tag", np.uint8), ("weight", np.float64)], align=True)
POINT = np.dtype([("x", np.float32), ("y", np.float32), ("inner", INNER, 2)], align=True)


def start(source: str, kernel: str, args: list[Any]) -> None:
    run(compile_source(source), kernel, 1, 1, args, device=device())


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_scalars_of_every_width(level: str) -> None:
    out = np.zeros(8)
    values = [200, -30000, 4000000000, -(1 << 40), 0.5, -1.25, 1e300, -7]
    kinds = [np.uint8, np.int16, np.uint32, np.int64, np.float16, np.float32, np.float64, np.int8]
    scalars = [kind(value) for kind, value in zip(kinds, values, strict=True)]
    run(compile_source(WIDTHS, level), "widths", 1, 1, [out, *scalars], device=device())
    assert out.tolist() == values


@pytest.mark.parametrize("null", [None, 0])
def test_none_and_0_are_null_pointers(null: Any) -> None:
    source = """
#include "common.h"
KERNEL maybe(GLOBAL u32 *out, GLOBAL u32 *bias) { out[0] = bias ? bias[0] : 7; }
"""
    out = np.zeros(1, np.uint32)
    start(source, "maybe", [out, null])
    assert out[0] == 7
    start(source, "maybe", [out, np.array([5], np.uint32)])
    assert out[0] == 5


def test_a_store_through_a_null_pointer_is_a_fault() -> None:
    with pytest.raises(amdjit.KernelFault) as caught:
        start('#include "common.h"\nKERNEL into(GLOBAL u32 *out) { out[0] = 1; }\n', "into", [None])
    assert caught.value.kind == "out-of-bounds"


def test_structures_are_passed_by_value() -> None:
    point = np.array((1.5, 2.0, [(3, 0.25), (4, 10.0)]), POINT)[()]
    out = np.zeros(3)
    start(STRUCTURES, "structures", [point, out, np.array((7, 0.5), INNER)[()]])
    assert out.tolist() == [3.5, 40.75, 7.5]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (
            0,
            np.uint64(0),
            r"argument 1 is a pointer: give it an array, or None for a null pointer, not uint64",
        ),
        (
            0,
            4096,
            r"argument 1 is a pointer: give it an array, or None for a null pointer, not int",
        ),
        (
            0,
            False,
            r"argument 1 is a pointer: give it an array, or None for a null pointer, not bool",
        ),
        (
            1,
            200,
            r"argument 2 must be a NumPy scalar, not int: it has 1 bytes, as np.int32\(3\) has 4",
        ),
        (1, None, r"argument 2 must be a NumPy scalar, not NoneType"),
        (3, np.int64(1), r"argument 4 has 4 bytes, int64 has 8"),
        (
            4,
            np.zeros(1, np.int64),
            r"argument 5 is a value of 8 bytes: give it a NumPy scalar; array\[\(\)\]",
        ),
        (
            0,
            np.zeros((8, 2))[:, 0],
            r"argument 1 must be C-contiguous: numpy.ascontiguousarray copies",
        ),
    ],
)
def test_wrong_arguments_are_named_with_what_to_give(place: int, value: Any, message: str) -> None:
    args: list[Any] = [
        np.zeros(8),
        *(kind(1) for kind in (np.uint8, np.int16, np.uint32, np.int64)),
    ]
    args += [kind(1) for kind in (np.float16, np.float32, np.float64, np.int8)]
    args[place] = value
    with pytest.raises(LaunchError, match=message):
        start(WIDTHS, "widths", args)


def test_too_few_arguments_are_counted() -> None:
    with pytest.raises(LaunchError, match="widths: takes 9 arguments, 1 were given"):
        start(WIDTHS, "widths", [np.zeros(8)])


def test_checks_that_are_asked_for_are_made() -> None:
    source = (
        '#include "common.h"\nKERNEL clash(GLOBAL u32 *x) { x[0] = '
        "__builtin_amdgcn_workitem_id_x() / 32; }\n"
    )
    x = np.zeros(4, np.uint32)
    with (
        pytest.raises(amdjit.SanitizerError, match=r"race/global.*store of args\[0\]\[0\]"),
        amdjit.sanitize("race") as found,
    ):
        run(compile_source(source, "-O1"), "clash", 1, 64, [x], device=device())
    assert {report.check for report in found.reports} == {"race"}
    run(compile_source(source, "-O1"), "clash", 1, 64, [x], device=device())
