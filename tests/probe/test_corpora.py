"""The probe's corpora on the emulator: they run clean on each family, are the same every time, and
show an altered chip."""

from __future__ import annotations

import hashlib
import importlib
import lzma
import os
import pkgutil
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xxhash

import amdjit
import amdjit.examples
from amdjit.intrinsics import arithmetic
from amdjit.probe.case import Case, bits_of
from amdjit.probe.corpus import approximate, batches, examples, language, matrix, memory
from amdjit.probe.corpus.matrix.cases import cases_of
from amdjit.probe.corpus.matrix.rows import row_of, rows_of
from amdjit.probe.corpus.memory import atomic_cases
from amdjit.target import EMULATED, Target, find_target, read_target

FAMILIES = ("gfx1201", "gfx1100", "gfx942")
ROWS = {
    "gfx1201": "swmmac_f32_16x16x32_fp8_bf8_w64", "gfx1100": "wmma_f16_16x16x16_f16_w32",
    "gfx942": "mfma_f32_16x16x4bf16_1k",
}  # fmt: skip


def target_of(name: str) -> Target:
    found = find_target(name)
    assert found is not None
    return found


def case_of(module: Any, target: str, name: str) -> Case:
    """Return the case of a module whose name begins so."""
    for batch in module.batches(target_of(target)):
        for case in batch.cases(target_of(target)):
            if case.name.startswith(name):
                return case
    raise AssertionError(name)


@pytest.mark.parametrize("target", EMULATED, ids=str)
def test_batches_and_cases_have_names_of_their_own_and_need_no_device(target: Target) -> None:
    for module in (approximate, examples, language, matrix, memory):
        batches = module.batches(target)
        assert batches
        assert len({batch.name for batch in batches}) == len(batches)
        for batch in batches:
            names = [case.name for case in batch.cases(target)]
            assert names
            assert len(set(names)) == len(names)


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", FAMILIES)
def test_a_row_runs_on_the_emulator_and_is_identified(target: str) -> None:
    row = row_of(ROWS[target], target)
    given = {}
    with amdjit.use(f"emulator:{target}"):
        for case in cases_of(row):
            results = case.run()
            assert "row 0, column 0" in case.inputs(0, 0)
            given[case.name] = results[0]
    found = matrix.findings(target, given)
    assert list(found) == [row.name]
    assert str(found[row.name]) == "as emulated"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("target", "mnemonic"),
    [
        ("gfx1201", "v_dot4_f32_bf8_fp8"),
        ("gfx1100", "v_dot2_f16_f16"),
        ("gfx942", "v_dot2_f32_f16"),
    ],
)
def test_a_dot_product_runs_on_the_emulator_and_is_identified(target: str, mnemonic: str) -> None:
    batch = matrix.batches(target_of(target))[-1]
    assert batch.name == "matrix/dot products"
    assert batch.cases is not None
    with amdjit.use(f"emulator:{target}"):
        given = {
            case.name: case.run()[0]
            for case in batch.cases(target_of(target))
            if case.subject == mnemonic
        }
    assert str(matrix.findings(target, given)[mnemonic]) == "as emulated"


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_all_rows_run_on_the_emulator_and_are_identified(target: str) -> None:
    for row in rows_of(target):
        with amdjit.use(f"emulator:{target}"):
            given = {case.name: case.run()[0] for case in cases_of(row)}
        for finding in matrix.findings(target, given).values():
            assert str(finding) == "as emulated", row.name


# On gfx11 the emulator always computes as the chip does.
@pytest.mark.sample(1)
@pytest.mark.parametrize("target", ["gfx1201", "gfx942"])
def test_an_emulator_that_fuses_is_named(target: str) -> None:
    row = row_of(ROWS[target], target)
    with amdjit.use(f"emulator:{target}", matrix="fma"):
        given = {case.name: case.run()[0] for case in cases_of(row) if "(" not in case.name}
    assert "a chain of fused products" in str(matrix.findings(target, given)[row.name])


