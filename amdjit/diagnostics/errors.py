"""The exceptions that users catch. Each carries values and has a text that is made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from amdjit.diagnostics.notebooks import render_traceback
from amdjit.late_methods import dataclass

if TYPE_CHECKING:
    from amdjit.diagnostics.diagnostic import Diagnostic


class AmdjitError(Exception):
    """The base of all exceptions that amdjit raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show: no frames of amdjit's own."""
        return render_traceback(self)


_MOST_SHOWN = 20
_MOST_ERRORS = 200


class CompileError(AmdjitError):
    """The kernel cannot be compiled as written. `diagnostics` says where and what to write instead.

    It has the first 200 errors in the order of the source; the text shows the first 20.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        # Functions that call others twice would double their errors at each level.
        diagnostics = diagnostics[:_MOST_ERRORS]
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        texts = [diagnostic.render() for diagnostic in self.diagnostics[:_MOST_SHOWN]]
        more = len(self.diagnostics) - _MOST_SHOWN
        if more > 0:
            texts.append(f"and {more} more {'error' if more == 1 else 'errors'}")
        return "\n\n".join(texts)


class UnsupportedSyntaxError(CompileError):
    """A Python construct that the kernel language does not have."""


class TypeCheckError(CompileError):
    """Types that do not fit: operators, calls, assignments, annotations, immediates."""


class TargetError(CompileError):
    """The target lacks what the kernel asks for."""


class BackendError(AmdjitError):
    """LLVM, the linker or the driver refused; the message quotes them."""

    def with_detail(self, detail: str) -> BackendError:
        """Return this error with one more sentence."""
        return BackendError(f"{str(self).removesuffix('.')}. {detail}")


class LaunchError(AmdjitError):
    """A launch that cannot be made: arguments, grid, block, LDS or device. Nothing has run."""


class InternalError(AmdjitError):
    """A mistake of amdjit's own. Please report it with the kernel."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """A device allocation in a fault. distance: bytes from its end (>= 0) or its start (< 0)."""

    address: int
    nbytes: int
    distance: int
    label: str = ""


class KernelFault(AmdjitError):
    """A kernel did something that devices do not allow. The launch was stopped; memory outside the
    faulting access is intact.

    kind: "assert", "raise", "index", "out-of-bounds", "misaligned", "trap", "time-limit",
    "barrier", ... block, thread: x, y, z indices; lane: 0..31 (63). address: that of the access in
    bytes, or None. instruction: the machine instruction as text, with its pc. detail: for "assert",
    "raise" and "index", the message alone, as the kernel wrote it. array, index, shape: for
    "index", and for "out-of-bounds" if the array is known: its name, the indices and its shape.
    offset_base: the address to which the instruction adds an unsigned 32-bit offset, or 0.

    The fault of a `raise` is also an exception of the class that the kernel names, with its
    arguments as `args`; that of an `assert` is an AssertionError, that of an index an IndexError.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        kernel: str,
        source_file: str | None = None,
        source_line: int | None = None,
        block: tuple[int, int, int] | None = None,
        thread: tuple[int, int, int] | None = None,
        lane: int | None = None,
        address: int | None = None,
        nearest_allocation: Allocation | None = None,
        instruction: str | None = None,
        detail: str | None = None,
        array: str | None = None,
        index: tuple[int, ...] | None = None,
        shape: tuple[int, ...] | None = None,
        offset_base: int = 0,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.text = message
        self.kernel = kernel
        self.source_file = source_file
        self.source_line = source_line
        self.block = block
        self.thread = thread
        self.lane = lane
        self.address = address
        self.nearest_allocation = nearest_allocation
        self.instruction = instruction
        self.detail = detail
        self.array = array
        self.index = index
        self.shape = shape
        self.offset_base = offset_base

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the class that the kernel named."""
        return _rebuilt, (self.raised_class, self.args, vars(self))

    raised_class: type[BaseException] | None = None

    def raised(
        self, kind: type[BaseException], positional: Sequence[Any], keywords: Mapping[str, Any]
    ) -> KernelFault:
        """Return this fault as an exception of another class, too, made with these arguments.

        Attributes that the class gives itself stand before those of faults.
        """
        try:
            # Python itself may choose a subclass: OSError(2) is a FileNotFoundError.
            chosen: Any = type(kind(*positional, **keywords))
            python = _fault_class(chosen)
            fault = python.__new__(python, *positional, **keywords)
            chosen.__init__(fault, *positional, **keywords)
        except Exception as problem:
            self.text += f"\n  the host could not make the {kind.__name__}: {problem}"
            return self
        fault.__dict__.update({**vars(self), **vars(fault)})
        return fault


@lru_cache(maxsize=256)
def _fault_class(kind: type[BaseException]) -> type[KernelFault]:
    """Return the class of faults that are exceptions of this kind, too."""
    names = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "raised_class": kind,
    }
    return (
        KernelFault
        if issubclass(kind, KernelFault)
        else type(kind.__name__, (KernelFault, kind), names)
    )


def _rebuilt(kind: Any, arguments: tuple[Any, ...], attributes: dict[str, Any]) -> KernelFault:
    python = KernelFault if kind is None else _fault_class(kind)
    fault = python.__new__(python)
    fault.args = arguments
    fault.__dict__.update(attributes)
    return fault
