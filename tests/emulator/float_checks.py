"""What the tests of float instructions share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.single_instruction import bits32, run_registers

Floats = NDArray[Any]
F32, F16, F64 = np.float32, np.float16, np.float64


def same(found: Floats, expected: Floats) -> None:
    """Equal bit for bit, but for the pattern of NaNs."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    clean = ~np.isnan(expected)
    kind = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(found[clean].view(kind), expected[clean].view(kind))


def run32(body: str, *rows: Floats, kind: Any = F32) -> Floats:
    """Run on 32-bit rows in v1, v2, ...; return v100."""
    inputs = np.stack([bits32(row) for row in rows])
    return run_registers(f"  {body}", inputs, [100])[0].view(kind)


@pytest.fixture(autouse=True)
def quiet_numpy() -> Any:
    with np.errstate(all="ignore"):
        yield
