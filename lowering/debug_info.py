"""Debug information: the line of Python that each instruction comes from, and its functions.

before: a node with the span `kernel.py:12:5`
after:  `!dbg !7` with `!7 = !DILocation(line: 12, column: 5, scope: !4)`

A line table needs no more than a compile unit, one subprogram per function and one location per
node; variables are the matter of `debug_variables`. LLVM itself adds `inlinedAt`
when it inlines device functions.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from llvmlite import ir

from amdjit.abi.atomic_marks import PRODUCER
from amdjit.diagnostics.span import Span

__all__ = ["DebugInfo", "DebugNode", "FunctionLocations", "quoted"]

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
