"""Measurements on a GPU whose time is the cycle model's, with units that may be slower, and what
the fit makes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import amdjit
from amdjit.cycles.chip import CHIPS
from amdjit.cycles.families import VALUES
from amdjit.cycles.parameter_file import read_parameters
from amdjit.cycles.parameters import passes_name
from amdjit.isa.traits import Timing
from amdjit.probe.case import Measurement
from amdjit.probe.fitting import Fit, deviating, fit_measurements
from amdjit.probe.timing.batches import experiments
from amdjit.target import find_target
from tests.probe.probe_on_standin import needs_standin

pytestmark = needs_standin

HERE = Path(__file__).parent
RUN = HERE.parent / "runtime" / "standin_hip" / "run_with_standin.py"
GFX1201 = find_target("gfx1201")
assert GFX1201 is not None

LOOPS = (
    "rate v_add_f32",
    "latency v_add_f32",
    "rate v_rcp_f32",
    "latency v_rcp_f32",
    "v_rcp_f32, then v_mov_b32 to the same register",
    "s_cbranch_scc1 taken",
    "barrier of 4 waves",
    "rate v_wmma_f32_16x16x16_f16",
    "latency v_wmma_f32_16x16x16_f16",
    "v_wmma_f32_16x16x16_f16 and 4 v_add_f32",
    "latency ds_load_b32",
    "latency ds_store_b32",
    "rate ds_load_b32, stride 8",
)
SLOWER = {
    passes_name(Timing.TRANSCENDENTAL): 8,
    passes_name(Timing.MATRIX_WIDE): 32,
    "lds load": 56,
    "clock": 2.4e9,
}
# Caches so small that the emulator soon goes through more than they hold.
SMALL = {"l2_bytes": 128 << 10, "infinity_bytes": 2 << 20}
SMALL_VALUES = {"L2 bytes": 128 << 10, "infinity cache bytes": 2 << 20}
MEMORY = (
    "latency of a load, 16 KiB",
    "latency of a load, 64 KiB",
    "latency of a load, 1 MiB",
    "latency of a load, 8 MiB",
    "read bandwidth, 8 MiB",
    "latency s_load_b32",
)
SLOWER_MEMORY = {"DRAM latency": 1200, "DRAM bandwidth": 0.2e12, "scalar cache latency": 40}


def measured(
    names: Sequence[str], values: Mapping[str, float], fields: Mapping[str, int] | None = None
) -> tuple[Measurement, ...]:
    """Return measurements on a GPU of which these values are true."""
    command = [sys.executable, str(RUN), str(HERE / "measured_on_standin.py")]
    command += [json.dumps(list(names)), json.dumps(dict(fields or {}))]
    variables = {**os.environ, "STANDIN_HIP_CYCLES": json.dumps(dict(values))}
    ended = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=900)
    assert ended.returncode == 0, ended.stderr
    return tuple(
        Measurement(**{**each, "samples": tuple(each["samples"])})
        for each in json.loads(ended.stdout.splitlines()[-1])
    )


def differing(found: Fit) -> dict[str, float]:
    """Return the parameters that are not what the model has."""
    return {each.name: each.value for each in found.parameters if not each.agrees}


def test_an_unaltered_gpu_has_the_model_s_parameters() -> None:
    loops = LOOPS[::2]  # the slower units are measured with all
    found = measured(loops, {})
    assert {each.name for each in found} == {*loops, "shader clock, test"}
    for each in found:
        assert each.value == pytest.approx(each.expected, rel=5e-3), each.name
    assert deviating(found) == ()
    fitted = fit_measurements(found, GFX1201)
    assert differing(fitted) == {}
    assert fitted.unexplained == ()


def test_slower_units_are_named_and_fit_to_their_values_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower = measured(LOOPS, SLOWER)
    named = {each.measurement.parameter for each in deviating(slower)}
    assert set(SLOWER) <= named
    sentences = [str(each) for each in deviating(slower)]
    assert (
        "rate v_rcp_f32 (passes: transcendental): 8 cycles, the cycle model expects 4" in sentences
    )
    assert "latency ds_load_b32 (lds load): 61 cycles, the cycle model expects 33" in sentences
    fitted = fit_measurements(slower, GFX1201)
    assert differing(fitted) == pytest.approx(SLOWER, rel=1e-3)
    assert fitted.unexplained == ()
    assert "lds load" in fitted.text()
    assert "DIFFERS" in fitted.text()
    # What was written is what the model then expects.
    path = tmp_path / "chip.json"
    fitted.write(path)
    values = read_parameters(path).all_values
    assert differing(fit_measurements(slower, GFX1201, values)) == {}


@pytest.mark.exhaustive
def test_slower_memory_is_named_and_fits() -> None:
    chip = replace(CHIPS[0], **SMALL)
    found = measured(MEMORY, {**SMALL_VALUES, **SLOWER_MEMORY}, SMALL)
    fitted = fit_measurements(found, GFX1201, {**VALUES, **SMALL_VALUES}, chip)
    assert differing(fitted) == pytest.approx(SLOWER_MEMORY, rel=0.01)
    assert fitted.unexplained == ()


def test_what_no_parameter_explains_is_said() -> None:
    """A conflict of LDS banks costs what the recorded addresses say, whatever the parameters."""
    odd = [
        replace(each, value=11.0, samples=(11.0, 11.0)) if "stride" in each.name else each
        for each in measured(("rate ds_load_b32, stride 8", "rate v_add_f32"), SLOWER)
        if each.name in LOOPS
    ]
    fitted = fit_measurements(odd, GFX1201)
    assert differing(fitted) == {}
    (left,) = fitted.unexplained
    assert left.measurement.name == "rate ds_load_b32, stride 8"
    assert left.expected == pytest.approx(8)
    assert "No values of the parameters explain" in fitted.text()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["gfx1201", "gfx1100", "gfx90a", "gfx942"])
def test_every_loop_has_code_on_every_family(name: str) -> None:
    """Some experiments run once on the emulator; names are unique."""
    target = find_target(name)
    assert target is not None
    loops = [each for each in experiments(target) if each.unit == "cycles"]
    names = [each.name for each in experiments(target)]
    assert len(names) == len(set(names))
    assert any("mma" in each or "mfma" in each for each in names)
    with amdjit.use(f"emulator:{name}"):
        for each in loops[::29]:
            for launch in each.launches(1):
                launch()
