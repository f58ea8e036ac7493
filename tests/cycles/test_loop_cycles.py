"""Cycles of loops: closed forms, and what traces measured."""

from __future__ import annotations

import pytest
from trace_programs import assembled

from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.static import loop_cycles
from amdjit.isa.instruction import Instruction
from amdjit.target import find_target
from tests.cycles.random_waves import placed

GFX1201, GFX1103 = find_target("gfx1201"), find_target("gfx1103")
assert GFX1201 is not None
assert GFX1103 is not None

# Encodings (llvm-mc): v_wmma_f32_16x16x16_f16 v[0:7], v[64:67], v[68:71], v[0:7], and so on.
V_NOP, S_ADD, S_CMP = "0000007e", "01810180", "018006bf"


def wmma(accumulator: int) -> str:
    """Return v_wmma_f32_16x16x16_f16 with registers of its own for the sum."""
    word = 0xCC404000 | accumulator
    sources = 0x140 | 0x144 << 9 | (0x100 + accumulator) << 18 | 3 << 27
    return (word.to_bytes(4, "little") + (sources & 0xFFFFFFFF).to_bytes(4, "little")).hex()


def branch_back(body: list[str], name: int = 0xBFA1) -> str:
    """Return s_cbranch_scc0 to the first instruction."""
    dwords = sum(len(code) // 8 for code in body) + 1
    return (name << 16 | (-dwords & 0xFFFF)).to_bytes(4, "little").hex()


def loop(*body: str) -> list[Instruction]:
    """Return a loop of a body and its branch."""
    codes = list(body)
    return placed([*codes, branch_back(codes)])


def test_the_text_of_the_encodings_is_what_the_tests_say() -> None:
    texts = [instruction.mnemonic for instruction in loop(wmma(0), V_NOP, S_ADD, S_CMP)]
    assert texts == [
        "v_wmma_f32_16x16x16_f16",
        "v_nop",
        "s_add_co_u32",
        "s_cmp_eq_u32",
        "s_cbranch_scc0",
    ]


def test_ten_wmmas_hide_counter_and_branch() -> None:
    """The loop of the trace custom_wmma_simple: 160 cycles."""
    body = loop(*(wmma(8 * number) for number in range(8)), wmma(72), wmma(80), S_ADD, S_CMP)
    assert loop_cycles(body, GFX1201).cycles == 160


@pytest.mark.parametrize("waves", [1, 2, 4, 8])
def test_wmmas_of_several_waves_share_the_unit(waves: int) -> None:
    body = loop(*(wmma(8 * number) for number in range(8)), S_ADD, S_CMP)
    found = loop_cycles(body, GFX1201, waves)
    assert found.cycles == pytest.approx(8 * 16 * waves, rel=0.01)
    assert found.waves == waves
    assert found.assumptions == ()


def test_plain_instructions_of_several_waves_issue_one_a_cycle() -> None:
    count, waves = 40, 8
    body = loop(*[V_NOP] * count, S_ADD, S_CMP)
    assert loop_cycles(body, GFX1201, waves).cycles == pytest.approx(count * waves, rel=0.05)
    assert loop_cycles(body, GFX1201, 1).cycles > count


def test_a_wave64_passes_the_vector_unit_twice() -> None:
    body = loop(*[V_NOP] * 40, S_ADD, S_CMP)
    narrow = loop_cycles(body, GFX1201, 8).cycles
    assert loop_cycles(body, GFX1201, 8, wave_size=64).cycles == pytest.approx(2 * narrow, rel=0.02)


def test_memory_rests_on_assumptions_and_lds_on_no_conflicts() -> None:
    codes = assembled(["global_load_b32 v1, v2, s[0:1]", "s_wait_loadcnt 0x0"])
    load, wait = (codes[text].hex() for text in codes)
    found = loop_cycles(loop(load, wait, S_CMP), GFX1201)
    assert found.cycles > 70
    assert any("cache" in sentence for sentence in found.assumptions)


def test_what_the_model_does_not_know_is_refused() -> None:
    body = loop(V_NOP, S_CMP)
    with pytest.raises(NoEstimate, match="gfx1103"):
        loop_cycles(body, GFX1103)
    with pytest.raises(NoEstimate, match="no instructions"):
        loop_cycles([], GFX1201)
    inner = [V_NOP, S_CMP]
    with pytest.raises(NoEstimate, match="inside its body"):
        loop_cycles(loop(V_NOP, *inner, branch_back(inner), V_NOP, S_CMP), GFX1201)


def test_the_longest_way_is_taken_around_a_loop_with_short_cuts() -> None:
    """A way back from the middle, and a jump over instructions, make no iteration longer."""
    plain = [wmma(8 * number) for number in range(8)]
    straight = loop_cycles(loop(*plain, S_ADD, S_CMP), GFX1201)
    back = branch_back([*plain[:4], S_CMP])
    over = (0xBFA20000 | sum(len(code) // 8 for code in plain[4:])).to_bytes(4, "little").hex()
    for cut in (back, over):
        body = loop(*plain[:4], S_CMP, cut, *plain[4:], S_ADD, S_CMP)
        found = loop_cycles(body, GFX1201)
        assert straight.cycles <= found.cycles <= straight.cycles + 20
        assert found.assumptions == (
            "Of the ways around the loop, each iteration takes the longest.",
        )


def test_a_loop_may_be_entered_in_its_middle() -> None:
    """Blocks in another order, joined by jumps, execute the same instructions."""
    first, second = [wmma(8 * n) for n in range(4)], [wmma(8 * n) for n in range(4, 8)]
    lengths = [sum(len(code) // 8 for code in codes) for codes in (first, second)]
    # second, S_ADD, S_CMP, conditional exit; then first, which jumps back to second.
    after = branch_back([*second, S_ADD, S_CMP, "0000a1bf", *first], 0xBFA0)
    turned = placed([*second, S_ADD, S_CMP, f"{lengths[0] + 1:04x}"[2:] + "00a1bf", *first, after])
    header = turned[len(second) + 3].pc
    assert turned[len(second) + 3].mnemonic == "v_wmma_f32_16x16x16_f16"
    straight = loop_cycles(loop(*first, *second, S_ADD, S_CMP), GFX1201).cycles
    assert loop_cycles(turned, GFX1201, header=header).cycles == pytest.approx(straight, rel=0.15)
