"""Every instruction that has an emitter becomes code that LLVM accepts, with full and with partial
EXEC.

LLVM ends the process on some mistakes, so a child process does the work.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from amdjit.emulator.checks.session import CHECKS
from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.host.native_library import NATIVES
from amdjit.emulator.host.native_sources import Source, Variant, all_makers
from amdjit.emulator.instructions.tables import EMITTERS
from amdjit.emulator.native_sources import ROOMS
from amdjit.emulator.tiers.full import WaveFunction, translate_wave
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.gfx12_tables import ROWS
from amdjit.isa.instruction import (
    Dpp,
    InlineConstant,
    Instruction,
    Literal,
    Modifiers,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.rows import OperandRow, Row, row_of

PC = 0x1000
BATCH = 40
IMMEDIATES = {
    **{"simm16": 3, "offset": 16, "offset0": 1, "offset1": 5, "scope": 0, "th": 0, "byte_sel": 1},
    **{
        "hwreg_id": 29,
        "hwreg_offset": 0,
        "hwreg_size": 32,
        "message": 0x83,
        "offen": 1,
        "idxen": 0,
        "tfe": 0,
        "format": 20,
    },
}
# Those that take only some immediates or registers, which other tests cover.
ELSEWHERE = {
    "s_round_mode",
    "s_denorm_mode",
    "s_setreg_imm32_b32",
    "s_setreg_b32",
    "s_sendmsg_rtn_b32",
    "v_pipeflush",
}


def operand_of(row: OperandRow, number: int) -> Operand | None:
    dwords = row.spec.dwords
    fixed: dict[str, Operand | None] = {
        "vcc": Register(RegisterFile.VCC, 0),
        "exec": Register(RegisterFile.EXEC, 0),
        "literal": Literal(0x12345678),
        "returned": Register(RegisterFile.VGPR, 70, dwords),
        "null": None,
    }
    if row.takes in fixed:
        return fixed[row.takes]
    if row.takes == "off":
        return (
            Register(RegisterFile.SGPR, 8, dwords)
            if row.spec.role == "saddr"
            else Register(RegisterFile.VGPR, 60, 2)
        )
    if "v" in row.takes:
        return Register(RegisterFile.VGPR, 10 + number * 16, dwords, 1 if row.half else None)
    return Register(RegisterFile.SGPR, 8 + number * 16, dwords)


def modifiers_of(row: Row) -> Iterator[Modifiers]:
    """Plain, with several together, and with each one that the opcode takes."""
    yield Modifiers()
    packed = row.format.name == "VOP3P"
    if packed or row.format.name == "VOP3":
        neg, absolute = row.flags.get("neg", 0), row.flags.get("abs", 0)
        yield Modifiers(
            neg=neg & 1, neg_hi=neg & 2 if packed else 0, abs=absolute & 2, op_sel=5, op_sel_hi=2
        )
    if row.flags.get("clamp"):
        yield Modifiers(clamp=True)
    for name in ("neg", "abs", "neg_hi"):
        if row.flags.get(name):
            yield replace(Modifiers(), **{name: row.flags[name]})
    if row.flags.get("omod"):
        yield Modifiers(omod=3, clamp=bool(row.flags.get("clamp")))
    if row.has("dpp16"):
        yield Modifiers(dpp=Dpp(control=0x111))
        yield Modifiers(dpp=Dpp(lanes=(1, 2, 3, 4, 5, 6, 7, 0)))


def instructions() -> Iterator[Instruction]:
    for form, codes in ROWS.items():
        for code in codes if not form.startswith("VOPD") else ():
            row = row_of(form, code)
            assert row is not None
            if row.opcode.mnemonic not in EMITTERS or row.opcode.mnemonic in ELSEWHERE:
                continue
            operands = tuple(
                operand_of(operand, number) for number, operand in enumerate(row.operands)
            )
            if "barrier" in row.opcode.mnemonic and operands:
                operands = (*operands[:-1], InlineConstant(1, 129))
            for modifiers in modifiers_of(row):
                yield Instruction(PC, 4, row.opcode, operands, IMMEDIATES, modifiers)


def translate(batch: list[Instruction], full: bool, attributes: str) -> WaveFunction:
    end = row_of("SOPP", 0x30)
    assert end is not None
    last = Instruction(PC, 4, end.opcode, (), IMMEDIATES)
    graph = Graph(PC, {PC: Block((*batch, last), ())}, ())
    return translate_wave(graph, full, attributes)


def every_native() -> dict[str, Source]:
    """Return what makes the text of each native function, those of the checks as well."""
    rooms = [NATIVES, *ROOMS, *(room for check in CHECKS for room in check.natives)]
    return all_makers(rooms, Variant(16, "silicon"))


def compile_everything() -> None:
    compiler = HostCompiler()
    every = list(instructions())
    known = set(every_native())
    for start in range(0, len(every), BATCH):
        batch = every[start : start + BATCH]
        for full in (True, False):
            function = translate(batch, full, compiler.function_attributes)
            assert function.natives <= known, function.natives - known
            assert len(compiler.compile(function.text).image) > 500
    print(len({item.mnemonic for item in every}), "mnemonics")


def test_llvm_accepts_every_instruction() -> None:
    command = [sys.executable, __file__]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=paths
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[0]) > 850


@pytest.mark.exhaustive
def test_every_native_function_compiles() -> None:
    compiler = HostCompiler()
    for symbol, make in every_native().items():
        assert symbol.encode() in compiler.compile(make(compiler.function_attributes)).image


if __name__ == "__main__":
    compile_everything()
