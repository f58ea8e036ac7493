"""The source of a specialisation's quick call: a function that recognises calls and packs them.

For `saxpy(a: np.float32, x: f32[::1], out: f32[::1])` its source is, apart from the numbers in
names:

    def pack(slot, device, v0, v1, v2):
        type1, low1, high1, steps1 = v1.launch_key or facts_of(v1)
        type2, low2, high2, steps2 = v2.launch_key or facts_of(v2)
        if not (
            type(v0) is K0
            and v1.device is device and type1 is K1
            and v2.device is device and type2 is K2
            and (high1 <= low2 or high2 <= low1)
            and G0["amdjit"] is R0
        ):
            return False
        pack_into(slot.kernarg, slot.offset, v1.address, v2.address, v0, v1.shape[0], v2.shape[0])
        return True

It returns False unless it is certain, and its caller takes an exception for False: then
`prepared.prepare` finds the specialisation, or reports the mistake.
"""

from __future__ import annotations

import keyword
import types
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction
from amdjit.frontend import CompileTime, Content, Dependency, OutsideArray
from amdjit.language.launch_numbers import (
    PYTHON_INT,
    LaunchUse,
    PythonNumber,
    least_overflow,
)
from amdjit.late_methods import dataclass, field
from amdjit.launching.array_facts import facts_of, sharing
from amdjit.launching.record_arguments import Annotation
from amdjit.runtime.arguments import ArgumentPacker, flatten_of
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import (
    Array,
    Scalar,
    Type,
    Vector,
    bf8,
    bf8_fnuz,
    bf16,
    f64,
    fp8,
    fp8_fnuz,
    i32,
    i64,
)

__all__ = ["NotQuickError", "is_current_source", "pack_source"]

# Objects that are compiled in as they are: the same one means the same code.
_FIXED = (type, Type, np.dtype, types.FunctionType, DeviceFunction, Enum)
_SEQUENCES = (tuple, list, np.ndarray)
# Floats whose bits NumPy makes, which refuses what does not fit.
_BITS = (bf16, fp8, bf8, fp8_fnuz, bf8_fnuz)
_ABSENT = object()
# With more arrays, sorting is quicker than comparing each with each.
_FEW_ARRAYS = 4


class NotQuickError(Exception):
    """Calls like this one take the slow way."""


@dataclass(slots=True)
class Source:
    """A function whose source is being written."""

    names: dict[str, Any] = field(default_factory=dict)
    """The objects to which its text refers, by name."""
    before: list[str] = field(default_factory=list)
    """Lines that come before the conditions."""
    conditions: list[str] = field(default_factory=list)
    """Conditions, all of which must be true."""

    def name(self, value: object) -> str:
        """Return a name for an object."""
        name = f"o{len(self.names)}"
        self.names[name] = value
        return name


def pack_source(
    *,
    names: Sequence[str],
    annotations: Sequence[Annotation],
    values: Sequence[Any],
    kinds: Sequence[Type | CompileTime],
    kernel: str,
    uses: Sequence[LaunchUse | OutsideArray | None],
    packer: ArgumentPacker,
    reads: Sequence[Dependency],
    outside: Sequence[DeviceArray],
) -> tuple[str, dict[str, Any]]:
    """Return the text of `pack(slot, device, v0, v1, ...)` and the objects that it refers to.

    names, annotations, values, kinds: of a call's arguments, in order. kernel, uses, packer, reads:
    of its specialisation. outside: the arrays outside the kernel that it reads. NotQuickError for
    calls that are not recognised cheaply.
    """
    source = Source()
    places = [f"v{i}" for i in range(len(values))]
    parts = zip(places, annotations, values, kinds, strict=True)
    given = [_argument(source, *part) for part in parts]
    uses_of_arrays = [use for use in uses if isinstance(use, OutsideArray)]
    found = [
        _outside(source, f"v{i}", use, array)
        for i, (use, array) in enumerate(zip(uses_of_arrays, outside, strict=True), len(values))
    ]
    _add_sharing(source, [*values, *outside], [*kinds, *(use.type for use in uses_of_arrays)])
    source.conditions += [_is_current(source, read) for read in reads if read not in uses_of_arrays]
    named = zip(names, places, kinds, strict=True)
    numbers = {name: place for name, place, kind in named if isinstance(kind, PythonNumber)}
    at_run_time = (
        words
        for words, kind in zip(given, kinds, strict=True)
        if not isinstance(kind, (CompileTime, PythonNumber))
    )
    from_outside = iter(found)
    words: list[str] = []
    for use, type in zip(uses or [None] * len(packer.types), packer.types, strict=True):
        if use is None:
            words += next(at_run_time)
        elif isinstance(use, OutsideArray):
            words += next(from_outside)
        else:
            words.append(_number(source, kernel, use, type, numbers))
    return _pack_text(source, places, [words[position] for position in packer.order], packer)


