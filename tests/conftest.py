"""What all tests share: a cache of their own, numbers that no other test draws from, and no skipped
oracles in CI."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

# Reasons that stay reasons on a machine that has every tool: no GPU, no material beside the
# project, another platform.
_ALLOWED = re.compile(r"\bGPU|\.\./shared|\bWindows\b|\bPython 3\.|exhaustive", re.IGNORECASE)
# How long an example takes says how busy the machine is. What hangs, pytest-timeout ends.
settings.register_profile("amdjit", deadline=None)
settings.load_profile("amdjit")
_OWN_CACHE = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites the expected texts in tests/golden; read the difference like
    code."""
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the expected texts in tests/golden"
    )
    parser.addoption(
        "--update-foreign", action="store_true", help="rewrite the table of docs/foreign.md"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep the user's cache out of the tests, and the tests out of the user's cache. Workers share
    one."""
    if "AMDJIT_CACHE_DIR" not in os.environ:
        config.stash[_OWN_CACHE] = tempfile.mkdtemp(prefix="amdjit-tests-")
        os.environ["AMDJIT_CACHE_DIR"] = config.stash[_OWN_CACHE]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the cache that these tests made."""
    folder = config.stash.get(_OWN_CACHE, None)
    if folder is not None:
        os.environ.pop("AMDJIT_CACHE_DIR", None)
        shutil.rmtree(folder, ignore_errors=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin the random numbers of a module anew for each test: those before it, or not run, change
    nothing."""
    if not isinstance(item, pytest.Function):
        return
    for value in vars(item.module).values():
        if isinstance(value, np.random.Generator):
            seed = zlib.crc32(item.nodeid.encode())
            value.bit_generator.state = np.random.default_rng(seed).bit_generator.state


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips for a missing tool, where tools are required."""
    return _refuse_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for whole modules."""
    return _refuse_skips((yield))


def _refuse_skips(report: Any) -> Any:
    if (
        report.skipped
        and not hasattr(report, "wasxfail")
        and os.environ.get("AMDJIT_REQUIRE_ORACLES")
    ):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not _ALLOWED.search(reason):
            report.outcome = "failed"
            report.longrepr = f"AMDJIT_REQUIRE_ORACLES is set, but this was skipped. {reason}"
    return report
