"""What each operation across lanes gives to one lane, from the numbers of the lanes that are on: in
plain Python, from docs/wave.md.

A lane that is off supplies 0 to exchanges and takes no part in votes and combinations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["OPERATIONS", "Operation", "operations_of"]

Values = Mapping[int, int]
# The values of the lanes that are on by their numbers, the lane, the lanes of a wave -> a number.
Model = Callable[[Values, int, int], int]
RDNA = ("gfx10", "gfx11", "gfx12")
HALVES = ("gfx11", "gfx12")
HALF_WIDE = ("gfx10", "gfx11")  # what `ds_permute` reaches


@dataclass(frozen=True)
class Operation:
    """One operation as a kernel calls it. text: with `{v}` for the value, `t` for the lane's
    number, `x[t]` for a number of its own."""

    name: str
    text: str
    model: Model
    families: Sequence[str] = ("gfx",)
    wave_sizes: Sequence[int] = (32, 64)


def operations_of(processor: str, wave_size: int) -> list[Operation]:
    """Return the operations that a processor has."""
    return [
        one
        for one in OPERATIONS
        if processor.startswith(tuple(one.families))
        and wave_size in one.wave_sizes
        and not (one.text.startswith("wave.permute(") and wave_size == 64
                 and processor.startswith(HALF_WIDE))
    ]  # fmt: skip


def _taken(source: Callable[[int, int], int | None]) -> Model:
    def model(values: Values, lane: int, size: int) -> int:
        place = source(lane, size)
        return 0 if place is None else values.get(place, 0)

    return model


def _in_row(source: Callable[[int], int], size: int = 16) -> Model:
    def place(lane: int, _wave: int) -> int | None:
        inside = source(lane % size)
        return lane - lane % size + inside if 0 <= inside < size else None

    return _taken(place)


def _or_own(source: Callable[[int], int], width: int = 64) -> Model:
    """The lane's own value where the source is outside of the group of lanes."""

    def place(lane: int, size: int) -> int:
        group = min(width, size)
        inside = source(lane % group)
        return lane - lane % group + inside if 0 <= inside < group else lane

    return _taken(place)


def _sent(place: Callable[[int], int]) -> Model:
    def model(values: Values, lane: int, size: int) -> int:
        senders = [sender for sender in values if place(sender) % size == lane]
        return values[max(senders)] if senders else 0

    return model


def _total(combine: Callable[[list[int]], int]) -> Model:
    return lambda values, lane, size: combine(list(values.values()))


def _scan(combine: Callable[[list[int]], int], own: int) -> Model:
    return lambda values, lane, size: combine([values[n] for n in sorted(values) if n < lane + own])


def _is_head(lane: int) -> bool:
    return lane % 5 == 0


def _start(values: Values, lane: int) -> int:
    return max((n for n in values if _is_head(n) and n <= lane), default=0)


def _segment(last: Callable[[Values, int], int]) -> Model:
    def model(values: Values, lane: int, size: int) -> int:
        first, final = _start(values, lane), last(values, lane)
        return sum(value for n, value in values.items() if first <= n <= final)

    return model


def _end(values: Values, lane: int) -> int:
    following = min((n for n in values if _is_head(n) and n > lane), default=64)
    return max(n for n in values if n < following)


def _mask(lanes: Sequence[int]) -> int:
    mask = sum(1 << lane for lane in lanes)
    return mask - (1 << 64) if mask >> 63 else mask


