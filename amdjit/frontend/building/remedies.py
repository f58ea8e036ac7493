"""What to write instead of operands, indices and results that do not fit, and of statements that
the kernel language lacks."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from types import ModuleType

from amdjit.declarations import Coordinates
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.signature_texts import other_name
from amdjit.tree import nodes as tree
from amdjit.types import Array, Scalar, Vector, u64

__all__ = [
    "NOTHING",
    "UNPACKED",
    "WHOLE_ARRAY",
    "bitwise_remedy",
    "conversion_remedy",
    "element_remedy",
    "integer_remedy",
    "join_remedy",
    "operand_remedy",
    "outside_remedy",
    "precedence_remedy",
    "similar_names",
]


WHOLE_ARRAY = (
    "an operator takes elements, not whole arrays: index them, `a[i]`, in a loop for all, or use "
    "`amdjit.vectorize` on the host"
)
_OPERANDS = "operators work on numbers and vectors"

UNPACKED = "write as many names as there are values"

_AXIS = "name the axis: `.x`, `.y` or `.z`"
NOTHING = "a function that ends without `return` gives None: end it with `return` and the value"


def is_coordinates(value: Value) -> bool:
    """Whether a value is `threadIdx`, `blockDim` or the like without its axis."""
    return isinstance(value, CompileTime) and isinstance(value.value, Coordinates)


def is_nothing(value: Value) -> bool:
    """Whether a value is None, as functions give it that return nothing."""
    return isinstance(value, CompileTime) and value.value is None


def operand_remedy(left: Value, right: Value) -> str:
    """Say what to write instead of operands that an operator does not take."""
    types = [value.type for value in (left, right) if isinstance(value, tree.Expression)]
    scalars = [type.element if isinstance(type, Vector) else type for type in types]
    if is_coordinates(left) or is_coordinates(right):
        return _AXIS
    if is_nothing(left) or is_nothing(right):
        return NOTHING
    if isinstance(left, TupleValue) or isinstance(right, TupleValue):
        return "operators work on numbers and vectors; take an item of the tuple: `t[0]`"
    if len(types) == 2 and all(isinstance(scalar, Scalar) for scalar in scalars):
        if any(isinstance(scalar, Scalar) and scalar.storage_only for scalar in scalars):
            return "fp8 and bf8 are storage types: convert to f32 first, `f32(...)`"
        return f"convert one of them: `{types[0]}(...)` or `{types[1]}(...)`"
    without_axes = any(isinstance(type, Array) and not type.ndim for type in types)
    if without_axes:
        return "operators work on numbers and vectors; index an array: `a[()]`"
    return WHOLE_ARRAY if any(isinstance(type, Array) for type in types) else _OPERANDS


def bitwise_remedy(function: ast.AST, node: ast.AST) -> str:
    """Say what to write instead of `&`, `|`, `^` or a shift of floats. Between comparisons, as in
    `x > 1 & x < 5`, the operator is nearer to its neighbours than they are; `^` is no power."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        for each in ast.walk(function):
            if isinstance(each, ast.Compare) and node in (each.left, *each.comparators):
                symbol, remedy = precedence_remedy(each, node)
                return f"`{symbol}` binds tighter than comparisons: {remedy}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        return f"a power is written `**`, `{ast.unparse(node.left)} ** {ast.unparse(node.right)}`"
    return "convert the operands: `i32(...)`"


def precedence_remedy(whole: ast.Compare, middle: ast.BinOp) -> tuple[str, str]:
    """Return the symbol of a bitwise operator that stands between two comparisons, and what to
    write instead."""
    word, symbol = ("and", "&") if isinstance(middle.op, ast.BitAnd) else ("or", "|")
    first, second = _split_comparison(whole, middle)
    return symbol, f"write `{first} {word} {second}`, or `({first}) {symbol} ({second})`"


def _split_comparison(whole: ast.Compare, middle: ast.BinOp) -> tuple[str, str]:
    """Return the texts of the two comparisons that a bitwise operator stands between."""
    operands = [whole.left, *whole.comparators]
    at = operands.index(middle)
    sides = (
        (whole.ops[:at], [*operands[:at], middle.left]),
        (whole.ops[at:], [middle.right, *operands[at + 1 :]]),
    )
    first, second = (
        ast.unparse(ast.Compare(parts[0], ops, parts[1:]) if ops else parts[0])
        for ops, parts in sides
    )
    return first, second


def element_remedy(node: ast.AST) -> str:
    """Say what to write where an atomic operation was given an element in place of an array and an
    index; "" for other calls."""
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    first, rest = node.args[0], [ast.unparse(each) for each in node.args[1:]]
    if isinstance(first, ast.Subscript):
        place, index = ast.unparse(first.value), ast.unparse(first.slice)
        if isinstance(first.slice, ast.Tuple) and not index.startswith("("):
            index = f"({index})"  # as Python 3.10 does not write it
    else:
        place, index = ast.unparse(first), "i"
    written = f"{ast.unparse(node.func)}({', '.join([place, index, *rest])})"
    return f"; an atomic operation takes the array and the index: `{written}`"


