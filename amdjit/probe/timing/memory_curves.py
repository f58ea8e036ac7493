"""Latency and bandwidth of the caches and of memory, by the amount of memory in use, and of LDS."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit import f32, f32x4
from amdjit.cycles.chip import Chip
from amdjit.cycles.memory_parameters import MEMORY_PARAMETERS
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.probe.machine_code import Program, v
from amdjit.probe.timing.experiment import Experiment, Figure, Launch, per_step
from amdjit.probe.timing.loops import LANE_BYTES, WAIT_LDS, Body, Emit, has, wait_for

__all__ = ["bandwidths", "chases", "lds", "strides"]


_LANES, _BLOCK, _GROUPS_A_PROCESSOR = 32, 256, 8
# 4 KiB to 256 MiB.
_CURVE = tuple(1 << power for power in range(12, 29))
# A walk over at most this many lines visits all of them, because the model's caches start empty and
# have to hold them.
_VISITED = 1 << 16
_STEPS = 4096


@dataclass(frozen=True, slots=True)
class _Level:
    """A cache, or the memory."""

    nbytes: int
    latency: str = ""
    """The cycle model's parameter of its latency."""
    bandwidth: str = ""
    """The cycle model's parameter of its bandwidth."""


@amdjit.kernel
def walk(links, offsets, start, steps, end):  # type: ignore[no-untyped-def]
    # The offset is 0; the compiler does not know that, so the address stays in vector registers.
    place = start + offsets[amdjit.threadIdx.x]
    for _ in range(steps):
        place = links[place]
    end[amdjit.threadIdx.x] = place


