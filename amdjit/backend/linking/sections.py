"""The sections of the code object: which input sections they hold, and their order.

lld sorts by access, so that each segment takes as few pages as possible: read-only, code, written
once by the loader, written. Source: lld's getSectionRank and getOutputSectionName.
"""

from __future__ import annotations

from collections.abc import Sequence

from xxhash import xxh3_64_intdigest

from amdjit.backend.linking.objects import (
    ALLOCATED,
    EXECUTABLE,
    MERGED,
    NO_BITS,
    NOTE,
    PROGRAM_BITS,
    STRINGS,
    WRITE,
    InputSection,
    NotPlain,
)

__all__ = ["OutputSection", "group", "is_relro"]

# Sections with these names, or one that continues such a name after a point, become part of it.
_PREFIXES = (".text", ".data.rel.ro", ".data", ".rodata", ".bss.rel.ro", ".bss")
_KEPT = (".note", ".comment")
_KEPT_PREFIXES = (".debug_", ".AMDGPU.")
_RELRO = (".data.rel.ro", ".bss.rel.ro", ".dynamic", ".relro_padding")


class OutputSection:
    """A section of the code object. pieces: what its content is made of, each with its offset."""

    __slots__ = (
        "address",
        "alignment",
        "entry_size",
        "flags",
        "info",
        "link",
        "name",
        "name_offset",
        "number",
        "offset",
        "pieces",
        "size",
        "type",
    )

    def __init__(self, name: str, type: int, flags: int, alignment: int, entry_size: int) -> None:
        self.name = name
        self.type = type
        self.flags = flags
        self.alignment = alignment
        self.entry_size = entry_size
        self.size = self.address = self.offset = self.number = 0
        self.link = self.info = self.name_offset = 0
        self.pieces: list[tuple[int, bytes, Sequence[InputSection]]] = []

    @property
    def rank(self) -> int:
        """The section's place among the others; sections of one rank stay in their order."""
        if not self.flags & ALLOCATED:
            return 1 << 26
        rank = 1 << 6 if self.type == NO_BITS else 0
        if self.flags & EXECUTABLE:
            return rank | (1 << 13 if self.flags & WRITE else 1 << 12)
        if self.flags & WRITE:
            return rank | 1 << 14 | (0 if is_relro(self) else 1 << 8)
        if self.type == NOTE:
            return rank | 2
        return rank | (1 << 11 if self.type == PROGRAM_BITS else 3)

    def add(
        self, content: bytes, size: int, alignment: int, sources: Sequence[InputSection]
    ) -> None:
        """Append a piece. sources: the input sections that it contains."""
        start = self.size + -self.size % alignment
        self.alignment = max(self.alignment, alignment)
        self.size = start + size
        self.pieces.append((start, content, sources))

    def fill(self, content: bytes, sources: Sequence[InputSection] = ()) -> OutputSection:
        """Make the content of a section that the linker makes, which has one piece; return the
        section."""
        self.pieces = [(0, content, sources)]
        self.size = len(content)
        return self

    def place_inputs(self) -> None:
        """Tell the input sections where they are now."""
        for start, _, sources in self.pieces:
            for source in sources:
                source.address = self.address + start
                source.offset = self.offset + start
                source.number = self.number


def is_relro(section: OutputSection) -> bool:
    """Return whether only the loader writes the section."""
    return section.name in _RELRO


def group(sections: list[InputSection], comment: bytes) -> list[OutputSection]:
    """Return the object's sections as those of the code object, and the linker's comment.

    comment: what the linker writes into `.comment`.
    """
    own = InputSection(
        ".comment",
        PROGRAM_BITS,
        flags=MERGED | STRINGS,
        data=comment,
        size=len(comment),
        alignment=1,
        entry_size=1,
    )
    members: dict[str, list[InputSection]] = {}
    for section in (*sections, own):
        members.setdefault(_output_name(section.name), []).append(section)
    return [_output(name, inputs) for name, inputs in members.items()]


def _output(name: str, inputs: list[InputSection]) -> OutputSection:
    first = inputs[0]
    output = OutputSection(name, first.type, 0, 1, first.entry_size)
    merged: dict[tuple[int, ...], list[InputSection]] = {}
    for section in inputs:
        if section.type != first.type:
            raise NotPlain(f"its sections for {name} are of different types")
        output.flags |= section.flags
        if section.entry_size != output.entry_size:
            output.entry_size = 0
        if not section.flags & MERGED or not section.size:
            output.add(section.data, section.size, section.alignment, [section])
            continue
        # Constants of one size are merged however they are aligned.
        alignment = section.alignment if section.flags & STRINGS else 0
        kind = (section.flags, section.entry_size, alignment)
        if kind in merged:
            merged[kind].append(section)
        else:
            merged[kind] = [section]
            # The place is that of the first such section; the content follows when all are known.
            output.pieces.append((-1, b"", merged[kind]))
    if merged:
        _place_merged(output)
    return output


def _place_merged(output: OutputSection) -> None:
    pieces, output.pieces, output.size = output.pieces, [], 0
    for start, content, sources in pieces:
        if start < 0:
            content = merge(sources)
            alignment = max(source.alignment for source in sources)
            output.add(content, len(content), alignment, sources)
        else:
            output.add(content, sources[0].size, sources[0].alignment, sources)


def _output_name(name: str) -> str:
    for prefix in _PREFIXES:
        if name == prefix or name.startswith(f"{prefix}."):
            return prefix
    if name in _KEPT or name.startswith(_KEPT_PREFIXES):
        return name
    raise NotPlain(f"it has a section {name}")


# Sections whose strings or constants are written once: their content in lld's order.
#
# lld spreads the pieces over 32 tables by their XXH3 hash and writes the tables one after another,
# each in the order in which its pieces came. Source: lld's MergeNoTailSection, which is what -O1
# uses.

_TABLES = 32


def merge(sections: Sequence[InputSection]) -> bytes:
    """Return the merged content of sections of one kind, and write down where their pieces are."""
    alignment = max(section.alignment for section in sections)
    is_strings = bool(sections[0].flags & STRINGS)
    pieces = [_strings(each) if is_strings else _constants(each) for each in sections]
    tables: list[list[bytes]] = [[] for _ in range(_TABLES)]
    seen: set[bytes] = set()
    for found in pieces:
        for piece in found:
            if piece not in seen:
                seen.add(piece)
                key = piece[:-1] if is_strings else piece
                tables[(xxh3_64_intdigest(key) & 0xFFFFFFFF) >> 27].append(piece)
    content = bytearray()
    places: dict[bytes, int] = {}
    for table in tables:
        for piece in table:
            content += bytes(-len(content) % alignment)
            places[piece] = len(content)
            content += piece
    for section, found in zip(sections, pieces, strict=True):
        section.positions = _starts(found), [places[piece] for piece in found]
    return bytes(content)


def _starts(pieces: list[bytes]) -> list[int]:
    starts, position = [], 0
    for piece in pieces:
        starts.append(position)
        position += len(piece)
    return starts


def _strings(section: InputSection) -> list[bytes]:
    if section.entry_size != 1 or not section.data.endswith(b"\0"):
        raise NotPlain(f"its section {section.name} holds no strings of bytes")
    return [text + b"\0" for text in section.data[:-1].split(b"\0")]


def _constants(section: InputSection) -> list[bytes]:
    size = section.entry_size
    if not size or section.size % size:
        raise NotPlain(f"its section {section.name} holds no constants of one size")
    return [section.data[i : i + size] for i in range(0, section.size, size)]
