"""How long a launch takes: measured, or estimated by the cycle model."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Timing", "median_interval", "seconds_text", "timing_of", "with_work"]

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Timing:
    """The time of one launch, in seconds.

    median, low, high: the median and its 95% confidence interval; an estimate has none, so all
    three are equal. samples: measured seconds, in order; empty for an estimate. by: "events", timed
    on the GPU, or "model", the cycle model's estimate: nothing was measured. device: such as
    "hip:0" or "emulator:gfx1201". cycles: of the model. flops, nbytes: what a launch computes and
    moves, if they were given. cold: whether the caches were flushed before each sample.
    """

    median: float
    low: float
    high: float
    by: str
    device: str
    samples: tuple[float, ...] = ()
    cycles: int | None = None
    flops: float | None = None
    nbytes: float | None = None
    cold: bool = False

    @property
    def seconds(self) -> float:
        """The median."""
        return self.median

    @property
    def tflops(self) -> float | None:
        """10^12 operations a second, None if nobody said how many there are."""
        return None if self.flops is None else self.flops / self.median / 1e12

    @property
    def gigabytes_per_second(self) -> float | None:
        """10^9 bytes a second, None if nobody said how many there are."""
        return None if self.nbytes is None else self.nbytes / self.median / 1e9

    def __str__(self) -> str:
        rates = []
        if self.tflops is not None:
            rates.append(f"{self.tflops:.3g} TFLOPS")
        if self.gigabytes_per_second is not None:
            rates.append(f"{self.gigabytes_per_second:.3g} GB/s")
        rest = "".join(f", {rate}" for rate in rates)
        if self.by == "model":
            cycles = f" ({self.cycles} cycles)" if self.cycles is not None else ""
            return (
                f"{seconds_text(self.median)}{cycles}{rest}, estimated by the cycle model on "
                f"{self.device}; nothing was measured"
            )
        cache = ", cold caches" if self.cold else ""
        return (
            f"{seconds_text(self.median)} [{seconds_text(self.low)}, {seconds_text(self.high)}]"
            f"{rest}, median of {len(self.samples)} on {self.device}{cache}"
        )


def timing_of(samples: Sequence[float], device: str, cold: bool = False) -> Timing:
    """Return the timing of measured seconds; there is at least one."""
    median, low, high = median_interval(samples)
    return Timing(median, low, high, "events", device, tuple(samples), cold=cold)


def with_work(timing: Timing, flops: float | None, nbytes: float | None) -> Timing:
    """Return a timing with what a launch computes and moves."""
    return replace(timing, flops=flops, nbytes=nbytes)


def median_interval(samples: Sequence[float]) -> tuple[float, float, float]:
    """Return the median and the ends of its confidence interval, whatever the distribution: two of
    the samples, by the binomial distribution; the least and the greatest of fewer than six."""
    ordered = sorted(samples)
    count = len(ordered)
    outside, below = 0.0, 0
    for rank in range(count // 2):
        outside += math.comb(count, rank) / 2.0**count
        if 2 * outside > 1 - _CONFIDENCE:
            break
        below = rank
    return statistics.median(ordered), ordered[below], ordered[count - 1 - below]


def seconds_text(seconds: float) -> str:
    """Return a time with three digits and its unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
