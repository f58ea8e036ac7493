"""A hand-written example of each hazard: what begins it, what must not follow too soon, and how
much has to pass in between, as LLVM 22 has it (llc, post-RA-hazard-rec)."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.checks.waits.hazard_rows import ROWS, Clock, Row

CPUS = {"gfx11": "gfx1100", "gfx11.5": "gfx1150", "gfx12": "gfx1201"}


@dataclass(frozen=True)
class Sample:
    """first, then: lines of assembly. states: how much has to pass; None for as much as the row
    says. cure: what ends the hazard at once, where nothing passes."""

    first: str
    then: str
    states: int | None = None
    cure: str = ""

    def code(self, row: Row, passed: int) -> str:
        """Return the code with so much in between."""
        filler = (
            self.cure
            or {
                Clock.STATES: "s_nop 0",
                Clock.VALU: "v_nop",
                Clock.WORKING_VALU: "v_mov_b32 v99, 0",
            }[row.clock]
        )
        return "\n".join([self.first, *[filler] * passed, self.then])


_CMPX, _CMP = "v_cmpx_eq_u32 vcc, v98, v99", "v_cmp_eq_u32 vcc, v98, v99"
_LANE = "v_readfirstlane_b32 s4, v98"
_DPP = " quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf"
_SET = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3"
_MFMA = "v_mfma_f32_16x16x4f32 v[0:3], v8, v9, v[4:7]"
_MFMA_A = "v_mfma_f32_16x16x4f32 a[0:3], v8, v9, a[4:7]"
_HALVES = "v_mfma_f32_16x16x16f16 v[0:3], v[8:9], v[10:11], v[4:7]"
_DOUBLES = "v_mfma_f64_4x4x4f64 v[20:21], v[22:23], v[24:25], v[26:27]"
_SEND = "global_store_dword v[98:99], v0, off"
_MASK = "v_cndmask_b32 v0, v1, v2, {}"

# By the name of the row; a dictionary where processors differ.
SAMPLES: dict[str, Sample | dict[str, Sample]] = {
    "SGPR for a memory instruction": Sample(_LANE, "global_load_dword v1, v2, s[4:5]"),
    "lane select": Sample(_LANE, "v_readlane_b32 s6, v9, s4"),
    "VCC of a division": Sample(_CMP, "v_div_fmas_f32 v2, v3, v4, v5"),
    "test for zero": Sample(_CMP, "v_mov_b32 v2, src_vccz"),
    "EXEC before DPP": Sample(_CMPX, "v_mov_b32_dpp v2, v3" + _DPP),
    "VGPR for DPP": Sample("v_mov_b32 v0, 1", "v_mov_b32_dpp v2, v0" + _DPP),
    "hardware register": Sample(_SET, "s_getreg_b32 s4, hwreg(HW_REG_MODE, 2, 2)"),
    "hardware register, written again": Sample(_SET, _SET),
    "TRAPSTS of a trap handler": Sample(
        "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 4), 3", "s_rfe_b64 s[4:5]"
    ),
    "M0": Sample("s_mov_b32 m0, s4", "s_sendmsg sendmsg(MSG_INTERRUPT)"),
    "data of a wide store": Sample("global_store_dwordx4 v[98:99], v[0:3], off", "v_mov_b32 v2, 0"),
    "clause of scalar loads": Sample(
        "s_load_dword s8, s[4:5], 0x0", "s_load_dword s4, s[4:5], 0x4"
    ),
    "clause of vector memory instructions": Sample(
        "global_load_dword v0, v[8:9], off", "global_load_dword v8, v[8:9], off"
    ),
    "transcendental result": Sample("v_exp_f32 v0, v1", "v_mov_b32 v2, v0"),
    "part of a VGPR": Sample("v_mad_u16 v0, v1, v2, v3 op_sel:[0,0,0,1]", "v_mov_b32 v4, v0"),
    "SGPR for the vector ALU": Sample(_LANE, "v_mov_b32 v1, s4"),
    "EXEC before a move of one lane": Sample(_CMPX, "v_readfirstlane_b32 s4, v9"),
    "VGPR for a move of one lane": Sample("v_mov_b32 v0, 1", "v_readfirstlane_b32 s4, v0"),
    "VGPR for a permutation": Sample("v_mov_b32 v1, 1", "v_permlane32_swap_b32 v0, v1"),
    "EXEC before a permutation": {
        "gfx950": Sample(_CMPX, "v_permlane16_swap_b32 v0, v1"),
        **dict.fromkeys(
            ("gfx11", "gfx11.5", "gfx12"),
            Sample("v_cmpx_eq_u32 v0, v1", "v_permlane16_b32 v2, v3, s4, s5"),
        ),
    },
    "result of MFMA as a factor": {
        "gfx908": Sample(_MFMA_A, "v_mfma_f32_16x16x4f32 a[12:15], a0, v9, a[16:19]", 4),
        "gfx90a": Sample(_MFMA, "v_mfma_f32_16x16x4f32 v[12:15], v0, v9, v[16:19]", 11),
        "gfx942": Sample(_MFMA, "v_mfma_f32_16x16x4f32 v[12:15], v0, v9, v[16:19]", 10),
        "gfx950": Sample(_HALVES, "v_mfma_f32_16x16x16f16 v[12:15], v[2:3], v[8:9], v[16:19]", 8),
    },
    "result of MFMA as C": {
        "gfx908": Sample(_MFMA_A, "v_mfma_f32_16x16x4f32 a[12:15], v8, v9, a[2:5]", 2),
        "gfx90a": Sample(_MFMA, "v_mfma_f32_16x16x4f32 v[12:15], v8, v9, v[2:5]", 8),
        "gfx942": Sample(_MFMA, "v_mfma_f32_16x16x4f32 v[12:15], v8, v9, v[2:5]", 8),
        "gfx950": Sample(_HALVES, "v_mfma_f32_16x16x16f16 v[12:15], v[8:9], v[10:11], v[2:5]", 6),
    },
    "result of MFMA, read": {
        "gfx908": Sample(_MFMA_A, "v_accvgpr_read_b32 v20, a1", 10),
        "gfx90a": Sample(_MFMA, "v_mov_b32 v20, v1", 11),
        "gfx942": Sample(_MFMA, "v_mov_b32 v20, v1", 10),
        "gfx950": Sample(_HALVES, "v_mov_b32 v20, v1", 8),
    },
    "result of MFMA, sent to memory": {
        "gfx90a": Sample(_MFMA, _SEND, 11),
        "gfx942": Sample(_MFMA, _SEND, 10),
        "gfx950": Sample(_HALVES, _SEND, 8),
    },
    "result of MFMA, overwritten": {
        "gfx908": Sample(_MFMA_A, "v_accvgpr_write_b32 a0, v9", 7),
        "gfx90a": Sample(_MFMA, "v_mov_b32 v0, 0", 11),
        "gfx942": Sample(_MFMA, "v_mov_b32 v0, 0", 10),
        "gfx950": Sample(_HALVES, "global_load_dword v0, v[98:99], off", 8),
    },
    "C of MFMA, overwritten": {
        "gfx908": Sample(_MFMA_A, "v_accvgpr_write_b32 a4, v9", 5),
        "gfx90a": Sample(_HALVES, "v_mov_b32 v4, 0", 7),
        "gfx942": Sample(_HALVES, "v_mov_b32 v4, 0", 3),
        "gfx950": Sample(_HALVES, "v_mov_b32 v4, 0", 3),
    },
    "VGPR for MFMA": {
        "gfx908": Sample("v_mov_b32 v8, 1", _MFMA_A),
        **dict.fromkeys(("gfx90a", "gfx942", "gfx950"), Sample("v_mov_b32 v8, 1", _MFMA)),
    },
    "EXEC before MFMA": {
        "gfx908": Sample(_CMPX, _MFMA_A),
        **dict.fromkeys(("gfx90a", "gfx942", "gfx950"), Sample(_CMPX, _MFMA)),
    },
    "accumulation VGPR as C": Sample("v_accvgpr_write_b32 a4, v98", _MFMA_A),
    "accumulation VGPR as a factor": Sample(
        "v_accvgpr_write_b32 a8, v98", "v_mfma_f32_16x16x4f32 a[0:3], a8, v9, a[4:7]"
    ),
    "accumulation VGPR, read": Sample("v_accvgpr_write_b32 a0, v98", "v_accvgpr_read_b32 v1, a0"),
    "accumulation VGPR, written again": Sample(
        "v_accvgpr_write_b32 a0, v98", "v_accvgpr_write_b32 a0, v97"
    ),
    "moved accumulator, sent to memory": Sample("v_accvgpr_read_b32 v0, a0", _SEND),
    "VGPR sent to memory past an accumulator": Sample(
        "v_mov_b32 v0, 1\n v_accvgpr_write_b32 a0, v97", _SEND, 1
    ),
    "VGPR sent to memory past an MFMA of f64": Sample(f"v_mov_b32 v0, 1\n{_DOUBLES}", _SEND, 1),
    "multiply-add of f64 after MFMA of f64": Sample(
        _DOUBLES, "v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]"
    ),
    "dot product, read": Sample("v_dot2_f32_f16 v0, v1, v2, v3", "v_mov_b32 v4, v0"),
    "dot product, overwritten": Sample("v_dot2_f32_f16 v0, v1, v2, v3", "v_mov_b32 v0, 1"),
    "result of WMMA as a factor": {
        **dict.fromkeys(
            ("gfx11", "gfx11.5"),
            Sample(
                "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
                "v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31]",
            ),
        ),
        "gfx12": Sample(
            "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]",
            "v_swmmac_f32_16x16x32_f16 v[24:31], v[40:43], v[44:51], v0",
        ),
    },
    "VGPRs of before and after EXEC": Sample(
        "v_mov_b32 v0, 1\n s_mov_b64 exec, s[4:5]\n v_mov_b32 v1, 2", "v_add_f32 v2, v0, v1"
    ),
    "mask that the scalar ALU overwrites": Sample(
        f"{_MASK.format('s[4:5]')}\n s_mov_b64 s[4:5], 0",
        "s_mov_b64 s[6:7], s[4:5]",
        cure="s_waitcnt_depctr 0xfffe",
    ),
    "mask that the vector ALU overwrites": Sample(
        f"{_MASK.format('s[4:5]')}\n v_cmp_eq_u32 s[4:5], v1, v2",
        "v_cndmask_b32 v6, v1, v2, s[4:5]",
        cure="s_waitcnt_depctr 0xf1ff",
    ),
    "mask in VCC that the vector ALU overwrites": Sample(
        f"{_MASK.format('vcc')}\n v_cmp_eq_u32 vcc, v1, v2",
        "v_cndmask_b32 v6, v1, v2, vcc",
        cure="s_waitcnt_depctr 0xfffd",
    ),
    "VGPR of the vector ALU for a direct load of LDS": {
        **dict.fromkeys(
            ("gfx11", "gfx11.5"), Sample("v_mov_b32 v0, 1", "lds_direct_load v0 wait_vdst:3", 3)
        ),
        "gfx12": Sample("v_mov_b32 v1, v0", "ds_direct_load v0 wait_va_vdst:3 wait_vm_vsrc:1", 3),
    },
    "VGPR of memory for a direct load of LDS": {
        **dict.fromkeys(
            ("gfx11", "gfx11.5"),
            Sample(
                "global_load_b32 v0, v[8:9], off", "lds_direct_load v0 wait_vdst:0", cure="v_nop"
            ),
        ),
        "gfx12": Sample(
            "global_store_b32 v[8:9], v0, off",
            "ds_direct_load v0 wait_va_vdst:0 wait_vm_vsrc:1",
            cure="v_nop",
        ),
    },
    "release of VGPRs": Sample("v_mov_b32 v0, 1", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)"),
    "SGPR that the scalar ALU overwrites": Sample(
        "v_mov_b32 v0, s5\n s_mov_b32 s4, 0", "s_mov_b32 s6, s4", cure="s_wait_alu 0xfffe"
    ),
    "SGPR that the vector ALU overwrites": Sample(
        "v_mov_b32 v0, s4\n v_readfirstlane_b32 s4, v1",
        "v_mov_b32 v2, s4",
        cure="s_wait_alu 0xf1ff",
    ),
    "VCC that the vector ALU overwrites": Sample(
        "v_mov_b32 v0, vcc_lo\n v_cmp_eq_u32 vcc_lo, v1, v2",
        "v_cndmask_b32 v3, v1, v2, vcc_lo",
        cure="s_wait_alu 0xfffd",
    ),
}


def sample_of(row: Row, processor: str) -> Sample:
    """Return a row's example for an instruction set; KeyError if there is none."""
    found = SAMPLES[row.name]
    return found if isinstance(found, Sample) else found[processor]


CASES = [(row, processor) for row in ROWS for processor in row.processors]


def case_name(row: Row, processor: str) -> str:
    return f"{row.name.replace(' ', '_')}-{processor}"
