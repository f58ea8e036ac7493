"""The smoke run of one device, in a child process: `main("hip:0", "60")`.

Lines: `begun` and then `ended` or `failed` for each kernel; `made` for the device.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from amdjit.devices import find_device, use
from amdjit.diagnostics.errors import AmdjitError
from amdjit.doctor.child import reporting
from amdjit.doctor.survey import failure
from amdjit.doctor.trials import TRIALS, Trial
from amdjit.runtime.device import Device

__all__ = ["main"]


def main(name: str) -> None:
    """Run all kernels that are for the device of this name, and report each."""
    report = reporting()
    try:
        device = find_device(name)
        rival = _emulator_of(device)
    except AmdjitError as error:
        report(stage="failed", trial="", **failure(error))
        return
    report(stage="made", description=device.description, rival=rival and rival.name)
    for trial in TRIALS:
        if not trial.is_for(device.target):
            continue
        report(stage="begun", trial=trial.name)
        begin = time.perf_counter()
        try:
            wrong = _compare(trial, device, rival)
        except AmdjitError as error:
            report(stage="failed", trial=trial.name, **failure(error))
            continue
        seconds = round(time.perf_counter() - begin, 3)
        report(stage="ended", trial=trial.name, wrong=wrong, seconds=seconds)


def _emulator_of(device: Device) -> Device | None:
    """Return the emulator that the device's results are compared with: None for an emulator, and
    for a processor that has none."""
    if device.name.startswith("emulator:") or not device.target.is_emulated:
        return None
    return find_device(f"emulator:{device.target.name}")


def _compare(trial: Trial, device: Device, rival: Device | None) -> str:
    """Run a kernel; return what is wrong with its result, empty if it is right."""
    with use(device):
        result = trial.run(device.target)
    wrong = _difference(result, trial.expected(), "NumPy's")
    if wrong or rival is None:
        return wrong
    with use(rival):
        emulated = trial.run(rival.target)
    return _difference(result, emulated, f"that of {rival.name}")


def _difference(result: NDArray[np.generic], expected: NDArray[np.generic], whose: str) -> str:
    if result.shape != expected.shape:
        return f"{_text(result)} is not {whose}, {_text(expected)}"
    differing = np.flatnonzero(result.reshape(-1) != expected.reshape(-1))
    if not len(differing):
        return ""
    if result.dtype == np.uint8:
        return f"{_text(result)} is not {whose}, {_text(expected)}"
    first = differing[0]
    return (
        f"{len(differing)} of {result.size} elements differ from {whose}; the first is element "
        f"{first}: {result.reshape(-1)[first]} instead of {expected.reshape(-1)[first]}"
    )


def _text(result: NDArray[np.generic]) -> str:
    return repr(result.tobytes().decode(errors="replace"))
