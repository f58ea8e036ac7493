"""Debug information: the line of Python that each instruction comes from, its functions, and its
variables.

before: a node with the span `kernel.py:12:5`
after:  `!dbg !7` with `!7 = !DILocation(line: 12, column: 5, scope: !4)`

A line table needs no more than a compile unit, one subprogram per function and one location per
node. LLVM itself adds `inlinedAt` when it inlines device functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from llvmlite import ir

from amdjit.abi.code_marks import PRODUCER
from amdjit.diagnostics.span import Span
from amdjit.lowering.builder import Builder
from amdjit.tree.nodes import Function, Variable
from amdjit.types import Array, Known, Pointer, Scalar, ScalarKind, Tuple, Type, Vector, Void

__all__ = [
    "DebugInfo",
    "DebugNode",
    "DebugTypes",
    "FunctionLocations",
    "FunctionVariables",
    "quoted",
]


_DWARF_VERSION = 5
# What the front end adds to the name of a function that it types several times.
_NUMBER = re.compile(r"\.\d+$")


class DebugInfo:
    """The debug information of one module."""

    def __init__(self, module: Any, file: str, has_variables: bool) -> None:
        self._module = module
        self._files: dict[str, Any] = {}
        self._signature = self._node("DISubroutineType", {"types": module.add_metadata([None])})
        self._unit = self._node(
            "DICompileUnit",
            {
                "language": ir.DIToken("DW_LANG_Python"),
                "file": self._file(file),
                "producer": PRODUCER,
                "isOptimized": True,
                "runtimeVersion": 0,
                "emissionKind": ir.DIToken("FullDebug" if has_variables else "LineTablesOnly"),
                "nameTableKind": ir.DIToken("None"),
            },
            is_distinct=True,
        )
        module.add_named_metadata("llvm.dbg.cu", self._unit)
        _flag(module, 7, "Dwarf Version", _DWARF_VERSION)
        _flag(module, 2, "Debug Info Version", 3)

    def function(self, function: Any, name: str, span: Span) -> FunctionLocations:
        """Attach a subprogram to an llvmlite function and return its `FunctionLocations`."""
        file = self._file(span.file)
        subprogram = self._node(
            "DISubprogram",
            {
                "name": _NUMBER.sub("", name),
                "linkageName": function.name,
                "scope": file,
                "file": file,
                "line": span.line,
                "scopeLine": span.line,
                "type": self._signature,
                "spFlags": ir.DIToken("DISPFlagDefinition | DISPFlagOptimized"),
                "unit": self._unit,
            },
            is_distinct=True,
        )
        function.set_metadata("dbg", subprogram)
        return FunctionLocations(self._module, subprogram, file)

    def _file(self, file: str) -> Any:
        if file not in self._files:
            path = PurePath(file)
            parts = {
                "filename": path.name,
                "directory": str(path.parent) if path.name != file else "",
            }
            self._files[file] = self._node("DIFile", parts)
        return self._files[file]

    def _node(self, kind: str, operands: dict[str, Any], is_distinct: bool = False) -> Any:
        return _node(self._module, kind, operands, is_distinct)


class FunctionLocations:
    """Makes the locations of one function, each once."""

    def __init__(self, module: Any, subprogram: Any, file: Any) -> None:
        self._module = module
        self.subprogram = subprogram
        self.file = file
        self._made: dict[tuple[int, int], Any] = {}

    def at(self, span: Span) -> Any:
        """Return the location of the first character of a span. Columns count from 1 in DWARF."""
        key = (span.line, span.column)
        location = self._made.get(key)
        if location is None:
            location = self._made[key] = _Location(
                self._module, span.line, span.column + 1, self.subprogram
            )
        return location


class DebugNode(ir.DIValue):  # type: ignore[misc]
    """A node of debug information that is written as text."""

    def __init__(self, module: Any, text: str) -> None:
        super().__init__(module, False, "", (), name=str(len(module.metadata)))
        self._text = text

    def _to_string(self) -> str:
        return f"!{self.name} = !{self._text}"


class _Location(ir.DIValue):  # type: ignore[misc]
    """A DILocation. Most metadata nodes are of this kind, and llvmlite's generic printer is
    slow."""

    def __init__(self, module: Any, line: int, column: int, scope: Any) -> None:
        operands = (("line", line), ("column", column), ("scope", scope))
        super().__init__(module, False, "DILocation", operands, name=str(len(module.metadata)))

    @property
    def line(self) -> int:
        """The line, from 1."""
        return int(self.operands[0][1])

    def _to_string(self) -> str:
        (_, line), (_, column), (_, scope) = self.operands
        return (
            f"!{self.name} = !DILocation(line: {line}, column: {column}, scope: "
            f"{scope.get_reference()})"
        )


def quoted(text: str) -> str:
    """Return a string as LLVM's text has it (LLVM language reference, "String constants")."""
    return '"' + "".join(map(_character, text.encode())) + '"'


