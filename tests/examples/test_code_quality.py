"""What the examples compile to on gfx1201: the instructions that matter, and none that should not
be there."""

from __future__ import annotations

import re
from typing import Any

import pytest

import amdjit
from amdjit import f16, f32, i8, i32
from amdjit.examples import (
    flash_attention,
    i8_gemm,
    mlp,
    perf_hgemm,
    reduction,
    saxpy,
    transpose_shuffle,
    transpose_wmma,
    user_intrinsic,
    vector_add,
    wide_k_int8,
    wmma_gemm,
    wmma_matmul,
    wmma_matmul_f32_input,
)
from amdjit.types import Tuple

H, F = f16[:], f32[:]
KERNELS = {
    "vector_add": lambda: vector_add.vector_add.compile(F, F, F, target="gfx1201"),
    "saxpy": lambda: saxpy.saxpy.compile(f32, F, F, F, target="gfx1201"),
    "reduction": lambda: reduction.sum_per_block.compile(F, F, target="gfx1201"),
    "wmma_matmul": lambda: wmma_matmul.wmma_matmul.compile(H, H, H, target="gfx1201"),
    "wmma_matmul_f32_input": lambda: wmma_matmul_f32_input.wmma_matmul_f32_input.compile(
        F, F, F, target="gfx1201"
    ),
    "mlp": lambda: mlp.mlp.compile(H, H, F, False, target="gfx1201"),
    "mlp_residual": lambda: mlp.mlp.compile(H, H, F, True, target="gfx1201"),
    "wide_k_int8": lambda: wide_k_int8.wide_k_int8.compile(i8[:], i8[:], i32[:], target="gfx1201"),
    "transpose_shuffle": lambda: transpose_shuffle.transpose_shuffle.compile(
        H, H, target="gfx1201"
    ),
    "transpose_wmma": lambda: transpose_wmma.transpose_wmma.compile(H, H, target="gfx1201"),
    "wmma_gemm": lambda: wmma_gemm.wmma_gemm.compile(
        f16[:, :], f16[:, :], f32[:, :], target="gfx1201"
    ),
    "perf_hgemm": lambda: perf_hgemm.perf_hgemm.compile(
        *[f16[:, :]] * 4, f32, f32, target="gfx1201"
    ),
    "i8_gemm": lambda: i8_gemm.i8_gemm.compile(
        *[i8[:, :]] * 4, i8_gemm.relu, Tuple((i32,)), target="gfx1201"
    ),
    "flash_attention": lambda: flash_attention.flash_attention.compile(
        *[f16[:, :, :]] * 4, f32, True, target="gfx1201"
    ),
    "user_intrinsic": lambda: user_intrinsic.median_filter.compile(F, F, target="gfx1201"),
}
COMPILED: dict[str, amdjit.CompiledKernel] = {}


def compiled(name: str) -> amdjit.CompiledKernel:
    if name not in COMPILED:
        COMPILED[name] = KERNELS[name]()
    return COMPILED[name]


def instructions(name: str) -> list[str]:
    """Return the mnemonics in order."""
    lines = (line.strip() for line in compiled(name).asm.splitlines())
    return [
        line.split()[0] for line in lines if re.match(r"(s|v|ds|global|buffer|flat|scratch)_", line)
    ]


@pytest.mark.parametrize("name", KERNELS)
def test_no_example_spills_registers(name: str) -> None:
    resources = compiled(name).resources
    assert (resources.vgpr_spills, resources.sgpr_spills, resources.scratch_bytes) == (0, 0, 0)


def test_wmma_matmul_is_one_wmma_with_a_wide_load_and_no_lds() -> None:
    mnemonics = instructions("wmma_matmul")
    assert mnemonics.count("v_wmma_f32_16x16x16_f16") == 1
    assert mnemonics.count("global_load_b128") == 1
    assert compiled("wmma_matmul").resources.lds_bytes == 0
    assert compiled("wmma_matmul").resources.instructions <= 56


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 19),
        ({"fastmath": frozenset({"contract"})}, 17),
        ({"block": (256, 1, 1), "fastmath": frozenset({"contract"})}, 16),
    ],
)
def test_saxpy_has_few_instructions(options: dict[str, Any], most: int) -> None:
    """Without contraction there are a product, a sum and a wait between them where one v_fmac would
    do."""
    short = amdjit.kernel(**options)(saxpy.saxpy.function).compile(f32, F, F, F, target="gfx1201")
    lines = (line.strip() for line in short.asm.splitlines())
    hints = ("s_delay_alu", "s_clause")
    assert (
        10
        < sum(bool(re.match(r"[svg]\w*_", line)) and not line.startswith(hints) for line in lines)
        <= most
    )


