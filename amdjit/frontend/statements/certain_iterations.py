"""Names that are first assigned within a loop: what they are after it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import Exit
from amdjit.frontend.names.merging import merged_name
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.values.kinds import Binding, Poisoned, Undefined

__all__ = ["keep_names"]


def keep_names(
    builder: FunctionBuilder,
    after: dict[str, Binding],
    ways: list[Exit],
    nodes: Iterable[ast.AST],
    node: ast.AST,
    is_certain: bool,
) -> None:
    """Give names that have no value after the loop yet their value of the last iteration, if there
    certainly is one. `after` is changed: it maps the names after the loop to their values.

    ways: the ends of an iteration. nodes: the statements of the loop.
    """
    for name in sorted(assigned_names(nodes)):
        before = after.get(name)
        is_unknown = before is None or isinstance(before, Undefined)
        if is_certain and ways and is_unknown and not isinstance(before, Poisoned):
            after[name] = merged_name(builder, name, ways, node)
        elif before is None and not is_certain:
            after[name] = Undefined("has no value if the loop runs zero times")
