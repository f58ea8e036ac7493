"""Loops of LDS instructions: latency, rate by width, and bank conflicts by stride."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.probe.machine_code import Program, v
from amdjit.probe.timing.loops import LANE_BYTES, WAIT_LDS, Body, Emit, has, wait_for

__all__ = ["lds", "strides"]

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
