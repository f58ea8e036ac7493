"""Which test checks an opcode. docs/generate.py prints it, and test_emulator_opcodes.py and
test_gfx11_against_model.py verify it."""

from __future__ import annotations

import re
from functools import cache

from building import CPU, using
from model.cases.catalogue import mnemonics

GFX11 = "gfx1100"
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


# The same for gfx11.
GFX11_MODEL = "instructions/test_gfx11_against_model.py"
_OWN = "instructions/test_emulator_gfx11.py"
GFX11_OUTSIDE: dict[str, tuple[str, str]] = {
    r"v_wmma_\w+": (
        "matrix/test_repeated_products.py",
        "it has a model of its own: layouts, copies and products",
    ),
    r"s_trap|s_endpgm_saved": (GFX11_MODEL, "it ends the wave: the fault is looked at"),
    r"s_sendmsg\w*": (
        GFX11_MODEL,
        "what a message does and returns is the machine's, not the wave's",
    ),
    r"s_code_end": (
        "programs/test_emulator_gfx11_programs.py",
        "padding after a kernel: nothing runs into it",
    ),
    r"s_atc_probe\w*": (GFX11_MODEL, "no assembler text stands for it, and it has no result"),
    r"s_cbranch_cdbg\w+": (_OWN, "it asks for a debugger's state, and none is attached"),
    r"ds_wrap_rtn_b32": (_OWN, "gfx12 has no such instruction: its rule stands beside its test"),
}
# The same for gfx9.
GFX9 = ("gfx908", "gfx90a", "gfx942", "gfx950")
GFX9_MODEL = "instructions/test_gfx9_against_model.py"
_GFX9_MATRIX = "matrix/test_emulator_mfma.py"
GFX9_OUTSIDE: dict[str, tuple[str, str]] = {
    r"v_s?mfma\w+": (_GFX9_MATRIX, "it has a model of its own: layouts and products"),
}


@cache
def _covered(cpu: str) -> frozenset[str]:
    with using(cpu=cpu):
        return mnemonics()


def checking_test(mnemonic: str, cpu: str = CPU) -> str:
    """Return the file of the test that checks an executed opcode of a processor."""
    model = GFX9_MODEL if cpu in GFX9 else GFX11_MODEL if cpu == GFX11 else MODEL
    return model if mnemonic in _covered(cpu) else _outside(mnemonic, cpu)[0]


def why_not_in_the_model(mnemonic: str, cpu: str = CPU) -> str:
    """Return why the model leaves out an executed opcode; "" for one that it has."""
    return "" if mnemonic in _covered(cpu) else _outside(mnemonic, cpu)[1]


def _outside(mnemonic: str, cpu: str) -> tuple[str, str]:
    tables = {GFX11: GFX11_OUTSIDE, **dict.fromkeys(GFX9, GFX9_OUTSIDE)}
    for pattern, found in tables.get(cpu, OUTSIDE).items():
        if re.fullmatch(pattern, mnemonic):
            return found
    raise KeyError(f"{mnemonic}: neither in the model of {cpu} nor with a reason")
