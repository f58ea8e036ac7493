"""`amdjit.bench`: how long one launch takes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from amdjit.arrays.creation import to_device
from amdjit.devices import current_device
from amdjit.options import OptionError
from amdjit.profiling.profile import profile
from amdjit.runtime.device import Device
from amdjit.tuning.errors import TuningError
from amdjit.tuning.measuring import Contestant, measure
from amdjit.tuning.timing import Timing, timing_of, with_work

__all__ = ["bench", "is_measured"]

_RECORDED = 8_000_000


def bench(
    launch: Any,
    /,
    *arguments: Any,
    flops: float | None = None,
    bytes: float | None = None,
    warm_up: int = 3,
    samples: int = 30,
    cold: bool = False,
) -> Timing:
    """Return how long a launch takes: `amdjit.bench(kernel[grid, block], *arguments)`.

    On a GPU it is measured with events: after `warm_up` launches, the median of `samples` launches
    is taken. NumPy arrays are copied to the GPU once and are not changed; DeviceArrays are used in
    place, so a kernel that changes its inputs changes them in each launch. cold: flush the caches
    before each sample.

    On an emulator, one launch is made and the cycle model estimates its time: `.by` is "model".
    TuningError if the model does not know the processor. flops, bytes: the operations and the bytes
    of a launch, for the rates.
    """
    if not callable(launch) or isinstance(launch, type):
        raise OptionError(f"bench({launch!r}): give a launch, kernel[grid, block]")
    if samples < 1 or warm_up < 0:
        raise OptionError(f"bench: samples={samples}, warm_up={warm_up}: give 1 and 0 at least")
    device = current_device()
    if is_measured(device):
        found = _measured(
            launch, arguments, device=device, warm_up=warm_up, samples=samples, cold=cold
        )
    else:
        found = _estimated(launch, arguments, device)
    return with_work(found, flops, bytes)


def is_measured(device: Device) -> bool:
    """Whether times on a device mean something: on a GPU, not on the emulator."""
    return not device.name.startswith("emulator")


def _measured(
    launch: Any, arguments: tuple[Any, ...], device: Device, warm_up: int, samples: int, cold: bool
) -> Timing:
    placed = [to_device(each) if isinstance(each, np.ndarray) else each for each in arguments]
    if hasattr(launch, "bind"):
        run = launch.bind(*placed)
    else:

        def run() -> None:
            launch(*placed)

    contestant = Contestant("bench", run)
    measure([contestant], device, warm_up, samples, cold)
    return timing_of(contestant.samples, device.name, cold)


def _estimated(launch: Any, arguments: tuple[Any, ...], device: Device) -> Timing:
    with profile(instructions=_RECORDED) as counted:
        launch(*arguments)
    if not counted.launches:
        raise TuningError("bench: the call made no launch of a kernel")
    found = [(each, each.cycles) for each in counted.launches]
    missing = [each.no_cycles for each, cycles in found if cycles is None]
    if missing:
        raise TuningError(
            f"bench: {device.name} cannot be measured, as it runs on the CPU, and there is no "
            f"estimate: {missing[0]}. Use a GPU, or the emulator of a processor that the cycle "
            'model knows: amdjit.use("emulator:gfx1201")'
        )
    cycles = sum(each.kernel for _, each in found if each is not None)
    seconds = sum(each.seconds for _, each in found if each is not None)
    timing = Timing(seconds, seconds, seconds, "model", device.name)
    return dataclasses.replace(timing, cycles=cycles)
