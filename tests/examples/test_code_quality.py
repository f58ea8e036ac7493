"""What the examples compile to on gfx1201: the instructions that matter, and none that should not
be there."""

from __future__ import annotations

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
from amdjit.testing import Code, isa
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


def code(name: str) -> Code:
    return isa(compiled(name))


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", KERNELS)
def test_no_example_spills_registers(name: str) -> None:
    code(name).no_spills().no_scratch()


def test_wmma_matmul_is_one_wmma_with_a_wide_load_and_no_lds() -> None:
    found = code("wmma_matmul").count("v_wmma_f32_16x16x16_f16", 1).count("global_load_b128", 1)
    found.max_lds(0).count("*", at_most=56)


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
    hints = isa(short).count("s_delay_alu") + isa(short).count("s_clause")
    isa(short).count("*", at_least=11, at_most=most + hints)


@pytest.mark.parametrize("name", ["mlp", "mlp_residual"])
def test_no_lane_exchange_between_the_layers(name: str) -> None:
    code(name).count("v_wmma_*", 2).between("v_wmma_*", "v_wmma_*").absent(
        "ds_*", "*_dpp*", "*permlane*", "*readlane*"
    )


def test_wide_k_has_24_wmmas_and_only_wide_accesses() -> None:
    found = code("wide_k_int8").count("v_wmma_i32_16x16x16_iu8", 24)
    found.only("global_*", "global_load_b128", "global_store_b128")


def test_gemm_reads_fragments_by_128_bits_and_waits_for_lds_only() -> None:
    found = code("wmma_gemm").count("v_wmma_f32_16x16x16_f16", 32).max_vgprs(256)
    found.only("ds_load_*", "*_b128").only("global_load_*", "*_b128").absent("global_inv")


def test_transposes_use_what_they_are_named_after() -> None:
    code("transpose_shuffle").count("ds_bpermute_b32", 32)
    code("transpose_wmma").count("v_wmma_f16_16x16x16_f16", 1).absent("ds_bpermute_b32")


def test_the_users_intrinsic_is_its_instruction() -> None:
    code("user_intrinsic").count("v_med3_num_f32", 1)


@pytest.mark.parametrize(
    ("name", "wmma"), [("perf_hgemm", "f32_16x16x16_f16"), ("i8_gemm", "i32_16x16x16_iu8")]
)
def test_the_tuned_gemms_are_all_matrix_instructions_and_128_bit_accesses(
    name: str, wmma: str
) -> None:
    """Two steps are unrolled: 32 WMMA of f16 each, 64 of i8, with a barrier.
    benchmarks/gemm_loops.py has the mix."""
    whole = code(name).max_vgprs(240).count("s_barrier_wait", 2)
    whole.count(f"v_wmma_{wmma}", 64 * (2 if name == "i8_gemm" else 1))
    inside = whole.between("v_wmma_*", "v_wmma_*")
    inside.only("ds_*", "ds_load_b128", "ds_store_b128").only("global_*", "global_load_b128")
    inside.only("v_*", "v_wmma_*")


def test_flash_attention_exchanges_what_lanes_share_without_lds() -> None:
    """16 WMMA and 17 exponentials a step: a query's maximum and sum take one exchange each, P
    none."""
    found = code("flash_attention").count("v_wmma_f32_16x16x16_f16", 16)
    found.count("v_exp_f32", 16 + 1).count("ds_load_b128", 16).absent("*bpermute*")
    # Those beside the two exchanges transpose two blocks of values.
    found.count("v_permlanex16_b32", 2 + 8)