def join_remedy(name: str, left: object, right: object) -> str:
    """Say what to write where a name, or a value, would have types without a common one."""
    types = (left, right)
    if all(isinstance(type, Scalar) and type.is_integer for type in types) and u64 in types:
        other = left if right is u64 else right
        is_name = name.startswith("`")
        first = f"begin with {name.rstrip('`')} = u64(...)`" if is_name else "convert one"
        return f"no integer type holds u64 and {other}: {first}, or convert both to `i64(...)`"
    return (
        "give it one type on both paths, for example by a conversion such as `f32(...)`; use a "
        "number in place of None or a string"
    )


def integer_remedy(value: Value, node: ast.AST) -> str:
    """Say what to write instead of an index or a bound of a range that is no integer."""
    if is_coordinates(value):
        return _AXIS
    if is_nothing(value):
        return NOTHING
    if isinstance(value, tree.Expression) and isinstance(value.type, Array) and value.type.ndim:
        return "kernels have no arrays of indices or masks: loop over it, `for i in index: a[i]`"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        whole = ast.unparse(ast.BinOp(node.left, ast.FloorDiv(), node.right))
        return f"`/` makes a float: divide integers with `//`, `{whole}`, or convert: `i32(...)`"
    return "convert it: `i32(...)`"


def conversion_remedy(value: Value) -> str | None:
    """Say what to write instead of a value that has no conversion to a number; None if nothing is
    known of it."""
    if is_coordinates(value):
        return _AXIS
    return NOTHING if is_nothing(value) else None


def outside_remedy(name: str, what: str) -> str:
    """Say how a kernel gets a value that it cannot read from outside."""
    constants = "numbers, tuples, strings, types and functions can be read as constants"
    if what == "a list":
        return (
            f"make it a tuple, `{name} = tuple({name})`, or pass it as an array, `np.array({name})`"
        )
    if what in ("a dict", "a set"):
        return f"pass its numbers as arguments, a tuple or an array; {constants}"
    return f"pass it as an argument; {constants}"


def similar_names(owner: object, name: str) -> str:
    """Suggest public names of an object, or of a module's namespaces, for one that it lacks."""
    if isinstance(owner, ModuleType) and owner.__name__ == "amdjit":
        known_elsewhere = other_name(name)
        if known_elsewhere is not None:
            return known_elsewhere
    listed = getattr(owner, "__all__", None) if isinstance(owner, ModuleType) else None
    names = list(listed or (known for known in dir(owner) if not known.startswith("_")))
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.7) or [
        *(known for known in names if len(name) > 2 and name in known),
        *_in_namespaces(owner, names, name),
    ]
    if not found:
        return "check the name's spelling"
    return f"did you mean {' or '.join(f'`{known}`' for known in found[:3])}?"


def _in_namespaces(owner: object, names: list[str], name: str, depth: int = 2) -> list[str]:
    found: list[str] = []
    for known in names if isinstance(owner, ModuleType) else ():
        # Which of a namespace's parts are loaded yet, and in which order, depends on other kernels.
        inner = vars(owner).get(known) if depth > 1 else getattr(owner, known, None)
        if isinstance(inner, ModuleType) and inner.__name__.startswith("amdjit."):
            listed = getattr(inner, "__all__", None) or vars(inner)
            public = sorted(each for each in listed if not each.startswith("_"))
            if name in public:
                found.append(f"{known}.{name}")
            elif depth > 1:
                found += [
                    f"{known}.{each}" for each in _in_namespaces(inner, public, name, depth - 1)
                ]
    return found


# Statements that the kernel language lacks: their names, and what to write instead.


_KEYWORDS: Mapping[str, str] = {
    "AsyncFor": "async for",
    "AsyncFunctionDef": "async def",
    "AsyncWith": "async with",
    "ClassDef": "class",
    "Delete": "del",
    "FunctionDef": "def",
    "ImportFrom": "from ... import",
    "Nonlocal": "nonlocal",
    "TryStar": "try",
}


_REMEDIES: Mapping[str, str] = {
    "class": "define the class outside the kernel; kernels can use NamedTuples and frozen "
    "dataclasses",
    "from ... import": "import at the top of the file",
    "global": "a kernel cannot assign to variables outside it: write to an element of an array "
    "parameter",
    "import": "import at the top of the file",
    "nonlocal": "a kernel cannot assign to variables outside it: write to an element of an array "
    "parameter",
    "try": "test with `if` beforehand; `raise` and `assert` stop the kernel and reach the host as "
    "KernelFault",
    "with": "write the statements of its body without `with`: nothing in a kernel needs to be "
    "closed",
}


def remedy_for(keyword: str) -> str:
    """Return what to write instead."""
    plain = (
        "a kernel consists of assignments, if, for, while, match, break, continue, return and calls"
    )
    return _REMEDIES.get(keyword, f"{plain}; do this on the host")


def keyword_of(node: ast.stmt) -> str:
    """Return the name of a statement: its keyword."""
    name = type(node).__name__
    return _KEYWORDS.get(name, name.lower())
