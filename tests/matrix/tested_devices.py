"""The processors that the tests of fragments run on, and what of them a processor lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import amdjit
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.parameters import Nibble
from amdjit.types import bf8, bf8_fnuz, f32, f64, fp8, fp8_fnuz, u8

CDNA = ("gfx942", "gfx90a", "gfx950", "gfx908")
TARGETS = ("gfx1201", "gfx1100", *CDNA)

# Tests that are about gfx12 alone, by module or name, and why.
ONLY_OF_GFX12: Mapping[str, str] = {
    "test_sparse": "gfx11 has no SWMMAC",
    "test_plan_mutants": "the mutants are of the transfers and layouts of gfx12",
    "test_random_fragments_kill_the_mutant": "the mutants are of gfx12's transfers",
    "test_conversions_kill_a_wrong_exchange": "gfx11 exchanges nothing on this way",
    "test_results_chain_into_the_next_product_without_exchange_of_lanes": "lanes of B differ",
    "test_plan_mapping": "gfx11's lanes are those of its layouts (test_fragments_of_gfx11)",
}
# What runs on CDNA. The kernels of other tests are written for waves of 32 lanes; what they test is
# in test_fragments_of_cdna and test_products_of_cdna.
ON_CDNA = ("test_plan_gemm", "test_plan_memory", "test_plan_transforms", "test_random_fragments")
# Tests of waves of 64 lanes where others have 32, of gfx12's exchanges, and of all cases at once.
NOT_ON_CDNA = (
    "test_random_fragments_kill_the_mutant", "test_conversions_kill_a_wrong_exchange",
    "test_wave_tiles_in_waves_of_64_lanes", "test_waves_of_64_lanes_fill_and_copy",
    "test_every_type_in_waves_of_64_lanes",
    "test_the_slice_has_every_type_layout_depth_and_thread_block",
    "test_the_slice_has_every_value_of_every_axis",
)  # fmt: skip
# Types of which a processor has products, besides those that all have.
MULTIPLIED: Mapping[str, tuple[Any, ...]] = {
    "gfx1201": (fp8, bf8, u8, Nibble.I4, Nibble.U4),
    "gfx1100": (u8, Nibble.I4, Nibble.U4),
    "gfx908": (f32,),
    "gfx90a": (f32, f64),
    "gfx942": (f32, f64, matrix.xf32, fp8_fnuz, bf8_fnuz),
    "gfx950": (f32, f64, fp8, bf8),
}
OF_SOME = {each for types in MULTIPLIED.values() for each in types}
# Tests that only move elements: all types are bytes to them.
MOVING = ("test_plan_memory", "test_cooperation", "test_elements")
# How many cases of a test always run on gfx11, and on gfx942; the others are exhaustive.
ALWAYS: Mapping[str, int] = {
    "test_products_of_wave_tiles_are_right": 2,
    "test_products_through_lds_are_right": 1,
    "test_fragments_are_filled_and_copied": 2,
    "test_waves_that_share_fragments_copy_them_whole": 1,
    "test_all_types_of_gfx12": 4,
    "test_fragments_of_any_size": 1,
    "test_k_of_any_size_is_padded": 1,
    "test_a_result_becomes_the_left_operand_of_the_next_product": 1,
    "test_a_product_through_lds_that_waves_have_filled_together": 1,
}
ALWAYS_ON_CDNA: Mapping[str, int] = {
    "test_products_of_cdna_are_right": 4,
    "test_products_of_wave_tiles_are_right": 1,
    "test_products_through_lds_are_right": 1,
    "test_fragments_are_filled_and_copied": 2,
    "test_waves_that_share_fragments_copy_them_whole": 1,
    "test_random_kernels_over_fragments_give_what_numpy_gives": 1,
}


def is_gfx11() -> bool:
    """Return whether the current device is of gfx11."""
    return amdjit.current_device().target.isa[0] == 11


def is_cdna() -> bool:
    """Return whether the current device is of CDNA."""
    return amdjit.current_device().target.name in CDNA


def lanes() -> int:
    """Return the lanes of a wave on the current device."""
    return amdjit.current_device().target.wave_size


def multiplies(target: str, types: tuple[Any, ...]) -> bool:
    """Return whether a processor multiplies A and B of these types."""
    return all(each not in OF_SOME or each in MULTIPLIED[target] for each in types[:2])


def is_left_out(target: str, module: str, test: str, params: Mapping[str, Any]) -> bool:
    """Return whether a case does not run on a processor."""
    types = _types_of(test, params)
    if types is not None and not multiplies(target, types):
        return True
    if target == "gfx1100":
        return is_lacking(module, test, params)
    if target not in CDNA:
        return False
    return module not in ON_CDNA or test in NOT_ON_CDNA or params.get("wave_size") == 32


def _types_of(test: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the types of a product among a test's parameters."""
    found = params.get("types", params.get("case"))
    if not isinstance(found, tuple) or not ("product" in test or "wave_tiles" in test):
        return None
    return found[0] if isinstance(found[0], tuple) else found


def is_lacking(module: str, test: str, params: Mapping[str, Any]) -> bool:
    """Return whether gfx11 lacks what a case needs.

    It has no products or conversions of fp8 and bf8 and no sparse A, and an operand, which all of
    its groups of 16 lanes hold, becomes no accumulator.
    """
    if module in ONLY_OF_GFX12 or test in ONLY_OF_GFX12:
        return True
    values = list(_flat(params))
    if module not in MOVING and any(each is fp8 or each is bf8 for each in values):
        return True
    uses = [each for each in values if each in (matrix.matrix_a, matrix.matrix_b)]
    return module in ("test_transforms", "test_plan_transforms") and _becomes(params, uses)


def _becomes(params: Mapping[str, Any], operands: list[Any]) -> bool:
    """Return whether a case makes an accumulator of an operand."""
    ordered = [each for each in _flat(params) if each in (*operands, matrix.accumulator)]
    return len(ordered) > 1 and ordered[0] is not matrix.accumulator is ordered[1]


def _flat(value: Any) -> Any:
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for each in value:
            yield from _flat(each)
    else:
        yield value
