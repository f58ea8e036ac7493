"""What a kernel tells the host, in C: a record for each launch, and tables that turn its numbers
into text.

The record's layout is that of `amdjit.abi.reports`. The tables hold the texts of prints and faults
as parts: a text, or a value with how it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from amdjit.abi.reports import HEAD_BYTES, LINE_HEAD_WORDS, Field, ReportTable, Text, Word
from amdjit.ahead_of_time.c_names import c_string
from amdjit.ahead_of_time.report_functions import COMMON, RECORD, TELL_FAULT, TELL_LINES
from amdjit.diagnostics import LaunchError
from amdjit.types import Scalar, boolean

__all__ = ["common_reports", "record_type", "record_words", "report_functions", "report_tables"]

_HEADLINES = {"assert": "AssertionError", "index": "IndexError"}
# Formats of Python's that mean the same to printf.
_FLOAT_FORMAT = re.compile(r"0?\d*(\.\d+)?[fFeEgG]")
_DECIMAL_FORMAT = re.compile(r"(0?\d*)d?")
_HEXADECIMAL_FORMAT = re.compile(r"(0?\d*)([xX])")


def common_reports() -> str:
    """Return what the headers of all reporting kernels share."""
    return COMMON


def record_type(kernel: str, table: ReportTable, print_buffer: int) -> list[str]:
    """Return the lines that declare a kernel's record, before its arguments."""
    capacity = print_buffer if table.prints else 0
    return [
        "/* Where the kernel reports: one for each launch that has not been told. */",
        f"#define {kernel.upper()}_RECORD_BYTES {HEAD_BYTES + capacity}",
        f"typedef struct {kernel}_record {{",
        "  void *device;",
        "  unsigned block[3]; /* of the launch */",
        f"}} {kernel}_record;",
    ]


def record_words() -> dict[str, str]:
    """Return what stands for the layout of a record in the templates of C."""
    return {
        "HEAD_WORDS": str(HEAD_BYTES // 4),
        "LINE_HEAD": str(LINE_HEAD_WORDS),
        **{f"WORD_{word.name}": str(int(word)) for word in Word},
    }


def report_functions(table: ReportTable) -> str:
    """Return the template of the functions that make and read a kernel's record."""
    parts = [RECORD]
    parts += [TELL_LINES] if table.prints else []
    parts += [TELL_FAULT] if table.faults else []
    tell = [
        "/* Write what a launch has told, which has ended: to `lines` what it printed, to `faults`",
        " * what has stopped it. has_failed: whether something has. */",
        "static inline hipError_t KERNEL_record_tell(const KERNEL_record *record,",
        "    const KERNEL_kernel *kernel, FILE *lines, FILE *faults, int *has_failed) {",
        "  uint32_t head[HEAD_WORDS];",
        "  hipError_t error = hipMemcpy(head, record->device, sizeof head, hipMemcpyDeviceToHost);",
        "  *has_failed = 0;",
        "  if (error != hipSuccess) return error;",
    ]
    if table.prints:
        tell.append("  error = KERNEL_tell_lines(record, kernel, head, lines);")
    if table.faults:
        tell.append("  *has_failed = KERNEL_tell_fault(head, faults);")
    tell += [f"  (void){name};" for name in ("kernel", "lines", "faults")]
    return "\n".join([*parts, *tell, "  return error;", "}"])


def report_tables(kernel: str, table: ReportTable) -> Iterator[str]:
    """Yield the lines of the tables that turn a kernel's numbers into text."""
    for number, text in enumerate(table.prints):
        yield from _parts(f"{kernel}_print{number}", text)
    for number, site in enumerate(table.faults):
        name = _HEADLINES.get(site.kind, "")
        head = f"{name}: " if name and site.text.parts else name
        yield from _parts(f"{kernel}_fault{number}", Text((head, *site.text.parts)))
    if table.prints:
        yield f"static const amdjit_text {kernel}_prints[] = {{"
        for number, text in enumerate(table.prints):
            yield f"  {{{kernel}_print{number}, {len(text.parts)}, {text.words}}},"
        yield "};"
    if table.faults:
        yield f"static const amdjit_site {kernel}_faults[] = {{"
        for number, site in enumerate(table.faults):
            count = 1 + len(site.text.parts)
            shown = f"{{{kernel}_fault{number}, {count}, {site.text.words}}}"
            yield f"  {{{shown}, {_place(site.file, site.line)}, {int(site.is_library)}}},"
        yield "};"
        yield f"static const amdjit_call {kernel}_calls[] = {{"
        for call in table.calls:
            words = c_string(call.caller), _place(call.file, call.line), c_string(call.text)
            yield f"  {{{', '.join(words)}, {int(call.is_library)}}},"
        yield "  {NULL, NULL, NULL, 0}"
        yield "};"
        yield f"#define {kernel.upper()}_CALLS UINT64_C({max(table.base, 2)})"


def _place(file: str, line: int) -> str:
    """Return a place as a string of C; of the file its name only, which is the same everywhere."""
    return c_string(f"{PurePath(file).name}:{line}")


def _parts(name: str, text: Text) -> Iterator[str]:
    yield f"static const amdjit_part {name}[] = {{"
    for part in text.parts or ("",):
        if isinstance(part, str):
            yield f"  {{AMDJIT_TEXT, 0, {c_string(part)}}},"
        else:
            yield f"  {{{_kind(part.type)}, {part.type.bits}, {_format(part)}}},"
    yield "};"


def _kind(type: Scalar) -> str:
    if type is boolean:
        return "AMDJIT_IS_BOOLEAN"
    if type.is_float:
        return f"AMDJIT_IS_{type.name.upper()}"
    return "AMDJIT_IS_SIGNED" if type.is_signed else "AMDJIT_IS_UNSIGNED"


def _format(field: Field) -> str:
    """Return the format of printf for a value, NULL for Python's own way of writing it.

    LaunchError for a format that printf does not have.
    """
    spec, type = field.spec, field.type
    if not spec:
        return "NULL"
    decimal, hexadecimal = _DECIMAL_FORMAT.fullmatch(spec), _HEXADECIMAL_FORMAT.fullmatch(spec)
    if not field.conversion and type.is_float and _FLOAT_FORMAT.fullmatch(spec):
        return f'"%{spec}"'
    if not field.conversion and type.is_integer and decimal:
        return f'"%{decimal[1]}" PRI{"d" if type.is_signed else "u"}64'
    if not field.conversion and type.is_integer and not type.is_signed and hexadecimal:
        return f'"%{hexadecimal[1]}" PRI{hexadecimal[2]}64'
    shown = f"{f'!{field.conversion}' if field.conversion else ''}:{spec}"
    raise LaunchError(
        f"it writes an {type} as `{{...{shown}}}`, which C cannot: use a width and `d`, or `.3f` "
        "and the like for floats, or no format"
    )
