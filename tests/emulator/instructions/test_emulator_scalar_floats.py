"""The scalar floats that gfx11.5 has beyond gfx11: against the model, and its minima and maxima
against the RDNA 3.5 ISA document."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.isa.gfx115_tables import ROWS
from tests.emulator.building import assemble, emulate, using
from tests.emulator.model.cases.samples import inputs_for
from tests.emulator.model.cases.scalar_programs import CLASSES, ScalarCase, run_scalar_cases
from tests.emulator.model.scalars import SCALARS
from tests.emulator.required_tools import needs_tools

CPU = "gfx1150"
_NAMES = sorted(name for rows in ROWS.values() for name, _, _ in rows.values())
_EXTREMES = ("s_max_f16", "s_max_f32", "s_min_f16", "s_min_f32")
# Bits of the number, and the lowest of those of the exponent.
_WIDTHS = {"f16": (16, 10), "f32": (32, 23)}


@needs_tools
@pytest.mark.parametrize(
    "klass", [CLASSES[0], *(pytest.param(c, marks=pytest.mark.exhaustive) for c in CLASSES[1:])]
)
def test_scalar_floats_agree_with_the_model(klass: str) -> None:
    random = np.random.default_rng(5)
    names = [name for name in _NAMES if name not in _EXTREMES]
    assert len(names) == 54
    sizes = {name: 16 if "f16" in SCALARS[name].op.sources[0] else 32 for name in names}
    for size in (16, 32):
        inputs = inputs_for(size, 256, 11)[:8]
        own = [name for name in names if sizes[name] == size]
        cases = [ScalarCase(name, SCALARS[name], klass, inputs, random) for name in own]
        with using(cpu=CPU):
            assert run_scalar_cases(cases, inputs) == []


def _is_nan(bits: int, width: int, shift: int) -> bool:
    infinity = (1 << width - 1) - (1 << shift)
    return bits & (1 << width - 1) - 1 > infinity


def _extreme(name: str, ieee: bool, x: int, y: int) -> int:
    """S_MIN_F32, S_MAX_F32 and their forms for halves, of the RDNA 3.5 ISA document."""
    width, shift = _WIDTHS[name[-3:]]
    quiet = 1 << shift - 1
    for value in (x, y) if ieee else ():
        if _is_nan(value, width, shift) and not value & quiet:
            return value | quiet
    if _is_nan(y, width, shift):
        return x
    if _is_nan(x, width, shift):
        return y
    sign = 1 << width - 1
    # Numbers in their order, -0 before +0.
    left, right = (-(value - sign) - 1 if value & sign else value for value in (x, y))
    return x if (left > right if "max" in name else left < right) else y


_PATTERNS = {
    "f16": (0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 1, 0x7E01, 0xFE12, 0x7C01, 0xFD00),
    "f32": (
        *(0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 1),
        *(0x7FC00001, 0xFFC12345, 0x7F800001, 0xFFA00000),
    ),
}


@pytest.mark.covering(1)
@needs_tools
@pytest.mark.parametrize("ieee", [0, 1])
@pytest.mark.parametrize("name", _EXTREMES)
def test_scalar_minima_and_maxima_treat_nans_as_the_mode_says(name: str, ieee: int) -> None:
    patterns = _PATTERNS[name[-3:]]
    pairs = [(x, y) for x in patterns for y in patterns]
    lines = ["  s_load_b128 s[0:3], s[0:1], 0x0", "  v_mov_b32 v0, 0", "  s_waitcnt lgkmcnt(0)"]
    for number, (x, y) in enumerate(pairs):
        lines += [f"  s_mov_b32 s4, {x:#x}", f"  s_mov_b32 s5, {y:#x}", f"  {name} s6, s4, s5"]
        lines += ["  v_mov_b32 v1, s6", f"  global_store_b32 v0, v1, s[2:3] offset:{4 * number}"]
    mode = f".amdhsa_ieee_mode {ieee}"
    code = assemble("\n".join([*lines, ""]), cpu=CPU, directives=mode)
    found = np.zeros(len(pairs), np.uint32)
    with using(cpu=CPU):
        emulate(code, "kernel", 1, 1, [np.zeros(1, np.uint32), found])
    expected = [_extreme(name, bool(ieee), x, y) for x, y in pairs]
    assert [hex(value) for value in found] == [hex(value) for value in expected]
