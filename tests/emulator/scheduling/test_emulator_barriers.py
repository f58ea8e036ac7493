"""Barriers by their counts: the workgroup's, split and named ones; undefined uses are a
fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.barrier_programs import HEAD, PIPELINE
from tests.emulator.building import assemble, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = [
    needs_tools,
    pytest.mark.usefixtures("each_tier"),
]


def run(body: str, waves: int, grid: int = 1, threads: int = 1) -> Any:
    """Run on one workgroup, or several that all write the same; return 16 words of each wave."""
    out = np.full((waves, 16), 0xDEAD, np.uint32)
    emulate(
        assemble(HEAD + body),
        "kernel",
        grid,
        32 * waves,
        [np.zeros(1, np.uint32), out],
        threads=threads,
    )
    return out


def fault_of(body: str, waves: int = 2) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        run(body, waves)
    assert caught.value.kind == "barrier"
    return caught.value


def test_exactly_one_wave_is_the_first_to_signal() -> None:
    out = run(
        """
  s_mov_b32 s10, 0
.Lagain:
  s_cmp_eq_u32 s10, 3
  s_cbranch_scc1 .Ldone
  s_cmp_eq_u32 s0, s0
  s_barrier_signal_isfirst -1
  s_barrier_wait -1
  s_cselect_b32 s11, 1, 0
  s_lshl_b32 s12, s10, 2
  v_add_nc_u32 v3, s12, v1
  v_mov_b32 v2, s11
  global_store_b32 v3, v2, s[2:3]
  s_add_co_i32 s10, s10, 1
  s_branch .Lagain
.Ldone:
""",
        4,
    )
    assert out[:, :3].sum(0).tolist() == [1, 1, 1]


def test_barriers_do_nothing_in_a_workgroup_of_one_wave() -> None:
    out = run(
        """
  s_cmp_eq_u32 s0, s0
  s_barrier_signal_isfirst -1
  s_cselect_b32 s11, 1, 0
  s_barrier_wait -1
  s_barrier_wait -1
  s_mov_b32 m0, 0x20001
  s_barrier_init m0
  s_barrier_join 1
  s_barrier_wait 1
  s_barrier_leave
  put s11, 0
""",
        1,
    )
    assert out[0, 0] == 1


def test_the_state_is_the_counts_of_signals_and_members() -> None:
    """RDNA 4 ISA, S_GET_BARRIER_STATE: signals in bits 22:16, members in bits 10:4, valid in bit
    0."""
    out = run(
        """
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lrest
  s_mov_b32 m0, 0x50007
  s_barrier_init m0
  s_barrier_signal 7
  s_barrier_signal m0
  s_mov_b32 m0, 7
  s_barrier_signal m0
  s_get_barrier_state s10, 7
  s_get_barrier_state s11, m0
  s_get_barrier_state s12, -1
  s_wait_kmcnt 0x0
  put s10, 0
  put s11, 1
  put s12, 2
.Lrest:
  s_barrier_signal -1
  s_barrier_wait -1
  s_get_barrier_state s12, -1
  s_wait_kmcnt 0x0
  put s12, 3
""",
        3,
    )
    assert out[0, :4].tolist() == [
        3 << 16 | 5 << 4 | 1,
        3 << 16 | 5 << 4 | 1,
        3 << 4 | 1,
        3 << 4 | 1,
    ]


@pytest.mark.parametrize(("grid", "threads", "wave_size"), [(1, 1, 32), (20, 2, 32), (3, 1, 64)])
def test_pairs_of_waves_hand_over_through_barriers_of_their_own(
    grid: int, threads: int, wave_size: int
) -> None:
    out = np.full((5, 16), 0xDEAD, np.uint32)
    code = assemble(HEAD + PIPELINE, lds=64, wave_size=wave_size)
    emulate(code, "kernel", grid, 5 * wave_size, [np.zeros(1, np.uint32), out], threads=threads)
    assert out[2, :8].tolist() == [10 * step for step in range(8)]
    assert out[3, :8].tolist() == [10 * step + 1 for step in range(8)]


def test_a_wave_waits_for_the_barrier_that_it_joined_last() -> None:
    """Not for the one that the instruction names (LLVM, "Code Sequences")."""
    out = run(
        """
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lother
  s_mov_b32 m0, 0x10001
  s_barrier_init m0
  s_mov_b32 m0, 0x10002
  s_barrier_init m0
  s_barrier_join 1
  s_barrier_join 2
