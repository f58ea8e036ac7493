"""The processors that the tests of fragments run on, and what of them a processor lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import amdjit
from amdjit.intrinsics import matrix
from amdjit.types import bf8, fp8

TARGETS = ("gfx1201", "gfx1100")

# Tests that are about gfx12 alone, by module or name, and why.
ONLY_OF_GFX12: Mapping[str, str] = {
    "test_sparse": "gfx11 has no SWMMAC",
    "test_plan_mutants": "the mutants are of the transfers and layouts of gfx12",
    "test_random_fragments_kill_the_mutant": "the mutants are of gfx12's transfers",
    "test_conversions_kill_a_wrong_exchange": "gfx11 exchanges nothing on this way",
    "test_results_chain_into_the_next_product_without_exchange_of_lanes": "lanes of B differ",
    "test_plan_mapping": "gfx11's lanes are those of its layouts (test_fragments_of_gfx11)",
}
# Tests that only move elements: all types are bytes to them.
MOVING = ("test_plan_memory", "test_cooperation", "test_elements")
# How many cases of a test always run on gfx11; the others are exhaustive.
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


def is_gfx11() -> bool:
    """Return whether the current device is of gfx11."""
    return amdjit.current_device().target.isa[0] == 11


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
