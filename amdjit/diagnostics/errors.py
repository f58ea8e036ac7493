"""The exceptions that users catch, and errors as values, which those of the compiler carry: each
exception has a text that is made from its values."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

from amdjit.diagnostics.notebooks import render_traceback
from amdjit.diagnostics.span import Span
from amdjit.late_methods import dataclass


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


# Errors as values: a kind from the table of codes, a place, and what was found there.

_PACKAGE = Path(__file__).parent.parent
_LIBRARIES = tuple(_PACKAGE / name for name in ("intrinsics", "language", "numba_cuda/functions"))


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One row of the table of error codes.

    title, label and help are templates, filled with the fields that are given with each error. The
    title says in one line what is wrong, the label stands beside the caret, and the help says what
    to write instead.
    """

    code: str
    exception: type[CompileError]
    title: str
    label: str
    help: str = "{remedy}"

    def at(self, span: Span | None, **fields: object) -> Diagnostic:
        """Return a diagnostic of this kind for a place."""
        texts = {name: str(value) for name, value in fields.items()}
        return Diagnostic(self, span, tuple(sorted(texts.items())))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error in a kernel. calls: the call sites that lead to it, beginning in the kernel."""

    kind: ErrorKind
    span: Span | None
    fields: tuple[tuple[str, str], ...] = ()
    calls: tuple[tuple[str, Span], ...] = field(default=())

    @property
    def code(self) -> str:
        """The stable code, such as AJ0201."""
        return self.kind.code

    @property
    def title(self) -> str:
        """What is wrong, in one line."""
        return self.kind.title.format_map(dict(self.fields))

    @property
    def label(self) -> str:
        """What stands beside the caret."""
        return self.kind.label.format_map(dict(self.fields))

    @property
    def help(self) -> str:
        """What to write instead."""
        return self.kind.help.format_map(dict(self.fields))

    def render(self) -> str:
        """Return the error as text for people."""
        lines = [f"error[{self.code}]: {self.title}"]
        own = self._calls_of_the_user()
        if own == len(self.calls):
            lines += excerpt(self.span, self.label) if self.span is not None else []
        else:
            lines += excerpt(self.calls[own][1], "in this call")
        for name, span in self.calls[:own]:
            lines.append(f"  = called from {name} at {_line_at(span)}")
        for place in (*(span for _, span in self.calls), self.span)[own + 1 :]:
            lines += [f"  = in {_line_at(place)}"] if place is not None else []
        lines.append(f"  = help: {self.help}")
        return "\n".join(lines)

    def _calls_of_the_user(self) -> int:
        """Count the calls outside amdjit's library: an error inside it is shown where it is
        called."""
        spans = (*(span for _, span in self.calls), self.span)
        own = len(self.calls)
        while (
            own > 0
            and (span := spans[own]) is not None
            and any(map(Path(span.file).is_relative_to, _LIBRARIES))
        ):
            own -= 1
        return own


def _line_at(span: Span) -> str:
    return f"{span}: {span.source.line(span.line).strip()}"


def in_source_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Return errors in the order of the kernel's lines, one for each kind and place.

    Errors in helpers are ordered by the kernel's calls of them.
    """
    unique: dict[tuple[str, Span | None], Diagnostic] = {}
    for diagnostic in sorted(diagnostics, key=_position):
        unique.setdefault((diagnostic.code, diagnostic.span), diagnostic)
    return list(unique.values())


def _position(diagnostic: Diagnostic) -> list[tuple[int, int]]:
    spans = (*(span for _, span in diagnostic.calls), diagnostic.span)
    return [(span.line, span.column) for span in spans if span is not None]


def raise_all(diagnostics: list[Diagnostic]) -> None:
    """Raise the exception of the first diagnostic with all of them; do nothing if there are
    none."""
    if diagnostics:
        raise diagnostics[0].kind.exception(*diagnostics)


def excerpt(span: Span, label: str) -> list[str]:
    """Return a place's line with a caret and a label below it."""
    text = span.source.line(span.line)
    last = span.end_column if span.end_line == span.line else len(text)
    gutter = len(str(span.line))
    before = " " * _columns(text[: span.column])
    carets = "^" * max(1, _columns(text[span.column : last]))
    return [
        f"{' ' * gutter}--> {span}",
        f"{' ' * gutter} |",
        f"{span.line} | {text.expandtabs(1)}",
        f"{' ' * gutter} | {before}{carets} {label}".rstrip(),
    ]


def _columns(text: str) -> int:
    """Count terminal columns: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