@amdjit.kernel
def read(x, y, passes):  # type: ignore[no-untyped-def]
    total = f32x4()
    for _ in range(passes):
        for i in range(amdjit.grid(1), x.shape[0] // 4, amdjit.gridsize(1)):
            total += x.load(4 * i, 4)
    if total[0] != f32(0):
        y.store(4 * amdjit.grid(1), total)


@amdjit.kernel
def write(x, y, passes):  # type: ignore[no-untyped-def]
    for turn in range(passes):
        for i in range(amdjit.grid(1), y.shape[0] // 4, amdjit.gridsize(1)):
            y.store(4 * i, f32x4(turn))


@amdjit.kernel
def copy(x, y, passes):  # type: ignore[no-untyped-def]
    for _ in range(passes):
        for i in range(amdjit.grid(1), x.shape[0] // 4, amdjit.gridsize(1)):
            y.store(4 * i, x.load(4 * i, 4))


def chases(chip: Chip | None) -> Iterator[Experiment]:
    """Yield the latency of a load on which the next one depends, for each amount of memory in use.
    Amounts in the middle of a cache measure a parameter of the cycle model."""
    named = {level.nbytes: level for level in _levels(chip)}
    for nbytes in sorted({*_CURVE, *named}):
        yield _chase(named.get(nbytes, _Level(nbytes)))


def bandwidths(chip: Chip | None) -> Iterator[Experiment]:
    """Yield the bytes per second that all compute units together read, write and copy."""
    named = {level.nbytes: level for level in _shared_levels(chip)}
    for nbytes in sorted({*_CURVE[6::2], *named}):
        level = named.get(nbytes, _Level(nbytes))
        yield _bandwidth("read", read, level, level.bandwidth, 1)
        yield _bandwidth("write", write, level, "", 1)
        yield _bandwidth("copy", copy, level, "", 2)


def _levels(chip: Chip | None) -> Sequence[_Level]:
    vector = int(MEMORY_PARAMETERS["vector cache bytes"].value)
    first = _Level(vector // 2, "vector cache latency")
    return (first, *_shared_levels(chip)) if chip is not None else ()


def _shared_levels(chip: Chip | None) -> Sequence[_Level]:
    if chip is None:
        return ()
    return (
        _Level(chip.l2_bytes // 2, "L2 latency", "L2 bandwidth"),
        _Level(chip.infinity_bytes // 2, "infinity cache latency", "infinity cache bandwidth"),
        _Level(4 * chip.infinity_bytes, "DRAM latency", "DRAM bandwidth"),
    )


def _chase(level: _Level) -> Experiment:
    lines = level.nbytes // LINE_BYTES

    def launches(steps: int) -> tuple[Launch, ...]:
        links, order = _links(lines)
        device = amdjit.to_device(links)
        offsets = amdjit.zeros(_LANES, np.int32)
        end = amdjit.empty(_LANES, np.int32)
        # Each launch continues where the previous one ended, as far away as possible from lines
        # that caches hold.
        places = itertools.count(0)

        def launch(count: int) -> object:
            start = order[next(places) * 2 * steps % lines]
            return walk[1, _LANES](device, offsets, start, count, end)

        return tuple(_bound(launch, count) for count in (steps, 2 * steps))

    return Experiment(
        f"latency of a load, {_size(level.nbytes)}",
        "cycles",
        level.latency,
        launches,
        per_step(1),
        repetitions=lines if lines <= _VISITED else _STEPS,
        is_predicted=bool(level.latency),
        lines=lines,
    )


def _links(lines: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return an array in which each line names an element of the next line in a random order, and
    that order."""
    elements = LINE_BYTES // 4
    order = np.random.default_rng(1).permutation(lines).astype(np.int32) * np.int32(elements)
    links = np.zeros(lines * elements, np.int32)
    links[order] = np.roll(order, -1)
    return links, order


def _bandwidth(what: str, kernel: Any, level: _Level, parameter: str, factor: int) -> Experiment:
    def launches(passes: int) -> tuple[Launch, ...]:
        x, y = (amdjit.zeros(level.nbytes // 4, np.float32) for _ in range(2))
        # The number is the same on the emulator as on a smaller product with the same processor.
        groups = _GROUPS_A_PROCESSOR * amdjit.current_device().target.multiprocessors
        launcher = kernel[groups, _BLOCK]
        return tuple(_bound(launcher, x, y, count) for count in (passes, 2 * passes))

    return Experiment(
        f"{what} bandwidth, {_size(level.nbytes)}",
        "GB/s",
        parameter,
        launches,
        _rate(factor * level.nbytes),
        repetitions=1,
        is_predicted=bool(parameter),
    )


def _rate(nbytes: int) -> Figure:
    def figure(repetitions: int, seconds: Sequence[float], cycle: float) -> float:
        short, long = seconds
        return nbytes * repetitions / max(long - short, 1e-12) / 1e9

    return figure


def _bound(call: Callable[..., object], *arguments: Any) -> Launch:
    return lambda: call(*arguments)


def _size(nbytes: int) -> str:
    return f"{nbytes >> 20} MiB" if nbytes >= 1 << 20 else f"{nbytes >> 10} KiB"


# Loops of LDS instructions: latency, rate by width, and bank conflicts by stride.


_BYTES = 1 << 15
_ADDRESS, _DATA, _PLACES = v(96), 64, 8
_MOST_STRIDE = 32


def lds() -> Iterator[Body]:
    """Yield latencies and rates of loads and stores without conflicts."""
    exists = has("ds_load_b32")
    yield Body("latency ds_load_b32", "lds load", _chain, exists, begin=_own_places, lds=_BYTES)
    yield Body(
        "latency ds_store_b32", "lds store", _stored, exists, begin=_addresses(1), lds=_BYTES
    )
    for dwords in (1, 2, 4):
        name, parameter = f"b{32 * dwords}", "lds halves a dword" if dwords > 1 else ""
        begin = _addresses(dwords)
        yield Body(
            f"rate ds_load_{name}", parameter, _load(dwords), exists, begin=begin, lds=_BYTES
        )
        yield Body(
            f"rate ds_store_{name}", parameter, _store(dwords), exists, begin=begin, lds=_BYTES
        )
    yield Body(
        "ds_store_b32, then v_add_f32 of its data",
        "transfer done",
        _rewritten,
        exists,
        begin=_addresses(1),
        lds=_BYTES,
    )


def strides() -> Iterator[Body]:
    """Yield the rate of loads by the distance between lanes, in dwords."""
    for stride in range(1, _MOST_STRIDE + 1):
        yield Body(
            f"rate ds_load_b32, stride {stride}",
            "",
            _load(1),
            has("ds_load_b32"),
            begin=_addresses(stride),
            lds=_BYTES,
        )


def _addresses(stride: int) -> Emit:
    """Return a function that gives each lane an address, `stride` dwords after that of the lane
    before."""

    def begin(program: Program, copy: int) -> None:
        program.safe("v_mul_lo_u32", _ADDRESS, LANE_BYTES, stride)

    return begin


def _own_places(program: Program, copy: int) -> None:
    """Store each lane's own address in its place in LDS."""
    program.safe("v_mov_b32", _ADDRESS, LANE_BYTES)
    program.safe("ds_store_b32", _ADDRESS, LANE_BYTES)


def _chain(program: Program, copy: int) -> None:
    program.add("ds_load_b32", _ADDRESS, _ADDRESS)
    wait_for(program, WAIT_LDS)


def _stored(program: Program, copy: int) -> None:
    program.add("ds_store_b32", _ADDRESS, v(_DATA))
    wait_for(program, WAIT_LDS)


def _load(dwords: int) -> Emit:
    def emit(program: Program, copy: int) -> None:
        place = 2 + dwords * (copy % _PLACES)
        program.add(f"ds_load_b{32 * dwords}", v(place, dwords), _ADDRESS)

    return emit


def _store(dwords: int) -> Emit:
    return lambda program, copy: program.add(f"ds_store_b{32 * dwords}", _ADDRESS, v(_DATA, dwords))


def _rewritten(program: Program, copy: int) -> None:
    program.add("ds_store_b32", _ADDRESS, v(_DATA))
    program.add("v_add_f32", v(_DATA), v(_DATA + 1), v(_DATA + 2))
