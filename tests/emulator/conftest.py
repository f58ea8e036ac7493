"""What the emulator's tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.emulator.building import using


@pytest.fixture(params=["quick", "full"])
def each_tier(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test once in each tier of the emulator."""
    with using(tier=request.param):
        yield request.param
