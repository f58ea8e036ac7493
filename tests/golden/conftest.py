"""The flag that rewrites expected texts."""

from __future__ import annotations

import pytest


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write the expected texts instead of comparing."""
    return bool(request.config.getoption("--update-golden"))
