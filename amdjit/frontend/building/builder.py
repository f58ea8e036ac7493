"""The state of typing one function: its names, the statements made so far, and its errors."""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from amdjit.diagnostics import CompileError, Diagnostic, ErrorKind, Span, codes
from amdjit.frontend.building.control_flow import Exit, Loop, ReturnSite
from amdjit.frontend.building.remedies import keyword_of, remedy_for
from amdjit.frontend.building.session import Session
from amdjit.frontend.source.bound_names import bound_names, may_leave
from amdjit.frontend.source.reading import FunctionSource
from amdjit.frontend.values.effects import (
    assigned_variables,
    depends_on_memory,
    has_effects,
    may_act,
    may_repeat,
    reads,
)
from amdjit.frontend.values.kinds import (
    POISONED,
    Binding,
    CompileTime,
    FunctionValue,
    Method,
    SliceValue,
    TupleValue,
    Undefined,
    Value,
)
from amdjit.frontend.values.typing_rules import AMDJIT, TypingRules
from amdjit.frontend.values.weak_numbers import LaunchParameters, Origin, WeakNumbers, wide_type
from amdjit.language.compile_time import Compilation
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.types import AddressSpace, Array, Known, Scalar, Tuple, Type

if TYPE_CHECKING:
    from amdjit.frontend.values import typing_rules
else:
    typing_rules = late("amdjit.frontend.values.typing_rules")


