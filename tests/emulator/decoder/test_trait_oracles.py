"""Traits of opcodes against LLVM's own facts.

llvm-mca says what loads and stores, and on which part of the processor it runs; llc, which reads
machine code as text, says which registers are used without being named.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import Opcode
from amdjit.isa.rows import opcodes
from amdjit.isa.text import disassemble
from amdjit.isa.traits import MemoryKind, Traits, Unit
from tests.emulator.decoder.assembler import assemble_each
from tests.emulator.decoder.objdump import ASSEMBLER, CPU
from tests.emulator.decoder.random_code import pieces

ANALYSER, COMPILER = "llvm-mca-22", "/usr/lib/llvm-22/bin/llc"
TARGET = ("-mtriple=amdgcn-amd-amdhsa", f"-mcpu={CPU}")
ABSENT = [tool for tool in (ANALYSER, COMPILER, ASSEMBLER) if shutil.which(tool) is None]
pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"{', '.join(ABSENT)} not installed")

SCALAR = ("SOP1", "SOP2", "SOPC", "SOPK", "SOPP")
# The analyser crashes on these.
CRASHES = re.compile(r"buffer_load_d16_(hi_)?[uib]\d+ ")
# Prefetches change nothing that a program sees, LLVM keeps them in place; those that read LDS for
# graphics go to no address.
NO_ACCESS = {"s_wakeup", "ds_param_load", "ds_direct_load"}
# LLVM keeps SCC for barriers that are not there.
KEEPS_SCC = "s_barrier_signal_isfirst"
UNITS = {
    Unit.SALU: {"HWSALU", "HWBranch"},
    Unit.VALU: {"HWVALU"},
    Unit.TRANSCENDENTAL: {"HWVALU"},
    Unit.SCALAR_MEMORY: {"HWLGKM"},
    Unit.LDS: {"HWLGKM"},
    Unit.LDS_DIRECT: {"HWLGKM"},
    Unit.VECTOR_MEMORY: {"HWVMEM"},
}
QUIET = {**os.environ, "LLVM_DISABLE_CRASH_REPORT": "1", "LLVM_DISABLE_SYMBOLIZATION": "1"}
MISSING = re.compile(r"missing implicit register operand '([^']+)'")


def run(command: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, env=QUIET
    )


@cache
def samples() -> Mapping[Opcode, str]:
    """Return assembler text of nearly every opcode, without DPP and dual issue."""
    found, texts = [], []
    for piece in pieces(random.Random(3), 12, 0):
        try:
            instruction = decode(piece.code, 0, 0)
        except UndecodableInstruction:
            continue
        if instruction.modifiers.dpp is None and instruction.pair is None:
            found.append(instruction)
            texts.append(disassemble(instruction))
    assembled = assemble_each(texts)
    pairs = zip(found, assembled, strict=True)
    return {instruction.opcode: known.text for instruction, known in pairs if known is not None}


@cache
def analysis() -> tuple[tuple[tuple[Opcode, bool, bool, frozenset[str]], ...], int]:
    """Return (opcode, may load, may store, resources) of what the analyser takes."""
    wanted = [(opcode, text) for opcode, text in samples().items() if not CRASHES.match(text)]
    done = run(
        [ANALYSER, *TARGET, "--json", "-instruction-tables"], "\n".join(t for _, t in wanted)
    )
    report = json.loads(done.stdout)
    region, names = report["CodeRegions"][0], report["TargetInfo"]["Resources"]
    used: list[set[str]] = [set() for _ in wanted]
    for entry in region["ResourcePressureView"]["ResourcePressureInfo"]:
        if entry["InstructionIndex"] < len(used):
            used[entry["InstructionIndex"]].add(names[entry["ResourceIndex"]])
    facts = region["InstructionInfoView"]["InstructionList"]
    rows = zip(wanted, facts, used, strict=True)
    return tuple(
        (opcode, fact["mayLoad"], fact["mayStore"], frozenset(resources))
        for (opcode, _), fact, resources in rows
    ), len(wanted)


def test_nearly_every_mnemonic_is_analysed() -> None:
    """The others are the buffer loads that crash the analyser, and halves that it does not name."""
    known = {opcode.mnemonic for opcode, *_ in analysis()[0]}
    every = {opcode.mnemonic for opcode in opcodes() if not opcode.traits.is_dual}
    assert len(every - known) < len(every) // 20, sorted(every - known)


def test_loads_stores_and_atomics_are_llvms() -> None:
    wrong = [
        (opcode.mnemonic, loads, stores)
        for opcode, loads, stores, _ in analysis()[0]
        if opcode.mnemonic not in NO_ACCESS and (loads, stores) != expected(opcode.traits)
    ]
    assert not wrong


def expected(traits: Traits) -> tuple[bool, bool]:
    """Return whether LLVM says that such an instruction may load, and may store."""
    kind = traits.memory.kind if traits.memory is not None else None
    both = kind in (MemoryKind.ATOMIC, MemoryKind.PREFETCH)
    return both or kind is MemoryKind.LOAD, both or kind is MemoryKind.STORE


def test_units_are_llvms() -> None:
    wrong = [
        (opcode.mnemonic, sorted(resources))
        for opcode, _, _, resources in analysis()[0]
        if resources and not resources & UNITS[opcode.traits.unit]
    ]
    assert not wrong


def implied_registers(name: str) -> set[str]:
    """Return the registers that llc wants an instruction to name and the assembler does not."""
    found: list[str] = []
    while True:
        text = f"---\nname: f\nbody: |\n  bb.0:\n    {name} {', '.join(found)}\n...\n"
        command = [COMPILER, *TARGET, "-run-pass=none", "-x", "mir", "-", "-o", os.devnull]
        missing = MISSING.search(run(command, text).stderr)
        if missing is None:
            return {register.replace("_lo", "") for register in found}
        found.append(missing[1])


def implied_by_traits(traits: Traits) -> set[str]:
    found = {"implicit $scc"} if traits.reads_scc else set()
    found |= {"implicit-def $scc"} if traits.writes_scc else set()
    found |= {"implicit-def $exec"} if traits.writes_exec else set()
    if traits.condition is not None:
        found.add(f"implicit ${traits.condition.flag.name.lower()}")
    return found


@pytest.mark.exhaustive
def test_scalar_instructions_touch_what_llvm_says() -> None:
    wanted = {opcode: text for opcode, text in samples().items() if opcode.encoding in SCALAR}
    assert len(wanted) > 250
    command = [ASSEMBLER, "-triple=amdgcn-amd-amdhsa", f"-mcpu={CPU}", "--show-inst"]
    shown = run(command, "\n".join(wanted.values())).stdout
    names = [re.sub(r"_gfx\w+$", "", name) for name in re.findall(r"<MCInst #\d+ (\w+)", shown)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(threads.map(implied_registers, names))
    wrong = []
    for opcode, registers in zip(wanted, found, strict=True):
        counted = {
            text for text in registers if "scc" in text or "vcc" in text or "def $exec" in text
        }
        counted |= {"implicit $exec"} & registers if opcode.traits.condition else set()
        counted -= {"implicit $scc"} if opcode.mnemonic == KEEPS_SCC else set()
        if counted != implied_by_traits(opcode.traits):
            wrong.append((opcode.mnemonic, sorted(registers)))
    assert not wrong
