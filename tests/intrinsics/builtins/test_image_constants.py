"""The constants of image accesses that LLVM has no instruction for, and would end the process on,
are refused."""

from __future__ import annotations

import pytest

import amdjit
from amdjit import Const, f32, i32
from amdjit.intrinsics import amdgcn


@amdjit.kernel(wave_size=64)
def texels(image: i32[:], out: f32[:], components: Const, policy: Const):
    i = amdjit.threadIdx.x
    out.store(4 * i, amdgcn.image_load_2d_v4f32_i32(components, i, 0, image.load(0, 8), 0, policy))
    amdgcn.image_store_2d_v4f32_i32(
        out.load(4 * i, 4), components, i, 1, image.load(0, 8), 0, policy
    )


@amdjit.kernel(wave_size=64)
def one_component(image: i32[:], out: f32[:], components: Const):
    i = amdjit.threadIdx.x
    out[i] = amdgcn.image_load_2d_f32_i32(components, i, 0, image.load(0, 8), 0, 0)


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", ["gfx90a", "gfx1030", "gfx1100", "gfx1201"])
def test_each_processor_takes_the_policies_that_it_has(target: str) -> None:
    # CPol of LLVM's SIDefines.h: GLC 1, SLC 2, DLC 4, SCC 16 before gfx12; TH 0..7 and the scope
    # times 8 on gfx12.
    for policy in (0, 5, 7, 16, 23):
        assert "image_load" in texels.compile(image_type, f32[:], 15, policy, target=target).asm
    for policy in (8, 15, 24, 31):
        if target == "gfx1201":
            assert "scope:" in texels.compile(image_type, f32[:], 15, policy, target=target).asm
        else:
            with pytest.raises(
                amdjit.TypeCheckError, match=r"one of the constants 0\.\.7, 16\.\.23"
            ):
                texels.compile(image_type, f32[:], 15, policy, target=target)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_a_number_has_one_component(target: str) -> None:
    for components in (1, 2, 4, 8):
        assert (
            f"dmask:0x{components:x}"
            in one_component.compile(image_type, f32[:], components, target=target).asm
        )
    for components in (3, 15):
        with pytest.raises(amdjit.TypeCheckError, match="one of the constants 0, 1, 2, 4, 8"):
            one_component.compile(image_type, f32[:], components, target=target)


image_type = i32[:]
