"""What kernels of the emulator return is what numba-cuda returned on an NVIDIA GPU."""

from __future__ import annotations

import warnings

import pytest

from amdjit import numba_cuda
from tests.numba_cuda import program_writer
from tests.numba_cuda.results_of_numba import difference, kept, programs, results
from tests.numba_cuda.run_programs import run_program

# Programs that depend on one rule each: the width of `-x`, floats that `math.floor` leaves floats,
# integers of loops beside a u64, signs of votes, the range of uint64, types of known comparisons.
_FIRST = (17, 89, 123, 159, 189, 213, 214, 242, 255, 308, 330, 350, 352, 381)
TELLING = (*(f"first{number}" for number in _FIRST), "second347")
SOME = sorted({*TELLING, *list(programs())[::20]})
PARTS = 6


def wrong_arrays(names: list[str]) -> dict[str, str]:
    """Run programs; return the arrays that differ."""
    found: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            made = run_program(f"<{name}>", programs()[name], numba_cuda)
            wanted = results()[name]
            assert made.keys() == wanted.keys()
            for array, value in wanted.items():
                text = difference(kept(made[array]), value)
                if text:
                    found[f"{name} {array}"] = text
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_some_programs_return_what_numba_returns(part: int) -> None:
    assert not wrong_arrays(SOME[part::PARTS])


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(24))
def test_all_programs_return_what_numba_returns(part: int) -> None:
    assert not wrong_arrays(list(programs())[part::24])


def test_programs_are_written_alike_for_a_seed() -> None:
    assert program_writer.program("plain 1", 3) == programs()["second3"]
    texts = {program_writer.program("other", number) for number in range(20)}
    assert len(texts) == 20
    for text in texts:
        compile(text, "<program>", "exec")
