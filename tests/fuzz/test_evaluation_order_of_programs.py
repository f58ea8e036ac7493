"""Random programs of values that change what other values read: the emulator against Python."""

from __future__ import annotations

from random import Random

import pytest

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.statements import loops
from tests.fuzz.evaluation_order import difference, program
from tests.fuzz.fuzzed_device import OLDER, SOME_OLDER, processor


def check(level: int, seeds: range, batch: int = 8) -> None:
    """Check programs, several in a kernel."""
    for start in seeds[::batch]:
        found = difference(
            [program(Random(seed)) for seed in range(start, min(start + batch, seeds.stop))], level
        )
        assert found is None, f"seed {start + found[0]}, {found[1]}"


@pytest.mark.sample(1)
@pytest.mark.parametrize("level", [1, 3])
def test_random_programs_evaluate_in_pythons_order(level: int) -> None:
    check(level, range(1000 * level, 1000 * level + 5))


@pytest.mark.exhaustive
def test_a_loop_over_a_tuple_that_reads_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "evaluated", lambda builder, items, place, loop: items)
    with pytest.raises(AssertionError, match="Python says"):
        check(1, range(0, 24), batch=1)


@pytest.mark.exhaustive
def test_values_that_are_used_in_another_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FunctionBuilder, "in_order", lambda builder, values, node: list(values))
    with pytest.raises(AssertionError, match="Python says"):
        check(1, range(0, 24), batch=1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_thousands_of_programs_evaluate_in_pythons_order(level: int) -> None:
    check(level, range(1000000 * (level + 1), 1000000 * (level + 1) + 2000))


@SOME_OLDER
def test_a_few_programs_evaluate_in_pythons_order_on_older_families(cpu: str) -> None:
    with processor(cpu):
        check(3, range(4))


@OLDER
@pytest.mark.exhaustive
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_hundreds_of_programs_evaluate_in_pythons_order_on_older_families(
    cpu: str, level: int
) -> None:
    with processor(cpu):
        check(level, range(1000000 * (level + 1), 1000000 * (level + 1) + 400))