def test_swapped_lanes_of_a_result_are_seen_in_the_maps() -> None:
    row = row_of("wmma_f32_16x16x16_f16_w32_gfx12", "gfx1201")
    with amdjit.use("emulator:gfx1201"):
        given = {
            case.name: case.run()[0][..., [*range(4), 5, 4, *range(6, 16)]]
            for case in cases_of(row)
            if ": map" in case.name
        }
    finding = matrix.findings("gfx1201", given)[row.name]
    assert not finding.is_exact
    assert set(finding.by_experiment) == {"map of A", "map of B"}


_DIGEST = """
import hashlib
from amdjit.probe.corpus.matrix.operands import experiments_of, operands_of
from amdjit.probe.corpus.matrix.rows import rows_of
found = hashlib.sha256()
for target in ("gfx1201", "gfx942"):
    for row in rows_of(target)[::9]:
        for experiment in experiments_of(row):
            operands = operands_of(row, experiment)
            found.update(operands.a.tobytes() + operands.b.tobytes() + operands.c.tobytes())
from amdjit.probe.corpus.approximate import _SAMPLES
import numpy
for name, make in _SAMPLES.items():
    if "dense" not in name:
        found.update(make(numpy.random.default_rng(1)).tobytes())
print(found.hexdigest())
"""


def test_the_corpus_is_the_same_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _DIGEST], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1
    assert len(digests.pop().strip()) == hashlib.sha256().digest_size * 2


def test_the_stored_programs_are_those_that_the_generator_writes() -> None:
    writer = importlib.import_module("tests.fuzz.write_probe_programs")
    # Wrong? `python tests/fuzz/write_probe_programs.py` writes the file anew.
    assert lzma.decompress(writer.FILE.read_bytes()) == writer.content()


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", FAMILIES)
def test_programs_write_what_python_does(target: str) -> None:
    with amdjit.use(f"emulator:{target}"):
        agrees, *outputs = case_of(language, target, "programs 14").run()
    assert agrees.tolist() == [1] * 6
    assert [str(each.dtype) for each in outputs[:3]] == ["int8", "uint8", "int16"]


def test_a_program_that_writes_something_else_than_python_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rooms = importlib.import_module("amdjit.probe.corpus.language")
    whole = rooms.corpus()
    kernel = whole.kernels[14]
    wrong = replace(kernel, digests=(*kernel.digests[:2], "0" * 16, *kernel.digests[3:]))
    changed = replace(whole, kernels=(*whole.kernels[:14], wrong))
    case = case_of(language, "gfx1201", "programs 14")
    monkeypatch.setattr(rooms, "corpus", lambda: changed)
    with amdjit.use("emulator:gfx1201"):
        agrees = case.run()[0]
    assert agrees.tolist() == [1, 1, 0, 1, 1, 1]
    assert case.inputs(0, 2).startswith("program 2 does not write what Python does:\n")
    assert "def program(" in case.inputs(3, 0)


@pytest.mark.parametrize("target", FAMILIES)
def test_square_roots_of_all_halves_are_right_to_a_unit(target: str) -> None:
    case = case_of(approximate, target, "v_sqrt_f16")
    with amdjit.use(f"emulator:{target}"):
        (found,) = case.run()
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(invalid="ignore"):
        wanted = np.sqrt(x.astype(np.float64)).astype(np.float16)
    nan = np.isnan(wanted)
    assert (np.isnan(found) == nan).all()
    apart = found[~nan].view(np.int16).astype(int) - wanted[~nan].view(np.int16)
    assert np.abs(apart).max() <= 1
    assert case.keeps
    assert case.inputs(0, 0x3C00) == "0x3c00 (1.0)"


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", FAMILIES)
def test_digests_of_whole_domains_are_those_of_the_reference(target: str) -> None:
    case = case_of(approximate, target, "v_exp_f32, all multiples of 2**-24 in (-1")
    with amdjit.use(f"emulator:{target}"):
        (found,) = case.run()
    assert found.size * 1024 == 1 << 24
    assert case.inputs(0, 1) == "a digest of the results for 0xb8800000 to 0xb8ffe000"
    assert case.rule == arithmetic.certainty("v_exp_f32", target)
    x = -np.arange(1024, 2048, dtype=np.float32) * np.float32(2.0**-24)
    results = arithmetic.reference("v_exp_f32", x, target)
    assert found[1] == xxhash.xxh3_64_intdigest(results.tobytes())


