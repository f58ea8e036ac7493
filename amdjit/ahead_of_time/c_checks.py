"""The checks that a launch from C makes before anything runs, as lines of C.

They are those of a launch from Python: they compare grid, block and LDS with the kernel and the
processor, and check everything that the code relies on about arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from amdjit.abi.launch_shape import GRID_LIMITS, WORK_ITEM_LIMIT
from amdjit.ahead_of_time.c_names import c_string
from amdjit.ahead_of_time.interface import Interface, Leaf, MachineValue
from amdjit.language.launch_numbers import PythonNumber, least_overflow
from amdjit.types import Array, Layout, Record, Scalar, Type, boolean, f64

__all__ = ["refusal_function", "relied_on"]

_SMALL_LIMIT = 2**31 - 1
_LARGE_LIMIT = 2**62


def refusal_function(interface: Interface, kernel: str) -> list[str]:
    """Return the C function that says what is wrong with a launch; NULL if nothing is."""
    lines = [
        f"static inline const char *{kernel}_refusal(const {kernel}_kernel *kernel, "
        "const unsigned grid[3],",
        "    const unsigned block[3], unsigned dynamic_lds, "
        f"const {kernel}_arguments *arguments) {{",
        *(f"  {line}" for line in _body(interface, kernel)),
        "  return NULL;",
        "}",
    ]
    return lines


def _body(interface: Interface, kernel: str) -> Iterator[str]:
    arrays = interface.arrays
    yield f"const {kernel}_target *target = kernel->target;"
    if arrays:
        yield f"amdjit_span spans[{len(arrays)}];"
        yield "enum amdjit_array_fault fault;"
    yield from _shape_checks(kernel)
    if interface.record is not None:
        member = interface.record.path[0]
        yield f"if (!arguments->{member})"
        yield _refused(f"the kernel reports: let {member} point to what {kernel}_record_make made")
    for value in interface.values:
        yield from _number_checks(value)
    for position, leaf in enumerate(arrays):
        yield from _array_checks(leaf, position)
    for first, second in itertools.combinations(range(len(arrays)), 2):
        if _must_differ(arrays[first], arrays[second]):
            yield f"if (amdjit_share_memory(&spans[{first}], &spans[{second}]))"
            yield _refused(
                f"{arrays[first].name} and {arrays[second].name} share memory: build for the type "
                f"'{arrays[first].type} overlapping' of both"
            )
    if not interface.values:
        yield "(void)arguments;"


def _refused(text: str) -> str:
    return f"  return {c_string(text)};"


def _shape_checks(kernel: str) -> Iterator[str]:
    x, y, z = GRID_LIMITS
    yield "uint64_t size;"
    yield f'if (!target) return "the kernel is not loaded: call {kernel}_load_file first";'
    for what in ("grid", "block"):
        yield f"if (!{what}[0] || !{what}[1] || !{what}[2])"
        yield _refused(f"the {what} is empty along an axis: each of its three extents is 1 or more")
    yield "size = block[0] > 65535u || block[1] > 65535u || block[2] > 65535u"
    yield "           ? UINT64_MAX : (uint64_t)block[0] * block[1] * block[2];"
    yield "if (target->required_block[0] &&"
    yield "    (block[0] != target->required_block[0] || block[1] != target->required_block[1] ||"
    yield "     block[2] != target->required_block[2]))"
    yield _refused("the kernel was compiled for exactly one block: required_block of its target")
    yield "if (size > target->max_block)"
    yield _refused(
        "the block has more work-items than the kernel was compiled for: max_block of its target"
    )
    yield f"if (grid[0] > {x}u || grid[1] > {y}u || grid[2] > {z}u)"
    yield _refused(f"the grid has too many workgroups along an axis: {x}, {y} and {z} are the most")
    yield f"if ((uint64_t)grid[0] * block[0] > {WORK_ITEM_LIMIT}u ||"
    yield f"    (uint64_t)grid[1] * block[1] > {WORK_ITEM_LIMIT}u ||"
    yield f"    (uint64_t)grid[2] * block[2] > {WORK_ITEM_LIMIT}u)"
    yield _refused("the grid has more work-items along an axis than can be counted: 2^31 - 1")
    yield "if (dynamic_lds > target->lds_limit - target->lds_bytes)"
    yield _refused("too much dynamic LDS: with lds_bytes of the target it is over lds_limit of it")


def _number_checks(value: MachineValue) -> Iterator[str]:
    """Yield the checks that a number without a type of its own fits the type in which it is
    used."""
    type, given = value.type, value.leaf.type
    if not isinstance(given, PythonNumber) or not isinstance(type, Scalar) or type is boolean:
        return
    source = "arguments->" + ".".join(value.leaf.path)
    text = f"{value.leaf.name} does not fit {type}, as which the kernel uses it"
    if given.kind is int and type.is_integer:
        conditions = []
        if type.minimum > -(2**31):
            conditions.append(f"{source} < {type.minimum}")
        if type.maximum < 2**31 - 1:
            conditions.append(f"{source} > {type.maximum}")
    elif type.is_float and type != f64:
        # Infinity and NaN are allowed, but a finite number must not become one of them.
        if given.kind is int and least_overflow(type) > 2**31:
            return
        limit = f"{least_overflow(type)!r}"
        finite = f"{source} - {source} == 0 && " if given.kind is float else ""
        outside = f"{source} >= {limit} || {source} <= -{limit}"
        conditions = [f"{finite}({outside})" if finite else outside]
    else:
        return
    if conditions:
        yield f"if ({' || '.join(conditions)})"
        yield _refused(text)


def _array_checks(leaf: Leaf, position: int) -> Iterator[str]:
    type = leaf.type
    assert isinstance(type, Array)
    source = "arguments->" + ".".join(leaf.path)
    shape = f"{source}.shape" if type.ndim else "NULL"
    strides = f"{source}.strides" if type.layout.has_strides and type.ndim else "NULL"
    small = type.offset_bits == 32
    limit, most = (_SMALL_LIMIT, "INT32_MAX") if small else (_LARGE_LIMIT, "INT64_MAX")
    numbers = (
        f"{_element_bytes(type)}, {alignment_of(type)}, UINT64_C({limit}), {most}, "
        f"{int(type.layout is Layout.ROWS)}"
    )
    yield "{"
    yield f"  static const amdjit_array_facts facts = {{{numbers}}};"
    yield "  static const char *const words[] = {"
    yield "    NULL,"
    yield from (f"    {c_string(text)}," for text in _array_faults(leaf, type))
    yield "  };"
    yield f"  fault = amdjit_check_array(&spans[{position}], {source}.data, {type.ndim}, {shape},"
    yield f"                             {strides}, &facts);"
    yield "  if (fault != AMDJIT_FITS) return words[fault];"
    yield "}"


def _array_faults(leaf: Leaf, type: Array) -> Iterator[str]:
    """Yield the messages about an array, in the order of `amdjit_array_fault`."""
    name, shown = leaf.name, str(type)
    yield f"{name} has a negative extent"
    if type.offset_bits == 32:
        yield f"{name} spans 2 GiB or more: build for the type '{shown} over 2 GiB'"
    else:
        yield f"{name} spans more than any memory"
    yield f"{name}.data is NULL, and the array is not empty"
    yield f"{name}.data is not aligned: it must be a multiple of {alignment_of(type)} bytes"
    if type.layout is Layout.ROWS:
        strided = shown.replace(" in rows", " strided")
        yield (
            f"{name} is not in rows: its last stride must be 1, and none negative; build for the "
            f"type '{strided}' otherwise"
        )


def _element_bytes(type: Array) -> int:
    element = type.element
    assert isinstance(element, (Scalar, Record))
    return element.nbytes


def alignment_of(type: Array) -> int:
    """Return the number of bytes of which the address of an array must be a multiple."""
    element = type.element
    own = element.alignment if isinstance(element, Record) else element.nbytes
    return max(own, type.alignment, 1)


def _must_differ(first: Leaf, second: Leaf) -> bool:
    """Whether the code relies on two arrays not sharing memory."""
    assert isinstance(first.type, Array)
    assert isinstance(second.type, Array)
    is_promised = bool(first.type.distinct or second.type.distinct)
    return is_promised and (first.written or second.written)


def relied_on(leaf: Leaf) -> list[str]:
    """Return what the code relies on about an array, in words."""
    type: Type = leaf.type
    assert isinstance(type, Array)
    layouts = {
        Layout.CONTIGUOUS: "C-contiguous",
        Layout.ROWS: "strided, elements of the last axis side by side, no negative stride",
        Layout.STRIDED: "strided",
    }
    facts = [layouts[type.layout]] if type.ndim else []
    facts.append(f"address a multiple of {alignment_of(type)}")
    if type.offset_bits == 32:
        facts.append("spans less than 2 GiB")
    if type.distinct:
        facts.append("shares no memory with an array that the kernel writes")
    return facts
