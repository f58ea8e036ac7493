"""What a program passes to a compiled kernel, and where the machine values are in the kernarg
segment.

A kernel's parameters are arrays, numbers, vectors, and tuples or records of these. `Interface` has
them as a tree, with their names in Python and in C, and all machine values of the kernarg segment
with their offsets. It is the same for all targets of a build.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType

from amdjit.abi.reports import ReportTable
from amdjit.ahead_of_time.c_names import CNames, c_identifier
from amdjit.compiled_kernel import CompiledKernel
from amdjit.declarations import DeviceFunction
from amdjit.diagnostics.errors import InternalError
from amdjit.frontend import CompileTime
from amdjit.language.launch_numbers import LaunchUse, PythonNumber
from amdjit.runtime.arguments import ArgumentPacker
from amdjit.types import Array, Known, Scalar, Structure, Tuple, Type, Vector, u64

__all__ = ["CompiledIn", "Group", "Interface", "Leaf", "MachineValue", "interface_of"]


@dataclass(frozen=True)
class Leaf:
    """A single value that the program passes."""

    name: str
    """The way to write it in Python, such as `p.scale`."""
    path: tuple[str, ...]
    """The names that lead to the member in the arguments' struct."""
    label: str
    """The path as one name."""
    type: Type
    written: bool = False
    """Whether the kernel may write the array."""
    used: bool = True
    """Whether the kernel uses the number at all."""


@dataclass(frozen=True)
class Group:
    """A tuple or record."""

    name: str
    path: tuple[str, ...]
    label: str
    """The path as one name."""
    type: Tuple
    parts: tuple[Leaf | Group | CompiledIn, ...]
    """The parts in order."""


@dataclass(frozen=True)
class CompiledIn:
    """A parameter, or a part of one, whose value is part of the code."""

    name: str
    value: object

    @property
    def text(self) -> str:
        """The value as Python writes it, the same in every process."""
        return value_text(self.value)


def value_text(value: object) -> str:
    """Return a value as Python writes it, but without addresses, and with sets in a fixed order."""
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(value_text, value)))}}}"
    if isinstance(value, DeviceFunction):
        return value.function.__name__
    if isinstance(value, (type, FunctionType)):
        return value.__name__
    if type(value) in (tuple, list):
        return f"({', '.join(map(value_text, value))})"  # type: ignore[call-overload]
    return _ADDRESS.sub("", repr(value))


_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")

Parameter = Leaf | Group | CompiledIn


