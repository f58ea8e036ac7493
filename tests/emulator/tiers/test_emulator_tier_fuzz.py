"""Random instructions on NaNs, infinities and numbers: the tiers and hosts agree on every bit.

A child process runs them: LLVM ends the process on what it cannot compile.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from amdjit.emulator.host.jit import HostCompiler
from tests.emulator.building import using
from tests.emulator.host_processors import HOSTS
from tests.emulator.random_floats import RESULTS, Program, operands
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

SCALARS = [f"s{number}" for number in range(8, 16)]
ONE_WAVE = operands(1)[:, :32]


def results(seed: int, tier: str, host: str = "") -> np.ndarray:
    with using(tier=tier, host=compiler_for(host)):
        return run_registers(Program(seed).body, operands(seed), list(RESULTS), SCALARS)


@cache
def compiler_for(host: str) -> HostCompiler | None:
    return HostCompiler(host, HOSTS[host]) if host else None


def disagreements(seed: int, host: str) -> list[str]:
    """Between the tiers, of which the full one is for another host if there is a name."""
    quick, full = results(seed, "quick"), results(seed, "full", host)
    names = [*(f"v{number}" for number in RESULTS), *SCALARS]
    return [
        f"seed {seed}: {names[row]} lane {lane}: quick {quick[row, lane]:08x}, full "
        f"{full[row, lane]:08x}"
        for row, lane in np.argwhere(quick != full)
    ]


def check(seeds: range, host: str = "") -> None:
    command = [sys.executable, __file__, str(seeds.start), str(seeds.stop), host]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1200, check=False, env=paths
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", [0, 6])
def test_the_tiers_agree_on_every_bit(first: int) -> None:
    check(range(first, first + 3))


@pytest.mark.sample(1)
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="needs an x86-64 host")
@pytest.mark.parametrize("host", HOSTS)
def test_hosts_with_fewer_features_agree_on_every_bit(host: str) -> None:
    check(range(20, 21), host)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_the_tiers_agree_on_every_bit_of_many_programs(first: int) -> None:
    check(range(first, first + 50))


def floats_in_masks() -> str:
    """Each scalar float result as a mask: of an instruction, of VCC, as EXEC."""
    lines = ["  v_readlane_b32 s8, v1, 3", "  v_readlane_b32 s9, v5, 4"]
    lines += [f"  v_mov_b32 v{number}, 0" for number in RESULTS]
    two = [f"s_{name} {{}}, s8, s9" for name in _names(("add", "sub", "mul", "min_num", "maximum"))]
    one = [
        f"{name} {{}}, s8"
        for name in _names(("s_floor", "s_rndne", "v_s_rcp", "v_s_sqrt", "v_s_exp"))
    ]
    one += [
        "s_cvt_f16_f32 {}, s8",
        "s_cvt_f32_f16 {}, s9",
        "s_cvt_f32_i32 {}, s9",
        "s_cvt_hi_f32_f16 {}, s9",
    ]
    for number, text in enumerate((*two, *one)):
        result = RESULTS[number % len(RESULTS)]
        lines += [f"  {text.format('s10')}", f"  v_cndmask_b32_e64 v{result}, v{result}, v8, s10"]
        lines += [
            f"  {text.format('vcc_lo')}",
            f"  v_cndmask_b32_e32 v{result}, v{result}, v3, vcc_lo",
        ]
        if text.startswith("v_s_"):
            continue  # VALU instructions do not write EXEC so
        lines += [
            f"  {text.format('exec_lo')}",
            f"  v_xor_b32 v{result}, v{result}, v4",
            "  s_mov_b32 exec_lo, -1",
        ]
    return "\n".join(lines)


def _names(operations: tuple[str, ...]) -> list[str]:
    return [f"{name}_{code}" for code in ("f16", "f32") for name in operations]


@pytest.mark.sample(1)
@pytest.mark.parametrize("tier", ["quick", "full"])
def test_scalar_floats_are_masks_like_any_bits(tier: str) -> None:
    command = [sys.executable, __file__, "masks", tier]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=paths
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = np.array(done.stdout.split(), np.uint32).reshape(len(RESULTS), -1)
    np.testing.assert_array_equal(found, masked_in_the_end())


def masked_in_the_end() -> np.ndarray:
    """The same by the bits of each scalar, which a program of its own returns."""
    source = floats_in_masks().split("\n")
    plain = [line.replace("vcc_lo", "s10").replace("exec_lo", "s10") for line in source]
    values = []
    for index, line in enumerate(plain):
        if line.split()[0].startswith(("s_", "v_s_")) and "s_mov_b32" not in line:
            body = "\n".join([*plain[:2], "  s_mov_b32 s10, 0", line])
            values.append((index, int(run_registers(body, ONE_WAVE, [], ["s10"])[0, 0])))
    registers = {f"v{1 + row}": column for row, column in enumerate(ONE_WAVE)}
    found = {f"v{number}": np.zeros(32, np.uint32) for number in RESULTS}
    lanes = np.arange(32)
    for index, bits in values:
        operation, target, *_, last = source[index + 1].replace(",", "").split()
        mask = (bits >> lanes & 1).astype(bool)
        chosen = registers["v8" if last == "s10" else "v3" if last == "vcc_lo" else "v4"]
        new = found[target] ^ chosen if operation == "v_xor_b32" else chosen
        found[target] = np.where(mask, new, found[target])
    return np.array([found[f"v{number}"] for number in RESULTS])


def print_masked(tier: str) -> None:
    with using(tier=tier):
        print(*run_registers(floats_in_masks(), ONE_WAVE, list(RESULTS)).reshape(-1))


if __name__ == "__main__":
    if sys.argv[1] == "masks":
        print_masked(sys.argv[2])
        sys.exit()
    found = [
        text
        for seed in range(int(sys.argv[1]), int(sys.argv[2]))
        for text in disagreements(seed, sys.argv[3])
    ]
    print("\n".join(found))
    sys.exit(bool(found))
