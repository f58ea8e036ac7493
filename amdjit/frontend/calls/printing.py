"""Calls of `print`."""

from __future__ import annotations

import ast
import builtins

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.formatted_text import text_of
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree


def is_print(value: Value) -> bool:
    """Whether a callee is Python's `print`."""
    return isinstance(value, CompileTime) and value.value is builtins.print


def print_call(builder: FunctionBuilder, node: ast.Call) -> CompileTime:
    """`print(...)`, also with `sep` and `end`."""
    texts = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        texts[keyword.arg or ""] = _keyword_text(builder, keyword, texts.get(keyword.arg or ""))
    starred = next((argument for argument in node.args if isinstance(argument, ast.Starred)), None)
    if starred is not None:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            starred,
            expression="`*` in `print`",
            remedy="print the tuple itself",
        )
    text, values = text_of(builder, node.args, texts["sep"], texts["end"])
    builder.reports = max(builder.reports, 1)
    builder.emit(tree.Print(builder.span(node), builder.session.reports.add_print(text), values))
    return CompileTime(None)


def _keyword_text(builder: FunctionBuilder, keyword: ast.keyword, default: str | None) -> str:
    if default is None:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            keyword.value,
            expression=f"`{keyword.arg}=` of `print`" if keyword.arg else "`**`",
            remedy="`print` in a kernel writes to sys.stdout and takes `sep` and `end`",
        )
    value = builder.evaluate(keyword.value)
    if isinstance(value, CompileTime) and value.value is None:
        return default
    if not isinstance(value, CompileTime) or not isinstance(value.value, str):
        raise builder.error(
            codes.ARGUMENT_TYPE,
            keyword.value,
            parameter=keyword.arg,
            function="print",
            expected="a string",
            found=describe(value),
            remedy="pass a string that is known when compiling",
        )
    return value.value
