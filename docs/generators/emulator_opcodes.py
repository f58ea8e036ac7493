"""The page of the emulator's instructions, from the traits of opcodes, the translator's tables and
those beside the tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from amdjit.emulator.instructions.refused import refusal
from amdjit.emulator.tiers.full import executes
from amdjit.inspection.meanings import opcode_meaning
from amdjit.isa.instruction import Opcode
from amdjit.isa.instruction_set import (
    GFX11,
    GFX115,
    InstructionSet,
    instruction_set_of,
)
from amdjit.isa.rows import opcodes
from amdjit.isa.traits import Access, Traits

sys.path.append(str(Path(__file__).parents[2]))

from tests.emulator.checked_by import (
    GFX9,
    GFX9_MODEL,
    GFX11_MODEL,
    checking_test,
    why_not_in_the_model,
)
from tests.emulator.checked_by import GFX11 as GFX1100

Table = Callable[[tuple[str, ...], Iterable[tuple[str, ...]]], str]
_MODEL_OF_GFX11 = f"`{GFX11_MODEL}`"
_MODEL_OF_GFX9 = f"`{GFX9_MODEL}`"
HEAD = ("opcode", "number", "unit", "result", "does", "also", "state", "checked by, or why not")


def introduction() -> str:
    """Return what stands above the tables."""
    done = [executes(opcode) for opcode in opcodes()]
    names = {opcode.mnemonic for opcode in opcodes() if executes(opcode)}
    covered = [name for name in names if not why_not_in_the_model(name)]
    return (
        "All opcodes that the [emulator](../emulator.md) decodes, by encoding. *Executed*: the "
        "emulator runs it, and the test of `tests/emulator/` checks its results; "
        "`test_emulator_against_model.py` compares it with a model that is written from the ISA "
        "document (ALUs in all encodings and with all modifiers) and covers "
        f"{len(covered)} of the {len(names)} mnemonics; for the others a reason is given. "
        "*Decoded only*: a kernel that reaches it is refused before the launch. Images, ray "
        "tracing and exports are not decoded. "
        f"{sum(done)} opcodes are executed, {len(done) - sum(done)} are not.\n\n"
        "*Unit* is the part of the processor that executes an instruction, *result* what it "
        "writes. *Does* says what it computes: d is the destination, e a second one, a, b and c "
        "are the sources, k is the immediate. *Also* lists what else the emulator and its checks "
        "know about it: the memory that it accesses and how many bytes of it each lane moves, the "
        "wait counter that counts it "
        "(if an atomic returns nothing, that of stores), SCC and EXEC where they are no operands, "
        "and whether a wave64 executes it once rather than once for each half."
    )


def tables(table: Table) -> list[str]:
    """Return a section for each encoding of gfx12, and those of gfx11, gfx11.5 and gfx9."""
    return [
        *(
            f"## {encoding}\n\n" + table(HEAD, map(_line, rows))
            for encoding, rows in groupby(opcodes(), _format_name)
        ),
        _older(table),
        _of_salu(table),
        _of_cdna(table),
    ]


def _older(table: Table) -> str:
    """Return the section of gfx11: its own opcodes, and those that are refused there only."""
    every = list(opcodes(GFX11))
    done = sum(executes(opcode) for opcode in every)
    newer = {opcode.traits.operation for opcode in opcodes() if executes(opcode)}
    own = {
        opcode.mnemonic: opcode
        for opcode in every
        if opcode.traits.operation not in newer or _state(opcode, GFX1100)[1] != _MODEL_OF_GFX11
    }
    names = {opcode.mnemonic for opcode in every if executes(opcode)}
    covered = [name for name in names if not why_not_in_the_model(name, GFX1100)]
    text = (
        f"The processors of gfx11 have {len(every)} opcodes, of which {done} are executed and "
        f"{len(every) - done} are not. Most are those above, at times under another name. These "
        "are gfx11's own, are not executed there, or are not in the model. "
        f"`test_gfx11_against_model.py` compares {len(covered)} of the {len(names)} executed "
        "mnemonics with the model, in all forms; for the others a reason is given. "
        "`test_emulator_gfx11.py` has the modes that only gfx11 knows."
    )
    rows = [
        (
            f"`{opcode.mnemonic}`",
            opcode_meaning(opcode),
            *_state(opcode, GFX1100),
        )
        for opcode in own.values()
    ]
    return f"## gfx11\n\n{text}\n\n" + table(("opcode", "does", *HEAD[-2:]), rows)


def _of_salu(table: Table) -> str:
    """Return the section of gfx11.5: what it has beyond gfx11."""
    before = {(opcode.encoding, opcode.code) for opcode in opcodes(GFX11)}
    own = [op for op in opcodes(GFX115) if (op.encoding, op.code) not in before]
    text = (
        f"gfx1150 to gfx1153 have {len(own)} opcodes beyond those of gfx11, all of them executed: "
        "floats in the scalar ALU. `test_emulator_scalar_floats.py` compares them with the model."
    )
    rows = [
        (f"`{opcode.mnemonic}`", opcode.encoding, f"{opcode.code:#x}", opcode_meaning(opcode))
        for opcode in own
        if executes(opcode)
    ]
    assert len(rows) == len(own)
    return f"## gfx11.5\n\n{text}\n\n" + table(("opcode", "encoding", "number", "does"), rows)


def _of_cdna(table: Table) -> str:
    """Return the section of gfx9: what its processors have alone, or refuse, or is not in the
    model."""
    families = {cpu: list(opcodes(_family(cpu))) for cpu in GFX9}
    newer = {opcode.traits.operation for opcode in opcodes() if executes(opcode)}
    own: dict[tuple[str, str, str, str], list[str]] = {}
    for cpu, every in families.items():
        for mnemonic, opcode in {opcode.mnemonic: opcode for opcode in every}.items():
            state = _state(opcode, cpu)
            if opcode.traits.operation not in newer or state[1] != _MODEL_OF_GFX9:
                own.setdefault((mnemonic, opcode_meaning(opcode), *state), []).append(cpu)
    rows = [
        (f"`{name}`", "all" if len(cpus) == len(GFX9) else ", ".join(cpus), *rest)
        for (name, *rest), cpus in own.items()
    ]
    text = (
        "The table counts each CDNA processor's opcodes and how many of them the emulator "
        "executes, then the executed mnemonics and how many of those the scalar model in "
        "`test_gfx9_against_model.py` checks, in all forms, SDWA and gfx9's DPP included:\n\n"
        + table(
            ("processor", "opcodes", "executed", "mnemonics", "in the model"),
            (_counts(cpu, every) for cpu, every in families.items()),
        )
        + "\n\nMost are those of gfx12 or gfx11, at times under another name. These are gfx9's "
        "own, are not executed, or are not in the model."
    )
    return f"## gfx9\n\n{text}\n\n" + table(("opcode", "of", "does", *HEAD[-2:]), rows)


def _family(cpu: str) -> InstructionSet:
    found = instruction_set_of(cpu)
    assert found is not None
    return found


def _counts(cpu: str, every: list[Opcode]) -> tuple[str, ...]:
    done = [opcode for opcode in every if executes(opcode)]
    names = {opcode.mnemonic for opcode in done}
    covered = [name for name in names if not why_not_in_the_model(name, cpu)]
    return f"`{cpu}`", *map(str, (len(every), len(done), len(names), len(covered)))


def _format_name(opcode: Opcode) -> str:
    return "VOP3" if opcode.encoding == "VOP3SD" else opcode.encoding


def _line(opcode: Opcode) -> tuple[str, ...]:
    traits = opcode.traits
    also = ", ".join(_facts(opcode))
    return (
        f"`{opcode.mnemonic}`",
        f"{opcode.code:#x}",
        traits.unit.value,
        traits.result.value,
        opcode_meaning(opcode),
        also,
        *_state(opcode, "gfx1201"),
    )


def _state(opcode: Opcode, cpu: str) -> tuple[str, str]:
    """Return whether an opcode is executed, and what checks it or why it is not."""
    if executes(opcode):
        return "executed", _checked_by(opcode.mnemonic, cpu)
    family = opcode.instruction_set.name
    return "decoded only", str(refusal(opcode.traits.operation, family))


def _facts(opcode: Opcode) -> Iterator[str]:
    traits = opcode.traits
    if traits.memory is not None:
        yield _access(traits.memory)
    if traits.event is not None:
        counters = opcode.instruction_set.wait_counters.counted[traits.event]
        yield " and ".join(f"`{counter.name}`" for counter in counters)
    yield from _registers(traits)
    if traits.once_per_wave and traits.unit.value.startswith(("vector", "LDS", "trans")):
        yield "once for a wave64"


def _access(access: Access) -> str:
    size = f" of {access.size} bytes" if access.size else ""
    how = "transposing " if access.is_transposed else "converting " if access.converts else ""
    return f"{how}{access.kind.value}{size} ({access.space.value})"


def _registers(traits: Traits) -> Iterator[str]:
    if traits.reads_scc:
        yield "reads SCC"
    if traits.writes_scc:
        yield "writes SCC later" if traits.scc_is_late else "writes SCC"
    if traits.writes_exec:
        yield "writes EXEC"


def _checked_by(mnemonic: str, cpu: str) -> str:
    reason = why_not_in_the_model(mnemonic, cpu)
    return f"`{checking_test(mnemonic, cpu)}`" + (f": {reason}" if reason else "")
