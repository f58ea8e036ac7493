"""Reductions, scans and votes over all work-items of a workgroup.

Work-items count in their linear order: along x first, then y, then z. `op` is a function of two
values, or one of the names "add", "mul", "min", "max", "minimum", "maximum", and for integers and
booleans "and", "or", "xor" (`wave.reduce` says what they mean for floats). A function must be
associative, but need not be commutative: it gets values of lower work-items first. It is called for
any values, also in lanes whose result nobody takes. Which values are combined with which depends on
the block and the wave size alone, so that results repeat bit for bit.

Values are numbers of any type, booleans, complex numbers, and tuples and named tuples of them; the
result has the type of the value. Blocks have any shape and size. All work-items of the workgroup
must call the function, as they must `syncthreads()`; it orders accesses to LDS, not to global
memory. It takes LDS of its own: two values for each wave. Calls in loops follow each other safely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit.intrinsics.math as functions
import amdjit.intrinsics.wave as wave
from amdjit.declarations import device_function
from amdjit.intrinsics.lanes.combinations import neutral
from amdjit.intrinsics.lds import shared
from amdjit.intrinsics.numbers.integers import popcount
from amdjit.intrinsics.sync import lds_barrier
from amdjit.intrinsics.workitem import blockDim, flat_work_item_id, lane_id, wave_id, wavefront_size
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar, Type, bf16, boolean, i32

__all__ = [
    "all",
    "all_reduce",
    "any",
    "broadcast",
    "count",
    "exclusive_scan",
    "inclusive_scan",
    "reduce",
    "size",
    "thread_rank",
]


_ROW = 16


@compile_time
def _most_waves(compilation: Compilation) -> int:
    return -(-compilation.options.max_workgroup_size // compilation.wave_size)


@compile_time
def _places(compilation: Compilation) -> int:
    return 2 * -(-compilation.options.max_workgroup_size // compilation.wave_size) + 1


@compile_time
def _known_size(compilation: Compilation) -> int:
    """Return how many work-items a workgroup has if that is compiled in, else 0."""
    if compilation.block is None:
        return 0
    x, y, z = compilation.block
    return x * y * z


@compile_time
def _distances(compilation: Compilation, lanes: int) -> tuple[int, ...]:
    """Return the powers of two below a number of lanes."""
    return tuple(1 << k for k in range((lanes - 1).bit_length()))


@compile_time
def _is_full(compilation: Compilation, lanes: Any, most: int) -> bool:
    """Whether the number of lanes is known when compiling, and is this power of two."""
    return isinstance(lanes, int) and lanes == most and most & (most - 1) == 0


@compile_time
def _has_rows(compilation: Compilation) -> bool:
    """Whether lanes are exchanged within and between rows of 16: from gfx10 on."""
    return compilation.target.isa[0] >= 10


@device_function
def _moved(value, move, argument):
    """Move each part of a value between lanes."""
    if isinstance(value, tuple):
        items = tuple(_moved_number(item, move, argument) for item in value)
        return items if type(value) is tuple else type(value)(*items)
    return _moved_number(value, move, argument)


@device_function
def _moved_number(value, move, argument):
    if isinstance(value, complex):
        return type(value)(complex(move(value.real, argument), move(value.imag, argument)))
    return move(value, argument)


@device_function
def _from_above(value, distance):
    """Return the value of the lane whose number has this bit, too."""
    if _has_rows() and distance < _ROW:
        return wave.swap_in_rows(value, distance)
    if _has_rows() and distance == _ROW:
        return wave.swap_rows(value)
    return wave.shuffle_xor(value, distance)


@device_function
def _from_row(value, distance):
    return wave.row_shr(value, distance)


@device_function
def _slots(value):
    """Return LDS for values like this one: an array for each item of a tuple.

    All calls of this module's functions for such values share it, as library functions do. The
    first places are for what each wave has, the next ones for what the first wave makes of it, the
    last one for broadcasts. A call writes the first places before its first barrier and the next
    ones before its second barrier; it reads either only up to the barrier before which the next
    call writes there.
    """
    if isinstance(value, tuple):
        return tuple(shared.array(_places(), type(item)) for item in value)
    return (shared.array(_places(), type(value)),)


@device_function
def _put(slots, place, value):
    if isinstance(value, tuple):
        for slot, item in zip(slots, value):  # noqa: B905
            slot[place] = item
    else:
        slots[0][place] = value


@device_function
def _get(slots, place, like):
    if isinstance(like, tuple):
        items = tuple(slot[place] for slot in slots)
        return items if type(like) is tuple else type(like)(*items)
    return type(like)(slots[0][place])


@device_function
def _total_of_wave(op, value, lanes, most):
    """Combine the values of a wave's first lanes; lane 0 gets the result. lanes: how many they are.
    most: how many they can be, known when compiling."""
    # With no lanes to leave out this is the tree of `wave.reduce`, and shorter; that adds bf16 in
    # f32.
    is_shorter = _is_full(lanes, most) and not is_added_in_f32(type(value))
    if is_built_in(op, type(value)) and not is_shorter:
        return wave.reduce(value, op)
    for distance in _distances(most):
        other = _moved(value, _from_above, distance)
        # Lane 0 takes from lanes that are there if their number is a power of two.
        if _is_full(lanes, most) or lane_id() + distance < lanes:
            value = combined(op, value, other)
    return value


@device_function
def _totals_of_wave(op, value):
    """Combine the values of each lane and those below it."""
    if is_built_in(op, type(value)):
        return wave.inclusive_scan(value, op)
    lane = lane_id()
    for distance in _distances(_wave_size()):
        if _has_rows() and distance < _ROW:
            other = _moved(value, _from_row, distance)
            if (lane & (_ROW - 1)) >= distance:
                value = combined(op, other, value)
        else:
            # The last lane of the half before, whose value has all lanes of it.
            source = (lane & -distance) - 1 if _has_rows() else lane - distance
            other = _moved(value, wave.shuffle, source)
            if (lane & distance != 0) if _has_rows() else lane >= distance:
                value = combined(op, other, value)
    return value


@compile_time
def _wave_size(compilation: Compilation) -> int:
    """Return the lanes of a wave."""
    return compilation.wave_size


@device_function
def _lanes_of_wave():
    """Return how many work-items this wave has."""
    if _known_size() > 0 and _known_size() % _wave_size() == 0:
        return _wave_size()
    return min(size() - wave_id() * wavefront_size, wavefront_size)


@device_function
def _waves():
    if _known_size() > 0:
        return _most_waves()
    return (size() + wavefront_size - 1) // wavefront_size


@device_function
def _total_of_waves(op, value):
    """Combine what lane 0 of each wave has, in the order of the waves; all get the result."""
    if _most_waves() == 1:
        return _moved(value, wave.readlane, 0)
    slots = _slots(value)
    if lane_id() == 0:
        _put(slots, wave_id(), value)
    lds_barrier()
    if wave_id() == 0 and lane_id() < _waves():
        value = _total_of_wave(op, _get(slots, lane_id(), value), _waves(), _most_waves())
        if lane_id() == 0:
            _put(slots, _most_waves(), value)
    lds_barrier()
    return _get(slots, _most_waves(), value)


@device_function
def _before_wave(op, value):
    """Combine what the last lanes of the waves before this one have; wave 0 gets any value."""
    slots = _slots(value)
    if lane_id() == _lanes_of_wave() - 1:
        _put(slots, wave_id(), value)
    lds_barrier()
    if wave_id() == 0 and lane_id() < _waves():
        total = _totals_of_wave(op, _get(slots, lane_id(), value))
        _put(slots, _most_waves() + lane_id(), total)
    lds_barrier()
    return _get(slots, _most_waves() + max(wave_id() - 1, 0), value)


@device_function
def size():
    """Return the number of work-items in the workgroup, an i32."""
    return blockDim.x * blockDim.y * blockDim.z


@device_function
def thread_rank():
    """Return the work-item's number in its workgroup, an i32: along x first, then y, then z."""
    return flat_work_item_id()


