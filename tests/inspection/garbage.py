"""Garbage in registers while kernels run on the emulator: what tells whether liveness is right.

`garbage_in_dead_registers` runs every launch of a block with code that overwrites, before each
instruction, the registers that inspection calls dead there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import CodeObject, Kernel
from amdjit.emulator import EmulatorDevice
from amdjit.emulator.host.builder import Value, constant, sequence
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import Plan
from amdjit.emulator.memory import Table
from amdjit.emulator.wave.frame import Frame, Instrument, Instruments
from amdjit.emulator.wave.registers import FULL_MASK
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.machine_code import MachineCode, read_machine_code
from amdjit.inspection.reading import inspect_kernel
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.register_numbers import HALF_LANES


@dataclass(frozen=True)
class Places:
    """The registers to overwrite before each instruction, by its address."""

    vgprs: Mapping[int, Sequence[int]]
    sgprs: Mapping[int, Sequence[int]]

    @property
    def count(self) -> int:
        """How many overwrites there are."""
        return sum(map(len, self.vgprs.values())) + sum(map(len, self.sgprs.values()))


class Garbage(Instrument):
    """Overwrites registers; `instrument_for` makes a class for each plan."""

    name: ClassVar[str] = "garbage"
    places: ClassVar[Places]
    seed: ClassVar[int]

    def before(self, frame: Frame, instruction: Instruction) -> None:
        pc = instruction.pc
        for number in self.places.vgprs.get(pc, ()):
            for half in range(frame.registers.halves):
                frame.registers.select_half(half)
                frame.registers.write_vector(number, self._vector(pc, number, half), FULL_MASK)
        frame.registers.select_half(0)
        for number in self.places.sgprs.get(pc, ()):
            frame.registers.write_scalar(number, constant("i32", self._random(pc, number, 2)[0]))

    def _vector(self, pc: int, number: int, half: int) -> Value:
        return sequence("i32", self._random(pc, number, half))

    def _random(self, pc: int, number: int, half: int) -> list[int]:
        random = np.random.default_rng([self.seed, pc, number, half])
        return [int(value) for value in random.integers(-(1 << 31), 1 << 31, HALF_LANES)]


def instrument_for(places: Places, seed: int) -> type[Garbage]:
    """Return the instrument of a plan, whose name is its own: code is cached under it."""
    key = hashlib.sha256(repr((places, seed)).encode()).hexdigest()[:16]
    return type(
        "SomeGarbage", (Garbage,), {"name": f"garbage-{key}", "places": places, "seed": seed}
    )


@dataclass
class Injected:
    """A `dispatch.Checks` that only adds an instrument."""

    instruments: Instruments
    natives: Sequence[NativeSources] = ()
    most_threads: int = 64

    def prepare(self, function: EmulatedFunction, plan: Plan, residents: int) -> int:
        return 0

    def table(self, table: Table) -> Table:
        return table


def dead_places(code: MachineCode, inspection: Inspection) -> Places:
    """Return the dead registers to overwrite so that each stays overwritten for as long as it is
    dead: where a block starts, where a value dies, and where an instruction has written it in
    between. Registers that the kernel does not name are left out."""
    live = {item.address: item for item in inspection.instructions}
    named = {
        file: frozenset(n for _, item in code.instructions() for n in _named(item, file, False))
        for file in (RegisterFile.VGPR, RegisterFile.SGPR)
    }
    found: dict[RegisterFile, dict[int, list[int]]] = {file: {} for file in named}
    for block in code.graph.blocks.values():
        before: Instruction | None = None
        for item in block.instructions:
            for file, all_named in named.items():
                now = _live(live[item.pc], file)
                fresh = all_named if before is None else _fresh(live[before.pc], before, file)
                found[file][item.pc] = sorted((fresh & all_named) - now)
            before = item
    return Places(found[RegisterFile.VGPR], found[RegisterFile.SGPR])


def _fresh(facts: Any, instruction: Instruction, file: RegisterFile) -> frozenset[int]:
    return _live(facts, file) | frozenset(_named(instruction, file, True))


def _live(facts: Any, file: RegisterFile) -> frozenset[int]:
    return frozenset(facts.live_vgprs if file is RegisterFile.VGPR else facts.live_sgprs)


def _named(instruction: Instruction, file: RegisterFile, written: bool) -> Iterator[int]:
    for half in (instruction, instruction.pair) if instruction.pair else (instruction,):
        for spec, operand in zip(half.opcode.operands, half.operands, strict=True):
            is_one = isinstance(operand, Register) and operand.file is file
            if is_one and (spec.written or not written):
                assert isinstance(operand, Register)
                yield from range(operand.index, operand.index + operand.dwords)


@dataclass
class Launches:
    """What has run with garbage: kernels by name, and how many overwrites their code has."""

    kernels: dict[str, int] = field(default_factory=dict)


@contextmanager
def launching_with(checks: Callable[[EmulatedFunction], Injected]) -> Iterator[None]:
    """Run all launches of the emulator with what a function adds to a kernel."""

    def launch(
        self: EmulatorDevice,
        function: EmulatedFunction,
        shape: LaunchShape,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        assert not shape.cooperative
        dispatcher = self._machine().dispatcher
        dispatcher.launch_checked(
            function, shape, bytes(kernarg), self.time_limit, checks(function)
        )

    with patch.object(EmulatorDevice, "launch", launch):
        yield


@contextmanager
def garbage_in_dead_registers(seed: int = 0) -> Iterator[Launches]:
    """Run all launches of the emulator with garbage in the registers that are dead."""
    launches = Launches()
    plans: dict[tuple[bytes, str], type[Garbage]] = {}

    def checks(function: EmulatedFunction) -> Injected:
        whole, kernel = function.module.code_object, function.kernel
        key = whole.data, kernel.name
        if key not in plans:
            places = plan_of(whole, kernel)
            launches.kernels[kernel.name] = places.count
            plans[key] = instrument_for(places, seed)
        return Injected((plans[key],))

    with launching_with(checks):
        yield launches


def plan_of(whole: CodeObject, kernel: Kernel) -> Places:
    """Return where garbage goes in a kernel."""
    code = read_machine_code(whole, kernel)
    assert code is not None
    return dead_places(code, inspect_kernel(whole, kernel))