@dataclass(frozen=True)
class MachineValue:
    """A value of the kernarg segment."""

    member: str
    """Its name in the kernarg struct."""
    leaf: Leaf
    part: str
    """"data", "extent" or "stride" of an array, "record" for the address of the record of reports,
    or else "value"."""
    axis: int
    """The axis, for an extent or a stride."""
    type: Type
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Interface:
    """What a program passes to a kernel."""

    kernel: str
    """Its name in the code."""
    parameters: tuple[Parameter, ...]
    values: tuple[MachineValue, ...]
    """The machine values, in the order of the kernarg segment."""
    kernarg_bytes: int
    """The size of the explicit part."""
    record: Leaf | None = None
    """The address of the record that the kernel reports to, if it does."""
    reports: ReportTable | None = None
    """What the kernel reports, if it does."""

    @property
    def signature(self) -> str:
        """The kernel with the types of its arguments, as a text that is the same in every
        process."""
        kinds = [e.text if isinstance(e, CompiledIn) else str(e.type) for e in self.parameters]
        return _ADDRESS.sub("", f"{self.kernel}({', '.join(kinds)})")

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All single values that the program passes."""
        return tuple(each for each in _flat(self.parameters) if isinstance(each, Leaf))

    @property
    def arrays(self) -> tuple[Leaf, ...]:
        """The arrays among them."""
        return tuple(leaf for leaf in self.leaves if isinstance(leaf.type, Array))

    @property
    def constants(self) -> tuple[CompiledIn, ...]:
        """The parameters and parts that are compiled in."""
        return tuple(each for each in _flat(self.parameters) if isinstance(each, CompiledIn))


def _flat(parameters: Sequence[Parameter]) -> Iterator[Leaf | CompiledIn]:
    for each in parameters:
        if isinstance(each, Group):
            yield from _flat(each.parts)
        else:
            yield each


def interface_of(compiled: CompiledKernel, names: Sequence[str]) -> Interface:
    """Return the interface of a kernel whose parameters have these names.

    `building.check` has made sure that the kernel takes no number that Python computes, and no
    array from outside.
    """
    reader = _Reader(compiled)
    taken = CNames()
    parameters = tuple(
        reader.parameter(name, (), taken.take(c_identifier(name)), argument)
        for name, argument in zip(names, compiled.arguments, strict=True)
    )
    values, nbytes = _machine_values(compiled, parameters), _packer(compiled).nbytes
    if compiled.reports is None:
        return Interface(compiled.name, parameters, values, nbytes)
    # The address of the record follows the arguments at the next multiple of 8 bytes.
    place = -(-nbytes // 8) * 8
    record = Leaf("", (taken.take("record"),), "amdjit_record", u64)
    value = MachineValue(
        record.label, record, part="record", axis=0, type=u64, offset=place, nbytes=8
    )
    reports = compiled.reports
    return Interface(
        compiled.name,
        parameters,
        values=(*values, value),
        kernarg_bytes=place + 8,
        record=record,
        reports=reports,
    )


class _Reader:
    """Builds the tree of the parameters."""

    def __init__(self, compiled: CompiledKernel) -> None:
        parameters = zip(compiled.parameters, compiled.written, strict=True)
        self._written = {variable.name for variable, written in parameters if written}
        self._used = {use.number.text for use in compiled.launch_uses if isinstance(use, LaunchUse)}
        self._labels = CNames()

    def parameter(
        self, name: str, above: tuple[str, ...], member: str, argument: Type | CompileTime
    ) -> Parameter:
        """Return a parameter, or a part of one, and the parts below it."""
        if isinstance(argument, (CompileTime, Known)):
            return CompiledIn(name, argument.value)
        path = (*above, member)
        label = self._labels.take("_".join(path))
        if isinstance(argument, Tuple):
            return Group(name, path, label, argument, self._parts(name, path, argument))
        used = not isinstance(argument, PythonNumber) or name in self._used
        return Leaf(
            name, path, label=label, type=argument, written=name in self._written, used=used
        )

    def _parts(self, name: str, path: tuple[str, ...], type: Tuple) -> tuple[Parameter, ...]:
        taken, parts = CNames(), []
        for field, element in zip(_fields(type), type.elements, strict=True):
            member = taken.take(c_identifier(f"item{field}" if field.isdecimal() else field))
            parts.append(self.parameter(f"{name}.{field}", path, member, element))
        return tuple(parts)


def _fields(type: Tuple) -> Sequence[str]:
    structure: Structure | None = type.structure
    return (
        structure.fields if structure is not None else [str(i) for i in range(len(type.elements))]
    )


def _packer(compiled: CompiledKernel) -> ArgumentPacker:
    parameters = compiled.parameters
    return ArgumentPacker([each.name for each in parameters], [each.type for each in parameters])


def _machine_values(
    compiled: CompiledKernel, parameters: Sequence[Parameter]
) -> tuple[MachineValue, ...]:
    leaves = {each.name: each for each in _flat(parameters) if isinstance(each, Leaf)}
    packer, taken, found = _packer(compiled), CNames(), []
    uses = zip(compiled.parameters, packer.fields, compiled.launch_uses, strict=True)
    for variable, fields, use in uses:
        leaf = leaves.get(use.number.text if isinstance(use, LaunchUse) else variable.name)
        if leaf is None:
            raise InternalError(f"{compiled.name}: nothing is passed for {variable.name}")
        pieces = _pieces(variable.type)
        for field, (part, axis, type) in zip(fields, pieces, strict=True):
            suffix = {"value": "", "data": "_data"}.get(part, f"_{part}{axis}")
            if isinstance(use, LaunchUse):
                suffix = f"_{use.type}"
            member = taken.take(leaf.label + suffix)
            nbytes = field.nbytes
            found.append(
                MachineValue(
                    member,
                    leaf,
                    part=part,
                    axis=axis,
                    type=type,
                    offset=field.offset,
                    nbytes=nbytes,
                )
            )
    return tuple(sorted(found, key=lambda value: value.offset))


def _pieces(type: Type) -> Iterator[tuple[str, int, Type]]:
    """Yield the part, the axis and the type of each machine value of an argument."""
    if not isinstance(type, Array):
        assert isinstance(type, (Scalar, Vector))
        yield "value", 0, type
        return
    yield "data", 0, type
    parts = ("extent", "stride") if type.layout.has_strides else ("extent",)
    for part, axis in itertools.product(parts, range(type.ndim)):
        yield part, axis, type.index_type
