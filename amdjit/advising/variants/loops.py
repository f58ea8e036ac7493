"""Loops: unrolled, in another order, known when the kernel is compiled; and what work-items share
out among themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from amdjit.abi.launch_shape import LaunchShape
from amdjit.advising.rewriting import Edit
from amdjit.advising.subject import Subject, Variant, called_name
from amdjit.diagnostics import Span
from amdjit.profiling.counts import InstructionCounts
from amdjit.profiling.launch_causes import used_share

__all__ = ["exchanged_axes", "exchanged_loops", "more_work_each", "static_loops", "unrolled"]

# Requests that touch this many times the cache lines that their bytes fill are a sign of another
# order.
_SCATTERED = 2
_NARROW = 4
_WORK = (2, 4, 8, 16)
_FACTORS = (2, 4, 8)
_UNROLLED_CODE = 16384


def unrolled(subject: Subject) -> Iterator[Variant]:
    """Yield other numbers of rounds by which loops are unrolled."""
    inspection = subject.inspection
    given = subject.call.kernel.options_given.get("unroll")
    if not inspection.loops and given is None:
        return
    factors = (1,) if inspection.code_bytes > _UNROLLED_CODE else (1, *_FACTORS)
    for rounds in factors:
        if rounds != given:
            many = f"by {rounds} rounds" if rounds > 1 else "not at all"
            yield Variant(
                "unroll",
                f"unroll the loops {many}: `@amdjit.kernel(unroll={rounds})`",
                options={"unroll": rounds},
            )


def static_loops(subject: Subject) -> Iterator[Variant]:
    """Yield loops that are unrolled by the front end, so that arrays that they index stay in
    registers."""
    if not subject.inspection.scratch_bytes:
        return
    loops = [
        node
        for node in subject.nodes(ast.For)
        if called_name(node.iter) == "range" and isinstance(node.iter.func, ast.Name)
    ]
    if loops:
        edits = tuple(subject.edit(node.iter.func, "amdjit.static_range") for node in loops)
        yield Variant(
            "scratch",
            "unroll the loops over the local array, `amdjit.static_range`, so that it stays in "
            "registers",
            subject.place(loops[0]),
            edits=edits,
        )


def exchanged_loops(subject: Subject) -> Iterator[Variant]:
    """Yield nested loops in the other order, if accesses touch many cache lines."""
    if not _is_scattered(subject):
        return
    for node in subject.nodes(ast.For):
        inner = node.body[0] if len(node.body) == 1 else None
        if not isinstance(inner, ast.For) or node.orelse or inner.orelse:
            continue
        pairs = ((node.target, inner.target), (node.iter, inner.iter))
        edits = [
            subject.edit(one, subject.text(other))
            for a, b in pairs
            for one, other in ((a, b), (b, a))
        ]
        line = subject.place(node)[1]
        yield Variant(
            f"loops of line {line}",
            f"exchange the loops of lines {line} and {subject.place(inner)[1]}, so that accesses "
            "that follow each other are neighbours",
            subject.place(node),
            edits=tuple(edits),
            rounds=True,
        )


def exchanged_axes(subject: Subject) -> Iterator[Variant]:
    """Yield the launch with its first two axes exchanged, if accesses touch many cache lines."""
    if not _is_scattered(subject):
        return
    for node in subject.nodes(ast.Assign):
        target = node.targets[0]
        is_grid = called_name(node.value) in ("grid", "global_id")
        if not is_grid or not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            continue
        one, other = target.elts
        edits = subject.edit(one, subject.text(other)), subject.edit(other, subject.text(one))
        (gx, gy, gz), (bx, by, bz), *_ = subject.call.shape
        exchanged = subject.call.shape._replace(grid=(gy, gx, gz), block=(by, bx, bz))
        text = (
            f"exchange `{subject.text(one)}` and `{subject.text(other)}`, so that neighbouring "
            "lanes access neighbouring elements"
        )
        where = subject.place(node)
        group = "axes"
        yield Variant(group, text, where, edits=edits, shape=exchanged)
        # A block that is wide along x, where the launch's is not.
        yield Variant(group, text, where, edits=edits, shape=_covering(subject, (gx * bx, gy * by)))


def _covering(subject: Subject, size: tuple[int, int]) -> LaunchShape:
    """Return the launch with the block of before over an area whose sides are exchanged."""
    shape = subject.call.shape
    height, width = size
    x, y, _ = shape.block
    return shape._replace(grid=(-(-width // x), -(-height // y), shape.grid[2]))


def _is_scattered(subject: Subject) -> bool:
    """Whether some accesses touch many more cache lines than their bytes fill."""
    return any(map(_spreads, subject.before.launch.instructions))


def _spreads(counts: InstructionCounts) -> bool:
    touches_several = counts.cache_lines > _SCATTERED * counts.requests
    return (
        counts.unit == "vector memory" and touches_several and used_share(counts) < 1 / _SCATTERED
    )


def more_work_each(subject: Subject) -> Iterator[Variant]:
    """Yield kernels whose work-items do the work of several neighbours, which widens narrow
    accesses."""
    shape = subject.call.shape
    if shape.grid[1:] != (1, 1) or shape.block[1:] != (1, 1) or not _has_narrow_accesses(subject):
        return
    if any(called_name(node) == "array" for node in subject.nodes(ast.Call)):
        return  # what a workgroup shares is made for its work-items
    for node in subject.source.node.body:
        if isinstance(node, ast.Assign) and called_name(node.value) in ("grid", "global_id"):
            if not isinstance(node.targets[0], ast.Name):
                continue
            for count in _WORK:
                if shape.grid[0] >= 2 * count:
                    yield _with_more_work(subject, node, count)
            return


def _has_narrow_accesses(subject: Subject) -> bool:
    """Whether lanes access neighbouring elements of at most 4 bytes."""
    return any(
        each.unit == "vector memory"
        and 0 < each.bytes <= _NARROW * each.active_lanes
        and not _spreads(each)
        for each in subject.before.launch.instructions
    )


def _with_more_work(subject: Subject, node: ast.Assign, count: int) -> Variant:
    """Repeat what follows the index of the work-item, for each of several."""
    body = subject.source.node.body
    first, last = subject.source.span(node), subject.source.span(body[-1])
    indent = " " * first.column
    item = _new_name(subject)
    index = f"{subject.text(node.targets[0])} = {subject.text(node.value)} * {count} + {item}"
    rest = subject.source.text.lines[first.end_line : last.end_line]
    inner = "".join(f"    {line}" if line.strip() else line for line in rest).rstrip("\n")
    text = f"for {item} in amdjit.static_range({count}):\n{indent}    {index}\n{inner}"
    end = len(subject.source.text.line(last.end_line))
    whole = Span(first.source, first.line, first.column, last.end_line, end)
    shape = subject.call.shape
    grid = (-(-shape.grid[0] // count), 1, 1)
    return Variant(
        "work of a work-item",
        f"let each work-item compute {count} neighbouring elements, in a grid of {grid[0]} "
        "workgroups: accesses become wider",
        subject.place(node),
        edits=(Edit(whole, text),),
        shape=shape._replace(grid=grid),
    )


def _new_name(subject: Subject) -> str:
    """Return a name that the kernel does not use."""
    used = {node.id for node in subject.nodes(ast.Name)} | set(subject.call.arguments)
    name = "item"
    while name in used:
        name += "_"
    return name