def test_a_sample_of_two_sources_takes_both() -> None:
    case = case_of(approximate, "gfx1201", "v_cvt_pk_rtz_f16_f32")
    with amdjit.use("emulator:gfx1201"):
        (found,) = case.run()
    x, y = (approximate._sample(approximate.Function("", "some f32", "", "some f32"), n)[0]
            for n in (0, 1))  # fmt: skip
    exact = [
        (each.view(np.float32), (found >> np.uint32(16 * place)).astype(np.uint16))
        for place, each in enumerate((x, y))
    ]
    for source, half in exact:
        with np.errstate(over="ignore", invalid="ignore"):
            fits = source.astype(np.float16).astype(np.float32) == source
            expected = source.astype(np.float16).view(np.uint16)
        assert fits.sum() > 1000
        np.testing.assert_array_equal(half[fits], expected[fits])


@pytest.mark.sample(1)
@pytest.mark.covering(1)
@pytest.mark.parametrize("target", FAMILIES)
@pytest.mark.parametrize("kind", ["u32", "f32"])
def test_contended_atomics_leave_what_numpy_computes(target: str, kind: str) -> None:
    with amdjit.use(f"emulator:{target}"):
        (cells,) = case_of(memory, target, f"atomics of {kind}, the device").run()
    block, grid, elements = 256, 48, 7
    values = atomic_cases._values(kind, block * grid, False)
    first = atomic_cases._values(kind, elements, False)[::-1]
    for s in range(elements):
        mine = values[s::elements]
        assert cells[0, s] == np.add.reduce(mine, initial=first[s], dtype=cells.dtype)
        assert cells[2, s] == min(mine.min(), first[s])
        assert cells[3, s] == max(mine.max(), first[s])


def test_the_kernels_of_order_have_no_races() -> None:
    target = target_of("gfx1201")
    with amdjit.use("emulator:gfx1201"), amdjit.sanitize("race", "memory"):
        for batch in memory.batches(target):
            if batch.name == "memory/order between workgroups":
                for case in batch.cases(target):
                    case.run()


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", EMULATED, ids=str)
@pytest.mark.parametrize("module", [approximate, examples, language, memory])
def test_every_case_runs_and_gives_the_same_results_twice(module: Any, target: Target) -> None:
    with amdjit.use(f"emulator:{target.name}"):
        for batch in module.batches(target):
            for case in batch.cases(target):
                once, again = case.run(), case.run()
                for result, (x, y) in enumerate(zip(once, again, strict=True)):
                    np.testing.assert_array_equal(bits_of(x), bits_of(y), err_msg=case.name)
                    assert case.inputs(result, x.size - 1)


def test_an_examples_results_are_what_it_compared() -> None:
    with amdjit.use("emulator:gfx1201"):
        (result,) = case_of(examples, "gfx1201", "transpose_shuffle").run()
    source = np.random.default_rng(7).standard_normal((16, 16)).astype(np.float16)
    np.testing.assert_array_equal(result, source.T)


def test_every_example_is_in_the_corpus() -> None:
    found = {each.name for each in pkgutil.iter_modules(amdjit.examples.__path__)}
    assert found - {"report", "waves"} == set(examples.EXAMPLES)


@pytest.mark.parametrize("name", ["gfx1030", "gfx1250"])
def test_what_is_not_emulated_is_measured_only(name: str) -> None:
    found = batches(read_target(name))
    assert [batch.name for batch in found] == ["timing/launches"]
