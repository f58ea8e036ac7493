"""Programs that try many instructions on the same inputs, and what each of them should have
left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import emulate, own_parts
from tests.emulator.model.families import assembled
from tests.emulator.model.waves import in_lanes, lanes_of_wave

Registers = NDArray[np.uint32]

# Where the inputs of one lane are: each source has two registers (the third four), the old result
# four.
SOURCES = (2, 4, 6)
OLD = 10
INPUTS = 12
RESULT = 100
# Constants of every program: scalars that the instructions may read, lane masks.
SCALARS = {
    40: 0xC0490FDB,
    41: 0xBFF12345,
    42: 0x00010013,
    43: 0x7FF00001,
    44: 0x3F19999A,
    45: 0x40010203,
}
VCC = 0x9A5F3C61
MASK = 0x2DB7C3E4
PARTIAL = 0xF3B81D5C


@dataclass(frozen=True)
class Case:
    """One instruction: its lines, the rows it leaves, and a judge of those rows (True where a lane
    is wrong)."""

    name: str
    lines: tuple[str, ...]
    outputs: tuple[str, ...]
    judge: Callable[[Registers], NDArray[np.bool_]]


@dataclass
class Failure:
    """What came out wrong: the instruction, how many lanes, and the first of them with its
    inputs."""

    case: str
    count: int
    lane: int
    inputs: list[str]
    found: list[str]

    def __str__(self) -> str:
        return (
            f"{self.case}: {self.count} lanes wrong, lane {self.lane} in {self.inputs} gives "
            f"{self.found}"
        )


@dataclass
class _Layout:
    rows: int = 0
    lines: list[str] = field(default_factory=list)


def run_cases(
    cases: list[Case], inputs: Registers, lds: int = 0, private: int = 0
) -> list[Failure]:
    """Run all cases in one kernel and judge what they leave."""
    return list(_judged(cases, inputs, rows_of(cases, inputs, lds, private)))


def rows_of(cases: list[Case], inputs: Registers, lds: int = 0, private: int = 0) -> Registers:
    """Run all cases in one kernel on `inputs` (registers by lanes, whole waves), which has LDS and
    private memory; return the rows that they leave."""
    rows, lanes = inputs.shape
    size = lanes_of_wave()
    groups = lanes // size
    layout = _Layout()
    for case in cases:
        layout.lines += case.lines
        for register in case.outputs:
            if not _is_vector(register):
                layout.lines += in_lanes(register, "v249")
            source = register if _is_vector(register) else "v249"
            layout.lines.append(
                f"  global_store_b32 v250, {source}, s[2:3] offset:{4 * size * layout.rows}"
            )
            layout.rows += 1
    loads = [
        f"  global_load_b32 v{2 + row}, v250, s[0:1] offset:{4 * size * row}" for row in range(rows)
    ]
    scalars = [f"  s_mov_b32 s{number}, {value:#x}" for number, value in SCALARS.items()]
    head = own_parts(input_bytes=4 * size * rows, output_bytes=4 * size * layout.rows)
    text = "\n".join([head, *loads, "  s_wait_loadcnt 0x0", *scalars, *layout.lines, ""])
    packed = np.ascontiguousarray(inputs.reshape(rows, groups, size).transpose(1, 0, 2))
    found = np.zeros((groups, layout.rows, size), np.uint32)
    emulate(
        assembled(text, lds, private, attributes="+real-true16"),
        "kernel",
        groups,
        size,
        [packed, found],
    )
    return found.transpose(1, 0, 2).reshape(layout.rows, lanes)


def _is_vector(register: str) -> bool:
    return register[0] == "v" and register[1].isdigit()


def _judged(cases: list[Case], inputs: Registers, found: Registers) -> list[Failure]:
    failures = []
    row = 0
    for case in cases:
        mine = found[row : row + len(case.outputs)]
        row += len(case.outputs)
        wrong = case.judge(mine)
        if wrong.any():
            lane = int(np.argmax(wrong))
            texts = [[f"{int(value):08x}" for value in rows[:, lane]] for rows in (inputs, mine)]
            failures.append(Failure(case.name, int(wrong.sum()), lane, *texts))
    return failures
