"""V_S_EXP_F32 and its like with a vector register as their source: they read the first active
lane."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import amdjit
from amdjit.emulator import run
from tests.emulator.building import assemble, emulate, own_parts
from tests.emulator.model.scalars import SCALARS
from tests.emulator.model.values import Bits, differences, numbers, patterns
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

NAMES = tuple(
    f"v_s_{name}_{code}" for code in ("f32", "f16") for name in ("exp", "log", "rcp", "rsq", "sqrt")
)
# The source as it is written, and what it makes of a number.
FORMS = {"v1": lambda x: x, "-v1": lambda x: -x, "|v1|": abs, "-|v1|": lambda x: -abs(x)}
EXECS = {
    32: (0xFFFFFFFF, 0x80000000, 0x00FF3018, 0x2, 0),
    64: ((1 << 64) - 1, 1 << 63, 0xF0 << 32, 0x10 << 32 | 0x8000, 0),
}


def set_exec(mask: int, wave_size: int) -> str:
    low, high = mask & 0xFFFFFFFF, mask >> 32
    return f"  s_mov_b32 exec_lo, {low:#x}\n" + (
        f"  s_mov_b32 exec_hi, {high:#x}\n" if wave_size == 64 else ""
    )


def first_active(mask: int) -> int:
    return (mask & -mask).bit_length() - 1 if mask else 0


def emulated(lines: list[str], results: int, given: Bits) -> Bits:
    """Run lines that leave `results` scalars from s20 on; v1 holds `given`."""
    wave_size = len(given)
    stores = [
        f"  v_mov_b32 v2, s{20 + n}\n  global_store_b32 v250, v2, s[2:3] offset:{256 * n}"
        for n in range(results)
    ]
    head = [
        own_parts(4 * wave_size, 4 * wave_size),
        "  global_load_b32 v1, v250, s[0:1]",
        "  s_wait_loadcnt 0x0",
    ]
    full = set_exec((1 << wave_size) - 1, wave_size)
    found = np.zeros((results, 64), np.uint32)
    code = assemble("\n".join([*head, *lines, full, *stores, ""]), wave_size=wave_size)
    emulate(code, "kernel", 1, wave_size, [given.astype(np.uint32), found])
    return found[:, 0].astype(np.uint64)


def lanes_of(name: str, wave_size: int) -> Bits:
    """Ordinary numbers of both signs; what lies above a half is another number."""
    random = np.random.default_rng(len(name))
    values = np.exp2(random.uniform(-3, 3, wave_size)) * random.choice([-1, 1], wave_size)
    if name.endswith("f32"):
        return values.astype(np.float32).view(np.uint32).astype(np.uint64)
    halves = values.astype(np.float16).view(np.uint16).astype(np.uint64)
    return halves | halves[::-1] << np.uint64(16)


@pytest.mark.covering(1)
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("name", NAMES)
def test_the_source_is_the_first_active_lane(name: str, wave_size: int) -> None:
    code = name[-3:]
    given = lanes_of(name, wave_size)
    cases = list(itertools.product(EXECS[wave_size], FORMS))
    lines = [
        f"{set_exec(mask, wave_size)}  {name} s{20 + n}, {form}"
        for n, (mask, form) in enumerate(cases)
    ]
    found = emulated(lines, len(cases), given)
    op = SCALARS[name].op
    read = numbers(given[[first_active(mask) for mask, _ in cases]], code)
    sources = np.array(
        [FORMS[form](value) for (_, form), value in zip(cases, read, strict=True)], read.dtype
    )
    with np.errstate(all="ignore"):
        expected = patterns(op.compute(sources), code)
    wrong = differences(found, expected, code, op.ulps, 0.0)
    assert not wrong.any(), [
        (cases[n], hex(found[n]), hex(expected[n])) for n in np.flatnonzero(wrong)
    ]
    assert (found >> np.uint64(int(code[1:])) == 0).all()


@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("wave_size", [32, 64])
def test_lane_0_of_no_lanes_is_what_was_written_there_last(wave_size: int) -> None:
    """An instruction that EXEC keeps from lane 0 must leave it as it is, though EXEC only loses
    lanes after it."""
    given = np.full(wave_size, 0x40800000, np.uint64)
    name, text = ("b32", "exec_lo") if wave_size == 32 else ("b64", "exec")
    lines = ["  v_mov_b32 v3, v1", f"  s_and_{name} {text}, {text}, -2", "  v_mov_b32 v3, 2.0"]
    lines += ["  v_s_rcp_f32 s20, v3", f"  s_and_{name} {text}, {text}, 0", "  v_s_rcp_f32 s21, v3"]
    np.testing.assert_array_equal(emulated(lines, 2, given), [0x3F000000, 0x3E800000])


# Lane 0 of v1 and the low half of every lane are defined; the rest is LDS that nobody has written.
UNDEFINED = {
    (-1, "v_s_exp_f32"): False,
    (0, "v_s_exp_f32"): False,
    (-2, "v_s_exp_f32"): True,
    (-1, "v_s_exp_f16"): False,
    (-2, "v_s_exp_f16"): False,
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize(("lanes", "name"), UNDEFINED)
def test_the_definedness_of_that_lane_counts(lanes: int, name: str, wave_size: int) -> None:
    full = (1 << wave_size) - 1
    lines = [
        "  v_mov_b32 v1, 0",
        set_exec(full - 1, wave_size),
        "  ds_load_u16_d16_hi v1, v250",
        "  s_wait_dscnt 0x0",
    ]
    lines += [set_exec(lanes & full, wave_size), f"  {name} s20, v1", set_exec(full, wave_size)]
    lines += ["  v_mov_b32 v2, s20", "  global_store_b32 v250, v2, s[2:3]"]
    head = own_parts(4 * wave_size, 4 * wave_size)
    code = assemble("\n".join([head, *lines, ""]), lds=512, wave_size=wave_size)
    arrays = [np.zeros(wave_size, np.uint32), np.zeros(wave_size, np.uint32)]
    with amdjit.sanitize("init", raises=False) as found:
        run(code, "kernel", 1, wave_size, arrays)
    assert bool(found.reports) == UNDEFINED[lanes, name], found.reports
