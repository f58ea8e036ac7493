"""Small programs with notes of what is live: `;; live v1 s4` and `;; dead v2` speak of the place
before the next instruction. s[2:3] leads to the results, s[0:1] to 4 KiB of inputs."""

from __future__ import annotations

START = """
  s_load_b128 s[0:3], s[0:1], 0x0
  s_wait_kmcnt 0x0
  v_lshlrev_b32 v250, 2, v0
"""


def store(*registers: str) -> str:
    """Return stores of VGPRs to the results, one row of dwords for each."""
    return "".join(
        f"  global_store_b32 v250, {name}, s[2:3] offset:{256 * place}\n"
        for place, name in enumerate(registers)
    )


ALL = "  s_mov_b32 exec_lo, -1\n"
ALL64 = "  s_mov_b64 exec, -1\n"

# By name: the wave's size and the program.
CASES: dict[str, tuple[int, str]] = {
    "a write under a partial EXEC keeps the other lanes": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 1
  s_mov_b32 exec_lo, 0xff0f
  ;; live v1
  v_mov_b32 v1, 2
{ALL}
  {store("v1")}""",
    ),
    "a block that begins with all lanes and loses some": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 1
  s_mov_b32 s4, 0
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc0 .Lskip
  s_mov_b32 exec_lo, 0xff
  ;; live v1
  v_mov_b32 v1, 2
{ALL}
.Lskip:
  {store("v1")}""",
    ),
    "lanes that nobody reads do not keep a register alive": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 1
  s_mov_b32 exec_lo, 0xff0f
  ;; dead v1
  v_mov_b32 v1, 2
  ;; live v1
  {store("v1")}
  ;; dead v1
  s_nop 0""",
    ),
    "a saved EXEC that comes back reads the lanes that were inactive": (
        32,
        f"""  v_mov_b32 v1, 1
  v_cmp_gt_u32 s4, 7, v0
  s_and_saveexec_b32 s5, s4
  ;; live v1 s5
  v_mov_b32 v1, 2
  s_or_b32 exec_lo, exec_lo, s5
  ;; dead s5
  {store("v1")}""",
    ),
    "in wave64 both halves of EXEC count": (
        64,
        f"""{ALL64}
  v_mov_b32 v1, 1
  s_mov_b32 exec_hi, 0xff
  ;; live v1
  v_mov_b32 v1, 2
{ALL64}
  ;; dead v2
  v_mov_b32 v2, 3
  {store("v1", "v2")}""",
    ),
    "in wave64 the lower half of EXEC alone is not all": (
        64,
        f"""{ALL64}
  v_mov_b32 v1, 1
  s_mov_b32 exec_lo, 0xff
  s_mov_b32 exec_lo, exec_hi
  ;; dead v1
  v_mov_b32 v1, 2
  {store("v1")}""",
    ),
    "wave64 lane masks are pairs": (
        64,
        f"""  s_mov_b64 s[8:9], 5
  ;; dead s8 s9
  v_cmp_gt_u32 s[8:9], 40, v0
  ;; live s8 s9
  v_cndmask_b32 v1, 3, 4, s[8:9]
  ;; dead s8 s9 v2
  v_mov_b32 v2, v1
  {store("v2")}""",
    ),
    "a matrix product reads C and writes all of D": (
        32,
        f"""{ALL}
  v_cvt_f32_u32 v1, v0
  v_mov_b32 v20, v1
  v_mov_b32 v21, v1
  v_mov_b32 v22, v1
  v_mov_b32 v23, v1
  v_mov_b32 v24, v1
  v_mov_b32 v25, v1
  v_mov_b32 v26, v1
  v_mov_b32 v27, v1
  v_mov_b32 v4, 0x3c003c00
  v_mov_b32 v5, 0x40003c00
  v_mov_b32 v6, 0x3c004000
  v_mov_b32 v7, 0x42003c00
  ;; live v4 v5 v6 v7 v20 v27
  ;; dead v10 v17
  v_wmma_f32_16x16x16_f16 v[10:17], v[4:7], v[4:7], v[20:27]
  ;; live v10 v17
  ;; dead v20 v27 v4
  {store("v10", "v17", "v12", "v13")}""",
    ),
    "a matrix product that adds to its result reads it": (
        32,
        f"""{ALL}
  v_mov_b32 v4, 0x3c003c00
  v_mov_b32 v5, 0x40003c00
  v_mov_b32 v6, 0x40003c00
  v_mov_b32 v7, 0x40003c00
  v_mov_b32 v10, v0
  ;; live v10
  ;; dead v12
  v_mov_b32 v11, v0
  v_mov_b32 v12, v0
  v_mov_b32 v13, v0
  v_wmma_f16_16x16x16_f16 v[10:13], v[4:7], v[4:7], v[10:13]
  {store("v10", "v13")}""",
    ),
    "a mixed product keeps the half that it does not write": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 0x12345678
  v_cvt_f32_u32 v2, v0
  ;; live v1 v2
  v_fma_mixlo_f16 v1, v2, 2.0, v2
  ;; dead v2
  {store("v1")}""",
    ),
    "loads of half a register keep the other half": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 0x12345678
  ;; live v1 v250 s0 s1
  global_load_d16_b16 v1, v250, s[0:1]
  s_wait_loadcnt 0x0
  ;; dead v2
  global_load_b32 v2, v250, s[0:1] offset:64
  s_wait_loadcnt 0x0
  {store("v1", "v2")}""",
    ),
    "two loads of halves overwrite a register": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 5
  ;; dead v1
  global_load_d16_b16 v1, v250, s[0:1]
  ;; live v1
  global_load_d16_hi_b16 v1, v250, s[0:1] offset:64
  s_wait_loadcnt 0x0
  {store("v1")}""",
    ),
    "a write of a lane keeps the others": (
        32,
        f"""{ALL}
  v_mov_b32 v1, v0
  s_movk_i32 s4, 77
  ;; live v1 s4
  v_writelane_b32 v1, s4, 3
  ;; dead s4
  {store("v1")}""",
    ),
    "a read of a lane may read an inactive one": (
        32,
        f"""{ALL}
  v_mov_b32 v1, v0
  s_mov_b32 exec_lo, 1
  ;; live v1
  v_mov_b32 v1, 100
  ;; live v1
  v_readlane_b32 s4, v1, 9
{ALL}
  ;; dead v1 v2
  v_mov_b32 v2, s4
  {store("v2")}""",
    ),
    "DPP with a row mask leaves rows as they are": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 9
  ;; live v1
  v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0x2 bank_mask:0xf
  v_mov_b32 v2, 9
  ;; dead v2
  v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
  v_mov_b32 v3, 9
  ;; live v3
  v_mov_b32_dpp v3, v0 row_shr:1 row_mask:0xf bank_mask:0xf
  v_mov_b32 v4, 9
  ;; live v4
  v_mov_b32_dpp v4, v0 row_shr:1 row_mask:0x1 bank_mask:0xf bound_ctrl:1
  {store("v1", "v2", "v3", "v4")}""",
    ),
    "DPP that fetches inactive lanes reads them": (
        32,
        f"""{ALL}
  v_mov_b32 v1, v0
  v_mov_b32 v2, 0
  s_mov_b32 exec_lo, 0x55555555
  ;; live v1
  v_add_nc_u32 v1, v0, v0
  v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf fi:1
{ALL}
  {store("v2")}""",
    ),
    "a relative move may read any register": (
        32,
        f"""{ALL}
  v_mov_b32 v5, 55
  v_mov_b32 v6, 66
  s_mov_b32 m0, 1
  ;; live v5 v6
  v_movrels_b32 v1, v5
  v_mov_b32 v7, 3
  ;; live v7
  v_movreld_b32 v6, v0
  {store("v1", "v7")}""",
    ),
    "relative moves of scalars, too": (
        32,
        f"""  s_mov_b32 s8, 8
  s_mov_b32 s9, 9
  s_mov_b32 m0, 1
  ;; live s8 s9
  s_movrels_b32 s4, s8
  s_mov_b32 s10, 4
  ;; live s10
  s_movreld_b32 s9, s4
{ALL}
  v_mov_b32 v1, s4
  v_mov_b32 v2, s10
  {store("v1", "v2")}""",
    ),
    "halves that issue together read before they write": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 7
  v_mov_b32 v2, v0
  ;; live v1 v2
  v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1
  ;; live v1 v2
  {store("v1", "v2")}""",
    ),
    "a conditional move of a scalar keeps it": (
        32,
        f"""  s_mov_b32 s4, 4
  s_mov_b32 s5, 5
  s_cmp_eq_u32 s4, s5
  ;; live s4 s5
  s_cmov_b32 s4, s5
  ;; live s4
  ;; dead s5
  s_mov_b32 s6, s4
{ALL}
  v_mov_b32 v1, s6
  {store("v1")}""",
    ),
    "wide scalar loads write what they name": (
        32,
        f"""  s_mov_b32 s8, 1
  s_mov_b32 s12, 1
  ;; dead s8 s11
  ;; live s12 s0
  s_load_b128 s[8:11], s[0:1], 0x10
  s_wait_kmcnt 0x0
  s_add_co_u32 s4, s8, s11
{ALL}
  v_mov_b32 v1, s4
  v_mov_b32 v2, s12
  {store("v1", "v2")}""",
    ),
    "values go round a loop": (
        32,
        f"""{ALL}
  s_mov_b32 s4, 5
  v_mov_b32 v1, v0
  v_mov_b32 v3, 2
.Lloop:
  ;; live v1 s4 v3
  ;; dead v2
  v_add_nc_u32 v2, v1, v3
  ;; dead v1
  v_xor_b32 v1, v2, v0
  s_sub_co_i32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Lloop
  ;; dead v3 s4 v2
  {store("v1")}""",
    ),
    "a permutation reads lanes of active work-items": (
        32,
        f"""{ALL}
  v_mov_b32 v1, v0
  v_xor_b32 v2, 31, v0
  v_lshlrev_b32 v2, 2, v2
  ;; live v1 v2
  ;; dead v3
  ds_bpermute_b32 v3, v2, v1
  s_wait_dscnt 0x0
  ;; dead v1 v2
  {store("v3")}""",
    ),
    "an atomic reads its data and overwrites its result": (
        32,
        f"""{ALL}
  v_mov_b32 v1, 3
  v_mov_b32 v2, 4
  v_lshlrev_b32 v3, 2, v0
  ;; live v1
  ;; dead v2
  global_atomic_add_u32 v2, v3, v1, s[0:1] th:TH_ATOMIC_RETURN
  s_wait_loadcnt 0x0
  {store("v2")}""",
    ),
}

CALLS = f"""
  s_mov_b32 exec_lo, -1
  v_mov_b32 v1, v0
  v_mov_b32 v5, 5
  v_mov_b32 v6, 6
  v_mov_b32 v8, 6
  s_getpc_b64 s[10:11]
.Lbase:
  s_add_co_u32 s10, s10, double-.Lbase
  s_add_co_ci_u32 s11, s11, 0
  ;; live v1 v5
  ;; dead v8
  s_swappc_b64 s[30:31], s[10:11]
  ;; live v1 v5
  v_mov_b32 v6, v1
  ;; dead v1
  v_mov_b32 v1, v5
  s_swappc_b64 s[30:31], s[10:11]
  ;; live v1 v6
  ;; dead v5
  {store("v1", "v6", "v8")}
  s_endpgm
.size kernel, .-kernel
.p2align 8
.type double,@function
double:
  ;; live v1 s30 s31
  ;; dead v7
  v_add_nc_u32 v7, v1, v1
  ;; dead v1
  v_mov_b32 v1, v7
  v_mov_b32 v8, v7
  s_setpc_b64 s[30:31]
.size double, .-double
"""
CASES["functions read their arguments and return"] = (32, CALLS)
