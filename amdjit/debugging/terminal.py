"""The prompt of the debugger, with the habits of pdb."""

from __future__ import annotations

import cmd
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np

from amdjit.debugging.debugger import Change, Debugger
from amdjit.debugging.page import write_page

__all__ = ["Terminal"]

_ELEMENT = re.compile(r"(\w+)\[([-\d, ]+)\]$")
_SHORT = {
    "s": "step", "n": "step", "next": "step", "si": "stepi", "b": "break", "c": "continue",
    "cont": "continue", "rs": "back", "rsi": "backi", "bs": "back", "bsi": "backi",
    "rc": "reverse", "cl": "clear", "u": "until", "unt": "until", "w": "where", "l": "list",
    "p": "print", "pp": "print", "q": "quit", "exit": "quit", "EOF": "quit", "j": "goto",
    "regs": "registers", "vars": "variables", "h": "help",
}  # fmt: skip
_NUMBERS_IN_ROW = 8


class Terminal(cmd.Cmd):
    """Reads commands until `quit`, or one after the other from a list."""

    prompt = "(amdjit) "

    def __init__(
        self, debugger: Debugger, stdin: IO[str] | None = None, stdout: IO[str] | None = None
    ) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self._debugger = debugger

    def run(self, commands: Sequence[str] = ()) -> None:
        """Carry out commands, then those that are typed unless one of them was `quit`."""
        self._say(self._debugger.where())
        for command in commands:
            self._say(f"{self.prompt}{command}")
            if self.onecmd(command):
                return
        self.cmdloop()

    def onecmd(self, line: str) -> bool:
        """Carry out a command; what is none is an expression."""
        name = self.parseline(line)[0]
        name = _SHORT.get(line.split(" ", 1)[0], name) if line else None
        try:
            if name is not None and hasattr(self, f"do_{name}"):
                return bool(getattr(self, f"do_{name}")(line.partition(" ")[2].strip()))
            if line.strip():
                self.do_print(line)
        except KeyboardInterrupt:
            self._say("interrupted")
        except _UsageError:
            self._say(getattr(self, f"do_{name}").__doc__)
        except Exception as error:
            self._say(f"*** {type(error).__name__}: {error}")
        return False

    def emptyline(self) -> bool:
        """Repeat the last command, as pdb does."""
        return self.onecmd(self.lastcmd) if self.lastcmd else False

    def precmd(self, line: str) -> str:
        """Keep a command for repetition."""
        if line.strip():
            self.lastcmd = line
        return line

    def _say(self, text: object) -> None:
        print(text, file=self.stdout)

    def _moved(self, has_moved: bool, back: bool = False) -> None:
        if not has_moved:
            self._say("this is the start of the wave" if back else "the wave does not come there")
        self._say(self._debugger.where(1))

    # Moving

    def do_step(self, argument: str) -> None:
        """step [COUNT]: go on to the next line of the wave. Also: s, n, next"""
        self._moved(self._debugger.step(_count(argument)))

    def do_stepi(self, argument: str) -> None:
        """stepi [COUNT]: go on by one instruction. Also: si"""
        self._moved(self._debugger.step(_count(argument), instructions=True))

    def do_back(self, argument: str) -> None:
        """back [COUNT]: go back to the line before. Also: bs, rs"""
        self._moved(self._debugger.back(_count(argument)), back=True)

    def do_backi(self, argument: str) -> None:
        """backi [COUNT]: go back by one instruction. Also: bsi, rsi"""
        self._moved(self._debugger.back(_count(argument), instructions=True), back=True)

    def do_continue(self, argument: str) -> None:
        """continue: go on to the next breakpoint, in any wave. Also: c"""
        self._debugger.resume()
        self._say(self._debugger.where(1))

    def do_reverse(self, argument: str) -> None:
        """reverse: go back to the breakpoint before. Also: rc"""
        self._debugger.reverse()
        self._say(self._debugger.where(1))

    def do_until(self, argument: str) -> None:
        """until LINE: go on until the wave comes to a line. Also: u"""
        self._moved(self._debugger.run_to(_number(argument)))

    def do_goto(self, argument: str) -> None:
        """goto TIME: go to a time, forward or back. Also: j"""
        self._debugger.go_to(_number(argument))
        self._say(self._debugger.where(1))

    # Breakpoints

    def do_break(self, argument: str) -> None:
        """break [LINE [if CONDITION]]: stop at a line, or list the breakpoints. Also: b"""
        if not argument:
            for each in self._debugger.breakpoints:
                self._say(_breakpoint_text(each))
            return
        line, _, condition = argument.partition(" if ")
        file, _, number = line.strip().rpartition(":")
        self._say(_breakpoint_text(self._debugger.break_at(_number(number), condition, file)))

    def do_clear(self, argument: str) -> None:
        """clear NUMBER: remove a breakpoint. Also: cl"""
        self._debugger.clear(_number(argument))

    # Looking

    def do_where(self, argument: str) -> None:
        """where: the place of the wave, and its lanes. Also: w"""
        self._say(self._debugger.where())

    def do_list(self, argument: str) -> None:
        """list [LINES]: more of the source around. Also: l"""
        self._say(self._debugger.where(_number(argument or "8")))

    def do_print(self, argument: str) -> None:
        """print EXPRESSION: evaluate it with the variables of the lane. Also: p, or nothing"""
        self._say(repr(self._debugger.evaluate(argument)))

    def do_lanes(self, argument: str) -> None:
        """lanes NAME: a variable or a register in every lane; inactive ones in brackets"""
        values = self._of_all_lanes(argument)
        active = set(self._debugger.lanes)
        cells = [
            str(value) if lane in active else f"({value})" for lane, value in enumerate(values)
        ]
        self._table(cells)

    def _of_all_lanes(self, name: str) -> Iterable[Any]:
        value = self._debugger.variables.get(name)
        if value is not None and value.lanes is not None:
            return list(value.lanes)
        try:
            found = self._debugger.registers[name]
        except KeyError:
            return [self._debugger.evaluate(name, lane) for lane in range(self._lane_count())]
        return list(found) if isinstance(found, np.ndarray) else [found]

    def _lane_count(self) -> int:
        state = self._debugger.state
        return 0 if state is None else int(state.vectors.shape[1])

    def do_variables(self, argument: str) -> None:
        """variables: those that can be read here, in the lane that is looked at. Also: vars"""
        for each in self._debugger.variables.values():
            value = "not readable" if each.lanes is None else each.of(self._debugger.lane)
            if " in LDS" in each.type:
                value = f"at {value} of LDS"
            self._say(f"{each.name}: {each.type} = {value}    ({each.where})")
        for name, value in self._debugger.arguments.items():
            self._say(f"{name} = {value}    (argument)")

    def do_registers(self, argument: str) -> None:
        """registers [NAMES]: such as v3 s4 vcc; without names, exec, vcc, scc and m0. Also: regs"""
        for name in argument.split() or ["exec", "vcc", "scc", "m0"]:
            value = self._debugger.registers[name]
            if isinstance(value, int):
                self._say(f"{name} = {value:#x}")
            else:
                self._say(name)
                self._table([f"{each:#010x}" for each in value])

    def do_arrays(self, argument: str) -> None:
        """arrays [NAME]: an array of the launch or in LDS; without a name, which there are"""
        arrays = {**self._debugger.arrays, **self._debugger.shared}
        if argument:
            self._say(arrays[argument])
            return
        for name, array in arrays.items():
            place = "LDS" if name in self._debugger.shared else "memory"
            self._say(f"{name}: {array.dtype}, shape {array.shape}, in {place}")

    def do_lds(self, argument: str) -> None:
        """lds [TYPE]: the bytes of LDS, as elements of a NumPy type: f4, i4, u1, ..."""
        data = self._debugger.lds
        kind = np.dtype(argument or "u4")
        self._table(
            [str(each) for each in data[: len(data) // kind.itemsize * kind.itemsize].view(kind)]
        )

    def do_waves(self, argument: str) -> None:
        """waves: the waves of the workgroups that are under way"""
        debugger = self._debugger
        before = debugger.block, debugger.wave
        for block in debugger.blocks:
            for wave in range(debugger.waves):
                debugger.select(block=block, wave=wave)
                line = debugger.line
                place = "ended" if debugger.pc is None else f"pc {debugger.pc:#x}"
                if line is not None:
                    place = f"{PurePath(line[0]).name}:{line[1]}, {place}"
                mark = "*" if (block, wave) == before else " "
                self._say(f"{mark} block {block}, wave {wave}: {place}")
        debugger.select(block=before[0], wave=before[1])

    # Choosing what is looked at

    def do_wave(self, argument: str) -> None:
        """wave NUMBER: look at another wave of the workgroup"""
        self._select(wave=_number(argument))

    def do_lane(self, argument: str) -> None:
        """lane NUMBER: look at one lane; steps stop where it is active"""
        self._select(lane=_number(argument))

    def do_thread(self, argument: str) -> None:
        """thread X [Y [Z]]: look at one work-item; steps stop where it is active"""
        self._select(thread=_place(argument))

    def do_block(self, argument: str) -> None:
        """block X [Y [Z]]: look at another workgroup; a step goes to its start"""
        self._select(block=_place(argument))

    def _select(self, **chosen: Any) -> None:
        self._debugger.select(**chosen)
        self._say(self._debugger.where(1))

    # The past

    def do_who(self, argument: str) -> None:
        """who NAME[INDEX] or ADDRESS: the last instruction that wrote an element"""
        element = _ELEMENT.match(argument)
        if element is not None:
            index = [int(each) for each in element[2].split(",")]
            self._changed(self._debugger.who_wrote(element[1], *index))
        else:
            self._changed(self._debugger.who_wrote(_number(argument)))

    def do_last(self, argument: str) -> None:
        """last NAME: the last instruction that wrote a variable in the lane that is looked at"""
        self._changed(self._debugger.last_change(argument))

    def _changed(self, change: Change | None) -> None:
        self._say("nothing has written it so far" if change is None else change)

    def do_shake(self, argument: str) -> None:
        """shake [COUNT]: run the launch in orders that interrupt waves; which give other results"""
        found = self._debugger.shake(_count(argument or "8"))
        for seed, names in found.items():
            self._say(f"--schedule {seed} gives another {', '.join(names)}")
        if not found:
            self._say("all orders give the same results")

    def do_page(self, argument: str) -> None:
        """page FILE.html: write the wave's life as a page for a browser"""
        if not argument:
            raise _UsageError
        (name,) = shlex.split(argument)
        steps = write_page(self._debugger, Path(name))
        self._say(f"{name}: {steps} instructions")

    def do_quit(self, argument: str) -> bool:
        """quit: leave the debugger. Also: q"""
        return True

    def do_help(self, arg: str) -> None:
        """help [COMMAND]: what commands there are"""
        if arg:
            name = _SHORT.get(arg, arg)
            known: Callable[..., object] | None = getattr(self, f"do_{name}", None)
            self._say(known.__doc__ if known is not None else f"there is no command {arg}")
            return
        for attribute in dir(self):
            if attribute.startswith("do_"):
                self._say(str(getattr(self, attribute).__doc__).strip())

    def _table(self, cells: Sequence[str]) -> None:
        width = max(map(len, cells), default=0)
        for first in range(0, len(cells), _NUMBERS_IN_ROW):
            row = (each.rjust(width) for each in cells[first : first + _NUMBERS_IN_ROW])
            self._say(f"{first:>5}  {'  '.join(row)}")


def _breakpoint_text(each: Any) -> str:
    condition = f" if {each.when}" if each.when else ""
    return f"breakpoint {each.number} at {PurePath(each.line[0]).name}:{each.line[1]}{condition}"


class _UsageError(Exception):
    """A command that is not written as its help says."""


def _number(argument: str) -> int:
    try:
        return int(argument, 0)
    except ValueError:
        raise _UsageError from None


def _count(argument: str) -> int:
    return _number(argument) if argument else 1


def _place(argument: str) -> tuple[int, int, int]:
    numbers = [_number(each) for each in argument.replace(",", " ").split()]
    if not 1 <= len(numbers) <= 3:
        raise _UsageError
    x, y, z = (*numbers, 0, 0)[:3]
    return x, y, z
