"""Which test checks an opcode. docs/generate.py prints it, and test_emulator_opcodes.py verifies
it."""

from __future__ import annotations

import re

from model.cases.catalogue import mnemonics

MODEL = "instructions/test_emulator_against_model.py"
OTHERS = "instructions/test_emulator_rare_instructions.py"
# What the model leaves out: the test that has it instead, and why. The first pattern that matches a
# mnemonic counts.
OUTSIDE: dict[str, tuple[str, str]] = {
    r"v_(wmma|swmmac)_\w+": (
        "matrix/test_emulator_matrix.py",
        "it has a NumPy model of its own: layouts and products",
    ),
    r"global_load_tr_b\d+": (
        OTHERS,
        "the ISA document does not print its lanes; they are those measured on gfx1201",
    ),
    r"s_barrier_\w+|s_get_barrier_state": (
        "scheduling/test_emulator_barriers.py",
        "it acts between waves: whole workgroups are run",
    ),
    r"s_trap|s_endpgm_saved": (
        "launch/test_emulator_faults.py",
        "it ends the wave: the fault is looked at",
    ),
    r"s_sendmsg\w*": (OTHERS, "what a message does and returns is the machine's, not the wave's"),
    r"s_code_end": (
        "launch/test_emulator_launches.py",
        "padding after a kernel: nothing runs into it",
    ),
    r"s_atc_probe\w*|s_waitcnt": (OTHERS, "no assembler text stands for it, and it has no result"),
}
TESTS: dict[str, str] = {pattern: file for pattern, (file, _) in OUTSIDE.items()}


def checking_test(mnemonic: str) -> str:
    """Return the file of the test that checks an executed opcode."""
    return MODEL if mnemonic in mnemonics() else _outside(mnemonic)[0]


def why_not_in_the_model(mnemonic: str) -> str:
    """Return why the model leaves out an executed opcode; "" for one that it has."""
    return "" if mnemonic in mnemonics() else _outside(mnemonic)[1]


def _outside(mnemonic: str) -> tuple[str, str]:
    for pattern, found in OUTSIDE.items():
        if re.fullmatch(pattern, mnemonic):
            return found
    raise KeyError(f"{mnemonic}: neither in the model nor with a reason")
