"""Parameters of the cycle model from files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit.cycles.chip import CHIP_VALUES, CHIPS
from amdjit.cycles.families import VALUES
from amdjit.cycles.parameter_file import SCHEMA, ParameterFile, read_parameters, values_of
from amdjit.cycles.parameters import passes_name
from amdjit.isa.traits import Timing
from amdjit.options import OptionError
from amdjit.target import find_target

SLOW = {passes_name(Timing.VALU): 2.0, "branch taken": 40.0, "clock": 1e9}


@amdjit.kernel
def busy(x, rounds):
    i = amdjit.grid(1)
    value = x[i]
    for _ in range(rounds):
        value = value * value + np.float32(1)
    x[i] = value


def written(folder: Path, values: dict[str, float], target: str = "gfx1201") -> Path:
    path = folder / "chip.json"
    path.write_text(ParameterFile(target, values).json_text(), encoding="utf-8")
    return path


def estimated() -> tuple[int, float, tuple[str, ...]]:
    """Return cycles, seconds and assumptions of a launch."""
    with amdjit.use("emulator:gfx1201"), amdjit.profile() as profile:
        busy[1, 32](np.zeros(32, np.float32), 300)
    cycles = profile.launches[0].cycles
    assert cycles is not None
    return cycles.kernel, cycles.seconds, cycles.assumptions


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = read_parameters(written(tmp_path, SLOW))
    assert found == ParameterFile("gfx1201", SLOW)
    assert found.all_values == {**VALUES, **SLOW}


def test_estimates_use_the_file_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AMDJIT_CYCLE_PARAMETERS", raising=False)
    cycles, seconds, assumptions = estimated()
    assert seconds == pytest.approx(cycles / CHIPS[0].clock)
    path = written(tmp_path, SLOW)
    monkeypatch.setenv("AMDJIT_CYCLE_PARAMETERS", str(path))
    slow, longer, changed = estimated()
    assert slow > cycles * 1.3
    assert longer == pytest.approx(slow / 1e9)
    assert f"Parameters are those of {path}." in changed
    assert not any("Parameters are those" in each for each in assumptions)


def test_a_file_counts_for_its_own_processor_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, SLOW, "gfx1200")
    monkeypatch.setenv("AMDJIT_CYCLE_PARAMETERS", str(path))
    ours, other = find_target("gfx1200"), find_target("gfx1201")
    assert ours is not None
    assert other is not None
    assert values_of(ours) == ({**VALUES, **SLOW}, path)
    assert values_of(other) == (VALUES, None)


def test_the_chip_s_values_have_the_names_of_its_fields() -> None:
    values = {name: 1e9 + number for number, name in enumerate(CHIP_VALUES)}
    changed = CHIPS[0].with_values(values)
    assert [getattr(changed, field) for field in CHIP_VALUES.values()] == list(values.values())
    assert CHIPS[0].with_values(VALUES) == CHIPS[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "no file of parameters"),
        ('{"schema": "other/1"}', "no file of parameters"),
        (json.dumps({"schema": SCHEMA, "target": "gfx9999", "parameters": {}}), "'gfx9999'"),
        (json.dumps({"schema": SCHEMA, "target": "gfx1201"}), '"parameters" is missing'),
        (
            json.dumps({"schema": SCHEMA, "target": "gfx1201", "parameters": {"valu speed": 1}}),
            "no parameter 'valu speed'",
        ),
        (
            json.dumps({"schema": SCHEMA, "target": "gfx1201", "parameters": {"barrier": "1"}}),
            "give a number",
        ),
        (
            json.dumps({"schema": SCHEMA, "target": "gfx1201", "parameters": {"valu queue": 64}}),
            "from 1 to 63",
        ),
        (
            json.dumps({"schema": SCHEMA, "target": "gfx1201", "parameters": {"clock": 0}}),
            "'clock' is 0",
        ),
    ],
)
def test_wrong_files_are_refused_with_their_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "chip.json"
    path.write_text(text)
    with pytest.raises(OptionError, match=r"chip\.json") as caught:
        read_parameters(path)
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"missing\.json: these parameters cannot be read"):
        read_parameters(tmp_path / "missing.json")
