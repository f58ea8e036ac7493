"""The reference pages of the matrix instructions: a row for each, what is known about their sums,
pictures of layouts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from amdjit.intrinsics import matrix
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.matrix.multiply.certainty import GFX11_KNOWN, KNOWN, cdna_known, certainty
from amdjit.intrinsics.matrix.multiply.instructions import operand_types
from amdjit.intrinsics.models.certainty import MEANING, Known
from amdjit.intrinsics.models.matrix_layouts import (
    GFX11_INSTRUCTIONS,
    OPERANDS,
    Layout,
    MatrixInstruction,
)
from amdjit.intrinsics.models.mfma_instructions import CDNA, MfmaInstruction
from generators.layout_pictures import FOLDER, file_name, picture

EMULATOR = Path(__file__).parents[1] / "emulator.md"
INTRODUCTION = (
    "Where each element of a matrix lies in a wave's registers, for the WMMA and SWMMAC "
    "instructions of gfx12: each row and column shows `lane.element`, with the first element of a "
    "lane in the lowest bits and a colour for every 16 lanes. A sparse A is shown as it is held, "
    "with two of every four elements; the operand `index` says which two. Instructions with the "
    "same layout share a picture. `amdjit layout NAME --operand a` prints a layout as text, "
    "`matrix.layout(name, operand).element(lane, i)` returns a place, and [Matrix "
    "instructions](matrix_instructions.md) lists all instructions."
)
INSTRUCTIONS_INTRODUCTION = (
    "All WMMA and SWMMAC instructions of gfx12: D = A B + C, computed by one wave. The functions "
    "of `amdjit.intrinsics.matrix` are the same in waves of 32 and 64 lanes, but a lane holds "
    "different parts of the operands. A and B are given as rows by columns; of a sparse A, half "
    "the columns are held. The types beside them are what a lane passes to the function; any of "
    "several may be used. The index is an i32. Where a lane's positions take only part of it, "
    "`key` says which part. [Matrix layouts](matrix_layouts.md) shows which lane holds which "
    "element. *Sums* says how well the result of a GPU is known, as explained below."
)
INSTRUCTIONS_HEAD = (
    "function", "wave", "A", "in a lane", "B", "in a lane", "C and D in a lane", "index", "sums",
    "processors",
)  # fmt: skip
KNOWN_INTRODUCTION = (
    "What is known about the sums of gfx12's matrix and dot instructions, which the emulator and "
    "the models on the host compute alike; `matrix.certainty(name)` returns the first column. What "
    "was measured on a gfx1201 is a rule for gfx1200, of which no results are published. "
    "[Matrix cores](../matrix.md#how-a-sum-is-rounded) explains how a sum is made."
)
GFX11_INTRODUCTION = (
    "The WMMA instructions of gfx11, by the same functions: A and B are held by each group of 16 "
    "lanes, and a C of 16-bit elements has a register for each, of which the lower half counts. "
    "`amdjit layout NAME --operand a --target gfx1100` prints a layout; `matrix.layout`, "
    '`matrix.reference` and `matrix.certainty` take `target="gfx1100"`. The second table says what '
    "is known about sums."
)
CDNA_INTRODUCTION = (
    "The MFMA and SMFMAC instructions of CDNA, in waves of 64 lanes, by clang's names, which are "
    "those of `amdjit.intrinsics.amdgcn`. An instruction multiplies several independent *blocks* "
    "at once. Registers are those of a lane; of a scaled product (`f8f6f4`) they depend on the "
    "format. *cbsz* and *blgp* are the largest numbers of these modifiers, for which "
    "[CDNA](../matrix.md#cdna) gives the meaning; on gfx942 and gfx950 the bits of *blgp* negate "
    "in products of f64. 8-bit floats are of the FNUZ formats on gfx942 and OCP's on gfx950."
)
CDNA_HEAD = (
    "instruction", "blocks", "A", "B", "registers of A, B, C", "index or scales", "cbsz", "blgp",
    "sums",
)  # fmt: skip
KNOWN_HEAD = ("sums", "instructions", "source", "not known")
_MARKED = re.compile(r"(<!-- generated: certainty -->\n).*?(<!-- end -->)", re.DOTALL)


def instruction_rows(
    instructions: Mapping[str, MatrixInstruction], target: str | None
) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each instruction; a function's instructions are adjacent."""
    for instruction in instructions.values():
        a, b, c = (instruction.layout(operand) for operand in "abc")
        yield (
            f"`{function_name(instruction)}`",
            str(instruction.wave_size),
            f"{a.rows} by {instruction.k} of {a.kind}",
            _types(a),
            f"{b.rows} by {b.columns} of {b.kind}",
            _types(b),
            _types(c),
            _index(instruction),
            certainty(instruction.mnemonic, target),
            ", ".join(row_of(instruction.name).targets),
        )


def cdna_rows() -> Iterator[tuple[str, ...]]:
    """Yield the cells of each instruction of CDNA, once for all of its processors."""
    names = dict.fromkeys(name for target in CDNA for name in matrix.mfma_instructions(target))
    for name in names:
        there = {
            target: matrix.mfma_instructions(target)[name]
            for target in CDNA
            if name in matrix.mfma_instructions(target)
        }
        shown = list(there.values())[-1]
        words = [f"{certainty(name, target)} ({target})" for target in there]
        registers = ", ".join(str(shown.layout(operand).registers) for operand in "abc")
        yield (
            f"`{name}`",
            str(shown.blocks),
            f"{shown.m} by {shown.k} of {shown.a}",
            f"{shown.k} by {shown.n} of {shown.b}",
            f"up to {registers}" if shown.is_scaled else registers,
            _more_operands(shown),
            "formats of A" if shown.is_scaled else str(shown.highest_cbsz),
            "formats of B" if shown.is_scaled else str(shown.highest_blgp),
            ", ".join(words),
        )


