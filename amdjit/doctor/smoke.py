"""The smoke run of one device, in a child process: `main("hip:0", "60")`.

It reports these lines: `begun` and then `ended` or `failed` for each kernel, and `made` for the
device.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from amdjit.devices import find_device, use
from amdjit.diagnostics.errors import KernelFault
from amdjit.doctor.child import reporting
from amdjit.doctor.smoke_kernels import (
    BLOCK,
    SIDE,
    assert_ascending,
    count_values,
    multiply,
    print_squares,
    reverse_blocks,
    saxpy,
)
from amdjit.doctor.survey import failure
from amdjit.late_methods import dataclass
from amdjit.runtime.device import Device
from amdjit.target import Feature, Target

__all__ = ["TRIALS", "Trial", "main"]


Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


def main(name: str) -> None:
    """Run all kernels that suit the device of this name, and report each."""
    report = reporting()
    try:
        device = find_device(name)
        reference = _emulator_of(device)
    except Exception as error:  # the doctor reports every error
        report(stage="failed", trial="", **failure(error))
        return
    report(stage="made", description=device.description, reference=reference and reference.name)
    for trial in TRIALS:
        if not trial.is_for(device.target):
            continue
        report(stage="begun", trial=trial.name)
        begin = time.perf_counter()
        try:
            wrong = _compare(trial, device, reference)
        except Exception as error:
            report(stage="failed", trial=trial.name, **failure(error))
            continue
        seconds = round(time.perf_counter() - begin, 3)
        report(stage="ended", trial=trial.name, wrong=wrong, seconds=seconds)


def _emulator_of(device: Device) -> Device | None:
    """Return the emulator with which the device's results are compared; None for an emulator, and
    for a processor that has none."""
    if device.name.startswith("emulator:") or not device.target.is_emulated:
        return None
    return find_device(f"emulator:{device.target.name}")


def _compare(trial: Trial, device: Device, reference: Device | None) -> str:
    """Run a kernel; return what is wrong with its result, empty if it is right."""
    with use(device):
        result = trial.run(device.target)
    wrong = _difference(result, trial.expected(), "NumPy's", trial.tolerance)
    if wrong or reference is None:
        return wrong
    with use(reference):
        emulated = trial.run(reference.target)
    return _difference(result, emulated, f"those of {reference.name}", trial.tolerance)


def _difference(result: Array, expected: Array, whose: str, tolerance: float) -> str:
    """Return how results differ from the expected ones, empty if they do not. Bytes are text."""
    if result.shape != expected.shape or result.dtype == np.uint8:
        is_same = result.tobytes() == expected.tobytes()
        return "" if is_same else f"{_text(result)} is not {whose}, {_text(expected)}"
    first, second = result.reshape(-1).astype(float), expected.reshape(-1).astype(float)
    differing = np.flatnonzero(~(np.abs(first - second) <= tolerance))
    if not len(differing):
        return ""
    at = differing[0]
    return (
        f"{len(differing)} of {result.size} elements differ from {whose}; the first is element "
        f"{at}: {first[at]:g} instead of {second[at]:g}"
    )


def _text(result: Array) -> str:
    return repr(result.tobytes().decode(errors="replace"))


# The kernels of the smoke run, with inputs whose results are exact.


_GRID = 64
_BINS = 16
_MATRIX = frozenset({Feature.WMMA_GFX11, Feature.WMMA_GFX12, Feature.MFMA})


@dataclass(frozen=True, slots=True)
class Trial:
    """A kernel that is run on a device."""

    name: str
    """What it tries, in a word or two."""
    run: Callable[[Target], NDArray[np.generic]]
    """Launches it on the current device and returns its result."""
    expected: Callable[[], NDArray[np.generic]]
    """Computes the same result with NumPy."""
    needs: frozenset[Feature] = frozenset()
    """Features of which the processor must have at least one; empty if it needs none."""
    tolerance: float = 0
    """By how much a result may differ; 0 if it must be equal."""

    def is_for(self, target: Target) -> bool:
        """Return whether a processor has what the kernel needs."""
        return not self.needs or bool(self.needs & target.features)


# Products and sums of multiples of 1/1024 below 64 are exact, whether they are fused or not.
_X = (np.arange(_GRID * BLOCK - 3, dtype=np.float32) % 4093) / np.float32(1024)
_Y = _X[::-1].copy()
_A = np.float32(2.5)
_WHOLE = np.arange(_GRID * BLOCK, dtype=np.float32)
_VALUES = (np.arange(_GRID * BLOCK, dtype=np.uint32) * 7 % 13).astype(np.uint8)
_LEFT = (np.arange(SIDE * SIDE) * 5 % 17 - 8).astype(np.float16).reshape(SIDE, SIDE)
_RIGHT = (np.arange(SIDE * SIDE) * 3 % 11 - 5).astype(np.float16).reshape(SIDE, SIDE)
_SQUARED = np.arange(4, dtype=np.int32)


def _run_saxpy(target: Target) -> NDArray[np.generic]:
    out = np.zeros(_X.shape, np.float32)
    saxpy[_GRID, BLOCK](_A, _X, _Y, out)
    return out


def _run_lds(target: Target) -> NDArray[np.generic]:
    out = np.zeros_like(_WHOLE)
    reverse_blocks[_GRID, BLOCK](_WHOLE, out)
    return out


def _run_atomics(target: Target) -> NDArray[np.generic]:
    counts = np.zeros(_BINS, np.uint32)
    count_values[_GRID, BLOCK](_VALUES, counts)
    return counts


def _run_product(target: Target) -> NDArray[np.generic]:
    out = np.zeros((SIDE, SIDE), np.float32)
    multiply[1, target.wave_size](_LEFT, _RIGHT, out)
    return out


def _run_print(target: Target) -> NDArray[np.generic]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        print_squares[1, len(_SQUARED)](_SQUARED)
    return _bytes(printed.getvalue())


def _run_assert(target: Target) -> NDArray[np.generic]:
    wrong = np.arange(64, dtype=np.int32)
    wrong[37] = -1
    try:
        assert_ascending[1, 64](wrong)
    except KernelFault as fault:
        return _bytes(f"{fault.kind} {fault.detail} {fault.thread}")
    return _bytes("no assert failed")


def _bytes(text: str) -> NDArray[np.generic]:
    return np.frombuffer(text.encode(), np.uint8)


TRIALS = (
    Trial("saxpy", _run_saxpy, lambda: _A * _X + _Y),
    Trial("LDS", _run_lds, lambda: _WHOLE.reshape(_GRID, BLOCK)[:, ::-1].reshape(-1)),
    Trial("atomics", _run_atomics, lambda: np.bincount(_VALUES, minlength=_BINS).astype(np.uint32)),
    Trial(
        "matrix product",
        _run_product,
        lambda: _LEFT.astype(np.float32) @ _RIGHT.astype(np.float32),
        _MATRIX,
        # The results are whole numbers, so a wrong one differs by 1. RDNA 3 misses whole numbers by
        # a few units in the last place (docs/matrix.md), which `amdjit probe` examines.
        tolerance=1 / 16,
    ),
    Trial(
        "print",
        _run_print,
        lambda: _bytes("".join(f"square of {i} is {i * i}\n" for i in range(len(_SQUARED)))),
    ),
    Trial("assert", _run_assert, lambda: _bytes("assert x must ascend (37, 0, 0)")),
)
"""In the order in which they run. Python's own `print` and `assert` come last, because they need
what the others try."""
