"""The smoke run of one device, in a child process: `main("hip:0", "60")`.

It reports these lines: `begun` and then `ended` or `failed` for each kernel, and `made` for the
device.
"""

from __future__ import annotations

import time
from typing import Any, TypeAlias

import numpy as np

from amdjit.devices import find_device, use
from amdjit.doctor.child import reporting
from amdjit.doctor.survey import failure
from amdjit.doctor.trials import TRIALS, Trial
from amdjit.runtime.device import Device

__all__ = ["main"]

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
