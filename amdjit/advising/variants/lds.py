"""Arrays in LDS whose rows begin in the same bank, and barriers that nothing needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from amdjit.advising.rewriting import Edit
from amdjit.advising.subject import Subject, Variant, called_name, factor

__all__ = ["layouts_of_shared_arrays", "without_barriers"]

# Elements that rows are longer by: one bank, and what keeps vectors of 2, 4 and 8 aligned.
_PADDINGS = (1, 2, 4, 8)
_BARRIERS = ("barrier", "lds_barrier", "syncthreads", "syncwarp")


@dataclass(frozen=True, slots=True)
class _SharedArray:
    """An array in LDS that the kernel makes: its name, its call, and its extents."""

    name: str
    call: ast.Call
    extents: tuple[ast.expr, ...]


def layouts_of_shared_arrays(subject: Subject) -> Iterator[Variant]:
    """Yield other layouts of arrays in LDS, if there are bank conflicts: longer rows, or columns
    that are exchanged row by row."""
    if not subject.before.launch.totals.lds_conflict_cycles:
        return
    for array in _shared_arrays(subject):
        if len(array.extents) > 1:
            yield from _padded(subject, array)
            yield from _swizzled(subject, array)
        else:
            yield from _padded_by_hand(subject, array)


def _shared_arrays(subject: Subject) -> Iterator[_SharedArray]:
    for node in subject.nodes(ast.Assign):
        call, target = node.value, node.targets[0]
        is_shared = called_name(call) == "array" and "shared" in subject.text(call.func)
        if is_shared and isinstance(target, ast.Name):
            named = [each.value for each in call.keywords if each.arg == "shape"]
            shape = [*call.args, *named][0]
            extents = tuple(shape.elts) if isinstance(shape, ast.Tuple) else (shape,)
            yield _SharedArray(target.id, call, extents)


def _kind(array: _SharedArray) -> str:
    return f"layout of {array.name}"


def _longer_rows(array: _SharedArray, padding: int) -> str:
    elements = f"{padding} element{'s' * (padding > 1)}"
    return f"make the rows of `{array.name}` {elements} longer, so that they begin in other banks"


def _padded(subject: Subject, array: _SharedArray) -> Iterator[Variant]:
    last = array.extents[-1]
    for padding in _PADDINGS:
        yield Variant(
            _kind(array),
            _longer_rows(array, padding),
            subject.place(array.call),
            edits=(subject.edit(last, f"{factor(subject.text(last))} + {padding}"),),
        )


def _swizzled(subject: Subject, array: _SharedArray) -> Iterator[Variant]:
    """Exchange columns by the exclusive or with the row, which takes no memory."""
    uses = list(_uses(subject, array.name))
    indexed = [use for use in uses if isinstance(use, ast.Subscript) and _is_plain(use, array)]
    if len(indexed) != len(uses):
        return
    columns = factor(subject.text(array.extents[-1]))
    for width in (1, 2, 4, 8):
        row = "({0})" if width == 1 else f"({{0}}) * {width}"
        edits = [_exchange(subject, use, row, columns) for use in indexed]
        yield Variant(
            _kind(array),
            f"exchange the columns of `{array.name}`, `column ^ row`"
            + (f" in pieces of {width}" if width > 1 else "")
            + ", so that a column lies in different banks",
            subject.place(array.call),
            edits=tuple(edits),
        )


def _uses(subject: Subject, name: str) -> Iterator[ast.AST]:
    """Yield each use of an array: its subscripts, and its name where it stands alone."""
    inside = set()
    for node in subject.nodes(ast.Subscript):
        if isinstance(node.value, ast.Name) and node.value.id == name:
            inside.add(id(node.value))
            yield node
    for node in subject.nodes(ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load) and id(node) not in inside:
            yield node


def _is_plain(use: ast.Subscript, array: _SharedArray) -> bool:
    index = use.slice
    return (
        isinstance(index, ast.Tuple)
        and len(index.elts) == len(array.extents)
        and not any(isinstance(part, (ast.Slice, ast.Starred)) for part in index.elts)
    )


def _exchange(subject: Subject, use: ast.Subscript, row: str, columns: str) -> Edit:
    assert isinstance(use.slice, ast.Tuple)
    *_, before, last = use.slice.elts
    exchanged = row.format(subject.text(before))
    return subject.edit(last, f"({subject.text(last)}) ^ ({exchanged} & ({columns} - 1))")


def _padded_by_hand(subject: Subject, array: _SharedArray) -> Iterator[Variant]:
    """Make rows longer where an index is computed, `row * 32 + column`."""
    products = [
        product
        for use in _uses(subject, array.name)
        if isinstance(use, ast.Subscript)
        for product in ast.walk(use.slice)
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult)
    ]
    widths = {subject.text(product.right) for product in products}
    if len(widths) != 1:
        return
    (width,) = widths
    size = array.extents[0]
    for padding in _PADDINGS:
        wider = f"({width} + {padding})"
        edits = [subject.edit(product.right, wider) for product in products]
        longer = f"{factor(subject.text(size))} // {factor(width)} * {wider}"
        yield Variant(
            _kind(array),
            _longer_rows(array, padding),
            subject.place(array.call),
            edits=(subject.edit(size, longer), *edits),
        )


def without_barriers(subject: Subject) -> Iterator[Variant]:
    """Yield the kernel without each of its barriers."""
    found = [node for node in subject.nodes(ast.Expr) if called_name(node.value) in _BARRIERS]
    for number, node in enumerate(found):
        file, line = subject.place(node)
        yield Variant(
            f"barrier {number}",
            f"leave out the barrier of line {line}",
            (file, line),
            edits=(subject.edit(node, "pass"),),
        )
