"""Random programs that print and assert: a kernel writes the lines that Python writes, and fails
where Python's assertion fails, at several levels and on several processors for each program."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.types import Scalar, boolean, i32
from tests.fuzz.documented_composites import NAMES, Array
from tests.fuzz.documented_meaning import of
from tests.fuzz.fuzzed_device import emulator, has_wide_waves, processor
from tests.fuzz.program_types import ITEMS, NUMBERS, PARAMETERS, PYTHON_NUMBERS, SLOTS, UNIFORM
from tests.fuzz.programs import Writer, program
from tests.fuzz.running import INPUTS, KERNEL_NAMES, LANES, TABLES, Build, define

Lines = dict[int, list[str]]
"""What each lane prints, in its order."""

BUILDS = (("gfx1201", 0), ("gfx1201", 3), ("gfx1100", 1), ("gfx942", 2))
INTEGER_FORMATS = ("", "d", "5d", "<7", "+d", "x", "#010b", "08", ",")
FLOAT_FORMATS = ("", ".3f", "10.2e", "g", "+.1f", "<12.4g", "012.3f")


class Speaker(Writer):
    """Writes programs that also print and assert."""

    def statement(self, indent: int, depth: int) -> None:
        if self.arrays and self.chance(45):
            self.pick(self.say, self.claim)(indent)
        else:
            super().statement(indent, depth)

    def show(self, indent: int) -> None:
        self.say(indent)
        super().show(indent)

    def spoken(self) -> str:
        """Write a number with a format, for an f-string."""
        type = self.pick(*NUMBERS, boolean)
        formats = FLOAT_FORMATS if type.is_float else INTEGER_FORMATS
        form = "" if type is boolean else self.pick(*formats)
        # What Python's own numbers print as depends on the width that they get.
        return f"{{{self.typed(type)}{':' if form else ''}{form}}}"

    def typed(self, type: Scalar) -> str:
        return f"{type}({self.expression(type, 1)})"

    def say(self, indent: int) -> None:
        if self.chance(50):
            text = " ".join(self.spoken() for _ in range(self.choices.number(1, 3)))
            return self.line(indent, f'print("#", n, i, f"{text}")')
        words = [self.typed(self.pick(*NUMBERS, boolean)) for _ in range(self.choices.number(0, 3))]
        separator = self.pick("", ', sep="; "')
        text = ", ".join(["'#'", "n", "i", *words])
        return self.line(indent, f"print({text}{separator})")

    def claim(self, indent: int) -> None:
        condition = self.expression(boolean, 2)
        self.line(indent, f'assert {condition}, f"{self.fresh("claim ")} {self.spoken()}"')


def speaking(data: bytes) -> str:
    """Write a program `program(n, i, u, a_i8, ..., o_i8, ...)`, where n is its number."""
    return program(data, Speaker, "n, i, u")


def as_python(source: str, number: int) -> tuple[Lines, dict[int, str]]:
    """Return what lanes print, and the messages of those whose assertion fails."""
    source = re.sub(
        r"^( *)(x\d+)\[(.*)\] = (.*)$", r"\1\2 = put(\2, \3, \4)", source, flags=re.MULTILINE
    )
    lines: Lines = defaultdict(list)
    failures = {}
    tables = {
        name: Array(type, table)
        for type, (name, table) in zip(PARAMETERS, TABLES.items(), strict=True)
    }
    lane = 0

    def say(*words: Any, sep: str = " ") -> None:
        lines[lane].append(sep.join(str(word) for word in words))

    run = define(source, {**NAMES, **tables, "print": say})["program"]
    outputs = [np.zeros(ITEMS * SLOTS, type.dtype) for type in PARAMETERS]
    arrays = [Array(t, array) for t, array in zip(PARAMETERS * 2, [*INPUTS, *outputs], strict=True)]
    with np.errstate(all="ignore"):
        for lane in range(LANES):
            try:
                run(
                    of(i32, number),
                    of(i32, lane),
                    of(i32, UNIFORM),
                    *arrays,
                    *PYTHON_NUMBERS.values(),
                )
            except AssertionError as error:
                failures[lane] = str(error)
    return lines, failures


def that_holds(source: str) -> str:
    """Return a program without the assertions that fail."""
    while failures := as_python(source, 0)[1]:
        claims = {" ".join(message.split()[:2]) for message in failures.values()}
        kept = [
            line if not any(f'f"{claim} ' in line for claim in claims) else _passing(line)
            for line in source.splitlines()
        ]
        source = "\n".join(kept) + "\n"
    return source


def _passing(line: str) -> str:
    return " " * (len(line) - len(line.lstrip())) + "pass"


def run_kernel(sources: Sequence[str], build: Build) -> None:
    """Run programs one after the other in one kernel."""
    found = {
        f"program_{k}": define(source, {**KERNEL_NAMES, **TABLES})["program"]
        for k, source in enumerate(sources)
    }
    arrays = ", ".join([*(f"a_{type}" for type in PARAMETERS), *(f"o_{t}" for t in PARAMETERS)])
    numbers = ", ".join(PYTHON_NUMBERS)
    text = [f"def run(u, {arrays}, {numbers}):", "    i = grid(1)", f"    if i < {LANES}:"]
    for k in range(len(sources)):
        rows = re.sub(r"o_\w+", rf"\g<0>[{k}]", arrays)
        text.append(f"        program_{k}({k}, i, u, {rows}, {numbers})")
    run = define("\n".join(text) + "\n", {"grid": amdjit.grid, **found})["run"]
    outputs = [np.zeros((len(sources), ITEMS * SLOTS), type.dtype) for type in PARAMETERS]
    size = 64 if has_wide_waves() else 32
    with emulator():
        amdjit.kernel(opt_level=build.level, warnings=False, print_buffer=1 << 22)(run)[1, size](
            np.int32(UNIFORM), *INPUTS, *outputs, *PYTHON_NUMBERS.values()
        )


def heard(text: str, count: int) -> list[Lines]:
    """Sort the lines of a kernel's output by program and lane."""
    lines: list[Lines] = [defaultdict(list) for _ in range(count)]
    for line in text.splitlines():
        number, lane = map(int, re.match(r"#\W+(\d+)\W+(\d+)", line).groups())  # type: ignore[union-attr]
        lines[number][lane].append(line)
    return lines


