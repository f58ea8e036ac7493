"""Assembled kernels with named barriers that several tests run."""

from __future__ import annotations

# s6 is the wave's number in its workgroup; `put` stores a scalar to its place among 16 of the wave.
HEAD = """
.macro put value, place
  v_mov_b32 v2, \\value
  global_store_b32 v1, v2, s[2:3] offset:4*\\place
.endm
  s_load_b128 s[0:3], s[0:1], 0x0
  s_bfe_u32 s6, ttmp8, 0x50019
  s_lshl_b32 s7, s6, 6
  v_mov_b32 v1, s7
  s_wait_kmcnt 0x0
"""


# Waves 0 and 1 produce, 2 and 3 consume, each pair with a barrier of its own in both directions;
# wave 4 is in neither.
PIPELINE = """
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lready
  s_mov_b32 m0, 0x20001
  s_barrier_init m0
  s_mov_b32 m0, 0x20002
  s_barrier_init m0
.Lready:
  s_barrier_signal -1
  s_barrier_wait -1
  s_mov_b32 s10, 0
  s_cmp_eq_u32 s6, 4
  s_cbranch_scc1 .Ldone
  s_and_b32 s8, s6, 1
  s_add_co_i32 m0, s8, 1
  s_barrier_join m0
  s_mul_i32 s9, s8, 4
  v_mov_b32 v5, s9
  s_cmp_ge_u32 s6, 2
  s_cbranch_scc1 .Lconsume
.Lproduce:
  s_mul_i32 s11, s10, 10
  s_add_co_i32 s11, s11, s8
  v_mov_b32 v6, s11
  ds_store_b32 v5, v6
  s_wait_dscnt 0x0
  s_barrier_signal m0
  s_barrier_wait 1
  s_barrier_signal m0
  s_barrier_wait 1
  s_add_co_i32 s10, s10, 1
  s_cmp_lt_u32 s10, 8
  s_cbranch_scc1 .Lproduce
  s_branch .Ldone
.Lconsume:
  s_barrier_signal m0
  s_barrier_wait 1
  ds_load_b32 v6, v5
  s_wait_dscnt 0x0
  s_lshl_b32 s12, s10, 2
  v_add_nc_u32 v7, s12, v1
  global_store_b32 v7, v6, s[2:3]
  s_barrier_signal m0
  s_barrier_wait 1
  s_add_co_i32 s10, s10, 1
  s_cmp_lt_u32 s10, 8
  s_cbranch_scc1 .Lconsume
.Ldone:
"""
