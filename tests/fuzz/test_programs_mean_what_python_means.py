"""Random programs, run by Python on the documented meaning of operators and compiled for the
emulator: equal bits."""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random

import pytest

from amdjit.target import EMULATED
from tests.fuzz.choices import reduced
from tests.fuzz.documented_meaning import Number
from tests.fuzz.fuzzed_device import OLDER, processor
from tests.fuzz.programs import program
from tests.fuzz.running import Build, difference, fails

# A test that takes longer than its limit ends its process, and says nothing.
_SECONDS_TO_REDUCE = 90


def check(batch: list[bytes], build: Build, attempts: int = 150) -> None:
    """Check programs in one kernel; of one that fails show the smallest that does."""
    try:
        found = difference([program(data) for data in batch], build)
        number = None if found is None else found[0]
    except Exception:
        # One by one: which program does not compile?
        number = next((k for k, data in enumerate(batch) if fails(data, build)), None)
        if number is None:
            raise
    if number is None:
        return
    # A program may fail only among others.
    failing = [batch[number]] if fails(batch[number], build) else batch
    end = time.monotonic() + _SECONDS_TO_REDUCE

    def still_fails(data: bytes) -> bool:
        return time.monotonic() < end and fails(data, build)

    small = reduced(failing[0], still_fails, attempts) if len(failing) == 1 else b""
    sources = [program(small)] if small else [program(data) for data in failing]
    print(build, "\n".join(sources), sep="\n")
    raise AssertionError(difference(sources, build))


def random_build(random: Random, level: int) -> Build:
    """Choose how a kernel is compiled."""
    return Build(level, random.random() < 0.25, random.choice((32, 32, 64)), random.random() < 0.5)


def check_many(level: int, batches: int, programs: int, size: int, first_seed: int = 0) -> None:
    """Check kernels of several programs, each written from `size` bytes. A level has programs of
    its own."""
    for number in range(batches):
        random = Random(f"{level} {size} {first_seed + number}")
        build = random_build(random, level)
        # Checks of bounds make several times the code.
        count = programs // 4 if build.bounds_check else programs
        check([random.randbytes(size) for _ in range(count)], build)


@pytest.mark.sample(2)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_random_programs_mean_what_python_means(level: int) -> None:
    check_many(level, 1, 32, 48)


def test_long_random_programs_mean_what_python_means() -> None:
    check_many(3, 1, 8, 200)


@pytest.mark.exhaustive
def test_a_difference_is_found_and_made_small(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    random = Random(5)
    batch = [random.randbytes(48) for _ in range(24)]
    assert difference([program(data) for data in batch]) is None
    monkeypatch.setattr(Number, "__sub__", Number.__add__)
    with pytest.raises(AssertionError, match="Python says"):
        check(batch, Build(1), attempts=40)
    lines = capsys.readouterr().out.splitlines()
    assert any(" - " in line or "-=" in line for line in lines)
    assert len(lines) < 20


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_more_random_programs_mean_what_python_means(level: int) -> None:
    check_many(level, 3, 32, 48, first_seed=1)
    check_many(level, 2, 8, 200, first_seed=1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(64))
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_thousands_of_random_programs(level: int, group: int) -> None:
    """Each group has programs of its own: 51,200 in all."""
    check_many(level, 5, 32, 48, 1000 + 10 * group)
    check_many(level, 5, 8, 200, 1000 + 10 * group)


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(64))
def test_programs_mean_the_same_on_several_processors_at_several_levels(group: int) -> None:
    """20,480 programs, each at three levels on three processors."""
    for number in range(10):
        random = Random(f"several {group} {number}")
        batch = [random.randbytes(48) for _ in range(32)]
        for target, level in zip(
            random.sample(EMULATED, 3), random.sample(range(4), 3), strict=True
        ):
            with processor(target.name):
                check(batch, replace(random_build(random, level), bounds_check=False))


@pytest.mark.sample(1)
@OLDER
@pytest.mark.parametrize(("level", "size"), [(1, 48), (3, 200)])
def test_some_random_programs_on_older_families(cpu: str, level: int, size: int) -> None:
    """One kernel of each kind, of which there are several on gfx1201."""
    with processor(cpu):
        check_many(level, 1, 32 if size == 48 else 6, size, 500)


@OLDER
@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(16))
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_thousands_of_random_programs_on_older_families(cpu: str, level: int, group: int) -> None:
    """12,800 in all."""
    with processor(cpu):
        check_many(level, 5, 32, 48, 2000 + 10 * group)
        check_many(level, 5, 8, 200, 2000 + 10 * group)
