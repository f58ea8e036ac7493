"""A kernel's structs in C: what a program gives, the kernarg segment, and the way between them.

before: a parameter x of f32[:, ::1]
after:  `const float *data; int64_t shape[2];` in `KERNEL_x_argument`, and in `KERNEL_kernarg`
        `uint64_t x_data;` ... `int32_t x_extent0;` `int32_t x_extent1;` at the offsets of the code
"""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.ahead_of_time.c_names import CNames
from amdjit.ahead_of_time.c_types import declared, element_type, gap, record_struct, scalar_type
from amdjit.ahead_of_time.interface import (
    CompiledIn,
    Group,
    Interface,
    Leaf,
    MachineValue,
    Parameter,
)
from amdjit.language.launch_numbers import PythonNumber
from amdjit.types import Array, Record, Scalar, Vector, boolean

__all__ = ["argument_structs", "comment", "kernarg_struct", "pack_function"]


def argument_structs(interface: Interface, kernel: str) -> list[str]:
    """Return the lines that define the struct of the arguments, and those of arrays and tuples."""
    lines: list[str] = []
    for parameter in interface.parameters:
        lines += _type_of(parameter, kernel)
    members = [line for each in interface.parameters for line in _member(each, kernel)]
    if interface.record is not None:
        note = "/* where the kernel reports; see below */"
        members.append(f"{kernel}_record *{interface.record.path[0]}; {note}")
    members = members or ["int nothing; /* the kernel takes no arguments */"]
    body = [f"  {line}" for line in members]
    return [*lines, f"typedef struct {kernel}_arguments {{", *body, f"}} {kernel}_arguments;"]


def _type_of(parameter: Parameter, kernel: str) -> Iterator[str]:
    """Yield the definition of a parameter's own type, if it has one, after those of its parts."""
    if isinstance(parameter, CompiledIn):
        return
    name = f"{kernel}_{parameter.label}_argument"
    if isinstance(parameter, Group):
        for part in parameter.parts:
            yield from _type_of(part, kernel)
        members = [line for part in parameter.parts for line in _member(part, kernel)]
    elif isinstance(parameter.type, Array):
        record = f"{kernel}_{parameter.label}_element"
        if isinstance(parameter.type.element, Record):
            yield from record_struct(parameter.type.element, record)
            yield ""
        members = _array_members(parameter, parameter.type, record)
    else:
        return
    yield f"/* {parameter.name}: {parameter.type} */"
    yield f"typedef struct {name} {{"
    yield from (f"  {line}" for line in members or ["int nothing; /* all of it is compiled in */"])
    yield f"}} {name};"
    yield ""


def _array_members(leaf: Leaf, type: Array, record: str) -> list[str]:
    element = element_type(type.element, record)
    promise = "the kernel may write it" if leaf.written else "the kernel does not write it"
    lines = [f"{'' if leaf.written else 'const '}{element} *data; /* on the device; {promise} */"]
    if type.ndim:
        lines.append(f"int64_t shape[{type.ndim}];")
    if type.layout.has_strides and type.ndim:
        lines.append(f"int64_t strides[{type.ndim}]; /* in elements */")
    return lines


def _member(parameter: Parameter, kernel: str) -> Iterator[str]:
    """Yield the member of a parameter in the struct above it."""
    if isinstance(parameter, CompiledIn):
        yield f"/* {parameter.name} = {comment(parameter.text)} is compiled in */"
        return
    member = parameter.path[-1]
    if isinstance(parameter, Group) or isinstance(parameter.type, Array):
        yield f"{kernel}_{parameter.label}_argument {member};"
        return
    note = f"/* {parameter.name}: {parameter.type}{'' if parameter.used else ', not used'} */"
    if isinstance(parameter.type, PythonNumber):
        # A Python integer without a type of its own fits an i32.
        yield f"{'int32_t' if parameter.type.kind is int else 'double'} {member}; {note}"
    else:
        yield f"{declared(parameter.type, member)}; {note}"


def comment(text: str, most: int = 60) -> str:
    """Return text as it can stand in a comment, `most` characters of it."""
    shown = text if len(text) <= most else text[: most - 3] + "..."
    return shown.replace("*/", "* /").replace("\\", "\\\\")


