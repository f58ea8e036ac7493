"""Makes a fingerprint of how a function of `amdjit.intrinsics.math` is evaluated in f32, which
tells whether a measurement is stale.

The fingerprint is made from the syntax of the device function and of every function that it calls,
with the values of their constants. Comments, docstrings, annotations, layout, the modules that hold
the functions and the branches for types other than f32 (`if isinstance(x, DOUBLES)`) do not matter.
For an approximate instruction, the fingerprint includes what it returns.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from types import ModuleType
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, Intrinsic, LlvmCall
from amdjit.isa.approximations import SINGLE_RULES, of_bits

# LLVM's names of instructions that have other names in the rules.
_RULES = {f"llvm.amdgcn.{name}.{{x}}": name for name in SINGLE_RULES} | {
    "llvm.amdgcn.exp2.{x}": "exp"
}
# Bits of floats of all signs and exponents.
_SAMPLE = (np.arange(1 << 12, dtype=np.int64) * 0x9E3779B9).astype(np.uint32)


def fingerprint(function: DeviceFunction | Intrinsic, is_single: bool = True) -> str:
    """Return 16 hexadecimal digits that differ if the evaluation differs. is_single: whether it is
    the evaluation in f32, whose approximate instructions have a rule; those of f64 are rounded
    correctly."""
    parts = parts_of(function, is_single)
    text = "\n".join(f"{name}: {parts[name]}" for name in sorted(parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def parts_of(function: DeviceFunction | Intrinsic, is_single: bool = True) -> dict[str, str]:
    """Return everything that goes into the fingerprint: the functions and constants by name."""
    parts: dict[str, str] = {}
    _collect(function, parts, is_single)
    return parts


def _collect(value: Any, parts: dict[str, str], is_single: bool) -> None:
    if isinstance(value, Intrinsic):
        lowering = value.lowering
        called = lowering.name if isinstance(lowering, LlvmCall) else type(lowering).__name__
        parts[f"intrinsic {value.name}"] = called + (_results_of(called) if is_single else "")
        return
    function = value.function
    name = function.__qualname__
    tree = _ForSingles().visit(ast.parse(textwrap.dedent(inspect.getsource(function))).body[0])
    syntax = "\n".join(ast.unparse(statement) for statement in tree.body)
    if name in parts:
        assert parts[name] == syntax, f"two functions are named {name}"
        return
    parts[name] = syntax
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for node in ast.walk(tree):
        found = _resolved(node, known)
        if isinstance(found, DeviceFunction | Intrinsic):
            _collect(found, parts, is_single)
        elif isinstance(found, bool | int | float | str | tuple):
            parts[f"{name} {ast.unparse(node)}"] = repr(found)


def _results_of(called: str) -> str:
    """Return a digest of what an approximate instruction returns; nothing for other calls."""
    if called not in _RULES:
        return ""
    results = of_bits(SINGLE_RULES[_RULES[called]], _SAMPLE)
    return f" {hashlib.sha256(results.tobytes()).hexdigest()[:16]}"


def _resolved(node: ast.AST, known: dict[str, Any]) -> Any:
    """Return the object that a name, or an attribute of a module, stands for."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(
        module := _resolved(node.value, known), ModuleType
    ):
        return getattr(module, node.attr, None)
    return None


class _ForSingles(ast.NodeTransformer):
    """Removes docstrings, annotations and branches for other types."""

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        calls = [part for part in ast.walk(node.test) if isinstance(part, ast.Call)]
        if calls and all(
            isinstance(call.func, ast.Name) and call.func.id == "isinstance" for call in calls
        ):
            return node.orelse
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node
