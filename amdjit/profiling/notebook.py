"""Profiles as HTML for notebooks."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Protocol

from amdjit.inspection.notebook_parts import folded, framed, table, title
from amdjit.profiling.counts import Counts, LineCounts, Totals

__all__ = ["ProfiledLaunch", "launch_html", "profile_html"]

_HOTTEST = 20
_HEAD = ("line", "executions", "lanes", "requests", "bytes", "cache lines", "LDS cycles", "source")


class ProfiledLaunch(Protocol):
    """What is shown of a launch."""

    @property
    def kernel(self) -> str: ...
    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def block(self) -> tuple[int, int, int]: ...
    @property
    def wave_size(self) -> int: ...
    @property
    def waves(self) -> int: ...
    @property
    def totals(self) -> Totals: ...
    @property
    def lines(self) -> Mapping[tuple[str, int], LineCounts]: ...


def profile_html(launches: Sequence[ProfiledLaunch], stopped: Sequence[str]) -> str:
    """Return the launches of a profile, each to unfold."""
    count = len(launches)
    return framed(
        title("amdjit.profile", f"{count} launch{'es' * (count != 1)}"),
        *(folded(_name(launch), launch_html(launch)) for launch in launches),
        *(title("stopped:", text) for text in stopped),
    )


def launch_html(launch: ProfiledLaunch) -> str:
    """Return a launch's totals and its lines, those that were executed most first."""
    lines = sorted(launch.lines.values(), key=lambda line: -line.executions)
    rows = [_row(launch, f"{PurePath(c.file).name}:{c.line}", c, _source(c)) for c in lines]
    more = [folded(f"{len(rows) - _HOTTEST} more lines", table(_HEAD, rows[_HOTTEST:]))]
    return framed(
        title(launch.kernel, _name(launch).removeprefix(launch.kernel)),
        table(_HEAD, [_row(launch, "all", launch.totals, ""), *rows[:_HOTTEST]]),
        *(more if len(rows) > _HOTTEST else []),
    )


def _name(launch: ProfiledLaunch) -> str:
    grid, block = (" x ".join(map(str, size)) for size in (launch.grid, launch.block))
    return f"{launch.kernel}: grid {grid}, block {block}, {launch.waves:,} waves"


def _row(launch: ProfiledLaunch, name: str, counts: Counts, source: str) -> tuple[object, ...]:
    lanes = counts.executions * launch.wave_size
    active = f"{100 * counts.active_lanes / lanes:.1f} %" if lanes else ""
    return (
        name,
        counts.executions,
        active,
        counts.requests,
        counts.bytes,
        counts.cache_lines,
        counts.lds_cycles,
        source,
    )


def _source(counts: LineCounts) -> str:
    return linecache.getline(counts.file, counts.line).strip()
