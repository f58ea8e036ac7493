"""What launches on the emulator did, for comparison with what analyses say: the lanes' addresses at
each access, and vector registers before each instruction.

Code of the emulator writes records into an array; launches that are observed use one host thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import CodeObject, Kernel
from amdjit.emulator import EmulatorDevice
from amdjit.emulator.checks.lane_addresses import lane_addresses
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.wave.frame import Frame, Instrument, MemoryAccess
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import EXEC_LO
from tests.inspection.garbage import Injected

_MOST = 1 << 16
_FIELDS = 40
_HEADER = 4
# Record: address of the instruction, register or -1 for an access, half of the wave, active lanes;
# then 32 lanes. Row 0 counts the records.
_area: NDArray[np.int64] = np.zeros((_MOST, _FIELDS), np.int64)


@dataclass(frozen=True)
class Seen:
    """One record. register: -1 for the addresses of an access."""

    pc: int
    register: int
    half: int
    active: int
    lanes: NDArray[np.int64]


class Observer(Instrument):
    """Writes records; registers: vector registers to write before each instruction."""

    name: ClassVar[str] = f"observer-{_area.ctypes.data:x}"
    registers: ClassVar[Sequence[int]] = ()

    def before(self, frame: Frame, instruction: Instruction) -> None:
        registers = frame.registers
        for half in range(registers.halves if self.registers else 0):
            registers.select_half(half)
            active = registers.scalar(EXEC_LO + half)
            for number in self.registers:
                lanes = frame.builder.resize(registers.vector(number), 64)
                _record(frame, (instruction.pc, number, half), active, lanes)
        registers.select_half(0)

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        if access.space not in "svfl":
            return
        lanes = lane_addresses(frame.builder, access)
        _record(frame, (instruction.pc, -1, frame.registers.wave_half), access.lanes, lanes)


def _record(frame: Frame, header: tuple[int, int, int], active: Value, lanes: Value) -> None:
    b = frame.builder
    area = b.pointer(constant("i64", _area.ctypes.data))
    count = b.load("i64", area, 8)
    last = constant("i64", _MOST - 1)
    number = b.select(b.compare("ult", count, last), b.add(count, constant("i64", 1)), last)
    b.store(number, area, 8)
    row = b.offset(area, b.mul(number, constant("i64", 8 * _FIELDS)))
    for place, value in enumerate(header):
        b.store(constant("i64", value), b.offset(row, 8 * place), 8)
    b.store(b.resize(active, 64), b.offset(row, 24), 8)
    b.store(lanes, b.offset(row, 8 * _HEADER), 8)


@dataclass
class Launches:
    """What was launched, and what it did."""

    kernels: list[tuple[CodeObject, Kernel]] = field(default_factory=list)
    records: list[Seen] = field(default_factory=list)


@contextmanager
def observed(registers: Sequence[int] = ()) -> Iterator[Launches]:
    """Run all launches of the emulator so that they write records."""
    names = "-".join(map(str, registers))
    kind = type(
        "SomeObserver",
        (Observer,),
        {"name": f"{Observer.name}-{names}", "registers": tuple(registers)},
    )
    launches = Launches()

    def launch(
        self: EmulatorDevice,
        function: EmulatedFunction,
        shape: LaunchShape,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        _area[0] = 0
        assert not shape.cooperative
        self._machine().dispatcher.launch_checked(
            function, shape, bytes(kernarg), self.time_limit, Injected((kind,), most_threads=1)
        )
        launches.kernels.append((function.module.code_object, function.kernel))
        # If there are more, the first ones are enough; the last row is overwritten then.
        count = min(int(_area[0, 0]), _MOST - 2)
        launches.records += [
            Seen(int(row[0]), int(row[1]), int(row[2]), int(row[3]), row[_HEADER:36].copy())
            for row in _area[1 : count + 1]
        ]

    with patch.object(EmulatorDevice, "launch", launch):
        yield launches
