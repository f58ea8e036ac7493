"""`amdjit.bench`: how long one launch takes; and the measuring of several that tuning compares."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.arrays.creation import empty, to_device
from amdjit.cycles.chip import chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.devices import Event, current_device
from amdjit.options import OptionError
from amdjit.profiling.profile import profile
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.tuning.errors import TuningError
from amdjit.tuning.timing import Timing, median_interval, timing_of, with_work

__all__ = ["Contestant", "bench", "is_measured", "measure"]


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


# Measures launches on a GPU: warm-up, several candidates in turn, cold caches, the median.
#
# A sample is the time between two events around a launch, or around several if one is short. All
# candidates are measured in rounds, each in another order, so that a drifting clock affects all of
# them equally. A candidate that is clearly slower than the best, by the confidence intervals of
# both, is not measured any more.


# A sample is at least this long, if launches may be repeated.
_SHORTEST = 100e-6
_MOST_REPEATED = 100
# The largest cache of GPUs whose caches are not known: that of MI300X, the largest Infinity Cache.
_LARGEST_CACHE = 256 << 20
_ROUNDS_BEFORE_DROPPING = 6


@dataclass
class Contestant:
    """A launch to measure."""

    name: str
    launch: Callable[[], object]
    prepare: Callable[[], object] | None = None
    """Restores arrays before each sample, outside the measured time; None if launches can follow
    each other."""
    samples: tuple[float, ...] = ()
    """The seconds of one launch, for each sample."""
    is_out: bool = False
    """Whether it is clearly slower than the best."""


def measure(
    contestants: Sequence[Contestant],
    device: Device,
    warm_up: int = 3,
    samples: int = 30,
    cold: bool = False,
    stops: Callable[[], bool] = lambda: False,
    seed: int = 0,
) -> None:
    """Measure launches on a GPU, and store the samples in the contestants.

    stops: tells after each round whether to stop; there is at least one round.
    """
    flushed = empty(_flush_bytes(device), np.uint8, device=device) if cold else None
    clock = _Clock(device, flushed)
    repeats = [clock.warm_up(each, warm_up) for each in contestants]
    turns = random.Random(seed)
    for number in range(samples):
        order = [index for index, each in enumerate(contestants) if not each.is_out]
        turns.shuffle(order)
        for index in order:
            each = contestants[index]
            each.samples += (clock.sample(each, repeats[index]),)
        if number + 1 >= _ROUNDS_BEFORE_DROPPING:
            _drop_slow(contestants)
        if stops():
            break


def _flush_bytes(device: Device) -> int:
    """Return twice the bytes of the largest cache."""
    try:
        return 2 * chip_of(device.target).infinity_bytes
    except NoEstimate:
        return 2 * _LARGEST_CACHE


def _drop_slow(contestants: Sequence[Contestant]) -> None:
    running = [each for each in contestants if not each.is_out]
    ends = [median_interval(each.samples) for each in running]
    best_high = min(high for _, _, high in ends)
    for each, (_, low, _) in zip(running, ends, strict=True):
        each.is_out = low > best_high


@dataclass(frozen=True)
class _Clock:
    device: Device
    flushed: DeviceArray | None

    def warm_up(self, each: Contestant, count: int) -> int:
        """Launch untimed; return how many launches a sample takes."""
        seconds = 0.0
        for _ in range(max(1, count)):
            seconds = self.sample(each, 1)
        if each.prepare is not None or self.flushed is not None:
            return 1
        return max(1, min(_MOST_REPEATED, round(_SHORTEST / max(seconds, 1e-9))))

    def sample(self, each: Contestant, repeat: int) -> float:
        """Return the seconds of one launch."""
        if each.prepare is not None:
            each.prepare()
        if self.flushed is not None:
            self.device.fill(self.flushed.address, b"\1", self.flushed.nbytes)
        start, end = Event(device=self.device), Event(device=self.device)
        start.record()
        for _ in range(repeat):
            each.launch()
        end.record()
        end.synchronize()
        return start.elapsed_milliseconds(end) / 1e3 / repeat