@device_function
def reduce(op, value, init=None):
    """Return the combination of all work-items' values, in all of them.

    init: a value that comes before the first one.
    """
    total = _total_of_wave(op, value, _lanes_of_wave(), _wave_size())
    total = _total_of_waves(op, total)
    if init is not None:
        total = combined(op, _like(init, value), total)
    return total


@device_function
def all_reduce(op, value, init=None):
    """Return what `reduce` does, whose result all work-items get."""
    return reduce(op, value, init)


@device_function
def inclusive_scan(op, value, init=None):
    """Return the combination of the values of all work-items up to this one.

    init: a value that comes before the first one.
    """
    total = _totals_of_wave(op, value)
    if _most_waves() > 1:
        before = _before_wave(op, total)
        if wave_id() > 0:
            total = combined(op, before, total)
    if init is not None:
        total = combined(op, _like(init, value), total)
    return total


@device_function
def exclusive_scan(op, value, init=None):
    """Return the combination of the values of all work-items before this one.

    init: a value that comes before the first one, and is the first result. A named operator can do
    without: the first result is then the value that changes nothing.
    """
    first = type(value)(neutral_of(op, type(value))) if init is None else _like(init, value)
    own = _totals_of_wave(op, value)
    total = _moved(own, wave.shuffle, max(lane_id() - 1, 0))
    if _most_waves() > 1:
        before = _before_wave(op, own)
        if wave_id() > 0:
            total = combined(op, before, total) if lane_id() > 0 else before
    if flat_work_item_id() == 0:
        total = first
    elif init is not None:
        total = combined(op, first, total)
    return total