def check(sources: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    expected = [as_python(source, number)[0] for number, source in enumerate(sources)]
    for cpu, level in BUILDS:
        with processor(cpu):
            capsys.readouterr()
            run_kernel(sources, Build(level))
        found = heard(capsys.readouterr().out, len(sources))
        for source, said, wanted in zip(sources, found, expected, strict=True):
            assert said == wanted, f"{cpu} O{level}\n{source}"


def failing(random: Random) -> tuple[str, dict[int, str]]:
    """Write a program that fails, and the messages of the lanes that fail."""
    while True:
        source = speaking(random.randbytes(150))
        if failures := as_python(source, 0)[1]:
            return source, failures


def check_failure(source: str, failures: dict[int, str]) -> None:
    for cpu, level in BUILDS:
        with processor(cpu), pytest.raises(AssertionError) as error:
            run_kernel([source], Build(level))
        fault = error.value
        assert isinstance(fault, amdjit.KernelFault), source
        assert fault.thread is not None
        assert fault.detail == failures.get(fault.thread[0]), f"{cpu} O{level}\n{source}"


def test_programs_print_what_python_prints(capsys: pytest.CaptureFixture[str]) -> None:
    random = Random(1)
    for _ in range(1):
        check([that_holds(speaking(random.randbytes(150))) for _ in range(8)], capsys)


def test_programs_fail_where_python_fails() -> None:
    random = Random(2)
    for _ in range(2):
        check_failure(*failing(random))


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", range(16))
def test_many_programs_print_and_fail_as_python(
    group: int, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(f"many {group}")
    for _ in range(8):
        check([that_holds(speaking(random.randbytes(150))) for _ in range(8)], capsys)
        check_failure(*failing(random))
