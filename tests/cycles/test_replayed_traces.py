"""Both simulations on the programs and paths of recorded traces: they agree in every cycle."""

from __future__ import annotations

import json

import pytest
from cycle_model import TRACES, replay_in_python
from trace_files import read_trace
from trace_replays import replay_in_host_code

FILES = sorted(TRACES.glob("*__*.json"))
# The others repeat these kernels.
FEW = [
    file for file in FILES if file.stem.endswith("00") and file.stem.startswith(("custom_", "r_32"))
]


def agree(file: object) -> None:
    trace = read_trace(file)  # type: ignore[arg-type]
    expected, found = replay_in_python(trace), replay_in_host_code(trace)
    assert len(found) == len(expected) == len(trace.waves)
    for wave, other in zip(expected, found, strict=True):
        assert other == wave


@pytest.mark.sample(7)
@pytest.mark.parametrize("file", FEW, ids=lambda file: file.stem)
def test_host_code_replays_a_trace_as_the_reference_does(file: object) -> None:
    agree(file)


@pytest.mark.exhaustive
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_host_code_replays_every_trace_as_the_reference_does(file: object) -> None:
    agree(file)


def test_traces_have_waves() -> None:
    assert len(FEW) > 4
    assert all(json.loads(file.read_text())["waves"] for file in FEW)