def _dpp(zero: bool, rows: int, banks: int) -> Model:
    """`row_shr` by one, with 5 as the old value."""

    def model(values: Values, lane: int, size: int) -> int:
        if not (rows >> (lane // 16) & 1 and banks >> (lane % 16 // 4) & 1):
            return 5
        return values.get(lane - 1, 0 if zero else 5) if lane % 16 else 0 if zero else 5

    return model


def _xor(values: Sequence[int]) -> int:
    result = 0
    for value in values:
        result ^= value
    return result


EIGHT = (7, 0, 0, 1, 2, 6, 5, 4)
QUAD = (3, 3, 0, 1)
_SELECTORS = "u32(0x01234567), u32(0x89ABCDEF)"
OPERATIONS = (
    Operation("shuffle", "wave.shuffle({v}, t + 5)", _taken(lambda t, n: (t + 5) % n)),
    Operation("shuffle far", "wave.shuffle({v}, t + 40)", _taken(lambda t, n: (t + 40) % n)),
    Operation("shuffle one", "wave.shuffle({v}, 20)", _taken(lambda t, n: 20)),
    Operation("shuffle uniform", "wave.shuffle({v}, u[1])", _taken(lambda t, n: 11)),
    Operation("shuffle width", "wave.shuffle({v}, 2, width=8)",
              _taken(lambda t, n: t // 8 * 8 + 2)),
    Operation("shuffle_up", "wave.shuffle_up({v}, 3)", _or_own(lambda t: t - 3)),
    Operation("up width", "wave.shuffle_up({v}, 3, width=8)", _or_own(lambda t: t - 3, 8)),
    Operation("shuffle_down", "wave.shuffle_down({v}, 3)", _or_own(lambda t: t + 3)),
    Operation("down width", "wave.shuffle_down({v}, 3, width=8)", _or_own(lambda t: t + 3, 8)),
    Operation("shuffle_xor", "wave.shuffle_xor({v}, 21)", _taken(lambda t, n: t ^ 21)),
    Operation("xor far", "wave.shuffle_xor({v}, 37)", _taken(lambda t, n: (t ^ 37) % n)),
    Operation("permute", "wave.permute({v}, t + 7)", _sent(lambda t: t + 7)),
    Operation("permute one", "wave.permute({v}, 3)", _sent(lambda t: 3)),
    Operation("permute uniform", "wave.permute({v}, u[1])", _sent(lambda t: 11)),
    Operation("broadcast", "wave.broadcast({v}, 20)", _taken(lambda t, n: 20)),
    Operation("broadcast uniform", "wave.broadcast({v}, u[1])", _taken(lambda t, n: 11)),
    Operation("readlane", "wave.readlane({v}, 20)", _taken(lambda t, n: 20)),
    Operation("readlane modulo", "wave.readlane({v}, -1)", _taken(lambda t, n: n - 1)),
    Operation("readfirstlane", "wave.readfirstlane({v})", lambda v, t, n: v[min(v)]),
    Operation("writelane", "wave.writelane({v}, 99, 20)", lambda v, t, n: 99 if t == 20 else v[t]),
    Operation("any", "wave.any({v} == x[3])", lambda v, t, n: int(14 in v.values())),
    Operation("all", "wave.all({v} < x[9])", lambda v, t, n: int(max(v.values()) < 20)),
    Operation("ballot64", "wave.ballot64({v} < x[9])",
              lambda v, t, n: _mask([m for m in v if v[m] < 20])),
    Operation("ballot64 of most", "wave.ballot64({v} != 0)",
              lambda v, t, n: _mask([m for m in v if v[m]])),
    Operation("ballot", "wave.ballot({v} != 0)",
              lambda v, t, n: _mask([m for m in v if v[m]]), wave_sizes=(32,)),
    Operation("match_any", "wave.match_any({v} // 3)",
              lambda v, t, n: _mask([m for m in v if v[m] // 3 == v[t] // 3])),
    Operation("match_all", "wave.match_all({v} // 16)",
              lambda v, t, n: int(len({one // 16 for one in v.values()}) == 1)),
    Operation("sum", "wave.reduce({v})", _total(sum)),
    Operation("product", "wave.reduce({v} % 2 + 1, \"mul\")",
              _total(lambda v: (math.prod(one % 2 + 1 for one in v) + 2**31) % 2**32 - 2**31)),
    Operation("max", "wave.reduce_max({v})", _total(max)),
    Operation("min", "wave.reduce_min({v})", _total(min)),
    Operation("xor", "wave.reduce({v}, \"xor\")", _total(_xor)),
    Operation("inclusive", "wave.inclusive_scan({v})", _scan(sum, 1)),
    Operation("exclusive", "wave.exclusive_scan({v}, \"xor\")", _scan(_xor, 0)),
    Operation("segmented", "wave.segmented_inclusive_scan({v}, t % 5 == 0)",
              _segment(lambda v, t: t)),
    Operation("segmented exclusive", "wave.segmented_exclusive_scan({v}, t % 5 == 0)",
              _segment(lambda v, t: t - 1)),
    Operation("segmented_reduce", "wave.segmented_reduce({v}, t % 5 == 0)", _segment(_end)),
    Operation("heads everywhere", "wave.segmented_inclusive_scan({v}, True)",
              lambda v, t, n: v[t]),
    Operation("quad_perm", f"wave.quad_perm({{v}}, {str(QUAD)[1:-1]})",
              _in_row(lambda t: QUAD[t], 4)),
    Operation("row_shl", "wave.row_shl({v}, 2)", _in_row(lambda t: t + 2)),
    Operation("row_shr", "wave.row_shr({v}, 1)", _in_row(lambda t: t - 1)),
    Operation("row_ror", "wave.row_ror({v}, 3)", _in_row(lambda t: (t - 3) % 16)),
    Operation("row_share", "wave.row_share({v}, 6)", _in_row(lambda t: 6), RDNA),
    Operation("row_xmask", "wave.row_xmask({v}, 9)", _in_row(lambda t: t ^ 9), RDNA),
    Operation("swap_in_rows", "wave.swap_in_rows({v}, 2)", _in_row(lambda t: t ^ 2), RDNA),
    Operation("row_mirror", "wave.row_mirror({v})", _in_row(lambda t: 15 - t)),
    Operation("row_half_mirror", "wave.row_half_mirror({v})", _in_row(lambda t: 7 - t, 8)),
    Operation("permute8", f"wave.permute8({{v}}, {str(EIGHT)[1:-1]})",
              _in_row(lambda t: EIGHT[t], 8), RDNA),
    Operation("permlane16", f"wave.permlane16({{v}}, {_SELECTORS})",
              _taken(lambda t, n: t ^ 7), RDNA),
    Operation("permlanex16", f"wave.permlanex16({{v}}, {_SELECTORS})",
              _taken(lambda t, n: t ^ 23), RDNA),
    Operation("swap_rows", "wave.swap_rows({v})", _taken(lambda t, n: t ^ 16), RDNA),
    Operation("permlane64", "wave.permlane64({v})", _taken(lambda t, n: t ^ 32), HALVES, (64,)),
    Operation("swizzle", "wave.swizzle({v}, 0b11100, 0b00010, 0b10000)",
              _taken(lambda t, n: (t & ~3 | 2) ^ 16)),
    Operation("dpp", "wave.dpp(i32(5), {v}, 0x111, 15, 15, False)", _dpp(False, 15, 15), RDNA),
    Operation("dpp zero", "wave.dpp(i32(5), {v}, 0x111, 15, 15, True)", _dpp(True, 15, 15), RDNA),
    Operation("dpp masks", "wave.dpp(i32(5), {v}, 0x111, 5, 3, True)", _dpp(True, 5, 3), RDNA),
)  # fmt: skip
