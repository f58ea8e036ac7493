"""The rules that the probe tries on a chip's matrix results: the emulator's own is bit for bit what
`intrinsics.models` computes, and each other one gives other results for the corpus."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from amdjit.intrinsics.models import matrix_arithmetic, matrix_layouts, mfma_arithmetic
from amdjit.isa.matrix_rounding import GridRule, Rule
from amdjit.probe.corpus.matrix.identification import (
    AS_EMULATED,
    Evidence,
    candidates_of,
    experiment_sums,
    identify,
    identify_sums,
)
from amdjit.probe.corpus.matrix.operands import Operands, experiments_of, operands_of
from amdjit.probe.corpus.matrix.results import Bits
from amdjit.probe.corpus.matrix.rows import Row, row_of, rows_of

# A row for each family of rules and each type of results.
ROWS = (
    ("gfx1201", "wmma_f32_16x16x16_f16_w32_gfx12"), ("gfx1201", "wmma_f16_16x16x16_f16_w32_gfx12"),
    ("gfx1201", "wmma_bf16_16x16x16_bf16_w64_gfx12"),
    ("gfx1201", "wmma_f32_16x16x16_fp8_bf8_w32_gfx12"), ("gfx1201", "swmmac_f32_16x16x32_bf16_w32"),
    ("gfx1100", "wmma_f32_16x16x16_bf16_w32"), ("gfx1100", "wmma_f16_16x16x16_f16_w64"),
    ("gfx908", "mfma_f32_16x16x16f16"), ("gfx90a", "mfma_f32_16x16x16bf16_1k"),
    ("gfx942", "mfma_f32_16x16x16f16"), ("gfx942", "mfma_f32_16x16x8_xf32"),
    ("gfx942", "mfma_f32_16x16x32_fp8_bf8"), ("gfx942", "mfma_f64_16x16x4f64"),
    ("gfx950", "mfma_scale_f32_16x16x128_f8f6f4 fp8 fp8"),
)  # fmt: skip
# Changes that mean the same for these rows: what is cut off, and the rounding, leave no trace.
NO_DIFFERENCE = {
    # WMMA: nothing below the final grid is left, nor C there.
    "31 bits reach the rounding", "C drops out 24 bits below", "C drops out 25 bits below",
    "C drops out 26 bits below",
    # A bf16 result is cut from an f32 one, whose last bit it never shows.
    "rounded by nearest away",
    # Finite products of these types are below 2**128.
    "products of 2**128 or more are infinite", "products of 2**128 or more are added as they are",
    # fp8 and bf8: a step is one group; no fp8 is infinite.
    "groups of all products", "groups of 4 products",
}  # fmt: skip


def typed(bits: Bits, kind: str) -> Any:
    dtype = ({**mfma_arithmetic.DTYPES, **matrix_layouts.DTYPES})[kind]
    return bits.astype(f"u{dtype.itemsize}").view(dtype)


def by_the_models(row: Row, operands: Operands) -> Any:
    """Return D's bits as `intrinsics.models` computes them, matrix by matrix."""
    found = []
    for wave, block in np.ndindex(*operands.a.shape[:2]):
        a, b, c = (
            typed(each[wave, block], kind)
            for each, kind in zip((operands.a, operands.b, operands.c), row.kinds, strict=True)
        )
        places = None
        if operands.index is not None:
            places = matrix_layouts.index_rows(operands.index[wave].astype(np.int64))
        if row.is_mfma:
            scales = operands.scales and tuple(typed(s[wave], "e8m0") for s in operands.scales)
            d = mfma_arithmetic.product(row.instruction, a, b, c, places, scales)
        else:
            d = matrix_arithmetic.product(row.instruction, a, b, c, places)
        found.append(d)
    stacked = np.stack(found)
    return stacked.view(f"u{stacked.dtype.itemsize}").astype(np.uint64).reshape(-1)


def check_base(row: Row) -> None:
    with np.errstate(all="ignore"):
        for experiment in experiments_of(row):
            wanted = by_the_models(row, operands_of(row, experiment))
            found = experiment_sums(row, experiment).by(row.base_rule)
            np.testing.assert_array_equal(found, wanted, err_msg=f"{row.name}, {experiment}")


@pytest.mark.sample(7)
@pytest.mark.parametrize(("target", "name"), ROWS)
def test_the_emulators_rule_computes_what_the_models_compute(target: str, name: str) -> None:
    check_base(row_of(name, target))


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_all_rules_compute_what_the_models_compute(target: str) -> None:
    for row in rows_of(target):
        if not row.instruction.is_integer:
            check_base(row)


@cache
def evidence_of(target: str, name: str) -> Evidence:
    """Return a row's sums, with what the emulator's rule gives."""
    row = row_of(name, target)
    sums = {each: experiment_sums(row, each) for each in experiments_of(row)}
    return Evidence.of(sums, {each: sums[each].by(row.base_rule) for each in sums})