def _pack_text(
    source: Source, places: Sequence[str], words: Sequence[str], packer: ArgumentPacker
) -> tuple[str, dict[str, Any]]:
    """Return the text of `pack`, which writes the words if all conditions hold."""
    source.names |= {"facts_of": facts_of, "pack_into": packer.pack_words}
    lines = [
        f"def pack({', '.join(['slot', 'device', *places])}):",
        *(f"    {line}" for line in source.before),
        f"    if not ({' and '.join(source.conditions) or 'True'}):",
        "        return False",
        f"    pack_into({', '.join(['slot.kernarg', 'slot.offset', *words])})",
        "    return True",
    ]
    return "\n".join(lines), source.names


def is_current_source(
    reads: Sequence[Dependency],
    arrays: Sequence[DeviceArray],
    outside: Sequence[tuple[OutsideArray, DeviceArray]],
) -> tuple[str, dict[str, Any]]:
    """Return the text of `is_current()`: whether all variables have the values compiled in.

    It raises the LaunchError of an array that was freed, which has no address any more.
    """
    source = Source()
    conditions = [f"{source.name(array)}.address" for array in arrays]
    uses = [use for use, _ in outside]
    conditions += [_is_current(source, read) for read in reads if read not in uses]
    for use, array in outside:
        same = source.name(array)
        conditions += [f"{_found(source, use)} is {same}", f"{same}.address"]
    return f"def is_current():\n    return {' and '.join(conditions) or 'True'}", source.names


def _argument(
    source: Source, name: str, annotation: Annotation, value: Any, kind: Type | CompileTime
) -> list[str]:
    """Add the conditions for an argument; return the words to pass, none if it is compiled in."""
    if isinstance(kind, CompileTime):
        source.conditions.append(_is_fixed(source, name, value))
        return []
    if isinstance(kind, Array):
        return _array(source, name, value, kind)
    if isinstance(kind, Vector):
        if type(value) not in _SEQUENCES:
            raise NotQuickError
        source.conditions.append(f"{name}.__class__ is {source.name(type(value))}")
        return [_flattened(source, name, kind)]
    source.conditions.append(f"{name}.__class__ is {source.name(type(value))}")
    if isinstance(kind, PythonNumber):
        _check_class(value, int if kind == PYTHON_INT else float)
        if kind == PYTHON_INT:
            source.conditions.append(f"{i32.minimum} <= {name} <= {i32.maximum}")
        return []
    return _scalar(source, name, annotation, value, kind)


def _scalar(source: Source, name: str, annotation: Annotation, value: Any, kind: Type) -> list[str]:
    if not isinstance(kind, Scalar):
        raise NotQuickError
    if type(value) is int and kind.is_integer:
        source.conditions.append(f"{kind.minimum} <= {name} <= {kind.maximum}")
        # It is wide because it does not fit an i32, or a u64 because it does not fit an i64; with
        # Numba's typing it is always wide.
        narrower = i32 if kind.minimum < 0 else i64
        if annotation is None and not narrower.minimum <= value <= narrower.maximum:
            source.conditions.append(f"not {narrower.minimum} <= {name} <= {narrower.maximum}")
    elif not isinstance(value, np.generic):
        _check_class(value, int, float, bool)
    return [_flattened(source, name, kind)]


def _check_class(value: object, *classes: type) -> None:
    if type(value) not in classes:
        raise NotQuickError  # an instance of a class of the user's


def _array(source: Source, name: str, value: Any, kind: Array) -> list[str]:
    if not isinstance(value, DeviceArray):
        raise NotQuickError
    facts = facts_of(value)
    if facts.type is None:
        raise NotQuickError
    number = name[1:]
    source.before.append(
        f"type{number}, low{number}, high{number}, steps{number} = "
        f"{name}.launch_key or facts_of({name})"
    )
    source.conditions += [
        f"{name}.device is device",
        f"type{number} is {source.name(facts.type)}",
    ]
    words = [f"{name}.address", *(f"{name}.shape[{axis}]" for axis in range(kind.ndim))]
    if kind.layout.has_strides:
        words += [f"steps{number}[{axis}]" for axis in range(kind.ndim)]
    return words


