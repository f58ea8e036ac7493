"""The nodes of the typed tree.

Every expression has a type, and every node the span of the Python code that it comes from. Control
flow is structured, as in Python. The operands of arithmetic have one type: none is inferred later.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from amdjit.abi.reports import ReportTable
from amdjit.declarations import Intrinsic
from amdjit.diagnostics.span import Span
from amdjit.late_methods import dataclass, field
from amdjit.types import Type


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Variable:
    """A local variable or parameter of one type, by identity. is_hidden: not of Python's source."""

    name: str
    type: Type
    number: int = 0
    is_hidden: bool = False

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
    """A number or boolean; for a vector type, that value in every element."""

    value: int | float | bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Read(Expression):
    """The current value of a variable."""

    variable: Variable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Binary(Expression):
    """Operands of the node's type. no_wrap: the result is known to stay in a signed type's
    range."""

    operator: BinaryOperator
    left: Expression
    right: Expression
    no_wrap: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unary(Expression):
    """An operand of the node's type."""

    operator: UnaryOperator
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compare(Expression):
    """A boolean; left and right are scalars of one type."""

    operator: Comparison
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Logical(Expression):
    """Boolean `and` or `or`: right is evaluated only if left does not decide."""

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
    """A scalar, or a vector elementwise, converted to another type.

    Float to integer truncates toward zero and saturates, and NaN becomes 0; float to float rounds
    to nearest even; integer to integer wraps; a boolean is the test `!= 0`.
    """

    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bitcast(Expression):
    """The same bits read as another type of the same size; of a Pointer, the address for flat
    memory as a u64."""

    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MakeVector(Expression):
    """A vector made of its elements, as many as the type has."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Splat(Expression):
    """A vector with one scalar in every element."""

    operand: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExtractElement(Expression):
    """One element of a vector; the index is an i32 expression."""

    vector: Expression
    index: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InsertElement(Expression):
    """A vector with one element replaced."""

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
    """A part of an array in the same memory, with a start, an extent and a step for each axis of
    `array`.

    Axes whose extent is None are dropped; their start is the index. Starts, extents and steps have
    the array's index_type. Only steps may be negative. Elements of empty parts are never accessed.
    """

    array: Expression
    starts: tuple[Expression, ...]
    extents: tuple[Expression | None, ...]
    steps: tuple[int | Expression, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AllocateArray(Expression):
    """A new array of known shape: in LDS, one for the workgroup, or private, one for each lane.

    dynamic: the array starts `offset` bytes (an i32, a multiple of 16; None: 0) after all static
    LDS; without a shape, up to the end of the LDS that the launch adds. alignment: bytes that its
    address is a multiple of, if more than 16.
    """

    name: str
    dynamic: bool = False
    offset: Expression | None = None
    alignment: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Load(Expression):
    """An element of an array, with one integer index for each axis.

    width > 0: that many elements along the last axis, as a vector whose address is a multiple of
    `alignment` bytes (0: of the vector's size). check, here and below: the number of the fault for
    an index outside the array, plus 1; 0 for no check.
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
    """arguments: in the order of the intrinsic's parameters; immediates are Python values."""

    intrinsic: Intrinsic
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expression):
    """A call of another function. site: its number in the table of reports, or 0."""

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
    """Write an element, or for width > 0 a vector of that many elements along the last axis."""

    array: Expression
    indices: tuple[Expression, ...]
    value: Expression
    width: int = 0
    alignment: int = 0
    check: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluate(Statement):
    """An expression evaluated for its effect."""

    expression: Expression


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If(Statement):
    """A branch with two sides."""

    condition: Expression
    then: Sequence[Statement]
    otherwise: Sequence[Statement]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class While(Statement):
    """`condition` is evaluated before each iteration. otherwise: the loop's `else`, which runs
    unless a break ends it. unroll: 0: as LLVM does, 1: not, n > 1: n rounds, -1: all of them."""

    condition: Expression
    body: Sequence[Statement]
    otherwise: Sequence[Statement] = ()
    unroll: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForRange(Statement):
    """`for variable in range(start, stop, step)`; the bounds are evaluated once, before the first
    iteration.

    start, stop and step have the variable's type; step is not 0. The variable keeps its last value
    after the loop and is not assigned if there is no iteration. Assigning to it in the body does
    not change the number of iterations.
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
    """Continue with the next iteration of the innermost loop."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Return(Statement):
    """Leave the function; value is None if the function returns nothing."""

    value: Expression | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fault(Statement):
    """End the wave and, unless number is -1, report that fault of the table with the values of its
    text."""

    number: int
    values: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Print(Statement):
    """Report a printed line of the table with the values of its text."""

    number: int
    values: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Function:
    """One typed function."""

    name: str
    parameters: tuple[Variable, ...]
    result: Type
    body: Sequence[Statement]
    span: Span
    inline: bool | None = True
    """None forbids it."""
    transparent: bool = False
    """Whether its instructions carry the source line of the call."""
    reports: int = 0
    """0, or the number of functions on the longest chain of calls from this one, inclusive, to one
    that reports to the host."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """A kernel and the functions that it calls, callees first. read, written: array parameters that
    the program may read (None: not known) or write to."""

    kernel: Function
    functions: tuple[Function, ...]
    written: frozenset[str] = field(default_factory=frozenset)
    reports: ReportTable | None = None
    read: frozenset[str] | None = None

    def __repr__(self) -> str:
        return f"<program of {self.kernel.name}>"


# The operators of the typed tree.


class BinaryOperator(Enum):
    """Arithmetic on two values of the expression's own type, elementwise on vectors.

    Integers wrap. FLOOR_DIVIDE and MODULO round toward minus infinity as in Python, also on floats.
    SHIFT_LEFT by the width or more is 0; SHIFT_RIGHT then is 0 or, for a negative number, -1.
    """

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    FLOOR_DIVIDE = "//"
    MODULO = "%"
    POWER = "**"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"
    MINIMUM = "min"
    MAXIMUM = "max"


class UnaryOperator(Enum):
    """NEGATE on numbers, INVERT on integers, NOT on booleans, ABSOLUTE on numbers."""

    NEGATE = "-"
    INVERT = "~"
    NOT = "not"
    ABSOLUTE = "abs"


class Comparison(Enum):
    """Comparisons of two values of one type. On floats they are ordered, but `!=` is true for
    NaN."""

    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
