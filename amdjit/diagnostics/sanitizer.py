"""The findings of the emulator's checks as values, and the exceptions and warnings for them."""

from __future__ import annotations

import json
import linecache
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.notebooks import shown_file
from amdjit.late_methods import dataclass

Coordinates = tuple[int, int, int]
_WIDTH = 118


@dataclass(frozen=True, slots=True)
class Origin:
    """A second place in a report: what happened there (`store`, `freed`, ...), where and by whom.

    block, thread: x, y, z indices, None if they are not known.
    """

    what: str
    file: str | None = None
    line: int | None = None
    block: Coordinates | None = None
    thread: Coordinates | None = None

    @property
    def text(self) -> str:
        """One line for people."""
        return ", ".join([self.what, *_who(self.block, self.thread)])


@dataclass(frozen=True, slots=True)
class SanitizerReport:
    """One finding of a check, at a line of the kernel.

    check: memory, race, init or sync. kind: such as "use-after-free". severity: "error" or
    "warning". message: one line. kernel: its name, empty for memory that leaks. file, line: of the
    Python source. block, thread: x, y, z indices; lane: 0..31. address: in bytes, of LDS from its
    start; nbytes: of the access. array, index, shape: the element, if the array is known. other:
    the other access of a race, or where memory was freed or a value came from. count: how often it
    was found. instruction: the machine instruction, with its pc. notes: more lines; help: what to
    do about it.
    """

    check: str
    kind: str
    severity: str
    kernel: str
    message: str
    file: str | None = None
    line: int | None = None
    block: Coordinates | None = None
    thread: Coordinates | None = None
    lane: int | None = None
    address: int | None = None
    nbytes: int | None = None
    array: str | None = None
    index: tuple[int, ...] | None = None
    shape: tuple[int, ...] | None = None
    other: Origin | None = None
    count: int = 1
    instruction: str | None = None
    notes: tuple[str, ...] = ()
    help: str = ""

    @property
    def is_error(self) -> bool:
        """Whether it makes a launch raise SanitizerError; otherwise it is a warning."""
        return self.severity == "error"

    def as_json(self) -> str:
        """Return all fields as one JSON object, on one line."""
        return json.dumps(asdict(self))

    def render(self) -> str:
        """Return the report as text for people."""
        subject = f"{self.kernel}: " if self.kernel else ""
        lines = [f"{self.severity}[{self.check}/{self.kind}]: {subject}{self.message}"]
        lines += _excerpt(self.file, self.line, "")
        who = ", ".join(_who(self.block, self.thread)) + (
            f" (lane {self.lane})" if self.lane is not None else ""
        )
        times = f"; {self.count} times" if self.count > 1 else ""
        if self.kernel:
            lines.append(f"  = {who or 'the whole launch'}{times}")
        if self.other is not None:
            lines.append(f"  = {self.other.text}:")
            lines += _excerpt(self.other.file, self.other.line, "")
        lines += [f"  = {note}" for note in self.notes]
        if self.instruction:
            lines.append(f"  = instruction: {self.instruction}")
        if self.help:
            lines += textwrap.wrap(
                f"  = help: {self.help}", _WIDTH, subsequent_indent=" " * 10, break_on_hyphens=False
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.render()


class SanitizerWarning(UserWarning):
    """A check of the emulator found a hazard: code that may be intended, but that hardware need not
    execute as the emulator did."""


class SanitizerError(KernelFault):
    """The checks of a launch found errors. reports: all reports of the launch.

    The kind and the places are those of the first error. The launch has ended; wrong accesses were
    not executed.
    """

    def __init__(self, reports: Sequence[SanitizerReport]) -> None:
        first = next(report for report in reports if report.is_error)
        count = len(reports)
        head = f"{first.kernel}: the sanitizer has {count} report{'' if count == 1 else 's'}"
        super().__init__(
            first.kind,
            "\n\n".join([head, *(report.render() for report in reports)]),
            kernel=first.kernel,
            source_file=first.file,
            source_line=first.line,
            block=first.block,
            thread=first.thread,
            lane=first.lane,
            address=first.address,
            instruction=first.instruction,
            detail=first.message,
            array=first.array,
            index=first.index,
            shape=first.shape,
        )
        self.reports = tuple(reports)


def _who(block: Coordinates | None, thread: Coordinates | None) -> list[str]:
    return [
        f"{name} {value}"
        for name, value in (("block", block), ("thread", thread))
        if value is not None
    ]


def _excerpt(file: str | None, line: int | None, label: str) -> list[str]:
    """Return a line of a file with its text underlined; only the place if it cannot be read."""
    if file is None or line is None:
        return []
    gutter = " " * len(str(line))
    text = linecache.getline(file, line).rstrip().expandtabs(4)
    if not text.strip():
        return [f"{gutter}--> {shown_file(file)}:{line}"]
    indent = len(text) - len(text.lstrip())
    underline = " " * indent + "^" * (len(text) - indent)
    return [
        f"{gutter}--> {shown_file(file)}:{line}",
        f"{gutter} |",
        f"{line} | {text}",
        f"{gutter} | {underline} {label}".rstrip(),
    ]