def kernarg_struct(interface: Interface, kernel: str) -> list[str]:
    """Return the lines that define the explicit part of the kernarg segment and assert that a
    compiler lays it out as the code reads it."""
    names, lines, end = CNames(*(value.member for value in interface.values)), [], 0
    checks = []
    for value in interface.values:
        lines += gap(names, value.offset - end)
        lines.append(f"{_machine_member(value)};")
        end = value.offset + value.nbytes
        place = f"offsetof({kernel}_kernarg, {value.member}) == {value.offset}"
        checks.append(f"AMDJIT_ASSERT({kernel}_{value.member}_offset, {place});")
        size = f"sizeof((({kernel}_kernarg *)0)->{value.member}) == {value.nbytes}"
        checks.append(f"AMDJIT_ASSERT({kernel}_{value.member}_bytes, {size});")
    # Whole words of 8 bytes, so that compilers add none.
    rounded = max(8, -(-end // 8) * 8)
    lines += gap(names, rounded - end)
    checks.append(
        f"AMDJIT_ASSERT({kernel}_kernarg_is_whole, sizeof({kernel}_kernarg) == {rounded});"
    )
    body = [f"  {line}" for line in lines]
    return [f"typedef struct {kernel}_kernarg {{", *body, f"}} {kernel}_kernarg;", *checks]


def _machine_member(value: MachineValue) -> str:
    if value.part == "data":
        return f"uint64_t {value.member}"
    return declared(value.type, value.member)


def pack_function(interface: Interface, kernel: str) -> list[str]:
    """Return the function that writes arguments into a kernarg segment."""
    lines = [
        f"static inline void {kernel}_pack({kernel}_kernarg *kernarg, "
        f"const {kernel}_arguments *arguments) {{",
        "  memset(kernarg, 0, sizeof *kernarg);",
    ]
    if not interface.values:
        lines.append("  (void)arguments;")
    return [*lines, *(f"  {_packed(value)}" for value in interface.values), "}"]


def _packed(value: MachineValue) -> str:
    source = "arguments->" + ".".join(value.leaf.path)
    target = f"kernarg->{value.member}"
    if value.part == "data":
        return f"{target} = (uint64_t)(uintptr_t){source}.data;"
    if value.part == "record":
        return f"{target} = (uint64_t)(uintptr_t){source}->device;"
    if value.part in ("extent", "stride"):
        array = "shape" if value.part == "extent" else "strides"
        assert isinstance(value.type, Scalar)
        return f"{target} = ({scalar_type(value.type)}){source}.{array}[{value.axis}];"
    if isinstance(value.type, Vector):
        return f"memcpy({target}, {source}, sizeof {target});"
    assert isinstance(value.type, Scalar)
    if isinstance(value.leaf.type, PythonNumber):
        return f"{target} = {_converted(source, value.leaf.type, value.type)};"
    return f"{target} = {source} != 0;" if value.type is boolean else f"{target} = {source};"


def _converted(source: str, given: PythonNumber, type: Scalar) -> str:
    """Return a Python number as the kernel uses it; its range has been checked."""
    if type is boolean:
        return f"{source} != 0"
    if type.is_float and (type.bits < 32):
        return f"{scalar_type(type).removesuffix('_t')}_bits((double){source})"
    if given.kind is float and not type.is_float:
        return _truncated(source, type)
    return f"({scalar_type(type)}){source}"


def _truncated(source: str, type: Scalar) -> str:
    """Return a C expression that converts toward zero as kernels do: NaN to 0, and what is out of
    range to the nearest integer."""
    name = scalar_type(type).removesuffix("_t").upper()
    least, most = ("0" if not type.is_signed else f"{name}_MIN"), f"{name}_MAX"
    # 2 to the power of the bits is a double; the greatest integer may be none.
    above = f"{float(type.maximum + 1)!r}"
    inside = f"({scalar_type(type)}){source}"
    return (
        f"{source} != {source} ? 0 : {source} < {float(type.minimum)!r} ? {least} : "
        f"{source} >= {above} ? {most} : {inside}"
    )
