"""Waits for loads into halves of registers: the vector ALU needs both halves landed, a store the
half that it takes."""

from __future__ import annotations

import random

import pytest

from amdjit.code_object import CodeObject
from amdjit.emulator.checks.waits.code_object import find_missing_waits
from tests.emulator.building import assemble
from tests.emulator.checks.code_listing import found_in, listing
from tests.emulator.checks.wait_model import early_uses
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

# What to assemble, and the instruction that comes too early.
EARLY = {
    "global_load_d16_hi_b16 v1, v0, s[0:1]\n v_and_b32 v2, 0xff, v1": "v_and_b32_e32 v2, 0xff, v1",
    "global_load_d16_b16 v1, v0, s[0:1]\n v_mov_b32 v1, 0": "v_mov_b32_e32 v1, 0",
    "global_load_d16_b16 v1, v0, s[0:1]\n ds_store_b16 v0, v1": "ds_store_b16 v0, v1",
    "global_load_d16_hi_b16 v1, v0, s[0:1]\n ds_store_b16_d16_hi v0, v1": "ds_store_b16_d16_hi "
    "v0, v1",
    "global_load_d16_hi_b16 v1, v0, s[0:1]\n ds_store_b32 v0, v1": "ds_store_b32 v0, v1",
    "global_load_u16 v1, v0, s[0:1]\n ds_store_b8_d16_hi v0, v1": "ds_store_b8_d16_hi v0, v1",
    "ds_load_u16_d16 v1, v0\n global_store_b32 v0, v1, s[0:1]": "global_store_b32 v0, v1, s[0:1]",
    "ds_load_u16_d16_hi v1, v0\n global_store_b16 v1, v2, s[0:1]": "global_store_b16 v1, v2, "
    "s[0:1]",
    "global_load_b32 v1, v0, s[0:1]\n global_load_d16_b16 v1, v0, s[0:1]\n s_wait_loadcnt 0x1\n "
    "v_mov_b32 v2, v1": ("v_mov_b32_e32 v2, v1"),
    "ds_load_u16_d16 v1, v0\n ds_load_u16_d16_hi v1, v0\n s_wait_dscnt 0x1\n v_mov_b32 v2, v1": (
        "v_mov_b32_e32 v2, v1"
    ),
    "buffer_load_d16_format_xy v1, v0, s[4:7], null offen\n buffer_store_d16_hi_b16 v1, v0, "
    "s[4:7], null offen": ("buffer_store_d16_hi_b16 v1, v0, s[4:7], null offen"),
    # Loads land in order on one counter only.
    "global_load_d16_b16 v1, v0, s[0:1]\n ds_load_u16_d16_hi v1, v0\n s_wait_loadcnt_dscnt 0x0": (
        "ds_load_u16_d16_hi v1, v0"
    ),
}
FINE = [
    "global_load_d16_b16 v1, v0, s[0:1]\n ds_store_b16_d16_hi v0, v1\n s_wait_loadcnt 0x0\n "
    "v_mov_b32 v2, v1",
    "ds_load_u16_d16 v1, v0\n ds_load_u16_d16_hi v1, v0\n s_wait_dscnt 0x1\n ds_store_b16 v0, v1",
    "global_load_d16_hi_u8 v1, v0, s[0:1]\n ds_store_b16 v0, v1\n s_wait_loadcnt 0x0",
    "ds_load_u16_d16 v1, v0\n global_store_d16_hi_b16 v0, v1, s[0:1]\n s_wait_dscnt 0x0\n "
    "v_mov_b32 v2, v1",
    "buffer_load_d16_hi_format_x v1, v0, s[4:7], null offen\n buffer_store_b8 v1, v0, s[4:7], "
    "null offen",
    "ds_load_u8_d16_hi v1, v0\n scratch_store_b8 off, v1, off\n s_wait_dscnt 0x0",
]


@pytest.mark.parametrize("body", EARLY)
def test_a_use_of_a_half_that_comes_too_early_is_named(body: str) -> None:
    found = find_missing_waits(assemble(body, lds=64, private=16))
    assert {item.wait.text for item in found} == {EARLY[body]}
    assert modelled(assemble(body, lds=64, private=16)) == {item.wait.pc for item in found}


@pytest.mark.parametrize("body", FINE)
def test_a_store_may_take_the_half_that_has_landed(body: str) -> None:
    code = assemble(body, lds=64, private=16)
    assert find_missing_waits(code) == ()
    assert modelled(code) == set()


@pytest.mark.parametrize(
    "use", ["v_mov_b16 v1.l, 0", "v_mov_b16 v2.h, v1.l", "v_add_f16 v2.l, v1.l, v1.l"]
)
def test_the_vector_alu_needs_both_halves(use: str) -> None:
    """LLVM's feature d16-write-vgpr32."""
    load = "global_load_d16_hi_b16 v1, v0, s[0:1]\n"
    assert len(find_missing_waits(assemble(load + use, attributes="+real-true16"))) == 1
    assert (
        find_missing_waits(
            assemble(f"{load} s_wait_loadcnt 0x0\n {use}", attributes="+real-true16")
        )
        == ()
    )


def modelled(code: bytes) -> set[int]:
    (kernel,) = CodeObject.read(code).kernels.values()
    return early_uses(listing(code), kernel.entry_address)


def random_line(rng: random.Random) -> str:
    data, other = (f"v{rng.randrange(1, 4)}" for _ in range(2))
    kind = rng.choice(("u8", "i8", "b16"))
    width = rng.choice(("b8", "b16", "b32", "d16_hi_b8", "d16_hi_b16"))
    return rng.choice(
        [
            f"global_load_d16_{kind} {data}, v0, s[0:1]",
            f"global_load_d16_hi_{kind} {data}, v0, s[0:1]",
            f"ds_load_u16_d16 {data}, v0",
            f"ds_load_u8_d16_hi {data}, v0",
            f"flat_load_d16_hi_b16 {data}, v[4:5]",
            f"buffer_load_d16_format_x {data}, v0, s[4:7], null offen",
            f"global_load_u16 {data}, v0, s[0:1]",
            f"ds_load_b32 {data}, v0",
            f"global_store_{width} v0, {data}, s[0:1]",
            f"buffer_store_{width} {data}, v0, s[4:7], null offen",
            f"ds_store_{rng.choice(('b8', 'b16', 'b32', 'b8_d16_hi', 'b16_d16_hi'))} v0, {data}",
            f"v_add_nc_u32 {data}, v0, {other}",
            f"s_wait_loadcnt {rng.randrange(4)}",
            f"s_wait_dscnt {rng.randrange(4)}",
        ]
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(24))
def test_random_halves_as_the_model_has_them(seed: int) -> None:
    rng = random.Random(seed)
    lines = [random_line(rng) for _ in range(24)]
    lines.insert(rng.randrange(12), "1: s_nop 0")
    lines.insert(rng.randrange(13, 25), "s_cbranch_scc1 1b")
    code = assemble("\n ".join(lines), lds=64)
    assert found_in(code) == modelled(code), "\n".join(lines)
