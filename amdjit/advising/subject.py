"""The launch that is to become faster, and what a change to it consists of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.advising.calls import Outcome, RecordedCall
from amdjit.advising.rewriting import Edit
from amdjit.compiled_kernel import CompiledKernel
from amdjit.frontend.source.reading import FunctionSource
from amdjit.inspection.facts import SourcePlace
from amdjit.inspection.inspection import Inspection

__all__ = ["Subject", "Variant"]


@dataclass(frozen=True)
class Variant:
    """A change to a launch."""

    kind: str
    """What it is about. Of the changes of one kind, at most the best is proposed."""
    text: str
    """What to do, as a sentence without its full stop."""
    place: SourcePlace | None = None
    """The line that it is about."""
    edits: tuple[Edit, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Compile options in place of the kernel's."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments in place of the launch's, by name."""
    shape: LaunchShape | None = None
    """The grid and block, if they change."""
    rounds: bool = False
    """Whether floats may be rounded in another way, so that results need only be close."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A launch as it is."""

    call: RecordedCall
    source: FunctionSource
    before: Outcome

    @cached_property
    def inspection(self) -> Inspection:
        """The facts of its machine code."""
        return self.before.launch.inspection

    @cached_property
    def compiled(self) -> CompiledKernel:
        """The specialisation that was launched."""
        return self.call.kernel.specialisations[-1]

    def place(self, node: ast.AST) -> SourcePlace:
        """Return the file and line of a node of the source."""
        span = self.source.span(node)
        return span.file, span.line

    def text(self, node: ast.AST) -> str:
        """Return the source of a node, its lines joined."""
        span = self.source.span(node)
        lines = list(self.source.text.lines[span.line - 1 : span.end_line])
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return " ".join(line.strip() for line in lines)

    def edit(self, node: ast.AST, text: str) -> Edit:
        """Return the change that puts a text in the place of a node."""
        return Edit(self.source.span(node), text)

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Yield the nodes of some kinds in the kernel's body."""
        for statement in self.source.node.body:
            for node in ast.walk(statement):
                if isinstance(node, kinds):
                    yield node


def called_name(node: ast.AST) -> str:
    """Return the last part of the name of a function that is called, "" for other nodes."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def factor(text: str) -> str:
    """Return a text that can be an operand of any operator."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"