class EndlessCallError(Exception):
    """The innermost call of a recursion, in place of its value. fault: what it does instead."""

    def __init__(self, fault: tree.Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class OutOfTimeError(Exception):
    """The front end has no time left; span: what was being typed."""

    def __init__(self, span: Span) -> None:
        super().__init__(span)
        self.span = span


Made = TypeVar("Made")
ExpressionHandler = Callable[["FunctionBuilder", Any], Value]
StatementHandler = Callable[["FunctionBuilder", Any], None]

_WITHOUT_VALUES = (ast.Expr, ast.Import, ast.ImportFrom)
"""Statements that give no name a value of the kernel language."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state to which a builder can be rewound."""

    names: Mapping[str, Binding]
    """As `FunctionBuilder.names`."""
    numbers: Mapping[str, int]
    """As `FunctionBuilder.numbers`."""
    statements: int
    """How many statements the block had."""
    returns: int
    """How many returns there were."""
    loops: int
    """How many loops surrounded the statement."""
    failures: int
    """How many errors there were."""
    abandoned: bool
    """As `FunctionBuilder.abandoned`."""
    requests: int
    """How many numbers of the launch were requested in 64 bits."""
    rounds: int
    """As `FunctionBuilder.rounds`."""


@dataclass
class FunctionBuilder:
    """Types one function for one combination of arguments.

    A refused statement does not stop it: all errors of a function are reported together.
    """

    source: FunctionSource
    session: Session
    """The compilation of the whole kernel, which all its functions share."""
    expressions: Mapping[type[ast.expr], ExpressionHandler]
    """The table of `expression_typing`: who types which node of `ast`."""
    statement_handlers: Mapping[type[ast.stmt], StatementHandler]
    """The table of `statement_typing`."""
    is_kernel: bool
    """False for a device function."""
    returns_wide: bool = False
    """Whether results without a width have 64 bits, because the call needs such a result."""
    names: dict[str, Binding] = field(default_factory=dict)
    """What each name means at the current statement."""
    local_names: frozenset[str] = frozenset()
    """The names that the function binds anywhere, and which therefore are no globals."""
    statements: list[tree.Statement] = field(default_factory=list)
    """The statements of the current block so far."""
    loops: list[Loop] = field(default_factory=list)
    """The loops around the current statement, the innermost last."""
    returns: list[ReturnSite] = field(default_factory=list)
    """The `return` statements so far; their values get one type at the end."""
    terminated: bool = False
    """Whether control cannot reach the rest of the current block."""
    reaches_limit: bool = False
    """Whether it calls itself at the innermost level of a recursion."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How many variables were made for each name, which makes their names in the tree unique."""
    reports: int = 0
    """0, or the number of functions on the longest chain of calls from this one, itself included,
    to one that reports to the host (`tree.Function.reports`)."""
    rounds: int = 0
    """Iterations that were typed one by one, also in the functions that it inlines."""
    given: dict[tree.Variable, list[tree.Expression]] = field(default_factory=dict)
    """The values assigned to each variable so far."""
    choices: dict[tree.Expression, tuple[Value, Value]] = field(default_factory=dict)
    """Both sides of each `a if c else b`, as they were before they got one type."""
    open_exits: dict[ast.stmt, list[Exit] | None] = field(default_factory=dict)
    """The branches that end a side of another branch, with their exits. The outer branch merges the
    names of all of them at once."""
    counters: set[tree.Variable] = field(default_factory=set)
    """Counters of loops that are never negative, noted with `wraparound=True`."""
    unassigned: dict[str, Scalar | None] = field(default_factory=dict)
    """The names that were read where they may have no value, with the type of their variable once
    it is known (`names.scope`)."""
    never_partly_assigned: set[str] = field(default_factory=set)
    """Those of `unassigned` that no variable can hold: arrays, tuples, objects."""
    outcomes: dict[tree.Expression, tuple[Mapping[str, Binding], Mapping[str, Binding]]] = field(
        default_factory=dict
    )
    """For each condition that assigns names with `:=`, the bindings where it is false and
    where it is true, of names that have no value where both outcomes meet."""
    failures: list[Diagnostic] = field(default_factory=list)
    """The errors so far."""
    refused: int = 0
    """The number of refused statements, including those that only read what another refused
    statement assigns."""
    abandoned: bool = False
    """Whether a condition was refused: control may never reach the rest of this block, so errors in
    it are not reported."""
    launch_parameters: LaunchParameters = field(init=False)
    """Numbers and arrays that the launch adds to the function's own parameters."""
    rules: TypingRules = field(init=False)
    """How literals and operands of two types get a type: amdjit's rules, or Numba's."""

    def __post_init__(self) -> None:
        self.launch_parameters = LaunchParameters(self.session.weak)
        own = self.source.is_library or self.compilation.typing == "amdjit"
        self.rules = AMDJIT if own else typing_rules.NUMBA

    @property
    def compilation(self) -> Compilation:
        """The compilation that the function is part of."""
        return self.session.compilation

    @property
    def allows_partly_assigned(self) -> bool:
        """Whether names may be read that only some paths have assigned, because the kernel checks
        them."""
        return self.rules is not AMDJIT and self.compilation.asserts

    @property
    def weak(self) -> WeakNumbers:
        """The values that have no width of their own."""
        return self.session.weak

    def span(self, node: ast.AST) -> Span:
        """Return the place of a node."""
        return self.source.span(node)

    def origin(self, node: ast.AST, name: str) -> Origin:
        """Return the key of a weak variable. A function that returns 64 bits has its own."""
        span = self.span(node)
        return span.file, span.line, span.column, f"wide {name}" if self.returns_wide else name

    def error(self, kind: ErrorKind, node: ast.AST, **fields: object) -> CompileError:
        """Make the exception for an error at a node."""
        return codes.error(kind, self.span(node), **fields)

    def emit(self, statement: tree.Statement) -> None:
        """Add a statement."""
        if isinstance(statement, tree.Assign):
            self.given.setdefault(statement.variable, []).append(statement.value)
        elif isinstance(statement, tree.Store):
            check_writable(statement)
        self.statements.append(statement)

    def variable(self, name: str, type: Type) -> tree.Variable:
        """Make a new variable; later ones of the same name get a number."""
        return self._numbered(name, type, is_hidden=False)

    def hidden_variable(self, name: str, type: Type) -> tree.Variable:
        """Make a variable that the source does not have."""
        return self._numbered(name, type, is_hidden=True)

    def _numbered(self, name: str, type: Type, is_hidden: bool) -> tree.Variable:
        number = self.numbers.get(name, 0)
        self.numbers[name] = number + 1
        return tree.Variable(name, type, number, is_hidden)

    def evaluate(self, node: ast.expr) -> Value:
        """Type an expression."""
        handler = self.expressions.get(type(node))
        if handler is None:
            raise self.error(
                codes.UNSUPPORTED_EXPRESSION,
                node,
                expression=f"`{type(node).__name__}`",
                remedy="write it with names, numbers, operators, subscripts and calls",
            )
        return handler(self, node)

    def evaluate_all(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Type expressions that Python evaluates one after the other; report every one that is
        wrong."""
        values: list[Value] = []
        failures: list[CompileError] = []
        names = self.names
        for node in nodes:
            try:
                values, value = self.evaluate_after(values, node)
                values.append(value)
            except CompileError as failure:
                self.names = names
                self.poison(bound_names([node]))
                failures.append(failure)
        if failures:
            raise CompileError(
                *(diagnostic for failure in failures for diagnostic in failure.diagnostics)
            )
        return values

    def evaluate_after(self, earlier: Sequence[Value], node: ast.expr) -> tuple[list[Value], Value]:
        """Type an expression that Python evaluates after others (see `after`)."""
        return self.after(earlier, self.evaluate, node)

    def after(
        self, earlier: Sequence[Value], make: Callable[[ast.expr], Made], node: ast.expr
    ) -> tuple[list[Value], Made]:
        """Apply `make` to a node that Python evaluates after other values.

        If this emits statements, values that the statements could change are computed before them.
        """
        # `collect`, inlined because most expressions pass here.
        outer = self.statements
        self.statements = []
        try:
            made, added = make(node), self.statements
        except EndlessCallError:
            added, self.statements = self.statements, outer
            for other in earlier:
                self.discard(other, node)
            self.statements += added
            raise
        finally:
            self.statements = outer
        if not added:
            return list(earlier), made
        changed = assigned_variables(added)
        evaluated = [self.evaluate_now(other, node, changed) for other in earlier]
        outer += added
        return evaluated, made

    def evaluate_now(
        self, value: Value, node: ast.AST, changed: Collection[tree.Variable] = ()
    ) -> Value:
        """Evaluate a value now if it reads memory or changed variables or calls a function; tuples
        item by item."""
        if isinstance(value, TupleValue):
            return value.with_items(self.evaluate_now(item, node, changed) for item in value.items)
        if isinstance(value, Method):
            return replace(value, receiver=self.evaluate_now(value.receiver, node, changed))
        if isinstance(value, (CompileTime, tree.Constant)):
            return value
        return (
            self.hold(value, "value", node)
            if depends_on_memory(value) or reads(value, changed)
            else value
        )

    def in_order(self, values: Sequence[Value], node: ast.AST) -> list[Value]:
        """Return values that may be used in any order and any number of times; their effects happen
        now, in this order."""
        if not any(may_act(value) for value in values):
            return list(values)
        return [self.evaluate_now(value, node) for value in values]

    def discard(self, value: Value, node: ast.AST) -> None:
        """Keep the effects of an unused value."""
        if isinstance(value, TupleValue):
            for item in value.items:
                self.discard(item, node)
        elif isinstance(value, tree.Expression) and has_effects(value):
            self.emit(tree.Evaluate(self.span(node), value))

    def run(self, nodes: list[ast.stmt]) -> None:
        """Type statements up to the first one that leaves the block; go on after one that is
        refused."""
        for node in nodes:
            if self.terminated:
                return
            if self.abandoned:
                self.poison(bound_names([node]))
                continue
            self._run_statement(node)

    def check_time(self, node: ast.AST) -> None:
        """Raise OutOfTimeError if the compilation's time is over."""
        if time.monotonic() > self.session.deadline:
            raise OutOfTimeError(self.span(node))

    def _run_statement(self, node: ast.stmt) -> None:
        self.check_time(node)
        names, loops, refused = self.names, len(self.loops), self.refused
        handler = self.statement_handlers.get(type(node))
        try:
            if handler is None:
                keyword = keyword_of(node)
                raise self.error(
                    codes.UNSUPPORTED_STATEMENT, node, statement=keyword, remedy=remedy_for(keyword)
                )
            handler(self, node)
        except EndlessCallError as call:
            self.names, self.terminated, self.reaches_limit = names, True, True
            del self.loops[loops:]
            self.emit(call.fault)
        except CompileError as failure:
            self.names = names
            del self.loops[loops:]
            self.poison(bound_names([node]))
            if self.session.leaves_out_calls and isinstance(node, _WITHOUT_VALUES):
                return
            self.refuse(failure)
            self.terminated = isinstance(node, (ast.Return, ast.Raise))
            self.abandoned |= isinstance(node, (ast.If, ast.While, ast.Match)) and may_leave(node)
        else:
            if self.refused > refused:
                # A name without a single value after a loop or branch with a refused statement
                # might have one without that statement.
                names = self.names
                self.poison(
                    n for n in bound_names([node]) if isinstance(names.get(n, POISONED), Undefined)
                )

    def refuse(self, failure: CompileError) -> None:
        """Record the errors of a refused statement."""
        self.refused += 1
        self.failures = list(CompileError(*self.failures, *failure.diagnostics).diagnostics)

    def poison(self, names: Iterable[str]) -> None:
        """Make every read of these names fail without an error of its own."""
        self.names.update(dict.fromkeys(names, POISONED))

    def checkpoint(self) -> Checkpoint:
        """Return the current state."""
        return Checkpoint(
            dict(self.names),
            dict(self.numbers),
            statements=len(self.statements),
            returns=len(self.returns),
            loops=len(self.loops),
            failures=len(self.failures),
            abandoned=self.abandoned,
            requests=len(self.launch_parameters.requests),
            rounds=self.rounds,
        )

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Go back to an earlier state, to type the same statements again in another way.

        The first error since then stays, so that a function that was refused once is not accepted.
        """
        self.names, self.numbers = dict(checkpoint.names), dict(checkpoint.numbers)
        del self.statements[checkpoint.statements :]
        del self.returns[checkpoint.returns :]
        del self.loops[checkpoint.loops :]
        del self.failures[checkpoint.failures + 1 :]
        del self.launch_parameters.requests[checkpoint.requests :]
        self.terminated, self.abandoned = False, checkpoint.abandoned
        self.rounds = checkpoint.rounds

    @contextlib.contextmanager
    def block(self) -> Iterator[list[tree.Statement]]:
        """Collect the statements of an inner block, with a copy of the names; restore both at the
        end."""
        outer = self.statements, self.names, self.terminated, self.abandoned
        self.statements, self.names, self.terminated = [], dict(self.names), False
        try:
            yield self.statements
        finally:
            self.statements, self.names, self.terminated, self.abandoned = outer

    @contextlib.contextmanager
    def collect(self) -> Iterator[list[tree.Statement]]:
        """Collect statements separately, with the same names."""
        outer, self.statements = self.statements, []
        try:
            yield self.statements
        finally:
            self.statements = outer

    def hold(self, value: Value, name: str, node: ast.AST) -> Value:
        """Evaluate a value now and return one that later statements cannot change."""
        if isinstance(value, TupleValue):
            return value.with_items(self.hold(item, name, node) for item in value.items)
        if isinstance(value, (CompileTime, FunctionValue, Method, SliceValue, tree.Constant)):
            return value
        if self.weak.number(value) is not None:
            return value
        return self.read(self.assign(name, value, node, self.hidden_variable), node)

    def read(self, variable: tree.Variable, node: ast.AST) -> Value:
        """Read a variable, a tuple item by item."""
        read = self.read_whole(variable, node)
        return self.unpack(read) if isinstance(variable.type, Tuple) else read

    def read_whole(self, variable: tree.Variable, node: ast.AST) -> tree.Read:
        """Read a variable, also that of a tuple, as one value."""
        return self.weak.note_read(tree.Read(self.span(node), variable.type, variable))

    def assign(
        self,
        name: str,
        value: tree.Expression,
        node: ast.AST,
        make: Callable[[str, Type], tree.Variable],
        current: object = None,
    ) -> tree.Variable:
        """Assign a value to `current`, if that is a variable that can hold it, or to a new one.

        The variable of a weak value is weak too. Where it was asked for 64 bits it gets a twin, or,
        if computing the value twice would do more than computing it once, is wide itself.
        """
        weak, span, origin = self.weak, self.span(node), self.origin(node, name)
        is_weak = weak.is_weak(value)
        if is_weak and origin in weak.widened:
            wide = self.launch_parameters.wide
            if may_repeat(value):
                variable = make(name, value.type)
                weak.add_twin(variable, origin, self.hidden_variable)
                twin = weak.twins[variable]
                made = wide(value, wide_type(twin.type))
                self.emit(tree.Assign(span, variable, value))
                self.emit(tree.Assign(span, twin, made))
                return variable
            value = wide(value, wide_type(value.type))
        # A weak value in a variable that is not weak could not be made wider later.
        takes_weak = isinstance(current, tree.Variable) and weak.variables.get(current) is not None
        if weak.keeps_width(current, value.type) and (takes_weak or not weak.is_weak(value)):
            variable = current
        else:
            variable = make(name, value.type)
            if is_weak:
                weak.variables[variable] = origin
        self.emit(tree.Assign(span, variable, value))
        return variable

    def unpack(self, value: tree.Expression) -> TupleValue:
        """Return the items of a tuple that exists at run time."""
        assert isinstance(value.type, Tuple)
        items = (
            tree.TupleItem(value.span, type, value, i) for i, type in enumerate(value.type.elements)
        )
        return TupleValue(
            tuple(self._unpacked_item(self.weak.note_part(i)) for i in items), value.type.structure
        )

    def _unpacked_item(self, item: tree.Expression) -> Value:
        if isinstance(item.type, Known):
            return CompileTime(item.type.value)
        return self.unpack(item) if isinstance(item.type, Tuple) else item


# Which arrays a kernel may write.


def check_writable(store: tree.Store) -> None:
    """Refuse a store to an array whose content is part of the code."""
    kind = store.array.type
    if isinstance(kind, Array) and kind.address_space is AddressSpace.CONSTANT:
        raise codes.error(
            codes.UNSUPPORTED_TARGET,
            store.span,
            what="an array of constants",
            remedy="its content is part of the code: pass the array as an argument, or copy it to "
            "a `local.array` or `shared.array`",
        )


# The end of building: statement lists become tuples. Until then late conversions may be added to
# them.


def freeze(statements: Sequence[tree.Statement]) -> tuple[tree.Statement, ...]:
    """Return the statements with every inner block as a tuple."""
    return tuple(_freeze_statement(statement) for statement in statements)


def _freeze_statement(statement: tree.Statement) -> tree.Statement:
    if isinstance(statement, tree.If):
        return replace(
            statement, then=freeze(statement.then), otherwise=freeze(statement.otherwise)
        )
    if isinstance(statement, (tree.While, tree.ForRange)):
        return replace(
            statement, body=freeze(statement.body), otherwise=freeze(statement.otherwise)
        )
    return statement
