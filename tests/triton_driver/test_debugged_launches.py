"""Triton's kernels under amdjit's debugger."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
import amdjit.triton
from amdjit.debugging.debugger import Debugger
from amdjit.debugging.opening import Opener, debug_launches

pytest.importorskip("triton", reason="Triton is not installed")

from tests.triton_driver.kernels import add


@pytest.mark.parametrize("processor", ["gfx1201", "gfx942"])
def test_a_launch_stops_at_its_lines_and_goes_back(processor: str) -> None:
    x = np.arange(200, dtype=np.float32)
    out = np.zeros_like(x)
    line = add.fn.__code__.co_firstlineno + 4
    seen: list[Debugger] = []

    def look(launch: Opener) -> None:
        with launch(None) as debugger:
            seen.append(debugger)
            debugger.break_at(line)
            assert debugger.resume() is not None
            assert "tl.store" in debugger.where()
            np.testing.assert_array_equal(debugger.arrays["x"], x)
            debugger.go_to(1 << 60)
            np.testing.assert_array_equal(debugger.arrays["out"], 2 * x)
            change = debugger.who_wrote("out", 150)
            assert change is not None
            assert change.block == (1, 0, 0)
            assert change.line is not None
            assert change.line[1] == line
            assert debugger.back()

    with amdjit.triton.use(f"emulator:{processor}"), debug_launches(look):
        add[(2,)](x, x, out, 200, BLOCK=128)
    assert len(seen) == 1
    np.testing.assert_array_equal(out, 2 * x)
