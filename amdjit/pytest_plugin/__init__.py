"""pytest's plugin: tests run on a device of amdjit, under checks.

    pytest --amdjit-device emulator:gfx1100 --amdjit-check memory,race

A test in which a check reports an error fails, and shows the report.
`@pytest.mark.amdjit(device=..., check=...)` says so for one test, a class or a module. The fixture
`amdjit_device` is the device.

pytest loads this at every start, as the package `amdjit_pytest`, so it imports amdjit only in tests
that ask for it. Triton's kernels run on the device, too, where `triton` is loaded; with the option
also while tests are collected, because modules ask Triton for the processor when they are loaded.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # for import-linter: they are loaded where they are needed
    import amdjit.late
    import amdjit.triton  # noqa: F401

_DEVICE = pytest.StashKey[ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("amdjit")
    group.addoption(
        "--amdjit-device", metavar="NAME", help='device for the tests, such as "emulator:gfx1201"'
    )
    group.addoption(
        "--amdjit-check",
        metavar="CHECKS",
        help="checks of all launches: memory,race,init,sync, or some of them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Explain the marker."""
    config.addinivalue_line(
        "markers",
        "amdjit(device=..., check=...): run on a device of amdjit, under checks such as "
        '"memory,race"',
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Make the device of the command line Triton's when a module imports Triton."""
    device = session.config.getoption("--amdjit-device")
    stack = session.stash[_DEVICE] = ExitStack()
    if device is None or not device.startswith("emulator"):
        return

    def use(triton: object) -> None:
        stack.enter_context(importlib.import_module("amdjit.triton").use(device))

    importlib.import_module("amdjit.late").when_loaded("triton", use)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Make the driver before it Triton's again."""
    session.stash[_DEVICE].close()


def _wish(item: pytest.Item, name: str) -> str | None:
    """Return what a test asks for: its closest marker that says it, else the command line."""
    for marker in item.iter_markers("amdjit"):
        unknown = sorted(set(marker.kwargs) - {"device", "check"})
        if marker.args or unknown:
            given = ", ".join([*map(repr, marker.args), *unknown])
            raise pytest.UsageError(f"the marker amdjit takes device= and check=, not {given}")
        if name in marker.kwargs:
            value: str | None = marker.kwargs[name]
            return value
    option: str | None = item.config.getoption(f"--amdjit-{name}")
    return option


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make the device that a test asks for the current one, for its fixtures, too."""
    device = _wish(item, "device")
    stack = item.stash[_DEVICE] = ExitStack()
    if device is None:
        return
    stack.enter_context(importlib.import_module("amdjit").use(device))
    if "triton" in sys.modules and device.startswith("emulator"):
        stack.enter_context(importlib.import_module("amdjit.triton").use(device))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Make the device before it the current one again."""
    try:
        return (yield)
    finally:
        item.stash.get(_DEVICE, ExitStack()).close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test under the checks that it asks for; fail it if they report an error."""
    check = _wish(item, "check")
    if not check:
        return (yield)
    amdjit = importlib.import_module("amdjit")
    with amdjit.sanitize(*check.split(","), raises=False) as found:
        result = yield
    errors = [report for report in found.reports if report.is_error]
    if errors:
        pytest.fail("\n\n".join(report.render() for report in errors), pytrace=False)
    return result


@pytest.fixture
def amdjit_device() -> Any:
    """The device that the test's launches run on."""
    return importlib.import_module("amdjit").current_device()
