"""Every opcode of the decoder is executed and checked, or refused with a reason, as docs/reference
says of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from amdjit.emulator.instructions.refused import REFUSED, refusal
from amdjit.emulator.tiers.full import executes
from amdjit.isa.rows import opcodes
from tests.emulator.building import assemble, emulate
from tests.emulator.checked_by import (
    MODEL,
    OTHERS,
    OUTSIDE,
    TESTS,
    checking_test,
    why_not_in_the_model,
)
from tests.emulator.required_tools import needs_tools

TESTS_OF_THE_EMULATOR = Path(__file__).parents[1]
ALL = sorted({opcode.mnemonic for opcode in opcodes()})
EXECUTED = sorted({opcode.mnemonic for opcode in opcodes() if executes(opcode)})
# Kernels never run into these: padding after their end; probes that no assembler text
# stands for.
NEVER_RUN = {"s_code_end", "s_waitcnt", "s_atc_probe", "s_atc_probe_buffer", "s_endpgm_saved"}


def test_every_opcode_is_executed_or_has_a_reason() -> None:
    gaps = [name for name in ALL if name not in EXECUTED and refusal(name) is None]
    both = [name for name in EXECUTED if refusal(name) is not None]
    assert not gaps, gaps
    assert not both, both


def test_every_reason_is_for_an_opcode() -> None:
    unused = [name for name in REFUSED if name not in ALL]
    assert not unused, unused


def test_the_model_has_nearly_all_and_each_other_one_has_a_reason() -> None:
    outside = [name for name in EXECUTED if why_not_in_the_model(name)]
    assert len(outside) <= 40, outside
    matched = {
        pattern for pattern in OUTSIDE if any(re.fullmatch(pattern, name) for name in outside)
    }
    assert matched == set(OUTSIDE)


def test_the_tests_that_check_opcodes_exist() -> None:
    assert all((TESTS_OF_THE_EMULATOR / file).exists() for file in (MODEL, OTHERS, *TESTS.values()))


@needs_tools
def test_a_refusal_names_the_instruction_and_the_reason() -> None:
    code = assemble("  s_alloc_vgpr 8\n")
    with pytest.raises(
        KernelFault, match=r"s_alloc_vgpr 8.*kernels with dynamic registers"
    ) as caught:
        emulate(code, "kernel", 1, 32, [np.zeros(1), np.zeros(1)])
    assert caught.value.kind == "unsupported-instruction"


_RECORDER = """
import os
from amdjit.emulator.tiers.full import _Translation as T
from amdjit.emulator.tiers.terminators import Terminators
seen = set()
emit, terminate = T._emit, Terminators.emit
def _emit(self, stretch, ones, joined):
    for instruction, _ in stretch:
        seen.update(i.mnemonic for i in (instruction, instruction.pair) if i is not None)
    return emit(self, stretch, ones, joined)
def _terminate(self, block):
    seen.add(block.instructions[-1].mnemonic)
    return terminate(self, block)
T._emit, Terminators.emit = _emit, _terminate
def pytest_sessionfinish(session):
    open(os.environ["RECORDED"], "w").write(" ".join(seen))
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("file", sorted({*TESTS.values(), OTHERS}))
def test_the_named_test_runs_the_opcode(file: str, tmp_path: Path) -> None:
    """Run it in a process of its own with a cache of its own, and note what the translator
    meets."""
    tmp_path.joinpath("note_opcodes.py").write_text(_RECORDER)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    recorded = tmp_path / "recorded"
    own = {
        "PYTHONPATH": paths,
        "RECORDED": str(recorded),
        "AMDJIT_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "note_opcodes",
        "-m",
        "exhaustive or not exhaustive",
    ]
    done = subprocess.run(
        [*command, str(TESTS_OF_THE_EMULATOR / file)],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    seen = set(recorded.read_text().split())
    claimed = {name for name in EXECUTED if checking_test(name) == file}
    assert not claimed - seen - NEVER_RUN, claimed - seen - NEVER_RUN
