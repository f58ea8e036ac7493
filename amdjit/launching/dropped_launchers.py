"""A warning for statements that configure a launch and do not call it."""

from __future__ import annotations

import sys
import warnings
from opcode import opname
from types import FrameType

from amdjit.diagnostics.performance import LaunchWarning

__all__ = ["warn_if_dropped"]

# The bytecode instructions that can produce a launcher, and the methods that may be on the stack
# between them and this module.
_MAKING = ("BINARY_SUBSCR", "BINARY_OP", "CALL", "CALL_FUNCTION", "CALL_FUNCTION_EX",
           "CALL_FUNCTION_KW", "CALL_KW", "CALL_METHOD")  # fmt: skip
_METHODS = ("__getitem__", "get", "watch", "launch", "forall")


def warn_if_dropped(kernel: str) -> None:
    """Warn if the statement that configures a launch does not call it: then its next bytecode
    instruction drops the launcher."""
    frame, depth = sys._getframe(1), 2
    method = ""
    while _is_between(frame) and frame.f_back is not None:
        method = frame.f_code.co_name
        frame, depth = frame.f_back, depth + 1
    code, at = frame.f_code.co_code, frame.f_lasti
    after = at + 2
    while opname[code[at]] == "CACHE":  # of the instruction before
        at -= 2
    while opname[code[after]] == "CACHE":
        after += 2
    if opname[code[at]] in _MAKING and opname[code[after]] == "POP_TOP":
        written = f"{kernel}.{method}(...)" if method != "__getitem__" else f"{kernel}[grid, block]"
        warnings.warn(
            f"{written} alone launches nothing: call it with the arguments, {written}(...)",
            LaunchWarning,
            stacklevel=depth,
        )


def _is_between(frame: FrameType) -> bool:
    """Whether a frame belongs to a method of amdjit, not to a user's function of the same name."""
    module: str = frame.f_globals.get("__name__", "")
    return frame.f_code.co_name in _METHODS and module.startswith("amdjit.")
