"""The typed tree as text: one statement per line, with its line of Python, and the types of new
values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from amdjit.tree import nodes as tree
from amdjit.tree.array_views import Based, ConstantArray, RecordView, Reshaped, Transposed

__all__ = ["print_expression", "print_function", "print_program"]


def print_program(program: tree.Program) -> str:
    """Return the text of a program: its device functions and its kernel, in the order in which they
    are lowered."""
    parts = [print_function(function) for function in program.functions]
    return "\n\n".join([*parts, print_function(program.kernel, "kernel", program.written)]) + "\n"


def print_function(
    function: tree.Function, keyword: str = "function", written: frozenset[str] = frozenset()
) -> str:
    """Return the text of one function. written: names of the array parameters to mark as written
    to."""
    parameters = [
        f"{v}: {v.type}{' (written)' if v.name in written else ''}" for v in function.parameters
    ]
    marks = " (not inlined)" if keyword == "function" and not function.inline else ""
    head = f"{keyword} {function.name}({', '.join(parameters)}) -> {function.result}{marks}:"
    rows = [(function.span.line, head)]
    rows += [(line, "    " + text) for line, text in _block(function.body)]
    width = len(str(max(line for line, _ in rows)))
    return f"# {function.span.file}\n" + "\n".join(
        f"{line:{width}} | {text}" for line, text in rows
    )


def print_expression(node: Any) -> str:
    """Return the text of an expression on one line; an immediate of an intrinsic is a Python
    value."""
    if not isinstance(node, tree.Expression):
        return repr(node)
    return _EXPRESSIONS[type(node)](node)


def _block(statements: Sequence[tree.Statement]) -> Iterator[tuple[int, str]]:
    if not statements:
        return
    for statement in statements:
        yield from _STATEMENTS[type(statement)](statement)


def _indented(statements: Sequence[tree.Statement]) -> Iterator[tuple[int, str]]:
    for line, text in _block(statements):
        yield line, "    " + text


def _list(nodes: Sequence[Any]) -> str:
    return ", ".join(print_expression(node) for node in nodes)


def _assign(node: tree.Assign) -> Iterator[tuple[int, str]]:
    yield node.span.line, f"{node.variable}: {node.variable.type} = {print_expression(node.value)}"


def _store(node: tree.Store) -> Iterator[tuple[int, str]]:
    place = _element(node.array, node.indices, node.width, node.alignment)
    yield node.span.line, f"{place} = {print_expression(node.value)}"


def _evaluate(node: tree.Evaluate) -> Iterator[tuple[int, str]]:
    yield node.span.line, print_expression(node.expression)


def _if(node: tree.If) -> Iterator[tuple[int, str]]:
    yield node.span.line, f"if {print_expression(node.condition)}:"
    yield from _indented(node.then)
    yield from _else(node.span.line, node.otherwise)


def _else(line: int, statements: Sequence[tree.Statement]) -> Iterator[tuple[int, str]]:
    if statements:
        yield line, "else:"
        yield from _indented(statements)


def _while(node: tree.While) -> Iterator[tuple[int, str]]:
    yield node.span.line, f"while {print_expression(node.condition)}:{_unroll(node.unroll)}"
    yield from _indented(node.body)
    yield from _else(node.span.line, node.otherwise)


def _for_range(node: tree.ForRange) -> Iterator[tuple[int, str]]:
    bounds = _list((node.start, node.stop, node.step))
    head = f"for {node.variable}: {node.variable.type} in range({bounds}):{_unroll(node.unroll)}"
    yield node.span.line, head
    yield from _indented(node.body)
    yield from _else(node.span.line, node.otherwise)


def _unroll(count: int) -> str:
    return {0: "", 1: "  # not unrolled", -1: "  # unrolled"}.get(count, f"  # unrolled by {count}")


def _return(node: tree.Return) -> Iterator[tuple[int, str]]:
    yield (
        node.span.line,
        "return" if node.value is None else f"return {print_expression(node.value)}",
    )


def _fault(node: tree.Fault) -> Iterator[tuple[int, str]]:
    yield node.span.line, f"fault {node.number}: {_list(node.values)}"


def _print(node: tree.Print) -> Iterator[tuple[int, str]]:
    yield node.span.line, f"print {node.number}: {_list(node.values)}"


def _element(
    array: tree.Expression, indices: Sequence[tree.Expression], width: int, alignment: int
) -> str:
    wide = f", width={width}" if width else ""
    aligned = f", alignment={alignment}" if alignment else ""
    return f"{print_expression(array)}[{_list(indices)}{wide}{aligned}]"


def _constant(node: tree.Constant) -> str:
    return f"{node.type}({node.value!r})"


def _binary(node: tree.Binary) -> str:
    left, right = print_expression(node.left), print_expression(node.right)
    if node.operator in (tree.BinaryOperator.MINIMUM, tree.BinaryOperator.MAXIMUM):
        return f"{node.operator.value}({left}, {right})"
    return f"({left} {node.operator.value}{'!' if node.no_wrap else ''} {right})"


def _unary(node: tree.Unary) -> str:
    operand = print_expression(node.operand)
    if node.operator is tree.UnaryOperator.ABSOLUTE:
        return f"abs({operand})"
    space = " " if node.operator is tree.UnaryOperator.NOT else ""
    return f"({node.operator.value}{space}{operand})"


def _compare(node: tree.Compare) -> str:
    return f"({print_expression(node.left)} {node.operator.value} {print_expression(node.right)})"


def _logical(node: tree.Logical) -> str:
    return (
        f"({print_expression(node.left)} {'and' if node.is_and else 'or'} "
        f"{print_expression(node.right)})"
    )


def _conditional(node: tree.Conditional) -> str:
    sides = f"{print_expression(node.when_true)} if {print_expression(node.condition)} else"
    return f"({sides} {print_expression(node.when_false)})"


def _allocate(node: tree.AllocateArray) -> str:
    start = f" at {print_expression(node.offset)}" if node.offset is not None else ""
    aligned = f" aligned to {node.alignment}" if node.alignment else ""
    return f"{'dynamic' if node.dynamic else 'new'} {node.name}: {node.type}{start}{aligned}"


def _axis_of(node: tree.Extent | tree.Stride) -> str:
    name = "shape" if isinstance(node, tree.Extent) else "strides"
    return f"{print_expression(node.array)}.{name}[{node.axis}]"


def _view(node: tree.View) -> str:
    parts = []
    for start, extent, step in zip(node.starts, node.extents, node.steps, strict=True):
        text = print_expression(start)
        each = print_expression(step) if isinstance(step, tree.Expression) else step
        parts.append(
            text if extent is None else f"{text} + {each} * [0:{print_expression(extent)}]"
        )
    return f"{print_expression(node.array)}.view[{', '.join(parts)}]"


def _insert(node: tree.InsertElement) -> str:
    return f"insert({_list((node.vector, node.index, node.value))})"


def _shuffle(node: tree.Shuffle) -> str:
    return f"shuffle({_list((node.left, node.right))}, {node.indices})"


def _intrinsic(node: tree.CallIntrinsic) -> str:
    return f"{node.intrinsic.name}({_list(node.arguments)}): {node.type}"


_STATEMENTS: Mapping[type, Callable[[Any], Iterator[tuple[int, str]]]] = MappingProxyType(
    {
        tree.Assign: _assign,
        tree.Store: _store,
        tree.Evaluate: _evaluate,
        tree.If: _if,
        tree.While: _while,
        tree.ForRange: _for_range,
        tree.Break: lambda node: iter([(node.span.line, "break")]),
        tree.Continue: lambda node: iter([(node.span.line, "continue")]),
        tree.Return: _return,
        tree.Fault: _fault,
        tree.Print: _print,
    }
)

_EXPRESSIONS: Mapping[type, Callable[[Any], str]] = MappingProxyType(
    {
        tree.Constant: _constant,
        tree.Read: lambda node: str(node.variable),
        tree.Binary: _binary,
        tree.Unary: _unary,
        tree.Compare: _compare,
        tree.Logical: _logical,
        tree.Conditional: _conditional,
        Based: lambda node: f"{print_expression(node.array)} from [{_list(node.starts)}]",
        ConstantArray: lambda node: f"constant {node.name}: {node.type}",
        RecordView: lambda node: (
            _element(node.array, node.indices, 0, 0) + f" at byte {node.offset}: {node.type}"
        ),
        Reshaped: lambda node: (
            f"{print_expression(node.array)}.reshape({_list(node.extents)}): {node.type}"
        ),
        Transposed: lambda node: f"{print_expression(node.array)}.transpose{node.axes}",
        tree.Convert: lambda node: f"{node.type}({print_expression(node.operand)})",
        tree.Bitcast: lambda node: f"bitcast({print_expression(node.operand)}, {node.type})",
        tree.MakeVector: lambda node: f"{node.type}({_list(node.elements)})",
        tree.Splat: lambda node: f"{node.type}({print_expression(node.operand)})",
        tree.ExtractElement: lambda node: (
            f"{print_expression(node.vector)}[{print_expression(node.index)}]"
        ),
        tree.InsertElement: _insert,
        tree.Shuffle: _shuffle,
        tree.MakeTuple: lambda node: (
            f"({_list(node.elements)}{',' if len(node.elements) == 1 else ''})"
        ),
        tree.TupleItem: lambda node: f"{print_expression(node.tuple)}[{node.index}]",
        tree.Extent: _axis_of,
        tree.Stride: _axis_of,
        tree.View: _view,
        tree.AllocateArray: _allocate,
        tree.Load: lambda node: _element(node.array, node.indices, node.width, node.alignment),
        tree.AddressOf: lambda node: (
            f"address_of({print_expression(node.array)}, {_list(node.indices)})"
        ),
        tree.CallIntrinsic: _intrinsic,
        tree.Call: lambda node: f"{node.function.name}({_list(node.arguments)}): {node.type}",
    }
)
