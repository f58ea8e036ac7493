"""The child process that `amdjit.backend.process` starts: it runs stages of LLVM until its input
ends.

Messages are Python values in the format of `marshal`, since both ends run the same Python.
"""

from __future__ import annotations

import importlib
import marshal
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amdjit.child_process import Parent
from amdjit.diagnostics.errors import BackendError
from amdjit.late import late
from amdjit.options import CompileOptions
from amdjit.target import read_target

if TYPE_CHECKING:
    from amdjit.backend import declared_intrinsics, llvm
else:
    declared_intrinsics = late("amdjit.backend.declared_intrinsics")
    llvm = late("amdjit.backend.llvm")

__all__ = ["DONE", "FAILED", "READY", "REFUSED", "compile_in_process", "main"]

READY = b"ready"
"""The first message of the process, which it sends once LLVM is loaded."""

# How a request ended: the first of the two values of an answer.
DONE, REFUSED, FAILED = "done", "refused", "failed"
# The stages that are not in `llvm`. This one loads the table of intrinsics, which most compilations
# do not need.
_MODULES = {"check_declared_intrinsics": declared_intrinsics}


def compile_in_process(
    stage: str, llvm_text: str, target: str, wave_size: int, opt_level: int, *more: Any
) -> Any:
    """Run one stage of a compilation in this process."""
    try:
        found = read_target(target)
    except ValueError as error:
        raise BackendError(str(error)) from None
    options = CompileOptions(found, wave_size=wave_size, opt_level=opt_level)
    function: Callable[..., Any] = getattr(_MODULES.get(stage, llvm), stage)
    return function(llvm_text, found, options, *more)


def main() -> None:
    """Compile until the input ends."""
    parent = Parent()
    importlib.import_module("amdjit.backend.llvm")
    parent.send(READY)
    while True:
        parent.send(marshal.dumps(_answer(marshal.loads(parent.receive()))))


def _answer(request: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        return DONE, compile_in_process(*request)
    except BackendError as error:
        return REFUSED, str(error)
    except Exception:
        return FAILED, traceback.format_exc()