@cache
def alike(target: str, name: str) -> frozenset[str]:
    """Return the candidates whose results are the emulator's."""
    found = candidates_of(row_of(name, target))
    few, many = evidence_of(target, name).part(128), evidence_of(target, name).part(3072)
    return frozenset(
        each
        for each, rule in found.items()
        if each != AS_EMULATED and not few.wrong(rule) and not many.wrong(rule)
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(("target", "name"), ROWS[:1] + ROWS[3:4] + ROWS[5:6] + ROWS[9:10])
def test_each_other_rule_gives_other_results_than_the_emulator(target: str, name: str) -> None:
    assert len(candidates_of(row_of(name, target))) > 60
    assert alike(target, name) <= NO_DIFFERENCE | allowed(target, name)


def allowed(target: str, name: str) -> set[str]:
    """Return what else means the same for a row."""
    if target == "gfx942":
        # An exact sum of a step has no order, and f16 cannot underflow f32.
        orders = {each for each in alike(target, name) if "k of both halves" in each}
        return orders | {"sums that round to 0 keep their sign: no"}
    if "fp8" in name:
        # Too few bits to reach so far below, and no infinite fp8.
        return {"26 bits reach the rounding", "sums that round to 0 keep their sign: yes",
                "a NaN of C wins over an invalid product"}  # fmt: skip
    # f16 cannot underflow f32; on gfx11 what becomes 0 is a flushed number.
    return {"sums that round to 0 keep their sign: yes"}


def as_if(rule: Rule, target: str, name: str) -> tuple[Rule, Evidence]:
    """Return a row's base rule, and evidence as a chip with another rule would give it."""
    evidence = evidence_of(target, name)
    return row_of(name, target).base_rule, replace(evidence, given=evidence.sums.by(rule))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("target", "name", "candidate"),
    [
        (*ROWS[0], "a chain of fused products"), (*ROWS[0], "products cut by truncation"),
        (*ROWS[3], "groups of 2 products"), (*ROWS[3], "k of both halves in turn by fours"),
        (*ROWS[5], "subnormal factors are 0: no"), (*ROWS[9], "steps of 4 products"),
    ],
)  # fmt: skip
def test_a_chip_with_a_candidates_results_is_identified(
    target: str, name: str, candidate: str
) -> None:
    rule = candidates_of(row_of(name, target))[candidate]
    finding = identify_sums(*as_if(rule, target, name))
    assert finding.is_exact
    assert candidate in (finding.name, *finding.others)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("target", "name"), ROWS)
def test_every_candidate_is_identified(target: str, name: str) -> None:
    for candidate, rule in candidates_of(row_of(name, target)).items():
        finding = identify_sums(*as_if(rule, target, name))
        assert finding.is_exact
        assert candidate in (finding.name, *finding.others)


def test_a_rule_that_differs_in_three_ways_is_found_step_by_step() -> None:
    base = row_of(ROWS[3][1], ROWS[3][0]).base_rule
    assert isinstance(base, GridRule)
    rule = replace(base, group=2, step=8, c_sum_bits=25, c_exception=False)
    finding = identify_sums(*as_if(rule, *ROWS[3]))
    assert finding.is_exact
    assert "the grid 25 bits below C" in str(finding)


def test_a_rule_whose_nan_alone_are_others_is_named_with_them() -> None:
    target, name = ROWS[0]
    rule = candidates_of(row_of(name, target))["a chain of fused products"]
    base, evidence = as_if(rule, target, name)
    other = np.where(evidence.given == 0x7FC00000, np.uint64(0x7FC12345), evidence.given)
    finding = identify_sums(base, replace(evidence, given=other))
    assert finding.is_nan_only
    assert not finding.is_exact
    assert str(finding).startswith("a chain of fused products; ")
    assert str(finding).endswith(" sums are NaN of other bits")


def test_what_no_rule_explains_is_said_by_experiment() -> None:
    target, name = ROWS[0]
    row = row_of(name, target)
    given = {}
    for experiment in ("map of A", "normal", "ties"):
        d = experiment_sums(row, experiment).by(row.base_rule).reshape(-1, 16, 16)
        given[experiment] = d[:, :, [1, 0, *range(2, 16)]].astype(np.uint32).view(np.float32)
    finding = identify(target, name, given)
    assert not finding.is_exact
    assert finding.by_experiment["map of A"] >= 32
    assert "in map of A" in str(finding)


def test_integers_have_no_rule_to_identify() -> None:
    with pytest.raises(ValueError, match="adds integers"):
        identify("gfx1201", "wmma_i32_16x16x16_iu8_w32_gfx12", {})


def test_a_wrong_number_of_results_is_refused() -> None:
    with pytest.raises(ValueError, match="normal: 3 results, not 512"):
        identify(ROWS[0][0], ROWS[0][1], {"normal": np.zeros(3, np.float32)})
