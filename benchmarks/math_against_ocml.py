"""Counts how many instructions functions of f32 and f64 take, in comparison with OCML, ROCm's
device library. The code is compiled, not run.

The count is the number of instructions that a kernel with one call has more than one that only
copies, without the hints to the scheduler (`s_delay_alu`, waits). Both sides of branches count.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import amdjit
from amdjit import LlvmCall, f32, f64
from amdjit.backend import find_ocml
from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import BackendError
from amdjit.intrinsics import math as real
from amdjit.options import Environment
from amdjit.types import Scalar

NAMES = {"power": "pow"}
"""OCML's names where they differ."""


def instructions(name: str, arguments: int) -> dict[str, int]:
    """Return the numbers of instructions: amdjit's in f32 and in f64, and OCML's if it is
    installed."""
    empty, ours = _counted(None, arguments), _counted(getattr(real, name), arguments)
    found = {"instructions": ours[0] - empty[0], "of_f64": ours[1]}
    if find_ocml(Environment()) is not None:
        found["instructions_of_ocml"] = _counted(_of_ocml(name, arguments), arguments)[0] - empty[0]
    return found


def instructions_of_f64(name: str, arguments: int) -> dict[str, int]:
    """Return how many instructions a function of f64 takes, how many of them are of f64, and both
    numbers for OCML's function if it is installed."""
    empty = _counted(None, arguments, f64)[0]
    ours = _counted(getattr(real, name), arguments, f64)
    found = {"instructions": ours[0] - empty, "of_f64": ours[1]}
    if find_ocml(Environment()) is not None:
        with suppress(BackendError):  # amdjit has some functions in f32 only
            theirs = _counted(_of_ocml(name, arguments, f64), arguments, f64)
            found |= {"instructions_of_ocml": theirs[0] - empty, "of_f64_in_ocml": theirs[1]}
    return found


def _counted(
    function: DeviceFunction | Intrinsic | None, arguments: int, kind: Scalar = f32
) -> tuple[int, int]:
    mnemonics = re.findall(
        r"^\s+((?:v|s|ds|global|scratch)_\w+)",
        _kernel(function, arguments).compile(*[kind[:]] * 3).asm,
        re.MULTILINE,
    )
    real_ones = [
        name for name in mnemonics if not re.match("s_delay_alu|s_wait|s_nop|s_clause", name)
    ]
    return len(real_ones), sum("f64" in name for name in real_ones)


def _kernel(function: Any, arguments: int) -> amdjit.Kernel:
    @amdjit.kernel
    def of_none(x, y, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = x[i]

    @amdjit.kernel
    def of_one(x, y, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i])

    @amdjit.kernel
    def of_two(x, y, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i], y[i])

    if function is None:
        return of_none
    return of_one if arguments == 1 else of_two


def _of_ocml(name: str, arguments: int, kind: Scalar = f32) -> Intrinsic:
    lowering = LlvmCall(f"__ocml_{NAMES.get(name, name)}_f{kind.bits}", library="OCML")

    def of_one(x):
        """Return the result of OCML's function."""

    def of_two(x, y):
        """Return the result of OCML's function."""

    function = of_one if arguments == 1 else of_two
    function.__annotations__ = dict.fromkeys(("x", "y")[:arguments], kind) | {"return": kind}
    return amdjit.intrinsic(lowering)(function)
