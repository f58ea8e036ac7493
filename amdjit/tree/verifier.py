"""Check a program before it is lowered: the types of every node, and that every path through a
function returns.

A broken rule is a mistake of the front end, so it raises an InternalError that says where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from amdjit.diagnostics.errors import InternalError
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import without_base
from amdjit.tree.checking import check, fail, same
from amdjit.tree.expression_rules import ExpressionChecker, is_integer
from amdjit.types import VOID, Array, Layout, Scalar, Tuple, Type, boolean

__all__ = ["verify"]


def verify(program: tree.Program) -> None:
    """Raise InternalError if a node breaks a rule of its docstring in nodes.py."""
    check(program.kernel.result == VOID, program.kernel, "a kernel returns nothing")
    arrays = {p.name for p in program.kernel.parameters if _holds_array(p.type)}
    check(
        program.written <= arrays,
        program.kernel,
        f"written names no array: {sorted(program.written - arrays)}",
    )
    known: set[tree.Function] = set()
    for function in (*program.functions, program.kernel):
        read_only = arrays - program.written if function is program.kernel else frozenset()
        _FunctionChecker(function, frozenset(known), frozenset(read_only)).run()
        known.add(function)


def _holds_array(type: Type) -> bool:
    return isinstance(type, Array) or (
        isinstance(type, Tuple) and any(map(_holds_array, type.elements))
    )


class _FunctionChecker:
    """Checks one function."""

    def __init__(
        self,
        function: tree.Function,
        callable_functions: frozenset[tree.Function],
        read_only: frozenset[str],
    ) -> None:
        self._function = function
        self._read_only = read_only
        self._expressions = ExpressionChecker(callable_functions)
        self._loops = 0

    def run(self) -> None:
        for parameter in self._function.parameters:
            if isinstance(parameter.type, Array):
                check(
                    parameter.type.layout is not Layout.ANY,
                    self._function,
                    f"{parameter}: no layout",
                )
        falls_through = self._block(self._function.body)
        if falls_through and self._function.result != VOID:
            fail(self._function, "the end can be reached without a return")

    def _block(self, statements: Sequence[tree.Statement]) -> bool:
        """Check statements and return whether control can reach their end."""
        reached = True
        for statement in statements:
            rule = self._STATEMENT_RULES.get(type(statement))
            if rule is None:
                raise InternalError(
                    f"{type(statement).__name__} is not a statement of the typed tree"
                )
            reached = rule(self, statement) and reached
        return reached

    def _assign(self, node: tree.Assign) -> bool:
        same(node, node.variable.type, self._expressions.type_of(node.value))
        return True

    def _store(self, node: tree.Store) -> bool:
        same(node, self._expressions.accessed(node), self._expressions.type_of(node.value))
        array = without_base(node.array)
        if isinstance(array, tree.Read):
            variable = array.variable
            constant = variable.name in self._read_only and variable in self._function.parameters
            check(
                not constant, node, f"{variable} is stored to but not among the written parameters"
            )
        return True

    def _evaluate(self, node: tree.Evaluate) -> bool:
        self._expressions.type_of(node.expression)
        return True

    def _if(self, node: tree.If) -> bool:
        same(node, boolean, self._expressions.type_of(node.condition))
        return self._block(node.then) | self._block(node.otherwise)

    def _while(self, node: tree.While) -> bool:
        same(node, boolean, self._expressions.type_of(node.condition))
        self._loop_body(node.body)
        endless = isinstance(node.condition, tree.Constant) and bool(node.condition.value)
        ends = self._block(node.otherwise) and not endless
        return ends or _leaves(node.body, tree.Break)

    def _for_range(self, node: tree.ForRange) -> bool:
        check(is_integer(node.variable.type), node, f"a range of {node.variable.type}")
        for bound in (node.start, node.stop, node.step):
            same(node, node.variable.type, self._expressions.type_of(bound))
        if isinstance(node.step, tree.Constant):
            check(node.step.value != 0, node, "a range with step 0")
        goes_on = self._loop_body(node.body) or _leaves(node.body, tree.Continue)
        ends = self._block(node.otherwise) and (goes_on or not _has_rounds(node))
        return ends or _leaves(node.body, tree.Break)

    def _loop_body(self, body: Sequence[tree.Statement]) -> bool:
        self._loops += 1
        falls_through = self._block(body)
        self._loops -= 1
        return falls_through

    def _leave_loop(self, node: tree.Break | tree.Continue) -> bool:
        check(self._loops > 0, node, "outside any loop")
        return False

    def _return(self, node: tree.Return) -> bool:
        same(
            node,
            self._function.result,
            VOID if node.value is None else self._expressions.type_of(node.value),
        )
        return False

    def _report(self, node: tree.Fault | tree.Print) -> bool:
        check(
            node.number < 0 or self._function.reports > 0,
            node,
            f"{self._function.name} does not report",
        )
        for value in node.values:
            check(
                isinstance(self._expressions.type_of(value), Scalar),
                node,
                f"a report of {value.type}",
            )
        return isinstance(node, tree.Print)

    _STATEMENT_RULES: Mapping[type, Callable[[_FunctionChecker, Any], bool]] = MappingProxyType(
        {
            tree.Assign: _assign,
            tree.Store: _store,
            tree.Evaluate: _evaluate,
            tree.If: _if,
            tree.While: _while,
            tree.ForRange: _for_range,
            tree.Break: _leave_loop,
            tree.Continue: _leave_loop,
            tree.Return: _return,
            tree.Fault: _report,
            tree.Print: _report,
        }
    )


def _has_rounds(node: tree.ForRange) -> bool:
    """Whether the loop certainly has an iteration."""
    bounds = (node.start, node.stop, node.step)
    known = [bound.value for bound in bounds if isinstance(bound, tree.Constant)]
    return len(known) == len(bounds) and bool(range(*map(int, known)))


def _leaves(statements: Sequence[tree.Statement], how: type[tree.Statement]) -> bool:
    """Whether a break or a continue among the statements belongs to the loop whose body they
    are."""
    for statement in statements:
        if isinstance(statement, how):
            return True
        if isinstance(statement, tree.If) and (
            _leaves(statement.then, how) or _leaves(statement.otherwise, how)
        ):
            return True
        if isinstance(statement, (tree.While, tree.ForRange)) and _leaves(statement.otherwise, how):
            return True
    return False
