"""The denormal and rounding modes of the descriptor and of the instructions that change them."""

from __future__ import annotations

import numpy as np
import pytest
from building import assemble, emulate, missing_tools
from numpy.typing import NDArray
from single_instruction import run_registers, samples32

from amdjit.diagnostics.errors import KernelFault, LaunchError

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")

Single = NDArray[np.float32]
TINY = np.float32(2.0**-126)


def flushed(x: Single) -> Single:
    return np.where(np.abs(x) < TINY, np.copysign(np.float32(0), x), x).astype(np.float32)


def same(found: NDArray[np.uint32], expected: Single) -> None:
    bits = expected.view(np.uint32)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(found[number], bits[number])


@pytest.mark.parametrize("mode", range(4))
def test_the_descriptors_denormal_mode(mode: int) -> None:
    inputs = samples32(2)
    x, y = (row.view(np.float32) for row in inputs)
    with np.errstate(all="ignore"):
        if not mode & 1:
            x, y = flushed(x), flushed(y)
        product, total = x * np.float32(0.25), x - y
        if not mode & 2:
            product, total = flushed(product), flushed(total)
    body = "  v_mul_f32 v100, 0.25, v1\n  v_sub_f32 v101, v1, v2\n  v_mov_b32 v102, v1"
    found = run_registers(body.replace("0.25", "0x3e800000"), inputs, [100, 101, 102], denormals=mode)
    same(found[0], product)
    same(found[1], total)
    np.testing.assert_array_equal(found[2], inputs[0])


@pytest.mark.parametrize(
    ("flush", "keep"),
    [
        ("s_denorm_mode 12", "s_denorm_mode 15"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 4, 2), 0", "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 4, 2), 3"),
    ],
)
def test_the_mode_changes_within_a_block(flush: str, keep: str) -> None:
    inputs = samples32(1)
    x = inputs[0].view(np.float32)
    body = f"""  v_mul_f32 v100, 1.0, v1
  {flush}
  v_mul_f32 v101, 1.0, v1
  {keep}
  v_mul_f32 v102, 1.0, v1"""
    found = run_registers(body, inputs, [100, 101, 102])
    same(found[0], x)
    same(found[1], flushed(x))
    same(found[2], x)


@pytest.mark.parametrize("body", ["s_round_mode 3", "s_denorm_mode 0", "s_denorm_mode 12\n s_branch .Lx\n .Lx:"])
def test_modes_that_are_not_emulated_are_refused(body: str) -> None:
    with pytest.raises(KernelFault, match=r"emulator|branch"):
        emulate(assemble(body), "kernel", 1, 32, [np.zeros(4, np.uint8), np.zeros(4, np.uint8)])


def test_rounding_modes_of_the_descriptor_are_refused() -> None:
    with pytest.raises(LaunchError, match="rounds to nearest"):
        emulate(assemble("s_nop 0", rounding=1), "kernel", 1, 32, [np.zeros(4, np.uint8), np.zeros(4, np.uint8)])
