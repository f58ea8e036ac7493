"""One browser for all tests of the explorer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.explorer.chromium import Browser, open_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser that all tests of a process share."""
    with open_browser() as opened:
        yield opened
