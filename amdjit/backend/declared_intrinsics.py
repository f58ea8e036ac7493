"""Checks of intrinsics that users declare: LLVM ends its process if their IR is wrong, or if the
target lacks them."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from amdjit.diagnostics.errors import BackendError
from amdjit.intrinsics.builtins.table import rows
from amdjit.lowering.intrinsics import DECLARED_OUTSIDE
from amdjit.options import CompileOptions
from amdjit.target import Target

__all__ = ["check_declared_intrinsics"]

# What marks a module as one with debug information, and what refers to that information.
_DEBUG_INFORMATION = re.compile(
    r",? !dbg !\d+|^ +#dbg_.*$|^!llvm\.(?:dbg\.cu|module\.flags) = .*$", re.MULTILINE
)


def check_declared_intrinsics(llvm_text: str, target: Target, _options: CompileOptions) -> None:
    """Raise BackendError if such an intrinsic's IR is wrong or the target lacks it.

    LLVM verifies a module with debug information while parsing it, and ends the process if it is
    wrong. Without debug information, `verify` returns what is wrong.
    """
    bare = _DEBUG_INFORMATION.sub("", llvm_text)
    with llvm.create_context() as context:
        try:
            with llvm.parse_assembly(bare, context) as module:
                module.verify()
        except RuntimeError as error:
            names = ", ".join(_declared(llvm_text))
            raise BackendError(
                f"LLVM refuses the IR: {error}\nThe kernel uses {names}: see its declaration"
            ) from error
    for name in re.findall(r"^declare [^@\n]*@\"?(llvm\.amdgcn\.[\w.]+)", llvm_text, re.MULTILINE):
        there = _processors_of(name)
        if there and target.name not in there:
            names = ", ".join(_declared(llvm_text))
            raise BackendError(
                f"{target} has no {name}, which {', '.join(sorted(there))} have.\n"
                f"The kernel uses {names}: declare it with `targets=`"
            )


def _processors_of(llvm_name: str) -> frozenset[str]:
    """Return the processors on which clang has a builtin for this function; none for others."""
    alike = [
        row for row in rows().values() if row.llvm and f"{llvm_name}.".startswith(f"{row.llvm}.")
    ]
    longest = max((len(row.llvm) for row in alike), default=0)
    return frozenset(target for row in alike if len(row.llvm) == longest for target in row.targets)


def _declared(llvm_text: str) -> list[str]:
    nodes = re.search(rf"^!{re.escape(DECLARED_OUTSIDE)} = !{{(.*)}}$", llvm_text, re.MULTILINE)
    numbers = re.findall(r"!\d+", nodes.group(1)) if nodes else []
    found = (
        re.search(rf'^{number} = !{{ ?!"([^"]*)" ?}}$', llvm_text, re.MULTILINE)
        for number in numbers
    )
    return [name.group(1) for name in found if name]
