"""Numbers in types that are wider than what is computed, and values that never change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from amdjit.advising.rewriting import Edit
from amdjit.advising.subject import Subject, Variant, called_name

__all__ = ["constants", "narrow_integers", "without_doubles"]

_MOST_CONSTANTS = 3
_DOUBLES = ("f64", "float64")
_NARROWER = {"i64": "i32", "u64": "u32", "int64": "i32", "uint64": "u32"}


def constants(subject: Subject) -> Iterator[Variant]:
    """Yield kernels for which Python's numbers among the arguments are known when they are
    compiled. NumPy's have types of their own, which constants do not have."""
    parameters = {each.arg: each for each in subject.source.node.args.args}
    known = {
        name: value
        for name, value in subject.call.arguments.items()
        if isinstance(value, int) and name in parameters and parameters[name].annotation is None
    }
    singles = [{name: value} for name, value in known.items()]
    for chosen in [known, *singles[:_MOST_CONSTANTS]] if len(known) > 1 else singles:
        names = " and ".join(f"`{name}`" for name in chosen)
        yield Variant(
            "constants",
            f"make {names} known to the compiler, `amdjit.Const`: it is compiled for each value",
            subject.place(parameters[next(iter(chosen))]),
            edits=tuple(_annotated(subject, parameters[name]) for name in chosen),
            arguments=chosen,
        )


def _annotated(subject: Subject, parameter: ast.arg) -> Edit:
    """Return the change that makes a parameter `amdjit.Const`, with spaces around its `=`."""
    span = subject.source.span(parameter)
    for default in subject.source.node.args.defaults:
        value = subject.source.span(default)
        between = subject.source.text.line(span.line)[span.end_column : value.column]
        if value.line == span.line and between.strip() == "=":
            whole = replace(span, end_column=value.column)
            return Edit(whole, f"{parameter.arg}: amdjit.Const = ")
    return Edit(span, f"{parameter.arg}: amdjit.Const")


def narrow_integers(subject: Subject) -> Iterator[Variant]:
    """Yield kernels with integers of 32 bits in place of those of 64."""
    casts = [node for node in subject.nodes(ast.Call) if called_name(node) in _NARROWER]
    narrow: dict[str, Any] = {
        name: np.int32(value)
        for name, value in subject.call.arguments.items()
        if isinstance(value, np.int64) and abs(int(value)) < 2**31
    }
    if casts:
        edits = tuple(
            subject.edit(node.func, f"amdjit.{_NARROWER[called_name(node)]}") for node in casts
        )
        text = (
            "compute in integers of 32 bits: addresses and products of 64 take several instructions"
        )
        yield Variant("integers", text, subject.place(casts[0]), edits=edits, arguments=narrow)
    elif narrow:
        names = " and ".join(f"`{name}`" for name in narrow)
        text = f"pass {names} as `np.int32`: arithmetic of 64 bits takes several instructions"
        yield Variant("integers", text, subject.place(subject.source.node), arguments=narrow)


def without_doubles(subject: Subject) -> Iterator[Variant]:
    """Yield kernels that compute in f32 where they would compute in f64."""
    if not (subject.before.launch.totals.operations or {}).get("f64"):
        return
    slow = "f64 is many times slower"
    wide = {
        name: np.float32(value)
        for name, value in subject.call.arguments.items()
        if isinstance(value, np.float64)
    }
    if wide:
        names = " and ".join(f"`{name}`" for name in wide)
        text = f"pass {names} as `np.float32`: {slow}"
        where = subject.place(subject.source.node)
        yield Variant("doubles", text, where, arguments=wide, rounds=True)
    literals = [each for each in subject.nodes(ast.Constant) if type(each.value) is float]
    promoted = list(_promoted(subject))
    casts = [each.func for each in subject.nodes(ast.Call) if called_name(each) in _DOUBLES]
    changes: tuple[tuple[str, list[Any], str], ...] = (
        (f"write literals as f32, `amdjit.f32(0.5)`: {slow}", literals, "amdjit.f32({})"),
        (f"convert the operands to f32 first: {slow}", promoted, "amdjit.f32({})"),
        (f"compute in f32, if that is precise enough: {slow}", casts, "amdjit.f32"),
    )
    for text, nodes, written in changes:
        if nodes:
            edits = [subject.edit(each, written.format(subject.text(each))) for each in nodes]
            where = subject.place(nodes[0])
            yield Variant("doubles", text, where, edits=tuple(edits), rounds=True)


def _promoted(subject: Subject) -> Iterator[ast.expr]:
    """Yield the operands that become f64 by accident (`amdjit.advice`)."""
    found = {
        (finding.span.line, finding.span.column)
        for finding in subject.compiled.slow_parts
        if finding.name == "double"
    }
    for node in subject.nodes(ast.Call, ast.BinOp):
        span = subject.source.span(node)
        if (span.line, span.column) in found:
            yield from node.args if isinstance(node, ast.Call) else (node.left, node.right)