@pytest.mark.parametrize("name", ["mlp", "mlp_residual"])
def test_no_lane_exchange_between_the_layers(name: str) -> None:
    text = "\n".join(instructions(name))
    layers = [match.start() for match in re.finditer("v_wmma_f32_16x16x16_f16", text)]
    assert len(layers) == 2
    assert not re.search(r"ds_|dpp|permlane|readlane|bpermute", text[layers[0] : layers[1]])


def test_wide_k_has_24_wmmas_and_only_wide_accesses() -> None:
    mnemonics = instructions("wide_k_int8")
    assert mnemonics.count("v_wmma_i32_16x16x16_iu8") == 24
    accesses = {name for name in mnemonics if name.startswith("global_")}
    assert accesses == {"global_load_b128", "global_store_b128"}


def test_gemm_reads_fragments_by_128_bits_and_waits_for_lds_only() -> None:
    mnemonics = instructions("wmma_gemm")
    assert mnemonics.count("v_wmma_f32_16x16x16_f16") == 32
    assert not [
        name for name in mnemonics if name.startswith("ds_load") and not name.endswith("b128")
    ]
    assert not [
        name for name in mnemonics if name.startswith("global_load") and name != "global_load_b128"
    ]
    assert "global_inv" not in mnemonics
    assert compiled("wmma_gemm").resources.vgprs <= 256


def test_transposes_use_what_they_are_named_after() -> None:
    assert instructions("transpose_shuffle").count("ds_bpermute_b32") == 32
    assert instructions("transpose_wmma").count("v_wmma_f16_16x16x16_f16") == 1
    assert "ds_bpermute_b32" not in instructions("transpose_wmma")


def test_the_users_intrinsic_is_its_instruction() -> None:
    assert instructions("user_intrinsic").count("v_med3_num_f32") == 1


@pytest.mark.parametrize(
    ("name", "wmma"), [("perf_hgemm", "f32_16x16x16_f16"), ("i8_gemm", "i32_16x16x16_iu8")]
)
def test_the_tuned_gemms_are_all_matrix_instructions_and_128_bit_accesses(
    name: str, wmma: str
) -> None:
    """Two steps are unrolled: 32 WMMA of f16 each, 64 of i8, with a barrier.
    benchmarks/gemm_loops.py has the mix."""
    lines = compiled(name).asm.splitlines()
    places = [number for number, line in enumerate(lines) if f"v_wmma_{wmma}" in line]
    assert len(places) == 64 * (2 if name == "i8_gemm" else 1)
    loop = [
        line.split()[0]
        for line in lines[places[0] : places[-1]]
        if re.match(r"\s+(s|v|ds|global)_", line)
    ]
    assert {line for line in loop if line.startswith(("ds_", "global_"))} == {
        "ds_load_b128", "ds_store_b128", "global_load_b128",
    }  # fmt: skip
    assert [line for line in loop if line.startswith("v_") and not line.startswith("v_wmma")] == []
    assert instructions(name).count("s_barrier_wait") == 2
    assert compiled(name).resources.vgprs <= 240


def test_flash_attention_exchanges_what_lanes_share_without_lds() -> None:
    """16 WMMA and 17 exponentials a step: a query's maximum and sum take one exchange each, P
    none."""
    found = instructions("flash_attention")
    assert found.count("v_wmma_f32_16x16x16_f16") == 16
    assert found.count("v_exp_f32_e32") == 16 + 1
    assert found.count("ds_load_b128") == 16
    assert (
        found.count("v_permlanex16_b32") == 2 + 8
    )  # for the transpose of two blocks of values, too
    assert not any("bpermute" in mnemonic for mnemonic in found)
