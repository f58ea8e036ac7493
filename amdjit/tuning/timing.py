"""The time of a launch: measured, or estimated by the cycle model."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Timing", "median_interval", "seconds_text", "timing_of", "with_work"]

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Timing:
    """The time of one launch, in seconds."""

    median: float
    """The median of the samples, or the estimate."""
    low: float
    """The lower end of the median's 95% confidence interval; for an estimate, the estimate."""
    high: float
    """The upper end of that interval; for an estimate, the estimate."""
    by: str
    """"events" if it was timed on the GPU, "model" if the cycle model estimated it and nothing was
    measured."""
    device: str
    """The name of the device, such as "hip:0" or "emulator:gfx1201"."""
    samples: tuple[float, ...] = ()
    """The measured seconds, in order; empty for an estimate."""
    cycles: int | None = None
    """The cycles of the model's estimate."""
    flops: float | None = None
    """The operations of a launch, if they were given."""
    nbytes: float | None = None
    """The bytes that a launch moves, if they were given."""
    cold: bool = False
    """Whether the caches were flushed before each sample."""

    @property
    def seconds(self) -> float:
        """The median."""
        return self.median

    @property
    def tflops(self) -> float | None:
        """10^12 operations per second; None if the number of operations was not given."""
        return None if self.flops is None else self.flops / self.median / 1e12

    @property
    def gigabytes_per_second(self) -> float | None:
        """10^9 bytes per second; None if the number of bytes was not given."""
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
    """Return the timing of measured seconds, of which there must be at least one."""
    median, low, high = median_interval(samples)
    return Timing(
        median, low, high=high, by="events", device=device, samples=tuple(samples), cold=cold
    )


def with_work(timing: Timing, flops: float | None, nbytes: float | None) -> Timing:
    """Return a timing with the operations and the bytes of a launch."""
    return replace(timing, flops=flops, nbytes=nbytes)


def median_interval(samples: Sequence[float]) -> tuple[float, float, float]:
    """Return the median and the ends of its confidence interval, which holds for any distribution.
    The ends are two of the samples, by the binomial distribution; for fewer than six samples, the
    least and the greatest."""
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
