"""Which test checks an opcode. docs/generate.py prints it; test_emulator_opcodes.py holds it to that."""

from __future__ import annotations

import re

from model.catalogue import mnemonics

MODEL = "test_emulator_against_model.py"
# The first pattern that a whole mnemonic matches counts. What the model has comes before all of them.
TESTS: dict[str, str] = {
    r"v_(wmma|swmmac)_\w+": "test_emulator_matrix.py",
    r"v_permlane64_b32|ds_bpermute_fi_b32": "test_emulator_wave64.py",
    r"v_permlanex16_var_b32": "test_emulator_rare_instructions.py",
    r"v_trig_preop_f64|v_mqsad_u32_u8": "test_emulator_rare_vectors.py",
    r"v_movrel(s|d|sd_2)_b32": "test_emulator_cross_lane.py",
    r"v_permlane\w+|v_(read|write)\w*lane_b32|v_swap_b32|ds_(b?permute|swizzle)\w*": "test_emulator_cross_lane.py",
    r"v_dot2_(f16_f16|bf16_bf16)": "test_emulator_vector_floats.py",
    r"v_div_(scale|fmas)_\w+": "test_emulator_kernels.py",
    r"s_\w+_saveexec_b64": "test_emulator_wave64.py",
    r"s_(round|denorm)_mode|s_setreg\w*": "test_emulator_float_mode.py",
    r"s_trap|s_endpgm_saved": "test_emulator_faults.py",
    r"s_call_b64": "test_emulator_scalars.py",
    r"s_(swappc|setpc|getpc)_b64|s_cbranch_\w+|s_branch|s_endpgm": "test_emulator_kernels.py",
    r"s_barrier_\w+|s_get_barrier_state": "test_emulator_barriers.py",
    r"s_sleep|s_code_end": "test_emulator_launches.py",
    r"ds_(load|store)_2addr_(stride64_)?b32|s_wait_(loadcnt|dscnt|kmcnt)": "test_emulator_memory.py",
}
OTHERS = "test_emulator_rare_instructions.py"


def checking_test(mnemonic: str) -> str:
    """Return the file of the test that checks an executed opcode."""
    if mnemonic in mnemonics():
        return MODEL
    for pattern, file in TESTS.items():
        if re.fullmatch(pattern, mnemonic):
            return file
    return OTHERS