@device_function
def broadcast(value, source=0):
    """Return the value of one work-item, whose number must be the same in all, to all."""
    if _most_waves() == 1:
        return _moved(value, wave.readlane, source)
    slots = _slots(value)
    if flat_work_item_id() == source:
        _put(slots, 2 * _most_waves(), value)
    lds_barrier()
    result = _get(slots, 2 * _most_waves(), value)
    # The next call writes where others may still read.
    lds_barrier()
    return result


@device_function
def count(predicate):
    """Return for how many work-items the predicate is true, an i32."""
    return _total_of_waves("add", i32(popcount(wave.ballot64(bool(predicate)))))


@device_function
def any(predicate):
    """Return whether the predicate is true for at least one work-item."""
    return count(predicate) != 0


@device_function
def all(predicate):
    """Return whether the predicate is true for all work-items."""
    return count(not predicate) == 0


@device_function
def _like(init, value):
    """Return an initial value of the type of the others."""
    kind = type(value)
    if isinstance(value, tuple):
        items = tuple(type(old)(new) for old, new in zip(value, init))  # noqa: B905
        return items if kind is tuple else kind(*items)
    return kind(init)


# The operators of reductions and scans of a workgroup: names, and functions of two values.


_NAMES = ("add", "mul", "min", "max", "minimum", "maximum", "and", "or", "xor")
_BITS = ("and", "or", "xor")
_COMPLEX = (np.complex64, np.complex128)  # what `type` returns of complex numbers
_NEUTRAL_COMPLEX = {"add": 0, "mul": 1}


def _check(op: Any, kind: Any) -> None:
    """Raise `Refused` for what is no operator, and for names that values of this type lack."""
    if isinstance(op, (Type, bool, int, float)):
        found = f"a value of type {op}" if isinstance(op, Type) else str(op)
        raise Refused(f"the operator is {found}", "write the operator first: `reduce(op, value)`")
    if not isinstance(op, str):
        return
    if op not in _NAMES:
        raise Refused(f"there is no operator {op!r}", f"write one of {', '.join(_NAMES)}")
    if kind in _COMPLEX and op in _NEUTRAL_COMPLEX:
        return
    if not isinstance(kind, Scalar) or kind.storage_only:
        raise Refused(f"{op!r} of {_named(kind)}", "write a function of two such values")
    if kind.is_float if op in _BITS else kind is boolean:
        raise Refused(f"{op!r} of {kind}", "write a function, or convert the value")


@compile_time
def is_built_in(compilation: Compilation, op: Any, kind: Any) -> bool:
    """Whether instructions combine a whole wave."""
    _check(op, kind)
    return isinstance(op, str) and kind not in _COMPLEX and compilation.target.isa[0] >= 10


@compile_time
def is_added_in_f32(compilation: Compilation, kind: Any) -> bool:
    """Whether `wave.reduce` adds values of this type as f32."""
    return kind is bf16


def _named(kind: Any) -> str:
    return str(kind) if isinstance(kind, Type) else getattr(kind, "__name__", "this value")


@compile_time
def neutral_of(compilation: Compilation, op: Any, kind: Any) -> Any:
    """Return the value that changes nothing under a named operator."""
    _check(op, kind)
    if not isinstance(op, str):
        raise Refused("a scan of this operator begins with nothing", "give `init`")
    if kind in _COMPLEX:
        return _NEUTRAL_COMPLEX[op]
    found = neutral(kind, op)
    return bool(found) if kind is boolean else found


@device_function
def combined(op, first, second):
    """Return the combination of two values, of their type."""
    kind = type(first)
    if isinstance(op, str):
        return kind(_by_name(op, first, second))
    result = op(first, second)
    if isinstance(first, complex):
        return kind(result)
    if isinstance(first, tuple):
        items = tuple(type(old)(new) for old, new in zip(first, result))  # noqa: B905
        return items if kind is tuple else kind(*items)
    return kind(result)


@device_function
def _by_name(op, first, second):
    if op == "add":
        return first + second
    if op == "mul":
        return first * second
    if op == "min":
        return functions.fmin(first, second) if type(first).is_float else min(first, second)
    if op == "max":
        return functions.fmax(first, second) if type(first).is_float else max(first, second)
    if op == "minimum":
        return min(first, second)
    if op == "maximum":
        return max(first, second)
    if op == "and":
        return first & second
    if op == "or":
        return first | second
    return first ^ second
