"""The state of lowering a module, and a function in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from amdjit.abi.reports import ReportTable
from amdjit.diagnostics.errors import InternalError
from amdjit.diagnostics.span import Span
from amdjit.late_methods import dataclass
from amdjit.lowering.abi import ArrayValue, components, flatten, unflatten
from amdjit.lowering.builder import Builder
from amdjit.lowering.debug_info import DebugInfo, DebugTypes, FunctionLocations, FunctionVariables
from amdjit.lowering.global_memory import Ordered
from amdjit.options import CompileOptions
from amdjit.tree.nodes import AllocateArray, Function, Variable

__all__ = ["FunctionState", "Loop", "ModuleState", "Region"]


@dataclass(slots=True)
class ModuleState:
    """What lowering knows of the module that it writes."""

    module: Any
    """Llvmlite's module."""
    options: CompileOptions
    debug_info: DebugInfo | None
    """None for a kernel without source lines."""
    debug_types: DebugTypes | None = None
    """None unless variables are described."""
    reports: ReportTable | None = None
    """The failures that the kernel can report; None if there are none."""
    ordered: Ordered = Ordered.ALL
    """What barriers of the workgroup order in global memory."""
    functions: dict[Function, Any] = field(default_factory=dict)
    """The LLVM function of each lowered function."""
    lds: dict[int, tuple[AllocateArray, ArrayValue]] = field(default_factory=dict)
    """The LDS array of each allocation, by its identity."""
    constants: dict[bytes, Any] = field(default_factory=dict)
    """The address of each array in constant memory, by its content."""
    crossing: dict[Function, bool] = field(default_factory=dict)
    """The functions with operations across lanes, and whether some lanes may get past these."""

    @property
    def fast_math(self) -> tuple[str, ...]:
        """The flags of floating-point instructions, as LLVM names them."""
        return ("fast",) if self.options.fastmath is True else self.options.fast_math_flags

    @property
    def library_fast_math(self) -> tuple[str, ...]:
        """The flags within functions of `amdjit.intrinsics`, which allow cheaper instructions but
        keep the arithmetic as it is written.

        With all flags LLVM could simplify `x - ((1 + x) - 1)`, a rounding error, to 0.
        """
        return tuple(flag for flag in self.options.fast_math_flags if flag in ("afn", "arcp"))


@dataclass(slots=True)
class Region:
    """A function, or an iteration of a loop: code that lanes enter together.

    crosses: whether it has an operation across lanes that not all of them come to. parted: how many
    operations were built when the first of them may have gone to the region's end.
    """

    crosses: bool = False
    parted: int | None = None

    def ends(self, crossings: int) -> bool:
        """Return whether it has an operation that not all lanes come to, once it is built."""
        return self.crosses or (self.parted is not None and crossings > self.parted)

    def part(self, crossings: int) -> None:
        """Note that lanes may go to the end from here."""
        if self.parted is None:
            self.parted = crossings


@dataclass(slots=True)
class Loop(Region):
    """Where `continue` and `break` go. breaks, returns: the blocks that end with them, and the
    values that are returned."""

    next_iteration: Any = None
    after: Any = None
    breaks: list[Any] = field(default_factory=list)
    returns: list[tuple[Any, list[Any]]] = field(default_factory=list)


@dataclass(slots=True)
class FunctionState:
    """What lowering knows of the function that it writes."""

    module: ModuleState
    function: Function
    """The typed function."""
    builder: Builder
    """Writes at the end of the current LLVM block."""
    locations: FunctionLocations | None
    """The source locations of instructions; None without debug information."""
    variables: FunctionVariables | None = None
    """What describes the variables to debuggers."""
    in_memory: frozenset[Variable] = frozenset()
    """The variables that need memory (function.py)."""
    bound: dict[Variable, Any] = field(default_factory=dict)
    """The current values of the other variables."""
    slots: dict[Variable, list[tuple[Any, Any]]] = field(default_factory=dict)
    """The allocas of these variables, one for each LLVM value that a variable consists of."""
    private: dict[int, tuple[AllocateArray, ArrayValue]] = field(default_factory=dict)
    """The private array of each allocation, by its identity."""
    loops: list[Loop] = field(default_factory=list)
    """The loops around the current statement, innermost last."""
    record: Any = None
    """The address of the record, in functions that report to the host."""
    calls: Any = None
    """The calls that led here as one number, if they fit (`ReportTable.calls_of`)."""
    whole: Region = field(default_factory=Region)
    """The code of the function that is in no loop."""
    returned: list[tuple[Any, Any]] = field(default_factory=list)
    """The memory of the values that a loop returns."""
    depth: int = 0
    """How many branches and conditions of loops surround the current statement."""

    @property
    def is_straight(self) -> bool:
        """Whether all lanes that began the function come here."""
        return not self.depth and not self.loops and self.whole.parted is None

    @property
    def region(self) -> Region:
        """The iteration of the innermost loop, or the function."""
        return self.loops[-1] if self.loops else self.whole

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Build what not all lanes of the region come to."""
        before = self.builder.crossings
        self.depth += 1
        yield
        self.depth -= 1
        if self.builder.crossings > before:
            self.region.crosses = True

    def location(self, span: Span) -> Any:
        """Return the debug location of a span, None without debug information."""
        return self.locations.at(span) if self.locations is not None else None

    def read(self, variable: Variable) -> Any:
        """Return a variable's value."""
        if variable in self.bound:
            return self.bound[variable]
        slots = self.slots.get(variable)
        if slots is None:
            raise InternalError(f"{variable} is read before any assignment in {self.function.name}")
        return unflatten(variable.type, [self.builder.read(llvm, slot) for llvm, slot in slots])

    def declare(self, variable: Variable) -> list[tuple[Any, Any]]:
        """Return a variable's slots; make them if it has none yet."""
        slots = self.slots.get(variable)
        if slots is None:
            slots = [(llvm, self.builder.allocate(llvm)) for llvm in components(variable.type)]
            self.slots[variable] = slots
            if self.variables is not None:
                self.variables.are_in_memory(self.builder, variable, [slot for _, slot in slots])
        return slots

    def assign(self, variable: Variable, value: Any) -> None:
        """Give a variable a value."""
        if variable not in self.in_memory:
            self.bound[variable] = value
            if self.variables is not None:
                self.variables.have_values(self.builder, variable, flatten(value))
            return
        for (_, slot), part in zip(self.declare(variable), flatten(value), strict=True):
            self.builder.write(slot, part)
