"""LLVM selects every declaration, alone in a kernel, for gfx1201, and it becomes the instruction
that it names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import amdjit
from amdjit.intrinsics import amdgcn
from tests.intrinsics import selection_cases
from tests.intrinsics.selection_cases import ELSEWHERE, HERE, compile_case, usual, write_module

CASES = [usual(label) for label in (*HERE, *ELSEWHERE)]
# v_writelane_b32 also writes to a lane that is off, so it is for code that all lanes run.
ELSE_WHERE_LANES_MAY_BE_OFF = {"wave.writelane": "v_cndmask_b32"}
NUMBERS = {case.label: number for number, case in enumerate(CASES)}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return write_module(CASES, tmp_path_factory.mktemp("selection"))


def has_its_own_test(label: str) -> bool:
    """Whether it is one of clang's builtins: test_builtins.py compiles each, a few in a kernel, and
    looks for its instruction."""
    return label.rpartition(".")[2] in amdgcn.BUILTINS


@pytest.mark.sample(50)
@pytest.mark.parametrize(
    "label",
    [
        pytest.param(label, marks=pytest.mark.exhaustive if has_its_own_test(label) else ())
        for label in HERE
    ],
)
def test_it_becomes_its_instruction(label: str, generated: ModuleType) -> None:
    assembly = compile_case(generated, NUMBERS[label], CASES[NUMBERS[label]]).asm_full
    assert "call" not in assembly
    # The instructions of clang's builtins are all checked, on every processor:
    # test_builtins.
    instruction = None if has_its_own_test(label) else HERE[label].isa
    instruction = ELSE_WHERE_LANES_MAY_BE_OFF.get(label, instruction)
    assert (instruction or "s_endpgm") in assembly


@pytest.mark.parametrize("label", ELSEWHERE)
def test_what_gfx1201_lacks_is_an_error_that_says_what_to_use(
    label: str, generated: ModuleType
) -> None:
    with pytest.raises(amdjit.TargetError) as caught:
        compile_case(generated, NUMBERS[label], CASES[NUMBERS[label]])
    alternative = ELSEWHERE[label].alternative
    assert callable(alternative)
    assert f"use {alternative('gfx1201')}" in str(caught.value)


@pytest.mark.exhaustive
def test_llvm_selects_every_type_that_is_declared(tmp_path: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, selection_cases.__file__, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    last = outcome.stdout.splitlines()[-1:]
    assert outcome.returncode == 0, f"at {last}: {outcome.stderr[-2000:]}"
    assert "cases compiled" in last[0]
