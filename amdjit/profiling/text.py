"""Profiles in words, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Protocol

from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.profiling.counts import Counts, InstructionCounts, LineCounts, Roofline, Totals

__all__ = ["launch_text"]

_HOT_LINES = 10
_LABEL = 14


class LaunchProfile(Protocol):
    """What is shown of a `launch_profile.LaunchProfile`, which says what these are."""

    @property
    def kernel(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def block(self) -> tuple[int, int, int]: ...
    @property
    def workgroups(self) -> int: ...
    @property
    def waves(self) -> int: ...
    @property
    def wave_size(self) -> int: ...
    @property
    def distinct_lines(self) -> int: ...
    @property
    def missing(self) -> tuple[str, ...]: ...
    @property
    def totals(self) -> Totals: ...
    @property
    def instructions(self) -> tuple[InstructionCounts, ...]: ...
    @property
    def lines(self) -> Mapping[tuple[str, int], LineCounts]: ...
    @property
    def roofline(self) -> Roofline | None: ...


def launch_text(launch: LaunchProfile) -> str:
    """Return a launch's totals and its hot lines."""
    totals = launch.totals
    size = " x ".join(map(str, launch.block))
    head = (
        f"{launch.kernel} on {launch.target}: {launch.workgroups:,} workgroups of {size}, "
        f"{launch.waves:,} waves of {launch.wave_size} lanes"
    )
    rows = [
        ("instructions", f"{totals.executions:,} executed by waves, {_lanes(launch)}"),
        ("units", _units(launch)),
        ("branches", f"{totals.taken:,} taken" if totals.taken else ""),
        ("memory", _memory(launch.instructions)),
        ("distinct lines", _distinct(launch)),
        ("LDS", _lds(launch)),
        ("atomics", f"{totals.contention:,} lanes after others" if totals.contention else ""),
        ("barriers", f"{totals.barrier_waits:,} waits" if totals.barrier_waits else ""),
        ("roofline", _roofline(launch.roofline)),
        *(("missing", sentence) for sentence in launch.missing),
    ]
    lines = [f"  {label:{_LABEL}}  {text}" for label, text in rows if text]
    return "\n".join([head, *lines, *_hot_lines(launch)])


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _lanes(launch: LaunchProfile) -> str:
    totals = launch.totals
    return f"{_share(totals.active_lanes, totals.executions * launch.wave_size)} of lanes active"


def _units(launch: LaunchProfile) -> str:
    units = launch.totals.units or {}
    ordered = sorted(units.items(), key=lambda item: -item[1])
    parts = (f"{unit} {_share(count, launch.totals.executions)}" for unit, count in ordered)
    return ", ".join(parts)


def _memory(instructions: Iterable[InstructionCounts]) -> str:
    several = [counts for counts in instructions if counts.unit == "vector memory"]
    if not any(counts.cache_lines for counts in several):
        return ""
    requests, asked, lines = (
        sum(getattr(counts, name) for counts in several)
        for name in ("requests", "bytes", "cache_lines")
    )
    return (
        f"{requests:,} requests, {_bytes(asked)} asked for, {lines:,} cache lines touched: "
        f"{_share(asked, lines * LINE_BYTES)} of their bytes"
    )


def _distinct(launch: LaunchProfile) -> str:
    lines = launch.distinct_lines
    return f"{lines:,} = {_bytes(lines * LINE_BYTES)}" if lines else ""


def _lds(launch: LaunchProfile) -> str:
    totals = launch.totals
    if not totals.lds_cycles:
        return ""
    return (
        f"{totals.lds_cycles:,} cycles, {_share(totals.lds_conflict_cycles, totals.lds_cycles)} "
        "due to bank conflicts"
    )


def _roofline(roofline: Roofline | None) -> str:
    if roofline is None:
        return ""
    cold = " if no cache holds any of them before" if roofline.bound == "memory" else ""
    counted = (
        f"{roofline.operations:,} operations of {roofline.type}, {_bytes(roofline.bytes)}: "
        f"{roofline.intensity:.3g} a byte"
        if roofline.operations
        else f"no operations that count, {_bytes(roofline.bytes)}"
    )
    return (
        f"{counted}, bound by {roofline.bound}, at least "
        f"{roofline.seconds * 1e6:.3g} us{cold} ({roofline.source})"
    )


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _hot_lines(launch: LaunchProfile) -> list[str]:
    """Return the lines with most executions; without lines, the instructions."""
    hot = sorted(launch.lines.values(), key=lambda counts: -counts.executions)[:_HOT_LINES]
    named: list[tuple[Counts, str]]
    named = [(counts, f"{PurePath(counts.file).name}:{counts.line}") for counts in hot]
    if not hot:
        ordered = sorted(launch.instructions, key=lambda counts: -counts.executions)[:_HOT_LINES]
        named = [(counts, f"{counts.address:#x} {counts.text}") for counts in ordered]
    width = launch.wave_size
    found = ["", f"  {'executed':>14}  {'lanes':>7}  {'lines/request':>13}  {'conflicts':>9}"]
    for counts, name in named:
        spread = f"{counts.cache_lines / counts.requests:.2f}" if counts.cache_lines else "-"
        conflicts = f"{counts.lds_conflict_cycles:,}" if counts.lds_cycles else "-"
        lanes = _share(counts.active_lanes, counts.executions * width)
        cells = f"{counts.executions:>14,}  {lanes:>7}  {spread:>13}  {conflicts:>9}"
        found.append(f"  {cells}  {name}")
    return found
