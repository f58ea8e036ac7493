"""The code of a launch under the debugger: its lines, its functions, and what writes registers."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from amdjit.abi.code_marks import BREAK_MARK
from amdjit.code_object import CodeObject, MalformedCodeObject
from amdjit.code_object.debug_info import DebugInfo, read_debug_info
from amdjit.debugging.values import Place
from amdjit.diagnostics import LaunchError
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.stepping.launch import SteppedLaunch
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.traits import Idle
from amdjit.runtime.recording import RecordedLaunch

__all__ = ["LaunchCode", "Line", "is_break"]

_BANKS = {RegisterFile.VGPR: "v", RegisterFile.AGPR: "a", RegisterFile.SGPR: "s"}
# A file and the number of a line.
Line = tuple[str, int]


class LaunchCode:
    """names: what debug information says of variables and functions. entry: where the kernel
    begins."""

    def __init__(self, launch: RecordedLaunch, function: EmulatedFunction) -> None:
        self._launch, self._module = launch, function.module
        self._object = function.module.code_object
        self._wave_size = function.kernel.descriptor.wave_size
        self.entry = function.kernel.entry_address
        self.names = _debug_info(self._object)
        self._functions = [
            (symbol.address, symbol.address + symbol.size)
            for symbol in self._object.symbols
            if symbol.is_function and symbol.size
        ]
        self._lines: dict[Line, int] = {}

    # Instructions

    def decoded(self, pc: int) -> Instruction:
        """Return the instruction at a pc."""
        return self._module.decoded(pc, self._wave_size)

    def text_at(self, pc: int) -> str:
        """Return the instruction at a pc as text, with its pc."""
        return self._module.instruction_at(pc, self._wave_size)

    def function_at(self, pc: int) -> int | None:
        """Return where the function begins that has a pc, None if nothing says so."""
        return next((start for start, end in self._functions if start <= pc < end), None)

    def writers(self, pcs: Iterable[int], place: Place) -> Iterator[int]:
        """Yield the pcs of the instructions that write one of some registers."""
        wanted = range(place.first, place.first + place.count)
        for pc in pcs:
            instruction = self.decoded(pc)
            for half in filter(None, (instruction, instruction.pair)):
                for spec, operand in zip(half.opcode.operands, half.operands, strict=True):
                    if (
                        spec.written
                        and isinstance(operand, Register)
                        and _BANKS.get(operand.file) == place.bank
                        and operand.index < wanted.stop
                        and operand.index + operand.dwords > wanted.start
                    ):
                        yield pc

    # Lines

    def line_of(self, pc: int) -> Line | None:
        """Return file and line of a pc, None if they are not known."""
        return self._object.line_of(pc)

    def number_of_line(self, pc: int) -> int:
        """Return the number that stands for a pc's line, 0 for none."""
        line = self.line_of(pc)
        if line is None or line[1] == 0:
            return 0
        return self._lines.setdefault(line, len(self._lines) + 1)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that have code."""
        return tuple(sorted(self._lines))

    def source(self, file: str, line: int) -> str | None:
        """Return the text of a line, None if it is not known."""
        recorded = self._launch.lines.get(PurePath(file).name, {}).get(line)
        if recorded is not None:
            return recorded
        return linecache.getline(file, line).rstrip("\n") or (
            "" if line <= len(linecache.getlines(file)) else None
        )

    def starts(
        self, stepped: SteppedLaunch, line: int, file: str
    ) -> tuple[Line, frozenset[int], frozenset[int]]:
        """Return a line, where each round of a loop that is all on it begins, and where its code
        begins. LaunchError if it has none, or several files have."""
        found: dict[Line, set[int]] = {}
        rounds: set[int] = set()
        before: Line | None = None
        for pc in stepped.pcs:
            here = self.line_of(pc)
            if here is not None and here[1] == line and _is_called(here[0], file):
                if here != before:
                    found.setdefault(here, set()).add(pc)
                if self._is_whole_loop(stepped, pc, here):
                    rounds.add(pc)
            before = here
        if len(found) != 1:
            raise LaunchError(self._no_line(line, file, sorted(name for name, _ in found)))
        ((place, pcs),) = found.items()
        return place, frozenset(rounds), frozenset(pcs)

    def _is_whole_loop(self, stepped: SteppedLaunch, pc: int, line: Line) -> bool:
        """Return whether a loop begins at a pc, all of whose code is of a line."""
        end = stepped.loops.get(pc)
        inside = [each for each in stepped.pcs if end is not None and pc <= each <= end]
        return bool(inside) and all(self.line_of(each) == line for each in inside)

    def _no_line(self, line: int, file: str, found: list[str]) -> str:
        if found:
            files = ", ".join(PurePath(name).name for name in found)
            return f"several files have code at line {line}: {files}; say file="
        lines = sorted({place[1] for place in self._lines if _is_called(place[0], file)})
        if not lines:
            files = ", ".join(sorted({PurePath(name).name for name, _ in self._lines})) or "none"
            return f"no code is from a file {file}; there are: {files}"
        return f"line {line} has no code; these have: {', '.join(map(str, lines))}"


def is_break(instruction: Instruction) -> bool:
    """Return whether an instruction marks a `breakpoint()`."""
    is_idle = instruction.traits.idle is Idle.DELAY
    return is_idle and instruction.immediates.get("simm16") == BREAK_MARK


def _is_called(path: str, name: str) -> bool:
    """Return whether a file has a name, or a path that ends so; any has the name ""."""
    wanted = PurePath(name).parts
    return not name or PurePath(path).parts[-len(wanted) :] == wanted


def _debug_info(whole: CodeObject) -> DebugInfo:
    try:
        return read_debug_info(whole.elf)
    except MalformedCodeObject:
        return DebugInfo()
