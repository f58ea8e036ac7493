"""Functions that run when kernels are compiled: rules about types and constants, as plain values.

@compile_time
def tiles(compilation, extent):
    if extent % 16:
        raise Refused(f"{extent} elements", "give a multiple of 16")
    return extent // 16
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from amdjit.language.pickling import PickledByName
from amdjit.late_methods import dataclass
from amdjit.options import CompileOptions
from amdjit.target import Target


@dataclass(frozen=True, slots=True)
class Compilation:
    """One compilation of a kernel, as the front end and compile-time functions see it.

    device_library: the bitcode of OCML, if it is installed.
    """

    options: CompileOptions
    device_library: Path | None = None

    @property
    def target(self) -> Target:
        """The processor."""
        return self.options.target

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self.options.wave_size

    @property
    def block(self) -> tuple[int, int, int] | None:
        """The shape of a workgroup if it is compiled in."""
        return self.options.required_workgroup_size

    @property
    def asserts(self) -> bool:
        """Whether `assert` and `raise` are compiled."""
        return self.options.asserts

    @property
    def bounds_check(self) -> bool:
        """Whether every index is tested against the shape of its array."""
        return bool(self.options.bounds_check)

    @property
    def division_check(self) -> bool:
        """Whether every divisor is tested for 0."""
        return self.options.division_check

    @property
    def typing(self) -> str:
        """Whose rules for the types of literals and operators hold."""
        return self.options.typing

    @property
    def wraparound(self) -> bool:
        """Whether indices that are negative at run time count from the end."""
        return self.options.wraparound

    @property
    def max_recursion(self) -> int:
        """How often functions that call themselves do so at most, one call within another."""
        return self.options.max_recursion

    @property
    def flushes_denormals(self) -> bool:
        """Whether f32 subnormals are read and written as 0."""
        return self.options.denormals == "flush"

    @property
    def calls_device_library(self) -> bool:
        """Whether functions of f64 are those of OCML."""
        return self.options.f64_math == "ocml"

    @property
    def approximates_functions(self) -> bool:
        """Whether `fastmath` includes the flag `afn`."""
        return "afn" in self.options.fast_math_flags


class Refused(Exception):
    """Raised by a compile-time function that refuses its arguments.

    problem: what is wrong. remedy: what to write instead.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


@dataclass(frozen=True, eq=False)
class CompileTimeFunction(PickledByName):
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
