"""Check a program before it is lowered: the types of every node, and that every path through a
function returns.

A broken rule is a mistake of the front end, so it raises an InternalError that says where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn

from amdjit.diagnostics.errors import InternalError
from amdjit.tree import array_views
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import without_base
from amdjit.tree.nodes import BinaryOperator
from amdjit.tree.printer import print_expression
from amdjit.types import (
    VOID,
    AddressSpace,
    Array,
    Known,
    Layout,
    Pointer,
    Scalar,
    ScalarKind,
    Tuple,
    Type,
    Vector,
    boolean,
    i32,
    u64,
)

__all__ = ["verify"]


# Building blocks for the rules of the verifier.


def fail(node: Any, message: str) -> NoReturn:
    """Raise InternalError for a node."""
    what = print_expression(node) if isinstance(node, tree.Expression) else type(node).__name__
    raise InternalError(f"{node.span}: {message} (in {what})")


def check(holds: bool, node: Any, message: str) -> None:
    """Raise InternalError if a rule does not hold."""
    if not holds:
        fail(node, message)


def same(node: Any, expected: Type, found: Type) -> None:
    """Raise InternalError if two types differ."""
    if expected != found:
        fail(node, f"{expected} expected, {found} found")


def check_view(node: tree.View, array: Array) -> None:
    """Check the type of a view of an array."""
    check(
        len(node.extents) == len(node.steps) == array.ndim,
        node,
        "not one extent and step for each axis",
    )
    if not isinstance(node.type, Array):
        fail(node, f"{node.type} is not an array")
    kept = [extent for extent in node.extents if extent is not None]
    for extent in kept:
        same(node, array.index_type, extent.type)
    steps = [step for step in node.steps if isinstance(step, tree.Expression)]
    for step in steps:
        same(node, array.index_type, step.type)
    check(not steps or node.type.layout is Layout.STRIDED, node, "steps at run time in rows")
    check(node.type.layout is not Layout.ANY, node, "a view without a layout")
    ordered = node.type.layout is Layout.STRIDED or array.layout is not Layout.STRIDED
    check(ordered, node, "a view in rows of an array without")
    expected = replace(
        array, ndim=len(kept), layout=node.type.layout, shape=node.type.shape, alignment=0
    )
    same(node, expected, node.type)


# The verifier's rules for expressions of the typed tree.


_BITWISE = frozenset({BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR})
_INTEGER_ONLY = _BITWISE | {
    BinaryOperator.SHIFT_LEFT,
    BinaryOperator.SHIFT_RIGHT,
    BinaryOperator.POWER,
}


def is_integer(type: Type) -> bool:
    return isinstance(type, Scalar) and type.is_integer


def _numeric(type: Type) -> Scalar | None:
    """Return the scalar of a scalar or vector type, None for other types."""
    scalar = type.element if isinstance(type, Vector) else type
    return scalar if isinstance(scalar, Scalar) else None


class ExpressionChecker:
    """Checks expressions. functions: the functions that may be called."""

    def __init__(self, functions: frozenset[tree.Function]) -> None:
        self._functions = functions

    def type_of(self, node: Any) -> Type:
        """Check an expression and return its type."""
        rule = self._RULES.get(type(node))
        if rule is None:
            raise InternalError(f"{type(node).__name__} is not an expression of the typed tree")
        rule(self, node)
        return node.type  # type: ignore[no-any-return]

    def _constant(self, node: tree.Constant) -> None:
        scalar = _numeric(node.type)
        if isinstance(node.type, Known):
            return
        if scalar is None:
            fail(node, f"a constant of {node.type}")
        if scalar.is_integer:
            in_range = (
                isinstance(node.value, int) and scalar.minimum <= node.value <= scalar.maximum
            )
            check(in_range, node, f"{node.value!r} is no {scalar}")
        elif scalar == boolean:
            check(isinstance(node.value, bool), node, f"{node.value!r} is no boolean")

    def _read(self, node: tree.Read) -> None:
        same(node, node.variable.type, node.type)

    def _binary(self, node: tree.Binary) -> None:
        for operand in (node.left, node.right):
            same(node, node.type, self.type_of(operand))
        scalar = _numeric(node.type)
        if scalar is None or scalar.storage_only:
            fail(node, f"no arithmetic on {node.type}")
        if scalar.kind is ScalarKind.BOOLEAN:
            check(node.operator in _BITWISE, node, f"no {node.operator.value} on booleans")
        elif scalar.is_float:
            check(node.operator not in _INTEGER_ONLY, node, f"no {node.operator.value} on {scalar}")
        else:
            check(node.operator is not tree.BinaryOperator.DIVIDE, node, "`/` on integers")

    def _unary(self, node: tree.Unary) -> None:
        same(node, node.type, self.type_of(node.operand))
        scalar = _numeric(node.type)
        if scalar is None or scalar.storage_only:
            fail(node, f"no arithmetic on {node.type}")
        match node.operator:
            case tree.UnaryOperator.NOT:
                same(node, boolean, scalar)
            case tree.UnaryOperator.INVERT:
                check(scalar.is_integer, node, f"no ~ on {scalar}")
            case _:
                check(scalar != boolean, node, f"no {node.operator.value} on booleans")

    def _compare(self, node: tree.Compare) -> None:
        same(node, boolean, node.type)
        left, right = self.type_of(node.left), self.type_of(node.right)
        same(node, left, right)
        check(isinstance(left, Scalar) and not left.storage_only, node, f"no comparison of {left}")

    def _logical(self, node: tree.Logical) -> None:
        for part in (node.left, node.right, node):
            same(node, boolean, self.type_of(part) if part is not node else node.type)

    def _conditional(self, node: tree.Conditional) -> None:
        same(node, boolean, self.type_of(node.condition))
        for side in (node.when_true, node.when_false):
            same(node, node.type, self.type_of(side))

    def _convert(self, node: tree.Convert) -> None:
        source = self.type_of(node.operand)
        check(
            _numeric(source) is not None and _numeric(node.type) is not None,
            node,
            f"no conversion of {source}",
        )
        lengths = [type.length if isinstance(type, Vector) else 0 for type in (source, node.type)]
        check(lengths[0] == lengths[1], node, f"{source} and {node.type} differ in length")

    def _bitcast(self, node: tree.Bitcast) -> None:
        if isinstance(self.type_of(node.operand), Pointer):
            same(node, u64, node.type)
            return
        for type in (source := self.type_of(node.operand), node.type):
            check(isinstance(type, (Scalar, Vector)), node, f"a bitcast of {type}")
        bits = {type.bits for type in (source, node.type) if isinstance(type, (Scalar, Vector))}
        check(len(bits) == 1, node, f"{source} and {node.type} differ in size")

    def _make_vector(self, node: tree.MakeVector) -> None:
        if not isinstance(node.type, Vector):
            fail(node, f"{node.type} is no vector")
        check(len(node.elements) == node.type.length, node, f"{len(node.elements)} elements")
        for element in node.elements:
            same(node, node.type.element, self.type_of(element))

    def _splat(self, node: tree.Splat) -> None:
        same(node, self._element_of(node, node.type), self.type_of(node.operand))

    def _extract(self, node: tree.ExtractElement) -> None:
        same(node, self._element_of(node, self.type_of(node.vector)), node.type)
        same(node, i32, self.type_of(node.index))

    def _insert(self, node: tree.InsertElement) -> None:
        same(node, node.type, self.type_of(node.vector))
        same(node, i32, self.type_of(node.index))
        same(node, self._element_of(node, node.type), self.type_of(node.value))

    def _shuffle(self, node: tree.Shuffle) -> None:
        left, right = self.type_of(node.left), self.type_of(node.right)
        same(node, left, right)
        if not isinstance(left, Vector):
            fail(node, f"{left} is no vector")
        same(node, Vector(left.element, len(node.indices)), node.type)
        check(
            all(0 <= index < 2 * left.length for index in node.indices),
            node,
            "an index out of range",
        )

    def _element_of(self, node: Any, type: Type) -> Type:
        if not isinstance(type, Vector):
            fail(node, f"{type} is no vector")
        return type.element

    def _make_tuple(self, node: tree.MakeTuple) -> None:
        structure = getattr(node.type, "structure", None)
        same(node, Tuple(tuple(map(self.type_of, node.elements)), structure), node.type)

    def _tuple_item(self, node: tree.TupleItem) -> None:
        whole = self.type_of(node.tuple)
        if not isinstance(whole, Tuple) or not 0 <= node.index < len(whole.elements):
            fail(node, f"no item {node.index} of {whole}")
        same(node, whole.elements[node.index], node.type)

    def _axis(self, node: tree.Extent | tree.Stride) -> None:
        array = self._array(node, node.array)
        check(0 <= node.axis < array.ndim, node, f"no axis {node.axis} of {array}")
        same(node, array.index_type, node.type)

    def _view(self, node: tree.View) -> None:
        check_view(node, self._indexed(node, node.array, node.starts))
        for part in (*node.extents, *node.steps):
            if isinstance(part, tree.Expression):
                self.type_of(part)

    def _allocate(self, node: tree.AllocateArray) -> None:
        if not isinstance(node.type, Array):
            fail(node, f"{node.type} is no array")
        spaces = (AddressSpace.LDS,) if node.dynamic else (AddressSpace.LDS, AddressSpace.PRIVATE)
        check(
            node.type.address_space in spaces,
            node,
            f"no allocation in {node.type.address_space.name}",
        )
        check(node.type.layout is Layout.CONTIGUOUS, node, "an allocation is contiguous")
        if node.dynamic:
            check(
                node.type.ndim == 1 or node.type.shape is not None,
                node,
                "a dynamic array has one axis, or a shape",
            )
            if node.offset is not None:
                same(node, i32, self.type_of(node.offset))
        else:
            shape = node.type.shape
            check(
                shape is not None and len(shape) == node.type.ndim,
                node,
                "an allocation of unknown shape",
            )

    def _load(self, node: tree.Load) -> None:
        same(node, self.accessed(node), node.type)

    def accessed(self, node: tree.Load | tree.Store) -> Type:
        """Return the type of the value that an access reads or writes."""
        array = self._indexed(node, node.array, node.indices)
        if node.width == 0:
            return array.element
        if not isinstance(array.element, Scalar) or array.element == boolean:
            fail(node, f"no vector access to elements of type {array.element}")
        return Vector(array.element, node.width)

    def _address_of(self, node: tree.AddressOf) -> None:
        array = self._indexed(node, node.array, node.indices)
        same(node, Pointer(array.element, array.address_space), node.type)

    def _indexed(
        self, node: Any, array: tree.Expression, indices: Sequence[tree.Expression]
    ) -> Array:
        type = self._array(node, array)
        check(len(indices) == type.ndim, node, f"{len(indices)} indices for {type.ndim} axes")
        for index in indices:
            check(is_integer(self.type_of(index)), node, f"an index of type {index.type}")
        return type

    def _array(self, node: Any, array: tree.Expression) -> Array:
        type = self.type_of(array)
        if not isinstance(type, Array):
            fail(node, f"{type} is no array")
        return type

    def _call_intrinsic(self, node: tree.CallIntrinsic) -> None:
        parameters = node.intrinsic.parameters
        check(len(node.arguments) == len(parameters), node, f"{len(node.arguments)} arguments")
        for parameter, argument in zip(parameters, node.arguments, strict=True):
            is_value = isinstance(argument, tree.Expression)
            check(
                is_value == (parameter.immediate is None), node, f"{parameter.name}: {argument!r}"
            )
            if is_value:
                self.type_of(argument)

    def _call(self, node: tree.Call) -> None:
        check(
            node.function in self._functions,
            node,
            f"{node.function.name} is not among the functions before this",
        )
        expected = [parameter.type for parameter in node.function.parameters]
        check(len(expected) == len(node.arguments), node, f"{len(node.arguments)} arguments")
        for type, argument in zip(expected, node.arguments, strict=True):
            same(node, type, self.type_of(argument))
        same(node, node.function.result, node.type)

    _RULES: Mapping[type, Callable[[ExpressionChecker, Any], None]] = MappingProxyType(
        {
            tree.Constant: _constant,
            tree.Read: _read,
            tree.Binary: _binary,
            tree.Unary: _unary,
            tree.Compare: _compare,
            tree.Logical: _logical,
            tree.Conditional: _conditional,
            tree.Convert: _convert,
            tree.Bitcast: _bitcast,
            tree.MakeVector: _make_vector,
            tree.Splat: _splat,
            tree.ExtractElement: _extract,
            tree.InsertElement: _insert,
            tree.Shuffle: _shuffle,
            tree.MakeTuple: _make_tuple,
            tree.TupleItem: _tuple_item,
            tree.Extent: _axis,
            tree.Stride: _axis,
            tree.View: _view,
            tree.AllocateArray: _allocate,
            tree.Load: _load,
            array_views.Based: lambda self, node: check(
                array_views.base_fits(node, self.type_of), node, "no place in the array"
            ),
            array_views.ConstantArray: lambda self, node: check(
                array_views.content_fits(node), node, "not the content of such an array"
            ),
            array_views.Reshaped: lambda self, node: check(
                array_views.reshape_fits(node, self.type_of), node, "no contiguous array"
            ),
            array_views.Transposed: lambda self, node: check(
                array_views.transpose_fits(node, self.type_of), node, "not the array's axes"
            ),
            array_views.RecordView: lambda self, node: check(
                array_views.record_fits(node, self.type_of), node, "not a part of the array"
            ),
            tree.AddressOf: _address_of,
            tree.CallIntrinsic: _call_intrinsic,
            tree.Call: _call,
        }
    )


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