def _more_operands(instruction: MfmaInstruction) -> str:
    if instruction.is_scaled:
        return "a scale for 32 elements"
    if not instruction.is_sparse:
        return ""
    layout = instruction.layout("index")
    return f"{layout.set_bits} bits, abid 0 to {layout.sets - 1}"


def meanings() -> str:
    """Return what the words for certainty mean, as a list."""
    return "\n".join(f"- *{name}*: {meaning}." for name, meaning in MEANING.items())


def known_rows(rows: Mapping[str, Known]) -> Iterator[tuple[str, ...]]:
    """Yield what is known about sums, with a row for all instructions of which the same is
    known."""
    for known in sorted(
        dict.fromkeys(rows.values()), key=lambda known: list(MEANING).index(known.certainty)
    ):
        names = (f"`v_{name}`" for name, other in rows.items() if other == known)
        yield known.certainty, ", ".join(names), known.source, known.open


def with_certainty(file: Path, table: Callable[..., str]) -> str:
    """Return a file's text with the table about sums put where the text marks its place."""
    rows = table(KNOWN_HEAD, list(known_rows(KNOWN)))
    return _MARKED.sub(lambda match: f"{match[1]}{rows}\n{match[2]}", file.read_text())


def function_name(instruction: MatrixInstruction) -> str:
    """Return an instruction's name in `amdjit.intrinsics.matrix`, the same for both wave sizes."""
    return re.sub(r"_w\d\d(_gfx12)?$", "", instruction.name)


def _types(layout: Layout) -> str:
    return " or ".join(f"`{type}`" for type in operand_types(layout))


def _index(instruction: MatrixInstruction) -> str:
    if not instruction.is_sparse:
        return ""
    layout = instruction.layout("index")
    bits = layout.bits * layout.elements
    return f"{bits} bits, key 0 to {layout.sets - 1}" if layout.sets > 1 else f"{bits} bits"


def sections() -> Iterator[str]:
    """Yield a heading, the instructions, and the picture of each layout, by wave size and
    operand."""
    for wave_size in (32, 64):
        for title, operands in (("A", "a"), ("B", "b"), ("C and D", "d"), ("index", "index")):
            for group in _groups(wave_size, operands):
                yield f"## {title}, wave{wave_size}: {_kinds(group)}"
                yield "Of " + ", ".join(f"`{layout.instruction}`" for layout in group) + "."
                yield matrix.layout_map(group[0]).splitlines()[1] + "."
                shown = group[0]
                picture = f"{FOLDER.name}/{file_name(shown)}"
                yield f"![{shown.operand} of {shown.instruction}]({picture})"


def pictured() -> Iterator[Layout]:
    """Yield the layouts that have a picture: one of those that share it."""
    for wave_size in (32, 64):
        for operand in ("a", "b", "d", "index"):
            for group in _groups(wave_size, operand):
                yield group[0]


def _groups(wave_size: int, operand: str) -> list[list[Layout]]:
    """Return the layouts of an operand, grouped by picture."""
    assert operand in OPERANDS
    found: dict[object, list[Layout]] = {}
    for instruction in matrix.INSTRUCTIONS.values():
        if instruction.wave_size == wave_size and (instruction.is_sparse or operand != "index"):
            layout = instruction.layout(operand)
            found.setdefault(
                (layout.rows, layout.columns, layout.lanes, layout.elements, layout.steps), []
            ).append(layout)
    return list(found.values())


def _kinds(group: list[Layout]) -> str:
    kinds = ", ".join(dict.fromkeys(_kind(layout) for layout in group))
    return f"{group[0].rows} by {group[0].columns} of {kinds}"


def _kind(layout: Layout) -> str:
    """Return the type of the elements; for an index, of the elements whose places it holds."""
    return (
        matrix.matrix_instruction(layout.instruction).a
        if layout.operand == "index"
        else layout.kind
    )


def _instruction_parts(table: Callable[..., str]) -> Iterator[str]:
    yield table(INSTRUCTIONS_HEAD, list(instruction_rows(matrix.INSTRUCTIONS, None)))
    yield f"## Sums\n\n{KNOWN_INTRODUCTION}"
    yield meanings()
    yield table(KNOWN_HEAD, list(known_rows(KNOWN)))
    yield f"## gfx11\n\n{GFX11_INTRODUCTION}"
    yield table(INSTRUCTIONS_HEAD, list(instruction_rows(GFX11_INSTRUCTIONS, "gfx1100")))
    yield table(KNOWN_HEAD, list(known_rows(GFX11_KNOWN)))
    yield f"## CDNA\n\n{CDNA_INTRODUCTION}"
    yield table(CDNA_HEAD, list(cdna_rows()))
    for target in CDNA:
        yield f"### Sums of {target}"
        yield table(KNOWN_HEAD, list(known_rows(cdna_known(target))))


def pages(page: Callable[..., str], table: Callable[..., str]) -> dict[Path, Callable[[], str]]:
    """Return the files and the functions that make them. page, table: those of `generate`."""
    source = "intrinsics/models/matrix_layouts.py"
    return {
        FOLDER.with_suffix(".md"): partial(
            page, "Matrix layouts", source, INTRODUCTION, tuple(sections())
        ),
        FOLDER.with_name("matrix_instructions.md"): partial(
            page,
            "Matrix instructions",
            source,
            INSTRUCTIONS_INTRODUCTION,
            tuple(_instruction_parts(table)),
        ),
        EMULATOR: partial(with_certainty, EMULATOR, table),
        **{FOLDER / file_name(layout): partial(picture, layout) for layout in pictured()},
    }
