"""Where a launch stands below what its chip can do."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.profiling.counts import Roofline
from amdjit.profiling.peaks import Peaks

__all__ = ["roofline_of"]


def roofline_of(operations: Mapping[str, int], distinct_lines: int, peaks: Peaks) -> Roofline:
    """Return the roofline of a launch with these operations by type, which touches that many cache
    lines.

    The type is the one whose operations take longest at their peak, of those with a known peak.
    """
    known = {kind: count for kind, count in operations.items() if kind in peaks.operations}
    kind = max(known, key=lambda name: known[name] / peaks.operations[name], default="f32")
    count, peak = known.get(kind, 0), peaks.operations[kind]
    nbytes = distinct_lines * LINE_BYTES
    computing, moving = count / peak, nbytes / peaks.bandwidth
    return Roofline(
        type=kind,
        operations=count,
        bytes=nbytes,
        intensity=count / nbytes if nbytes else float("inf"),
        peak=peak,
        bandwidth=peaks.bandwidth,
        bound="compute" if computing > moving else "memory",
        seconds=max(computing, moving),
        source=peaks.source,
    )
