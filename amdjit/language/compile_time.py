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
        """The workgroup's shape where it is compiled in."""
        ...

    @property
    def flushes_denormals(self) -> bool:
        """Whether f32 numbers too small to be normal are taken and given as 0."""
        ...

    @property
    def approximates_functions(self) -> bool:
        """Whether `fastmath` has the flag `afn`."""
        ...


class Refused(Exception):
    """What a compile-time function raises about its arguments. problem: what is wrong; remedy: what
    to write."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


@dataclass(frozen=True, eq=False)
class CompileTimeFunction:
    """A Python function that is run when a kernel that calls it is compiled; its result is a
    compile-time value.

    It gets the `Compilation` and the arguments: values that are known, and the types of others.
    What it refuses is an error at the line of the kernel, or of the function outside amdjit, that
    called for it.
    """

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Run the function on the host."""
        return self.function(*arguments)


def compile_time(function: Callable[..., Any]) -> CompileTimeFunction:
    """Mark a function that is run when kernels are compiled."""
    return CompileTimeFunction(function)
