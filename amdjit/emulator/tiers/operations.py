"""Single instructions as host functions that many kernels share: `i64 operation(context, state,
frame, record)`.

A record is what a threaded program has for each instruction: the operation's address, then a dword
for each of its parameters: where a register lies in the wave's state, a site's number, a distance.
The result is the distance to the next record, or `LEAVE` plus what the wave function returns.

    v_add_f32_e32 v5, v1, v5   ->   address of aj_op_3c..., 2112, 1600

    define i64 @aj_op_3c...(ptr %context, ptr %state, ptr %frame, ptr %record) {
      %p0 = <v5's address>  %p1 = <v1's address>
      %t1 = load <32 x i32>, ptr %p1 ...
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from amdjit.emulator.host.builder import LANES, Value
from amdjit.emulator.layout import FIELD_BYTES, SCALAR_BYTES, VGPR_BYTES, Context
from amdjit.emulator.wave.frame import STAGING_VECTORS, Sites
from amdjit.emulator.wave.registers import Registers

OPERATION_PREFIX = "aj_op_"
# The frame of a wave function that runs a threaded program: staging vectors, the upper half's
# context, its patience.
UPPER_CONTEXT_OFFSET = STAGING_VECTORS * LANES * 4
PATIENCE_OFFSET = UPPER_CONTEXT_OFFSET + Context.FIELDS * FIELD_BYTES
FRAME_BYTES = PATIENCE_OFFSET + 64
# Programs are shorter than this many bytes.
LEAVE = 1 << 40
RECORD_HEADER = 8

_NAME = re.compile(r"%[A-Za-z][\w.]*")
# Values and blocks of the operation's own, its first one, and the record's size.
_OWN = re.compile(r"%(?:t\d+|own\.\w+|size|entry)")
_REGISTER = re.compile(r"%([sv])(\d+)\.at")
_GLOBAL = re.compile(r"@([\w.]+)")
_KNOWN: Mapping[str, str] = {
    "%context": "",
    "%state": "",
    "%frame": "",
    "%record": "",
    "%staging": "  %staging = getelementptr i8, ptr %frame, i64 0",
    "%context.upper": "  %context.upper = getelementptr i8, ptr %frame, i64 "
    f"{UPPER_CONTEXT_OFFSET}",
    "%patience": f"  %patience = getelementptr i8, ptr %frame, i64 {PATIENCE_OFFSET}",
    "%launch": "  %launch = load ptr, ptr %context, align 8",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """A host function without its attributes. declarations: of what it calls."""

    symbol: str
    body: str
    declarations: tuple[str, ...]

    def text(self, attributes: str) -> str:
        """Return the definition."""
        head = (
            f"define i64 @{self.symbol}(ptr %context, ptr %state, ptr %frame, ptr %record) "
            f"{attributes} {{"
        )
        return f"{head}\nentry:\n{self.body}\n}}\n"


class StateRegisters(Registers):
    """Registers that all live in the wave's state; a slot's address is a parameter of the
    operation."""

    def slot(self, file: str, index: int) -> Value:
        """Return the name of a register's address."""
        self.used.add((file, index))
        return Value("ptr", f"%{file}{index}.at")

    def forget(self) -> None:
        """Drop all cached values: the next operation knows nothing."""
        self._views.clear()


class NumberedSites(Sites):
    """Sites whose numbers are parameters."""

    def add(self, pc: int) -> Value:
        """Make a site for the instruction at `pc`; returns the parameter."""
        self.pcs.append(pc)
        return number(len(self.pcs) - 1)


def number(value: int) -> Value:
    """Return a parameter for a number that differs from record to record."""
    return Value("i32", f"%number.{value}")


def distance(label: str) -> Value:
    """Return a parameter for the distance to a label."""
    return Value("i32", f"%to.{label}")


def loop_entry(pc: int) -> Value:
    """Return a parameter for the id under which a wave that leaves the program enters a loop."""
    return Value("i32", f"%entry.{pc}")


def parameter_kind(name: str) -> tuple[str, str]:
    """Return what a parameter is and its argument: ("offset", bytes), ("number", n), ("to", label),
    ("entry", pc)."""
    register = _REGISTER.fullmatch(name)
    if register is None:
        kind, _, argument = name[1:].partition(".")
        return kind, argument
    file, index = register[1], int(register[2])
    return "number", str(index * 4 if file == "s" else SCALAR_BYTES + index * VGPR_BYTES)


def make_operation(
    lines: Iterable[str], declarations: Mapping[str, str]
) -> tuple[Operation, tuple[str, ...]]:
    """Turn the lines of one instruction into an operation and its parameters, by the names that the
    lines have."""
    parameters: dict[str, str] = {}
    known: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        name = match.group()
        if _OWN.fullmatch(name):
            return name
        if name in _KNOWN:
            known[name] = _KNOWN[name]
            return name
        return parameters.setdefault(name, f"%p{len(parameters)}")

    text = _NAME.sub(rename, "\n".join(lines))
    loads = "".join(
        _load(place, short, name) for place, (name, short) in enumerate(parameters.items())
    )
    # In the order of the table: an operation's text must not depend on which name it meets first.
    head = "".join(f"{known[name]}\n" for name in _KNOWN if known.get(name))
    body = f"{head}{loads}{text}".replace("%size", str(record_bytes(len(parameters))))
    symbol = OPERATION_PREFIX + hashlib.sha256(body.encode()).hexdigest()[:24]
    needed = tuple(declarations[name] for name in sorted(set(_GLOBAL.findall(text))))
    return Operation(symbol, body, needed), tuple(parameters)


def record_bytes(parameters: int) -> int:
    """Return the size of a record."""
    return RECORD_HEADER + (parameters * 4 + 7 & ~7)


def _load(place: int, short: str, name: str) -> str:
    where = f"  {short}.in = getelementptr i8, ptr %record, i64 {RECORD_HEADER + 4 * place}\n"
    if not name.endswith(".at"):
        return f"{where}  {short} = load i32, ptr {short}.in, align 4\n"
    return (
        f"{where}  {short}.far = load i32, ptr {short}.in, align 4\n"
        f"  {short} = getelementptr i8, ptr %state, i32 {short}.far\n"
    )