.Lother:
  s_barrier_signal -1
  s_barrier_wait -1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lsignal
  s_barrier_wait 1
  s_get_barrier_state s10, 1
  s_wait_kmcnt 0x0
  put s10, 0
  s_endpgm
.Lsignal:
  s_barrier_signal 2
""",
        2,
    )
    assert out[0, 0] == 1 << 4 | 1


def test_a_wave_that_leaves_completes_a_barrier_that_waits_for_nobody_else() -> None:
    run(
        """
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lready
  s_mov_b32 m0, 0x20003
  s_barrier_init m0
.Lready:
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_join 3
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lleave
  s_barrier_signal 3
  s_barrier_wait 1
  s_endpgm
.Lleave:
  s_barrier_leave
""",
        2,
    )


def test_a_workgroup_barrier_completes_while_a_wave_waits_at_a_named_one() -> None:
    run(
        """
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lother
  s_mov_b32 m0, 0x20001
  s_barrier_init m0
  s_barrier_join 1
  s_barrier_signal -1
  s_barrier_signal 1
  s_barrier_wait 1
  s_barrier_wait -1
  s_endpgm
.Lother:
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_signal 1
""",
        2,
    )


def test_barrier_0_and_the_trap_handlers_do_nothing() -> None:
    out = run(
        """
  s_cmp_eq_u32 s0, s0
  s_barrier_signal_isfirst 0
  s_cselect_b32 s10, 1, 0
  s_barrier_signal 0
  s_barrier_signal -2
  s_barrier_wait -2
  s_barrier_wait 0
  s_barrier_join 0
  s_barrier_wait 1
  s_barrier_leave
  put s10, 0
""",
        2,
    )
    assert out[:, 0].tolist() == [0, 0]


def test_a_wave_that_has_ended_is_not_waited_for() -> None:
    run(
        "s_cmp_lg_u32 s6, 0\n s_cbranch_scc1 .Lout\n s_barrier_signal -1\n s_barrier_wait "
        "-1\n.Lout:\n",
        3,
    )


_INIT = "  s_mov_b32 m0, 0x20001\n  s_barrier_init m0\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("s_barrier_signal 1", "barrier 1 is used before s_barrier_init"),
        ("s_barrier_join 4", "barrier 4 is used before s_barrier_init"),
        ("s_mov_b32 m0, 17\n s_barrier_signal m0", "there is no barrier 17"),
        ("s_mov_b32 m0, 0x20014\n s_barrier_init m0", "there is no barrier 20"),
        ("s_mov_b32 m0, 1\n s_barrier_init m0", "initialised with a count that is not 1 to 127"),
        (
            "s_mov_b32 m0, 0x800001\n s_barrier_init m0",
            "initialised with a count that is not 1 to 127",
        ),
        ("s_barrier_wait 1", "waits for a named barrier and has joined none"),
        ("s_barrier_leave", "leaves a named barrier and has joined none"),
        (
            f"{_INIT} s_barrier_join 1\n s_barrier_wait 0",
            "has joined barrier 1 waits for barrier 0",
        ),
        (
            f"{_INIT} s_barrier_join 1\n s_barrier_signal 1\n s_barrier_leave",
            "leaves barrier 1, which it has signalled",
        ),
        (
            f"{_INIT} s_barrier_signal 1\n s_mov_b32 m0, 0x10001\n s_barrier_signal m0",
            "the new count of members",
        ),
        ("s_barrier_signal -1", "a wave ends that has signalled the workgroup's barrier"),
        ("s_get_barrier_state s10, 0", "the state of barrier 0"),
    ],
)
def test_what_is_not_defined_is_a_fault_that_says_so(body: str, words: str) -> None:
    fault = fault_of(body + "\n")
    assert words in str(fault), str(fault)
    assert "(0, 0, 0), wave 0" in str(fault)
    assert "s_" in (fault.instruction or "")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("s_barrier_wait -3", "barriers of clusters are GFX12.5's"),
        ("s_barrier_signal 17", "there is no barrier 17"),
        ("s_barrier_init -1", "only named barriers"),
        (".long 0xbe80510c", "by an inline constant or M0"),
        ("s_get_barrier_state s10, -2", "not documented"),
    ],
)
def test_barriers_that_there_are_not_are_refused_before_the_launch(body: str, words: str) -> None:
    with pytest.raises(KernelFault, match=words) as caught:
        run(body + "\n", 2)
    assert caught.value.kind == "unsupported-instruction"
