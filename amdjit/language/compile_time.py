"""Functions that run when kernels are compiled: rules about types and constants, as plain values.

@compile_time
def tiles(compilation, extent):
    if extent % 16:
        raise Refused(f"{extent} elements", "give a multiple of 16")
    return extent // 16
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from amdjit.target import Target


class Compilation(Protocol):
    """What the compilation of a kernel knows of its target."""

    @property
    def target(self) -> Target:
        """The processor."""
        ...

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        ...

    @property
    def block(self) -> tuple[int, int, int] | None:
        """The workgroup's shape if it is compiled in, else None."""
        ...

    @property
    def flushes_denormals(self) -> bool:
        """Whether f32 numbers that are too small to be normal are read and written as 0."""
        ...

    @property
    def approximates_functions(self) -> bool:
        """Whether `fastmath` has the flag `afn`."""
        ...


class Refused(Exception):
    """Raised by a compile-time function that refuses its arguments.

    problem: what is wrong. remedy: what to write instead.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


@dataclass(frozen=True, eq=False)
class CompileTimeFunction:
    """A Python function that runs when a kernel that calls it is compiled.

    It gets the `Compilation` and the arguments: values if they are known, else types. Its result is
    a compile-time value. If it raises `Refused`, the error is reported at the call in the kernel,
    or in the innermost calling function outside amdjit.
    """

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Run the function on the host."""
        return self.function(*arguments)


def compile_time(function: Callable[..., Any]) -> CompileTimeFunction:
    """Mark a function that runs when kernels are compiled."""
    return CompileTimeFunction(function)
