"""The typed tree: what the front end makes and the lowering takes.

Every expression has a type; every node has the span of the Python code it came from. Control flow
is Python's own, structured. Operands of arithmetic have been converted to one type already: the
lowering never infers types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from amdjit.abi.reports import ReportTable
from amdjit.declarations import Intrinsic
from amdjit.diagnostics.span import Span
from amdjit.tree.operators import BinaryOperator as BinaryOperator
from amdjit.tree.operators import Comparison as Comparison
from amdjit.tree.operators import UnaryOperator as UnaryOperator
from amdjit.types import Type


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Variable:
    """A local variable or parameter of one type; identity tells two of the same name apart."""

    name: str
    type: Type
    number: int = 0

    def __str__(self) -> str:
        return self.name if self.number == 0 else f"{self.name}.{self.number}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node:
    """Base of all nodes."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression(Node):
    """Base of all expressions."""

    type: Type


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constant(Expression):
    """A number or boolean (int, float, bool); of a vector type: that value in every element."""

    value: int | float | bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Read(Expression):
    """The value that a variable has now."""

    variable: Variable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Binary(Expression):
    """left and right have the node's own type. no_wrap: the result is known not to leave a signed
    type's range."""

    operator: BinaryOperator
    left: Expression
    right: Expression
    no_wrap: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unary(Expression):
    """operand has the node's own type."""

    operator: UnaryOperator
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compare(Expression):
    """Boolean; left and right are scalars of one type."""

    operator: Comparison
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Logical(Expression):
    """Boolean `and`/`or`: right is evaluated only if left has not decided."""

    is_and: bool
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Conditional(Expression):
    """`when_true if condition else when_false`: only the chosen side is evaluated."""

    condition: Expression
    when_true: Expression
    when_false: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Convert(Expression):
    """A scalar (or vector, elementwise) to another type.

    Float to integer truncates toward zero and saturates, NaN gives 0; float to float rounds to
    nearest even; integer to integer wraps; to boolean: != 0.
    """

    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bitcast(Expression):
    """The same bits read as another type of the same size."""

    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MakeVector(Expression):
    """A vector from its elements (as many as the type has)."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Splat(Expression):
    """A vector with one scalar in every element."""

    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExtractElement(Expression):
    """One element of a vector; index is an i32 expression and may be variable."""

    vector: Expression
    index: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InsertElement(Expression):
    """The vector with one element replaced."""

    vector: Expression
    index: Expression
    value: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shuffle(Expression):
    """Elements picked by constant indices from left and right, counted through both."""

    left: Expression
    right: Expression
    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MakeTuple(Expression):
    """A tuple value."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TupleItem(Expression):
    """An item of a tuple value."""

    tuple: Expression
    index: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Extent(Expression):
    """The array's extent along an axis, in elements; the type is the array's index_type."""

    array: Expression
    axis: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stride(Expression):
    """The array's stride along an axis, in elements; the type is the array's index_type."""

    array: Expression
    axis: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View(Expression):
    """A part of an array, in the same memory: for each axis of `array` where it starts, its extent,
    and its step.

    Axes whose extent is None are dropped: `starts` has their index. Starts, extents and steps are
    integers of the array's index_type; steps may be negative. No extent is negative; of an empty
    part no element is ever accessed.
    """

    array: Expression
    starts: tuple[Expression, ...]
    extents: tuple[Expression | None, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AllocateArray(Expression):
    """A new LDS (one for the workgroup) or private (one a lane) array; type is an Array with a
    shape.

    dynamic: the array starts `offset` bytes (an i32, a multiple of 16; None: 0) behind all static
    LDS. Where its type has no shape it reaches to the end of what the launch adds.
    """

    name: str
    dynamic: bool = False
    offset: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Load(Expression):
    """An element of an array; one integer index an axis.

    width > 0: that many elements along the last axis, as a vector whose address is a multiple of
    `alignment` bytes (0: of the vector's size). check: here and below, the number of the fault of
    an index outside of the array, plus 1.
    """

    array: Expression
    indices: tuple[Expression, ...]
    width: int = 0
    alignment: int = 0
    check: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AddressOf(Expression):
    """The address of an array's element; the type is a Pointer."""

    array: Expression
    indices: tuple[Expression, ...]
    check: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallIntrinsic(Expression):
    """arguments: in the order of the intrinsic's parameters; immediates stand as Python values
    (int, bool, str)."""

    intrinsic: Intrinsic
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expression):
    """A call of another function of the program. site: its number in the table of reports, 0 where
    it has none."""

    function: Function
    arguments: tuple[Expression, ...]
    site: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statement(Node):
    """Base of all statements."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assign(Statement):
    """Give a variable a value of its type."""

    variable: Variable
    value: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Store(Statement):
    """Write an element, or with a vector value of width > 0 that many elements along the last
    axis."""

    array: Expression
    indices: tuple[Expression, ...]
    value: Expression
    width: int = 0
    alignment: int = 0
    check: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluate(Statement):
    """An expression for its effect."""

    expression: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If(Statement):
    """Two branches."""

    condition: Expression
    then: Sequence[Statement]
    otherwise: Sequence[Statement]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class While(Statement):
    """`condition` is evaluated before each round.

    otherwise: Python's `else` of the loop, run when it ends without a break.
    unroll: 0 leaves it to LLVM, 1 forbids it, n > 1 asks for n rounds, -1 for all of them.
    """

    condition: Expression
    body: Sequence[Statement]
    otherwise: Sequence[Statement] = ()
    unroll: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForRange(Statement):
    """`for variable in range(start, stop, step)`: the bounds are evaluated once, before the first
    round.

    start, stop and step have the variable's type; step is not 0. The variable keeps its last value
    afterwards, and is not assigned where there is no round. Assigning to it in the body does not
    change the number of rounds.
    """

    variable: Variable
    start: Expression
    stop: Expression
    step: Expression
    body: Sequence[Statement]
    otherwise: Sequence[Statement] = ()
    unroll: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Break(Statement):
    """Leave the innermost loop."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Continue(Statement):
    """Go on with the innermost loop's next round."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Return(Statement):
    """Leave the function; value is None where the function returns nothing."""

    value: Expression | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fault(Statement):
    """End the wave and, unless number is -1, report that fault of the program's table with the
    values of its text."""

    number: int
    values: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Print(Statement):
    """Report a line of the program's table with the values of its text."""

    number: int
    values: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Function:
    """One typed function. `inline` False keeps it a function of its own in the machine code.

    transparent: its machine instructions carry the source line of the call instead of lines of its
    own. reports: 0, or functions on the longest way from this one, itself counted, to one that
    reports to the host.
    """

    name: str
    parameters: tuple[Variable, ...]
    result: Type
    body: Sequence[Statement]
    span: Span
    inline: bool = True
    transparent: bool = False
    reports: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """A kernel and the functions that it calls, callees first.

    written: names of the kernel's array parameters that the program may write.
    """

    kernel: Function
    functions: tuple[Function, ...]
    written: frozenset[str] = field(default_factory=frozenset)
    reports: ReportTable | None = None
