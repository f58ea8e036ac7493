"""Packages of PyPI that use `numba.cuda` run unchanged, and compute what they should."""

from __future__ import annotations

import pytest

from tests.numba_packages.packages import CLOSE, PACKAGES, installed, run

pytestmark = pytest.mark.foreign


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_computes_what_it_does_without_a_gpu(package: str) -> None:
    if installed(package) is None:
        pytest.skip(f"{package} is not installed")
    outcome = run(package)
    assert outcome is not None
    assert outcome.status == 0, outcome.output
    assert not outcome.errors
    assert outcome.distances
    assert all(each <= CLOSE for each in outcome.distances.values()), outcome.distances
