"""Random programs, run by Python on the documented meaning of operators and compiled for the emulator: equal bits."""

from __future__ import annotations

from random import Random

import pytest
from choices import reduced
from documented_meaning import Number
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from programs import program
from running import difference, fails

_SETTINGS = settings(
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def check(batch: list[bytes], level: int, attempts: int = 150) -> None:
    """Check programs in one kernel; of one that fails show the smallest that does."""
    try:
        found = difference([program(data) for data in batch], level)
        number = None if found is None else found[0]
    except Exception:
        # One by one: which program does not compile?
        number = next((k for k, data in enumerate(batch) if fails(data, level)), None)
        if number is None:
            raise
    if number is None:
        return
    # A program may fail only among others.
    failing = [batch[number]] if fails(batch[number], level) else batch
    small = reduced(failing[0], lambda data: fails(data, level), attempts) if len(failing) == 1 else b""
    sources = [program(small)] if small else [program(data) for data in failing]
    print("\n".join(sources))
    raise AssertionError(difference(sources, level))


def check_many(level: int, batches: int, programs: int, size: int) -> None:
    """Check kernels of so many programs, each written from `size` bytes. A level has programs of its own."""

    @seed(level)
    @settings(_SETTINGS, phases=[Phase.explicit, Phase.generate], max_examples=batches)
    @given(st.randoms(use_true_random=True))
    def test(random: Random) -> None:
        check([random.randbytes(size) for _ in range(programs)], level)

    test()


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_random_programs(level: int) -> None:
    check_many(level, 16, 32, 48)


def test_long_random_programs() -> None:
    check_many(3, 10, 8, 200)


def test_a_difference_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    random = Random(3)
    batch = [random.randbytes(48) for _ in range(24)]
    assert difference([program(data) for data in batch]) is None
    monkeypatch.setattr(Number, "__sub__", Number.__add__)
    with pytest.raises(AssertionError, match="Python says"):
        check(batch, 1, attempts=20)
    lines = capsys.readouterr().out.splitlines()
    assert any(" - " in line or "-=" in line for line in lines)
    assert len(lines) < 20


@pytest.mark.exhaustive
@settings(_SETTINGS, max_examples=10000, derandomize=False)
@given(st.binary(min_size=400, max_size=400), st.sampled_from([0, 1, 2, 3]))
def test_thousands_of_random_programs(data: bytes, level: int) -> None:
    source = program(data)
    note(source)
    assert difference([source], level) is None
