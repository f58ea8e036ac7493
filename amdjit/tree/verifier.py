"""Check a program before it is lowered: every node's types, and that every way through a function
returns.

A broken rule is the front end's mistake, so it is an InternalError that says where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from amdjit.diagnostics.errors import InternalError
from amdjit.tree import bases
from amdjit.tree import nodes as tree
from amdjit.tree.checking import check as _check
from amdjit.tree.checking import check_view
from amdjit.tree.checking import fail as _fail
from amdjit.tree.checking import same as _same
from amdjit.tree.operators import BinaryOperator
from amdjit.tree.record_views import RecordView, fits
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
)

__all__ = ["verify"]

_BITWISE = frozenset({BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR})
_INTEGER_ONLY = _BITWISE | {
    BinaryOperator.SHIFT_LEFT,
    BinaryOperator.SHIFT_RIGHT,
    BinaryOperator.POWER,
}


def verify(program: tree.Program) -> None:
    """Raise InternalError if a node breaks a rule of its docstring in nodes.py."""
    _check(program.kernel.result == VOID, program.kernel, "a kernel returns nothing")
    arrays = {p.name for p in program.kernel.parameters if _holds_array(p.type)}
    _check(
        program.written <= arrays,
        program.kernel,
        f"written names no array: {sorted(program.written - arrays)}",
    )
    known: set[tree.Function] = set()
    for function in (*program.functions, program.kernel):
        read_only = arrays - program.written if function is program.kernel else frozenset()
        _Checker(function, frozenset(known), frozenset(read_only)).run()
        known.add(function)


def _holds_array(type: Type) -> bool:
    return isinstance(type, Array) or (
        isinstance(type, Tuple) and any(map(_holds_array, type.elements))
    )


def _is_integer(type: Type) -> bool:
    return isinstance(type, Scalar) and type.is_integer


def _numeric(type: Type) -> Scalar | None:
    """Return the scalar of a scalar or vector type, None for other types."""
    scalar = type.element if isinstance(type, Vector) else type
    return scalar if isinstance(scalar, Scalar) else None


class _Checker:
    """Checks one function."""

    def __init__(
        self,
        function: tree.Function,
        callable_functions: frozenset[tree.Function],
        read_only: frozenset[str],
    ) -> None:
        self._function = function
        self._read_only = read_only
        self._callable = callable_functions
        self._loops = 0

    def run(self) -> None:
        for parameter in self._function.parameters:
            if isinstance(parameter.type, Array):
                _check(
                    parameter.type.layout is not Layout.ANY,
                    self._function,
                    f"{parameter}: no layout",
                )
        falls_through = self._block(self._function.body)
        if falls_through and self._function.result != VOID:
            _fail(self._function, "the end can be reached without a return")

    def expression(self, node: Any) -> Type:
        """Check an expression and return its type."""
        rule = self._RULES.get(type(node))
        if rule is None:
            raise InternalError(f"{type(node).__name__} is no expression of the typed tree")
        rule(self, node)
        return node.type  # type: ignore[no-any-return]

    def _block(self, statements: Sequence[tree.Statement]) -> bool:
        """Check statements and return whether control can reach their end."""
        reached = True
        for statement in statements:
            rule = self._STATEMENT_RULES.get(type(statement))
            if rule is None:
                raise InternalError(f"{type(statement).__name__} is no statement of the typed tree")
            reached = rule(self, statement) and reached
        return reached

    def _assign(self, node: tree.Assign) -> bool:
        _same(node, node.variable.type, self.expression(node.value))
        return True

    def _store(self, node: tree.Store) -> bool:
        _same(node, self._accessed(node), self.expression(node.value))
        array = bases.without_base(node.array)
        if isinstance(array, tree.Read):
            variable = array.variable
            constant = variable.name in self._read_only and variable in self._function.parameters
            _check(
                not constant, node, f"{variable} is stored to but not among the written parameters"
            )
        return True

    def _evaluate(self, node: tree.Evaluate) -> bool:
        self.expression(node.expression)
        return True

    def _if(self, node: tree.If) -> bool:
        _same(node, boolean, self.expression(node.condition))
        return self._block(node.then) | self._block(node.otherwise)

    def _while(self, node: tree.While) -> bool:
        _same(node, boolean, self.expression(node.condition))
        self._loop_body(node.body)
        endless = isinstance(node.condition, tree.Constant) and bool(node.condition.value)
        ends = self._block(node.otherwise) and not endless
        return ends or _has_break(node.body)

    def _for_range(self, node: tree.ForRange) -> bool:
        _check(_is_integer(node.variable.type), node, f"a range of {node.variable.type}")
        for bound in (node.start, node.stop, node.step):
            _same(node, node.variable.type, self.expression(bound))
        if isinstance(node.step, tree.Constant):
            _check(node.step.value != 0, node, "a range with step 0")
        self._loop_body(node.body)
        return self._block(node.otherwise) or _has_break(node.body)

    def _loop_body(self, body: Sequence[tree.Statement]) -> None:
        self._loops += 1
        self._block(body)
        self._loops -= 1

    def _leave_loop(self, node: tree.Break | tree.Continue) -> bool:
        _check(self._loops > 0, node, "outside any loop")
        return False

    def _return(self, node: tree.Return) -> bool:
        _same(
            node, self._function.result, VOID if node.value is None else self.expression(node.value)
        )
        return False

    def _report(self, node: tree.Fault | tree.Print) -> bool:
        _check(
            node.number < 0 or self._function.reports > 0,
            node,
            f"{self._function.name} does not report",
        )
        for value in node.values:
            _check(isinstance(self.expression(value), Scalar), node, f"a report of {value.type}")
        return isinstance(node, tree.Print)

    def _constant(self, node: tree.Constant) -> None:
        scalar = _numeric(node.type)
        if isinstance(node.type, Known):
            return
        if scalar is None:
            _fail(node, f"a constant of {node.type}")
        if scalar.is_integer:
            in_range = (
                isinstance(node.value, int) and scalar.minimum <= node.value <= scalar.maximum
            )
            _check(in_range, node, f"{node.value!r} is no {scalar}")
        elif scalar == boolean:
            _check(isinstance(node.value, bool), node, f"{node.value!r} is no boolean")

    def _read(self, node: tree.Read) -> None:
        _same(node, node.variable.type, node.type)

    def _binary(self, node: tree.Binary) -> None:
        for operand in (node.left, node.right):
            _same(node, node.type, self.expression(operand))
        scalar = _numeric(node.type)
        if scalar is None or scalar.storage_only:
            _fail(node, f"no arithmetic on {node.type}")
        if scalar.kind is ScalarKind.BOOLEAN:
            _check(node.operator in _BITWISE, node, f"no {node.operator.value} on booleans")
        elif scalar.is_float:
            _check(
                node.operator not in _INTEGER_ONLY, node, f"no {node.operator.value} on {scalar}"
            )
        else:
            _check(node.operator is not tree.BinaryOperator.DIVIDE, node, "`/` on integers")

    def _unary(self, node: tree.Unary) -> None:
        _same(node, node.type, self.expression(node.operand))
        scalar = _numeric(node.type)
        if scalar is None or scalar.storage_only:
            _fail(node, f"no arithmetic on {node.type}")
        match node.operator:
            case tree.UnaryOperator.NOT:
                _same(node, boolean, scalar)
            case tree.UnaryOperator.INVERT:
                _check(scalar.is_integer, node, f"no ~ on {scalar}")
            case _:
                _check(scalar != boolean, node, f"no {node.operator.value} on booleans")

    def _compare(self, node: tree.Compare) -> None:
        _same(node, boolean, node.type)
        left, right = self.expression(node.left), self.expression(node.right)
        _same(node, left, right)
        _check(isinstance(left, Scalar) and not left.storage_only, node, f"no comparison of {left}")

    def _logical(self, node: tree.Logical) -> None:
        for part in (node.left, node.right, node):
            _same(node, boolean, self.expression(part) if part is not node else node.type)

    def _conditional(self, node: tree.Conditional) -> None:
        _same(node, boolean, self.expression(node.condition))
        for side in (node.when_true, node.when_false):
            _same(node, node.type, self.expression(side))

    def _convert(self, node: tree.Convert) -> None:
        source = self.expression(node.operand)
        _check(
            _numeric(source) is not None and _numeric(node.type) is not None,
            node,
            f"no conversion of {source}",
        )
        lengths = [type.length if isinstance(type, Vector) else 0 for type in (source, node.type)]
        _check(lengths[0] == lengths[1], node, f"{source} and {node.type} differ in length")

    def _bitcast(self, node: tree.Bitcast) -> None:
        for type in (source := self.expression(node.operand), node.type):
            _check(isinstance(type, (Scalar, Vector)), node, f"a bitcast of {type}")
        bits = {type.bits for type in (source, node.type) if isinstance(type, (Scalar, Vector))}
        _check(len(bits) == 1, node, f"{source} and {node.type} differ in size")

    def _make_vector(self, node: tree.MakeVector) -> None:
        if not isinstance(node.type, Vector):
            _fail(node, f"{node.type} is no vector")
        _check(len(node.elements) == node.type.length, node, f"{len(node.elements)} elements")
        for element in node.elements:
            _same(node, node.type.element, self.expression(element))

    def _splat(self, node: tree.Splat) -> None:
        _same(node, self._element_of(node, node.type), self.expression(node.operand))

    def _extract(self, node: tree.ExtractElement) -> None:
        _same(node, self._element_of(node, self.expression(node.vector)), node.type)
        _same(node, i32, self.expression(node.index))

    def _insert(self, node: tree.InsertElement) -> None:
        _same(node, node.type, self.expression(node.vector))
        _same(node, i32, self.expression(node.index))
        _same(node, self._element_of(node, node.type), self.expression(node.value))

    def _shuffle(self, node: tree.Shuffle) -> None:
        left, right = self.expression(node.left), self.expression(node.right)
        _same(node, left, right)
        if not isinstance(left, Vector):
            _fail(node, f"{left} is no vector")
        _same(node, Vector(left.element, len(node.indices)), node.type)
        _check(
            all(0 <= index < 2 * left.length for index in node.indices),
            node,
            "an index out of range",
        )

    def _element_of(self, node: Any, type: Type) -> Type:
        if not isinstance(type, Vector):
            _fail(node, f"{type} is no vector")
        return type.element

    def _make_tuple(self, node: tree.MakeTuple) -> None:
        structure = getattr(node.type, "structure", None)
        _same(node, Tuple(tuple(map(self.expression, node.elements)), structure), node.type)

    def _tuple_item(self, node: tree.TupleItem) -> None:
        whole = self.expression(node.tuple)
        if not isinstance(whole, Tuple) or not 0 <= node.index < len(whole.elements):
            _fail(node, f"no item {node.index} of {whole}")
        _same(node, whole.elements[node.index], node.type)

    def _axis(self, node: tree.Extent | tree.Stride) -> None:
        array = self._array(node, node.array)
        _check(0 <= node.axis < array.ndim, node, f"no axis {node.axis} of {array}")
        _same(node, array.index_type, node.type)

    def _view(self, node: tree.View) -> None:
        check_view(node, self._indexed(node, node.array, node.starts))
        for extent in node.extents:
            if extent is not None:
                self.expression(extent)

    def _allocate(self, node: tree.AllocateArray) -> None:
        if not isinstance(node.type, Array):
            _fail(node, f"{node.type} is no array")
        spaces = (AddressSpace.LDS,) if node.dynamic else (AddressSpace.LDS, AddressSpace.PRIVATE)
        _check(
            node.type.address_space in spaces,
            node,
            f"no allocation in {node.type.address_space.name}",
        )
        _check(node.type.layout is Layout.CONTIGUOUS, node, "an allocation is contiguous")
        if node.dynamic:
            _check(
                node.type.ndim == 1 or node.type.shape is not None,
                node,
                "a dynamic array has one axis, or a shape",
            )
            if node.offset is not None:
                _same(node, i32, self.expression(node.offset))
        else:
            shape = node.type.shape
            _check(
                shape is not None and len(shape) == node.type.ndim,
                node,
                "an allocation of unknown shape",
            )

    def _load(self, node: tree.Load) -> None:
        _same(node, self._accessed(node), node.type)

    def _accessed(self, node: tree.Load | tree.Store) -> Type:
        """Return the type of what an access reads or writes."""
        array = self._indexed(node, node.array, node.indices)
        if node.width == 0:
            return array.element
        if not isinstance(array.element, Scalar) or array.element == boolean:
            _fail(node, f"no vector access to elements of type {array.element}")
        return Vector(array.element, node.width)

    def _address_of(self, node: tree.AddressOf) -> None:
        array = self._indexed(node, node.array, node.indices)
        _same(node, Pointer(array.element, array.address_space), node.type)

    def _indexed(
        self, node: Any, array: tree.Expression, indices: Sequence[tree.Expression]
    ) -> Array:
        type = self._array(node, array)
        _check(len(indices) == type.ndim, node, f"{len(indices)} indices for {type.ndim} axes")
        for index in indices:
            _check(_is_integer(self.expression(index)), node, f"an index of type {index.type}")
        return type

    def _array(self, node: Any, array: tree.Expression) -> Array:
        type = self.expression(array)
        if not isinstance(type, Array):
            _fail(node, f"{type} is no array")
        return type

    def _call_intrinsic(self, node: tree.CallIntrinsic) -> None:
        parameters = node.intrinsic.parameters
        _check(len(node.arguments) == len(parameters), node, f"{len(node.arguments)} arguments")
        for parameter, argument in zip(parameters, node.arguments, strict=True):
            is_value = isinstance(argument, tree.Expression)
            _check(
                is_value == (parameter.immediate is None), node, f"{parameter.name}: {argument!r}"
            )
            if is_value:
                self.expression(argument)

    def _call(self, node: tree.Call) -> None:
        _check(
            node.function in self._callable,
            node,
            f"{node.function.name} is not among the functions before this",
        )
        expected = [parameter.type for parameter in node.function.parameters]
        _check(len(expected) == len(node.arguments), node, f"{len(node.arguments)} arguments")
        for type, argument in zip(expected, node.arguments, strict=True):
            _same(node, type, self.expression(argument))
        _same(node, node.function.result, node.type)

    _RULES: Mapping[type, Callable[[_Checker, Any], None]] = MappingProxyType(
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
            bases.Based: lambda self, node: _check(
                bases.fits(node, self.expression), node, "no place in the array"
            ),
            RecordView: lambda self, node: _check(
                fits(node, self.expression), node, "not a part of the array"
            ),
            tree.AddressOf: _address_of,
            tree.CallIntrinsic: _call_intrinsic,
            tree.Call: _call,
        }
    )
    _STATEMENT_RULES: Mapping[type, Callable[[_Checker, Any], bool]] = MappingProxyType(
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


def _has_break(statements: Sequence[tree.Statement]) -> bool:
    """Tell whether a break among the statements leaves the loop that they are the body of."""
    for statement in statements:
        if isinstance(statement, tree.Break):
            return True
        if isinstance(statement, tree.If) and (
            _has_break(statement.then) or _has_break(statement.otherwise)
        ):
            return True
        if isinstance(statement, (tree.While, tree.ForRange)) and _has_break(statement.otherwise):
            return True
    return False