def _character(byte: int) -> str:
    return f"\\{byte:02x}" if byte in b'"\\' or not 32 <= byte < 127 else chr(byte)


def _node(module: Any, kind: str, operands: dict[str, Any], is_distinct: bool = False) -> Any:
    # Not module.add_debug_info: it sorts and hashes the operands of every node, which is slow.
    return ir.DIValue(module, is_distinct, kind, operands.items(), name=str(len(module.metadata)))


def _flag(module: Any, behavior: int, name: str, value: int) -> None:
    i32 = ir.IntType(32)
    module.add_named_metadata("llvm.module.flags", [i32(behavior), name, i32(value)])


# Variables for debuggers: which value each variable of Python has from a place on.
#
# before: `total = a + b`
# after:  `%.3 = fadd float %a, %b`
#         `#dbg_value(float %.3, !12, !DIExpression(), !15)`
#         with `!12 = !DILocalVariable(name: "total", scope: !7, file: !2, line: 4, type: !9)`
#
# A variable of several LLVM values is described as several variables, which have the names that
# Python has for them: `a` (the address), `a.shape[0]`, `a.strides[0]`; `pair[1]`, `record.field`.
# Records are no instructions ("Source Level Debugging with LLVM", Debug Records), and the
# optimiser's result is the same with them. What comes after it is not always: see
# `amdjit.backend.variables`.


_ENCODINGS = {
    ScalarKind.BOOLEAN: "DW_ATE_boolean",
    ScalarKind.SIGNED: "DW_ATE_signed",
    ScalarKind.UNSIGNED: "DW_ATE_unsigned",
    ScalarKind.FLOAT: "DW_ATE_float",
}
# A variable that stays in memory is in the lane's private memory (LLVM AMDGPU guide, "Address Space
# Identifier": 1 is `private_lane` in DWARF).
_IN_PRIVATE_MEMORY = "!DIExpression(DW_OP_constu, 1, DW_OP_swap, DW_OP_xderef)"
_ADDRESS_BITS = 64


class _Record:
    """A debug record among the instructions of a block."""

    __slots__ = ("_expression", "_kind", "_location", "_value", "_variable")

    def __init__(
        self, kind: str, value: Any, variable: Any, expression: str, location: Any
    ) -> None:
        self._kind = kind
        self._value = value
        self._variable = variable
        self._expression = expression
        self._location = location

    def __str__(self) -> str:
        value = self._value
        return (
            f"#dbg_{self._kind}({value.type} {value.get_reference()}, "
            f"{self._variable.get_reference()}, {self._expression}, "
            f"{self._location.get_reference()})"
        )


