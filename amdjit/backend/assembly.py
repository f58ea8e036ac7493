"""LLVM's assembly text made readable: with source lines, without tables for debuggers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from amdjit.backend.isolated import emit_object_or_assembly
from amdjit.backend.tools import assemble, find_assembler
from amdjit.diagnostics.notebooks import shown_file
from amdjit.options import CompileOptions, Environment
from amdjit.target import Target

__all__ = ["annotate_assembly", "emit_object", "list_assembly"]

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+(?:"((?:[^"\\]|\\.)*)"\s+)?"((?:[^"\\]|\\.)*)"')
_LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_SECTION = re.compile(r'\s*\.section\s+"?([^\s,"]+)|\s*(\.text|\.data|\.bss)\b')

# Tables for debuggers and the linker. `.AMDGPU.csdata` holds LLVM's resource summary, which is a
# comment, and nothing else.
_DROPPED_SECTIONS = (".debug", ".note", ".eh_frame", ".comment", ".AMDGPU.gpr_maximums")
_COMMENT_SECTION = ".AMDGPU.csdata"

# Directives, labels and comments that only those tables and the padding after the code need.
_NOISE = re.compile(
    r"\s*(?:\.cfi_\w+|\.file\b|\.addrsig\w*|\.ident\b|\.size\s|\.p2alignl\b|\.fill\s|\.set\s"
    r"|\.Ltmp\d+:|\.Lfunc_(?:begin|end)\d+:|;DEBUG_(?:VALUE|LABEL):|; meta instruction"
    r"|; -- End function)"
)
_TRAILING_NOISE = re.compile(r"\s+; (?:-- Begin function |@)\S+$")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)")


def annotate_assembly(text: str, source_lines: Mapping[str, Sequence[str]]) -> str:
    """Return the assembly with a comment `; saxpy.py:12  out[i] = ...` before each line's code.

    source_lines: the lines of each source file, line 1 first, by its path in the debug information.
    Lines of other files are named without their text. Kernel descriptors, metadata and LLVM's
    resource summary stay, so that the text still assembles to the same code; `.debug_*` sections,
    CFI and temporary labels are left out.
    """
    return "\n".join(_annotated(_wanted_sections(text.splitlines()), source_lines)) + "\n"


_LABEL = re.compile(r"[.\w$]+:")
_SOURCE_LINE = re.compile(r"; [^;]*:\d+(?:  |$)")
_ABOUT_BLOCKS = re.compile(r"\s+; (?:%\S|=>|in Loop:).*$")


def list_assembly(annotated: str) -> str:
    """Return only the code of an annotated assembly: labels, instructions and source lines."""
    kept: list[str] = []
    is_code, in_metadata = False, False
    for line in annotated.splitlines():
        text = line.strip()
        section = _SECTION.match(line)
        if section:
            is_code = (section.group(1) or section.group(2)).startswith(".text")
        if text in (".amdgpu_metadata", ".end_amdgpu_metadata"):
            in_metadata = text == ".amdgpu_metadata"
        is_shown = _LABEL.match(line) or _SOURCE_LINE.match(line) or _is_instruction(line)
        if is_code and not in_metadata and is_shown:
            kept.append(_ABOUT_BLOCKS.sub("", line).expandtabs(4))
    return "\n".join(kept) + "\n"


def _wanted_sections(lines: Iterable[str]) -> Iterator[str]:
    """Drop the lines of unwanted sections and redundant section directives; keep `.file` lines."""
    current = written = directive = ""
    for line in lines:
        section = _SECTION.match(line)
        if section:
            current, directive = section.group(1) or section.group(2), line
            continue
        if line.strip() == ".amdgpu_metadata":
            current = written  # it is not part of the section that happens to precede it
        if _FILE.match(line):
            yield line
        elif not current.startswith(_DROPPED_SECTIONS) and not _NOISE.match(line):
            if current not in (written, _COMMENT_SECTION):
                yield directive
                written = current
            yield line


def _annotated(lines: Iterable[str], source_lines: Mapping[str, Sequence[str]]) -> Iterator[str]:
    files: dict[str, str] = {}
    named = pending = ""
    for line in lines:
        file, location = _FILE.match(line), _LOCATION.match(line)
        if file:
            files[file.group(1)] = _path(file.group(2), file.group(3))
        elif location:
            pending = (
                _comment(files.get(location.group(1), ""), int(location.group(2)), source_lines)
                or pending
            )
        else:
            if line.endswith("@function"):
                named = pending = ""
            if pending != named and _is_instruction(line):
                yield pending
                named = pending
            yield _TRAILING_NOISE.sub("", line)


def _is_instruction(line: str) -> bool:
    return line[:1].isspace() and line.lstrip()[:1] not in ("", ".", ";")


def _comment(path: str, number: int, source_lines: Mapping[str, Sequence[str]]) -> str:
    """Return the comment for a line; nothing for line 0, which is code that belongs to no line."""
    if number == 0:
        return ""
    lines = source_lines.get(path, ())
    name = shown_file(path).replace("\\", "/").rsplit("/", 1)[-1]
    text = lines[number - 1].strip() if number <= len(lines) else ""
    return f"; {name}:{number}  {text}".rstrip()


def _path(directory: str | None, name: str) -> str:
    """Return the path of a `.file` directive as it stands in the code object's line table."""
    plain, folder = _unescape(name), _unescape(directory or "")
    absolute = plain.startswith(("/", "\\")) or plain[1:3] in (":\\", ":/")
    return plain if absolute or not folder else f"{folder.rstrip('/')}/{plain}"


def _unescape(text: str) -> str:
    """Undo the assembler's string escapes: octal bytes of UTF-8 and backslashed characters."""
    data = _ESCAPE.sub(lambda match: _character(match.group(1)), text)
    return data.encode("latin-1", "replace").decode("utf-8", "replace")


def _character(escape: str) -> str:
    if escape[0] in "01234567":
        return chr(int(escape, 8) & 0xFF)
    return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(escape, escape)


# Optimised IR to an unlinked object, by way of an assembler where LLVM alone cannot make one.


def emit_object(
    llvm_text: str, target: Target, options: CompileOptions, environment: Environment | None = None
) -> bytes:
    """Return the relocatable ELF of optimised IR; BackendError in LLVM's or the assembler's words.

    IR with inline assembly goes through an assembler, which `environment` may name; all other IR
    through LLVM alone.
    """
    emitted = emit_object_or_assembly(llvm_text, target, options, environment)
    if isinstance(emitted, bytes):
        return emitted
    return assemble(
        emitted, target, options.wave_size, find_assembler(environment or Environment())
    )