def _outside(source: Source, name: str, use: OutsideArray, array: DeviceArray) -> list[str]:
    """Add the conditions for an array from outside; return the words to pass."""
    assert isinstance(use.type, Array)
    source.before.append(f"{name} = {_found(source, use)}")
    return _array(source, name, array, use.type)


def _add_sharing(
    source: Source, values: Sequence[Any], kinds: Sequence[Type | CompileTime]
) -> None:
    """Add the condition that the same arrays as in this call share memory with another one."""
    arrays = [i for i, kind in enumerate(kinds) if isinstance(kind, Array)]
    shared = _are_shared([values[i] for i in arrays])
    if any(shared):
        source.names["are_shared"] = _are_shared
        given = ", ".join(f"v{i}" for i in arrays)
        source.conditions.append(f"are_shared([{given}]) == {shared}")
    elif len(arrays) <= _FEW_ARRAYS:
        source.conditions += [
            f"(high{a} <= low{b} or high{b} <= low{a})"
            for position, a in enumerate(arrays)
            for b in arrays[position + 1 :]
        ]
    else:
        source.names["are_apart"] = _are_apart
        lows, highs = (", ".join(f"{end}{i}" for i in arrays) for end in ("low", "high"))
        source.conditions.append(f"are_apart([{lows}], [{highs}])")


def _are_shared(arrays: list[DeviceArray]) -> list[bool]:
    """Return for each array whether it shares memory with another one, or is given twice."""
    shared = sharing(arrays)
    return [id(array) in shared for array in arrays]


def _are_apart(lows: list[int], highs: list[int]) -> bool:
    """Whether spans, none of them empty, share no address.

    If they do not, each ends before the next one begins. If two do, more have begun than one after
    those that have ended where the later of the two begins.
    """
    lows.sort()
    highs.sort()
    del lows[0]
    return all(map(int.__le__, highs, lows))


def _is_current(source: Source, read: Dependency) -> str:
    """Return the condition that a variable has the value that was compiled in.

    Another object may have the same value: `Dependency.is_current` then decides.
    """
    if isinstance(read, Content):
        scope = source.name(read.scope)
        elements, shape, dtype = map(source.name, read.current())
        return (
            f"({scope}.shape == {shape} and {scope}.dtype is {dtype}"
            f" and {scope}.tobytes() == {elements})"
        )
    now = read.current()
    same = source.name(now if read.accepts(now) else read.value)
    return f"({_found(source, read)} is {same} or {source.name(read.is_current)}())"


def _found(source: Source, read: Dependency) -> str:
    """Return the expression for what a variable has now."""
    scope, name = source.name(read.scope), read.name
    if isinstance(read.scope, dict):
        return f"{scope}.get({name!r}, {source.name(_ABSENT)})"
    if isinstance(read.scope, types.CellType):
        return f"{scope}.cell_contents"
    if name.isidentifier() and not keyword.iskeyword(name):
        return f"{scope}.{name}"
    raise NotQuickError


def _is_fixed(source: Source, name: str, value: object) -> str:
    """Return the condition that a value is the one that was compiled in."""
    if value is None or isinstance(value, _FIXED):
        return f"{name} is {source.name(value)}"
    if type(value) in (int, bool, str):
        kind = source.name(type(value))
        return f"{name}.__class__ is {kind} and {name} == {source.name(value)}"
    raise NotQuickError


def _number(
    source: Source, kernel: str, use: LaunchUse, type: Type, numbers: dict[str, str]
) -> str:
    """Return the word for a number that is computed from Python's numbers."""
    assert isinstance(type, Scalar)
    name = numbers.get(use.number.text) if use.number.compute is None else None
    if name is not None and use.number.kind is int and type == i32:
        return name  # its range was checked
    if name is not None and use.number.kind is float and type == f64:
        return name
    if name is not None and use.number.kind is float and type.is_float and type not in _BITS:
        end = source.name(least_overflow(type))
        # Infinities and NaN, whose difference to themselves is NaN, are passed as they are.
        source.conditions.append(f"(-{end} < {name} < {end} or {name} - {name} != 0.0)")
        return name
    given = ", ".join(f"{text!r}: {number}" for text, number in numbers.items())
    word = f"{source.name(use.argument)}({kernel!r}, {{{given}}})"
    return f"{source.name(flatten_of(type))}({word})[0]" if type in _BITS else word


def _flattened(source: Source, name: str, kind: Scalar | Vector) -> str:
    if isinstance(kind, Vector) or kind in _BITS:
        return f"{source.name(flatten_of(kind))}({name})[0]"
    return name
