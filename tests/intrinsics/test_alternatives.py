"""The alternative that a diagnostic names for a missing matrix instruction multiplies the same
types on that processor."""

from __future__ import annotations

import pytest

from amdjit.intrinsics.builtins.table import multiplied, nearest, rows
from amdjit.target import TARGETS


@pytest.mark.parametrize(
    ("name", "target", "there"),
    [
        ("wmma_f32_16x16x16_f16_w32_gfx12", "gfx90a", "amdgcn.mfma_f32_16x16x16f16"),
        ("wmma_f32_16x16x16_f16_w32_gfx12", "gfx1250", "amdgcn.wmma_f32_16x16x32_f16"),
        ("wmma_f32_16x16x16_f16_w64", "gfx1201", "amdgcn.wmma_f32_16x16x16_f16_w64_gfx12"),
        ("wmma_f16_16x16x16_f16_w32_gfx12", "gfx1100", "amdgcn.wmma_f16_16x16x16_f16_w32"),
        ("wmma_f16_16x16x16_f16_tied_w32", "gfx1201", "amdgcn.wmma_f16_16x16x16_f16_w32_gfx12"),
        ("wmma_i32_16x16x16_iu8_w32_gfx12", "gfx942", "amdgcn.mfma_i32_16x16x32_i8"),
        ("mfma_f32_16x16x16bf16_1k", "gfx1201", "amdgcn.wmma_f32_16x16x16_bf16_w32_gfx12"),
        ("swmmac_f32_16x16x32_fp8_bf8_w32", "gfx942", "amdgcn.smfmac_f32_16x16x64_fp8_bf8"),
        ("swmmac_f32_16x16x32_f16_w32", "gfx1100", "a dense product: expand A by its index first"),
        (
            "wmma_i32_16x16x16_iu4_w32_gfx12",
            "gfx942",
            "no matrix instruction of gfx942 multiplies i4",
        ),
        ("wmma_f32_16x16x16_f16_w32_gfx12", "gfx1030", "gfx1030 has no matrix instructions"),
        ("sdot2", "gfx1201", ""),
    ],
)
def test_named_alternatives_multiply_the_same_tiles(name: str, target: str, there: str) -> None:
    found = nearest(name, target)
    assert found == there or (there and not there.startswith("amdgcn") and there in found)


def test_every_alternative_multiplies_the_same_types_on_its_processor() -> None:
    groups = ("wmma", "swmmac", "mfma", "smfmac")
    found = 0
    for row in rows().values():
        for target in TARGETS:
            if row.group not in groups or target.name in row.targets:
                continue
            other = nearest(row.name, target.name)
            assert other
            if other.removeprefix("amdgcn.") in rows():
                found += 1
                instead = rows()[other.removeprefix("amdgcn.")]
                assert target.name in instead.targets
                assert multiplied(instead.name) == multiplied(row.name)
    assert found > 400
