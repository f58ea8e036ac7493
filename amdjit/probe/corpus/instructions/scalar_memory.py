"""Scalar loads of all sizes, from the kernel's inputs: memory that nothing writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from amdjit.isa.rows import Row
from amdjit.probe.corpus.instructions.forms import Extent
from amdjit.probe.corpus.instructions.trials import Result, Source, Trial
from amdjit.probe.machine_code import INPUT, EncodingError, Program, s, v
from amdjit.probe.machine_code.choosing import assemble_row
from amdjit.probe.machine_code.operands import Value

__all__ = ["scalar_load_trials"]

_RESULT, _RESOURCE, _OFFSET = 64, s(44, 4), s(30)
_RECORDS = 100
_RAW_WORD, _GFX9_RAW_WORD = 0x30014FAC, 0x00027FAC


@dataclass(frozen=True)
class _Form:
    name: str
    given: Mapping[str, int] = field(default_factory=dict)
    has_register: bool = False


_FORMS = (
    _Form("", {"offset": 16}),
    _Form("register", {"offset": 0}, True),
    _Form("both offsets", {"offset": 12}, True),
    _Form("far", {"offset": 96}),
)


def scalar_load_trials(row: Row, wave_size: int, extent: Extent = Extent.ALL) -> Iterator[Trial]:
    """Yield an opcode's trials: of those with other offsets, all or only the first."""
    for form in _FORMS if extent is Extent.ALL else _FORMS[:1]:
        trial = _trial(row, form, wave_size)
        if trial is not None:
            yield trial


def _trial(row: Row, form: _Form, wave_size: int) -> Trial | None:
    values: list[Value] = []
    results = []
    for operand in row.operands:
        role, dwords = operand.spec.role, operand.dwords
        if role == "sdst":
            values.append(s(_RESULT, dwords))
            results.append(Result(s(_RESULT, dwords), "b32"))
        elif role == "sbase":
            values.append(INPUT if dwords == 2 else _RESOURCE)
        elif form.has_register:
            values.append(_OFFSET)
    is_gfx9 = row.opcode.instruction_set.splits_formats
    try:
        choice = assemble_row(row, values, form.given, wave_size)
    except EncodingError:
        return None
    return Trial(
        f"{row.opcode.mnemonic} {form.name}".strip(),
        row.opcode.mnemonic,
        (row.format.name, row.opcode.code),
        # It is loaded from this row, which is the kernel's first.
        (Source(v(8), "b32", 1),),
        (),
        lambda program: _add(program, choice.code, is_gfx9),
        tuple(results),
    )


def _add(program: Program, code: bytes, is_gfx9: bool) -> None:
    first = _RESOURCE.index
    program.add("s_mov_b32", _OFFSET, 20)
    program.add("s_mov_b32", s(first), s(INPUT.index))
    program.add("s_and_b32", s(first + 1), s(INPUT.index + 1), 0xFFFF)
    program.add("s_mov_b32", s(first + 2), _RECORDS)
    program.add("s_mov_b32", s(first + 3), _GFX9_RAW_WORD if is_gfx9 else _RAW_WORD)
    program.settle()
    program.add_encoded(code)
    program.settle()
