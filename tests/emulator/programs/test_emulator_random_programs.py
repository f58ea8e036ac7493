"""Random C programs give on the emulator what they give on the host."""

from __future__ import annotations

import pytest

from tests.emulator.random_program_check import check
from tests.emulator.required_tools import needs_tools

pytestmark = [
    needs_tools,
    pytest.mark.usefixtures("each_tier"),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [1000, 1002])
def test_random_programs_give_what_the_host_gives(seed: int) -> None:
    check(seed, ("-O0", "-O3"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2000, 2100))
def test_many_random_programs_give_what_the_host_gives(seed: int) -> None:
    check(seed, ("-O0", "-O1", "-O2", "-O3"))
