"""Run these tests on several processors.

On gfx11 and gfx942, the cases that `tested_devices.ALWAYS` counts always run; the others are
exhaustive. On the other processors of CDNA, what always runs elsewhere is exhaustive, and whole
grids do not run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import amdjit
from tests.matrix.tested_devices import ALWAYS, ALWAYS_ON_CDNA, CDNA, TARGETS, is_left_out


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a processor's emulator the current device; return the processor's name."""
    with amdjit.use(f"emulator:{request.param}"):
        yield request.param


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests that ask for a device on every processor."""
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", TARGETS, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a processor lacks, and mark what does not always run there."""
    often: Counter[tuple[str, str]] = Counter()
    kept, left = [], []
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        target, name = params.get("device"), getattr(item, "originalname", "")
        module = item.path.stem
        is_whole = item.get_closest_marker("exhaustive") is not None
        if (target in CDNA[1:] and is_whole) or (
            target is not None and is_left_out(target, module, name, params)
        ):
            left.append(item)
            continue
        kept.append(item)
        if target in (None, "gfx1201") or is_whole:
            continue
        often[target, name] += 1
        always = ALWAYS_ON_CDNA if target in CDNA else ALWAYS
        if target in CDNA[1:] or often[target, name] > always.get(name, 0):
            item.add_marker(pytest.mark.exhaustive)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
