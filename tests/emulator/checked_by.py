"""Which test checks an opcode. docs/generate.py prints it, and test_emulator_opcodes.py and
test_gfx11_against_model.py verify it."""

from __future__ import annotations

import re
from functools import cache

from tests.emulator.building import CPU, using
from tests.emulator.model.cases.catalogue import mnemonics

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
GFX9 = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")
GFX9_MODEL = "instructions/test_gfx9_against_model.py"
_GFX9_MEMORY = "memory/test_emulator_gfx9_memory.py"
_OF_GFX950 = "instructions/test_gfx950_instructions.py"
_OWN_RULE = "only gfx950 has it: its rule stands beside its test"
GFX9_OUTSIDE: dict[str, tuple[str, str]] = {
    r"v_mfma_scale_\w+|v_mfma_\w+_f8f6f4": (
        "matrix/test_scaled_mfma.py",
        "it has a model of its own: layouts, scales and products",
    ),
    r"v_s?mfma\w+": (
        "matrix/test_mfma_products.py",
        "it has a model of its own: layouts and products",
    ),
    r"ds_\w+_src2_\w+": (_GFX9_MEMORY, "only gfx908 has it: its rule stands beside its test"),
    r"scratch_load_lds_\w+|global_load_lds_dwordx\d": (
        _GFX9_MEMORY,
        "its place in LDS is that of loads of global memory, which the model has",
    ),
    r"s_mem(real)?time": (GFX9_MODEL, "it reads a clock: that it goes on is tested"),
    r"s_trap": (GFX9_MODEL, "it ends the wave: the fault is looked at"),
    r"s_sendmsg": (GFX9_MODEL, "what a message does is the machine's, not the wave's"),
    r"ds_read_b\d+_tr_b\d+": (_OF_GFX950, _OWN_RULE),
    r"v_cvt_scalef32_\w+": ("instructions/test_scaled_floats.py", _OWN_RULE),
    r"v_(prng_b32|bitop3_\w+|ashr_pk_\w+|permlane\w+|pk_m\w+3_f16|m\w+imum3_f32)": (
        _OF_GFX950,
        _OWN_RULE,
    ),
    r"v_cvt_(f32_bf16|pk_b?f16_f32|sr_b?f16_f32)": (_OF_GFX950, _OWN_RULE),
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
