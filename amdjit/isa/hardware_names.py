"""LLVM's names of hardware registers, messages and controls of DPP, by number, for each processor
family."""

from __future__ import annotations

from collections.abc import Mapping

GFX12_REGISTERS: Mapping[int, str] = {
    1: "HW_REG_WAVE_MODE",
    2: "HW_REG_WAVE_STATUS",
    4: "HW_REG_WAVE_STATE_PRIV",
    5: "HW_REG_WAVE_GPR_ALLOC",
    6: "HW_REG_WAVE_LDS_ALLOC",
    7: "HW_REG_IB_STS",
    10: "HW_REG_PERF_SNAPSHOT_DATA",
    11: "HW_REG_PERF_SNAPSHOT_PC_LO",
    12: "HW_REG_PERF_SNAPSHOT_PC_HI",
    15: "HW_REG_PERF_SNAPSHOT_DATA1",
    16: "HW_REG_PERF_SNAPSHOT_DATA2",
    17: "HW_REG_WAVE_EXCP_FLAG_PRIV",
    18: "HW_REG_WAVE_EXCP_FLAG_USER",
    19: "HW_REG_WAVE_TRAP_CTRL",
    20: "HW_REG_WAVE_SCRATCH_BASE_LO",
    21: "HW_REG_WAVE_SCRATCH_BASE_HI",
    23: "HW_REG_WAVE_HW_ID1",
    24: "HW_REG_WAVE_HW_ID2",
    26: "HW_REG_WAVE_SCHED_MODE",
    29: "HW_REG_SHADER_CYCLES_LO",
    30: "HW_REG_SHADER_CYCLES_HI",
    31: "HW_REG_WAVE_DVGPR_ALLOC_LO",
    32: "HW_REG_WAVE_DVGPR_ALLOC_HI",
}
GFX12_MESSAGES: Mapping[int, str] = {
    1: "MSG_INTERRUPT",
    2: "MSG_HS_TESSFACTOR",
    3: "MSG_DEALLOC_VGPRS",
    9: "MSG_GS_ALLOC_REQ",
    128: "MSG_RTN_GET_DOORBELL",
    129: "MSG_RTN_GET_DDID",
    130: "MSG_RTN_GET_TMA",
    131: "MSG_RTN_GET_REALTIME",
    132: "MSG_RTN_SAVE_WAVE",
    133: "MSG_RTN_GET_TBA",
    134: "MSG_RTN_GET_TBA_TO_PC",
    135: "MSG_RTN_GET_SE_AID_ID",
}

GFX11_REGISTERS: Mapping[int, str] = {
    1: "HW_REG_MODE",
    2: "HW_REG_STATUS",
    3: "HW_REG_TRAPSTS",
    5: "HW_REG_GPR_ALLOC",
    6: "HW_REG_LDS_ALLOC",
    7: "HW_REG_IB_STS",
    15: "HW_REG_SH_MEM_BASES",
    18: "HW_REG_PERF_SNAPSHOT_PC_LO",
    19: "HW_REG_PERF_SNAPSHOT_PC_HI",
    20: "HW_REG_FLAT_SCR_LO",
    21: "HW_REG_FLAT_SCR_HI",
    23: "HW_REG_HW_ID1",
    24: "HW_REG_HW_ID2",
    27: "HW_REG_PERF_SNAPSHOT_DATA",
    29: "HW_REG_SHADER_CYCLES",
}
GFX11_MESSAGES: Mapping[int, str] = {
    1: "MSG_INTERRUPT",
    2: "MSG_HS_TESSFACTOR",
    3: "MSG_DEALLOC_VGPRS",
    5: "MSG_STALL_WAVE_GEN",
    6: "MSG_HALT_WAVES",
    9: "MSG_GS_ALLOC_REQ",
    128: "MSG_RTN_GET_DOORBELL",
    129: "MSG_RTN_GET_DDID",
    130: "MSG_RTN_GET_TMA",
    131: "MSG_RTN_GET_REALTIME",
    132: "MSG_RTN_SAVE_WAVE",
    133: "MSG_RTN_GET_TBA",
    134: "MSG_RTN_GET_TBA_TO_PC",
}

GFX9_REGISTERS: Mapping[int, str] = {
    1: "HW_REG_MODE",
    2: "HW_REG_STATUS",
    3: "HW_REG_TRAPSTS",
    4: "HW_REG_HW_ID",
    5: "HW_REG_GPR_ALLOC",
    6: "HW_REG_LDS_ALLOC",
    7: "HW_REG_IB_STS",
    15: "HW_REG_SH_MEM_BASES",
    16: "HW_REG_TBA_LO",
    17: "HW_REG_TBA_HI",
    18: "HW_REG_TMA_LO",
    19: "HW_REG_TMA_HI",
}
GFX942_REGISTERS: Mapping[int, str] = {
    **GFX9_REGISTERS,
    20: "HW_REG_XCC_ID",
    21: "HW_REG_SQ_PERF_SNAPSHOT_DATA",
    22: "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
    23: "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
    24: "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
}
GFX9_MESSAGES: Mapping[int, str] = {
    1: "MSG_INTERRUPT",
    2: "MSG_GS",
    3: "MSG_GS_DONE",
    4: "MSG_SAVEWAVE",
    5: "MSG_STALL_WAVE_GEN",
    6: "MSG_HALT_WAVES",
    7: "MSG_ORDERED_PS_DONE",
    8: "MSG_EARLY_PRIM_DEALLOC",
    9: "MSG_GS_ALLOC_REQ",
    10: "MSG_GET_DOORBELL",
    15: "MSG_SYSMSG",
}
_GS_OPERATIONS = {0: "GS_OP_NOP", 1: "GS_OP_CUT", 2: "GS_OP_EMIT", 3: "GS_OP_EMIT_CUT"}
# Messages that have an operation.
GFX9_MESSAGE_OPERATIONS: Mapping[int, Mapping[int, str]] = {
    2: _GS_OPERATIONS,
    3: _GS_OPERATIONS,
    15: {
        1: "SYSMSG_OP_ECC_ERR_INTERRUPT",
        2: "SYSMSG_OP_REG_RD",
        3: "SYSMSG_OP_HOST_TRAP_ACK",
        4: "SYSMSG_OP_TTRACE_PC",
    },
}


def _numbered(names: Mapping[int, str], first: int) -> Mapping[int, str]:
    """Return the controls that have a number in their low four bits, from `first` on."""
    return {
        high << 4 | low: f"{name}:{low}" for high, name in names.items() for low in range(first, 16)
    }


# The greatest control of DPP that is a permutation of four lanes; the names of those above.
QUAD_PERMUTATIONS = 0xFF
_EVERY_DPP = {
    **_numbered({0x10: "row_shl", 0x11: "row_shr", 0x12: "row_ror"}, 1),
    0x140: "row_mirror",
    0x141: "row_half_mirror",
}
GFX11_DPP: Mapping[int, str] = {
    **_EVERY_DPP,
    **_numbered({0x15: "row_share", 0x16: "row_xmask"}, 0),
}
GFX9_DPP: Mapping[int, str] = {
    **_EVERY_DPP,
    0x130: "wave_shl:1",
    0x134: "wave_rol:1",
    0x138: "wave_shr:1",
    0x13C: "wave_ror:1",
    0x142: "row_bcast:15",
    0x143: "row_bcast:31",
}
GFX90A_DPP: Mapping[int, str] = {**GFX9_DPP, **_numbered({0x15: "row_newbcast"}, 0)}