class DebugTypes:
    """The types of a module, each described once."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self._made: dict[str, Any] = {}

    def of(self, type: Type) -> Any:
        """Return the description of a type, by the name that it has in Python."""
        name = str(type)
        if name not in self._made:
            self._made[name] = self._describe(name, type)
        return self._made[name]

    def _describe(self, name: str, type: Type) -> Any:
        if isinstance(type, Scalar):
            encoding = _ENCODINGS[type.kind]
            return self._node(
                f"DIBasicType(name: {quoted(name)}, size: {8 * type.nbytes}, encoding: {encoding})"
            )
        if isinstance(type, Vector):
            return self._named(name, self._vector(type))
        if isinstance(type, (Array, Pointer)):
            inner = type.element
            base = self.of(inner).get_reference() if isinstance(inner, (Scalar, Vector)) else "null"
            return self._named(
                name,
                self._node(
                    f"DIDerivedType(tag: DW_TAG_pointer_type, baseType: {base}, "
                    f"size: {_ADDRESS_BITS})"
                ),
            )
        return self._node(f"DIBasicType(tag: DW_TAG_unspecified_type, name: {quoted(name)})")

    def _vector(self, type: Vector) -> Any:
        element = self.of(type.element)
        extent = self._node(f"DISubrange(count: {type.length})")
        extents = self._node(f"{{{extent.get_reference()}}}")
        return self._node(
            f"DICompositeType(tag: DW_TAG_array_type, baseType: {element.get_reference()}, "
            f"size: {8 * type.nbytes}, flags: DIFlagVector, elements: {extents.get_reference()})"
        )

    def _named(self, name: str, node: Any) -> Any:
        return self._node(
            f"DIDerivedType(tag: DW_TAG_typedef, name: {quoted(name)}, "
            f"baseType: {node.get_reference()})"
        )

    def _node(self, text: str) -> Any:
        return DebugNode(self.module, text)


class FunctionVariables:
    """The variables of one function."""

    def __init__(
        self,
        types: DebugTypes,
        locations: FunctionLocations,
        function: Function,
        is_optimised: bool,
    ) -> None:
        self._types = types
        self._locations = locations
        self._numbers = {v: n for n, v in enumerate(function.parameters, 1)}
        self._memory = "!DIExpression()" if is_optimised else _IN_PRIVATE_MEMORY
        self._of_variable: dict[Variable, list[Any]] = {}
        self._made: dict[tuple[str, str], Any] = {}

    def have_values(self, builder: Builder, variable: Variable, values: Iterable[Any]) -> None:
        """Say that a variable has these LLVM values from here on."""
        if variable.is_hidden:
            return
        descriptions = self._descriptions(variable, builder)
        for value, description in zip(values, descriptions, strict=True):
            _insert(builder, "value", value, description, "!DIExpression()")

    def are_in_memory(self, builder: Builder, variable: Variable, slots: Sequence[Any]) -> None:
        """Say that a variable is in these allocas."""
        if variable.is_hidden:
            return
        descriptions = self._descriptions(variable, builder)
        for slot, description in zip(slots, descriptions, strict=True):
            _insert(builder, "declare", slot, description, self._memory)

    def _descriptions(self, variable: Variable, builder: Builder) -> list[Any]:
        """Return what describes each LLVM value of a variable."""
        found = self._of_variable.get(variable)
        if found is None:
            line = builder.debug_metadata.line
            found = self._of_variable[variable] = []
            for name, type in _parts(variable.name, variable.type):
                key = (name, str(type))
                if key not in self._made:
                    # Only one value may be called the argument of a number.
                    number = 0 if found else self._numbers.get(variable, 0)
                    self._made[key] = self._new(name, type, number, line)
                found.append(self._made[key])
        return found

    def _new(self, name: str, type: Type, number: int, line: int) -> Any:
        argument = f"arg: {number}, " if number else ""
        return DebugNode(
            self._types.module,
            f"DILocalVariable(name: {quoted(name)}, {argument}"
            f"scope: {self._locations.subprogram.get_reference()}, "
            f"file: {self._locations.file.get_reference()}, line: {line}, "
            f"type: {self._types.of(type).get_reference()})",
        )


def _parts(name: str, type: Type) -> Iterator[tuple[str, Type]]:
    """Yield name and type of each LLVM value of a variable, in the order of `abi.components`."""
    if isinstance(type, Tuple):
        for number, element in enumerate(type.elements):
            field = type.structure.fields[number] if type.structure is not None else ""
            yield from _parts(f"{name}.{field}" if field else f"{name}[{number}]", element)
    elif not isinstance(type, (Known, Void)):
        yield name, type
    if isinstance(type, Array):
        for axis in range(type.ndim if type.shape is None else 0):
            yield f"{name}.shape[{axis}]", type.index_type
        for axis in range(type.ndim if type.layout.has_strides else 0):
            yield f"{name}.strides[{axis}]", type.index_type


def _insert(builder: Builder, kind: str, value: Any, variable: Any, expression: str) -> None:
    builder.record(_Record(kind, value, variable, expression, builder.debug_metadata))
