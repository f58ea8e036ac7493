"""Programs of buffer accesses with resources, offsets and formats of all kinds, beside the model's
memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import emulate, own_parts
from tests.emulator.model.buffers import (
    Address,
    Resource,
    format_size,
    formats,
    loaded,
    one_of,
    stored,
)
from tests.emulator.model.cases.programs import PARTIAL
from tests.emulator.model.families import assembled
from tests.emulator.model.memory import Atomic, Load, Store, signed
from tests.emulator.model.tables import tables
from tests.emulator.model.waves import all_lanes, lane_mask, lanes_of_wave, set_mask

REGION, RESULTS = 4096, 1024
_CASE = REGION + RESULTS
# Rows of a case's inputs: index, offset, four of data, four of what the results' registers held.
INDEX, OFFSET, DATA, _OLD, ROWS = 0, 1, 2, 6, 10
_CHANNELS = {"x": 1, "xy": 2, "xyz": 3, "xyzw": 4}
FORMATTED = (
    *(
        f"{prefix}_{verb}{middle}_format_{name}"
        for prefix in ("buffer", "tbuffer")
        for verb in ("load", "store")
        for middle in ("", "_d16")
        for name in _CHANNELS
    ),
    *("buffer_load_d16_hi_format_x", "buffer_store_d16_hi_format_x"),
)


def untyped() -> tuple[str, ...]:
    """Return the buffer instructions that know no format."""
    return tuple(name for name in tables().memory if name.startswith("buffer_"))


@dataclass
class BufferCase:
    """One instruction on one resource; the lanes' numbers are in `rows` (of one wave each)."""

    name: str
    resource: Resource
    number: int
    soffset: int
    ioffset: int
    indexed: bool
    offset: bool
    partial: bool
    tfe: bool
    rows: list[NDArray[np.uint32]] = field(default_factory=list)

    @property
    def formatted(self) -> bool:
        return "_format_" in self.name

    @property
    def narrow(self) -> bool:
        return "_d16" in self.name

    @property
    def channels(self) -> int:
        return _CHANNELS[self.name.rpartition("_")[2]]

    @property
    def loads(self) -> bool:
        return "_load_" in self.name

    @property
    def size(self) -> int:
        return format_size(self.number) if self.formatted else tables().memory[self.name].size

    @property
    def kind(self) -> str:
        return formats()[self.number][0] if self.formatted else ""

    # Text

    def lines(self, position: int) -> list[str]:
        one, records, last = self.resource.high_words()
        lines = [
            f"  s_add_co_u32 s48, s0, {position * ROWS * 4 * lanes_of_wave():#x}",
            "  s_add_co_ci_u32 s49, s1, 0",
            f"  s_add_co_u32 s52, s2, {position * _CASE:#x}",
            "  s_add_co_ci_u32 s53, s3, 0",
            "  s_mov_b64 s[50:51], s[52:53]",
            "  s_and_b32 s53, s53, 0xffff",
            f"  s_or_b32 s53, s53, {one:#x}",
            f"  s_mov_b32 s54, {records:#x}",
            f"  s_mov_b32 s55, {last:#x}",
            f"  s_mov_b32 s56, {self.soffset:#x}",
        ]
        rows = (
            (20, INDEX),
            (21, OFFSET),
            *((24 + n, DATA + n) for n in range(4)),
            *((100 + n, 6 + n) for n in range(4)),
        )
        lines += [
            f"  global_load_b32 v{v}, v250, s[48:49] offset:{4 * lanes_of_wave() * row}"
            for v, row in rows
        ]
        lines += ["  s_wait_loadcnt 0x0"]
        lines += set_mask("exec_lo", lane_mask(PARTIAL)) if self.partial else []
        lines += [f"  {self.text()}", *all_lanes()]
        return [*lines, f"  global_store_b128 v251, v[100:103], s[50:51] offset:{REGION}"]

    def text(self) -> str:
        access = tables().memory.get(self.name)
        if self.formatted:
            dwords = (self.channels + 1) // 2 if self.narrow else self.channels
        else:
            dwords = max(1, self.size // 4) * (access.operands if isinstance(access, Atomic) else 1)
        first = 24 if isinstance(access, Store) or "_store_" in self.name else 100
        dwords += self.tfe
        data = f"v{first}" if dwords == 1 else f"v[{first}:{first + dwords - 1}]"
        address = {(0, 0): "off", (1, 0): "v20", (0, 1): "v21", (1, 1): "v[20:21]"}[
            self.indexed, self.offset
        ]
        words = [" idxen"] * self.indexed + [" offen"] * self.offset + [f" offset:{self.ioffset}"]
        words += [" th:TH_ATOMIC_RETURN"] * isinstance(access, Atomic) + [" tfe"] * self.tfe
        middle = f" format:{self.number}" if self.name.startswith("tbuffer") else ""
        scalar = "s56" if self.soffset else "null"
        return f"{self.name} {data}, {address}, s[52:55], {scalar}{middle}{''.join(words)}"

    # Meaning

    def place(self, rows: NDArray[np.uint32], lane: int) -> Address:
        index = int(rows[INDEX, lane]) if self.indexed else 0
        offset = int(rows[OFFSET, lane]) if self.offset else 0
        return Address(index, offset, self.ioffset, self.soffset, lane)

    def whole(self) -> bool:
        return self.formatted or isinstance(tables().memory[self.name], Atomic)

    def parts(self, where: Address) -> list[bool]:
        """Which dwords of the access are inside; those of formats and atomics all or none."""
        if self.whole():
            return [self.resource.inside(where, 0, self.size)] * -(-self.size // 4)
        return [
            self.resource.inside(where, first, min(4, self.size - first))
            for first in range(0, self.size, 4)
        ]

    def is_defined(self) -> bool:
        """Whether the ISA document settles it, and whether all of it is in the region and
        aligned."""
        taken: set[int] = set()
        element = {1: 4, 3: 16}.get(self.resource.swizzle)
        for rows in self.rows:
            taken.clear()
            for lane in range(lanes_of_wave()):
                where = self.place(rows, lane)
                parts = self.parts(where)
                if not self.resource.is_settled(where, self.size):
                    return False
                if not any(parts):
                    continue
                byte = self.resource.byte_of(where)
                total = where.own_offset + where.soffset
                if byte + self.size > REGION or byte % min(
                    self.size & -self.size, 8 if self.whole() else 4
                ):
                    return False
                if element and (total % element + self.size > element or self.size == 16):
                    return False
                mine = set(range(byte, byte + self.size))
                if (
                    not self.loads
                    and not isinstance(tables().memory.get(self.name), Atomic)
                    and taken & mine
                ):
                    return False
                taken |= mine
        return True

    def apply(self, memory: bytearray, rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Change one wave's memory lane by lane; returns v100 to v103."""
        result = rows[_OLD : _OLD + 4].copy()
        for lane in range(lanes_of_wave()):
            if not self.partial or lane_mask(PARTIAL) >> lane & 1:
                where = self.place(rows, lane)
                (self._texel if self.formatted else self._plain)(
                    memory, rows[:, lane], result[:, lane], where
                )
        return result

    def _plain(
        self,
        memory: bytearray,
        inputs: NDArray[np.uint32],
        result: NDArray[np.uint32],
        where: Address,
    ) -> None:
        access = tables().memory[self.name]
        parts = self.parts(where)
        byte = self.resource.byte_of(where) if any(parts) else 0
        pieces = [
            memory[byte + 4 * n : byte + min(4 * n + 4, self.size)] for n in range(len(parts))
        ]
        old = b"".join(
            bytes(p) if good else bytes(len(p)) for p, good in zip(pieces, parts, strict=True)
        )
        number = int.from_bytes(old.ljust(self.size, b"\0"), "little")
        if isinstance(access, Load):
            _put(result, signed(number, access.size) if access.signed else number, access)
            return
        if isinstance(access, Store):
            value = (
                sum(int(v) << 32 * n for n, v in enumerate(inputs[DATA : DATA + 4])) >> access.shift
            )
        else:
            dwords = self.size // 4
            joined = [
                sum(int(v) << 32 * n for n, v in enumerate(inputs[p : p + dwords]))
                for p in (_OLD, _OLD + dwords)
            ]
            value = access.compute(number, *joined[: access.operands])
            result[:dwords] = [number >> 32 * n & 0xFFFFFFFF for n in range(dwords)]
        new = (value & (1 << 8 * self.size) - 1).to_bytes(self.size, "little")
        for n, good in enumerate(parts):
            if good:
                memory[byte + 4 * n : byte + min(4 * n + 4, self.size)] = new[4 * n : 4 * n + 4]

    def _texel(
        self,
        memory: bytearray,
        inputs: NDArray[np.uint32],
        result: NDArray[np.uint32],
        where: Address,
    ) -> None:
        kind, widths = formats()[self.number]
        good = self.parts(where)[0]
        byte = self.resource.byte_of(where)
        if not self.loads:
            if good:
                given = [
                    self._given(inputs, channel if channel < self.channels else 0)
                    for channel in range(4)
                ]
                bits, place = 0, 0
                for register, width in zip(given, widths, strict=False):
                    bits |= stored(register, kind, width, self.narrow) << place
                    place += width
                memory[byte : byte + self.size] = bits.to_bytes(self.size, "little")
            return
        bits = int.from_bytes(memory[byte : byte + self.size], "little") if good else 0
        values, place = [0, 0, 0, 0], 0
        for number, width in enumerate(widths):
            values[number] = loaded(bits >> place & (1 << width) - 1, kind, width, self.narrow)
            place += width
        for channel in range(self.channels):
            code = 4 + channel if self.name.startswith("tbuffer") else self.resource.select[channel]
            value = values[code - 4] if code >= 4 else code * one_of(kind, self.narrow)
            self._give(result, channel, value)

    def _given(self, inputs: NDArray[np.uint32], channel: int) -> int:
        if not self.narrow:
            return int(inputs[DATA + channel])
        half = 1 if "_hi_" in self.name else channel % 2
        return int(inputs[DATA + channel // 2]) >> 16 * half & 0xFFFF

    def _give(self, result: NDArray[np.uint32], channel: int, value: int) -> None:
        if not self.narrow:
            result[channel] = value
            return
        half = 1 if "_hi_" in self.name else channel % 2
        result[channel // 2] = (
            int(result[channel // 2]) & (0xFFFF if half else 0xFFFF0000) | value << 16 * half
        )


def _put(result: NDArray[np.uint32], value: int, load: Load) -> None:
    if load.half is not None:
        kept = int(result[0]) & (0xFFFF if load.half else 0xFFFF0000)
        result[0] = kept | (value & 0xFFFF) << 16 * load.half
        return
    for part in range(max(1, load.size // 4)):
        result[part] = value >> 32 * part & 0xFFFFFFFF


def run_buffer_cases(cases: list[BufferCase], random: np.random.Generator) -> list[str]:
    """Run all cases on all waves; return what is wrong."""
    waves = len(cases[0].rows)
    inputs = np.stack([np.stack([case.rows[wave] for case in cases]) for wave in range(waves)])
    before = random.integers(0, 1 << 32, (waves, len(cases), _CASE // 4), np.uint32)
    output = before.copy()
    body = [line for position, case in enumerate(cases) for line in case.lines(position)]
    head = own_parts(4 * lanes_of_wave() * ROWS * len(cases), _CASE * len(cases))
    emulate(
        assembled("\n".join([head, *body, ""])),
        "kernel",
        waves,
        lanes_of_wave(),
        [np.ascontiguousarray(inputs), output],
    )
    failures = []
    for position, case in enumerate(cases):
        text = _compare(case, before[:, position], output[:, position])
        if text:
            failures.append(
                f"{case.text()} {case.resource} {'(partial EXEC)' * case.partial}: {text}"
            )
    return failures


def _compare(case: BufferCase, before: NDArray[np.uint32], after: NDArray[np.uint32]) -> str:
    access = tables().memory.get(case.name)
    code = (
        access.code
        if isinstance(access, Atomic)
        else "f32"
        if case.kind == "FLOAT" and case.loads
        else ""
    )
    if case.kind == "FLOAT" and case.narrow and case.loads:
        code = "2xf16"
    for wave, rows in enumerate(case.rows):
        memory = bytearray(before[wave, : REGION // 4].tobytes())
        result = case.apply(memory, rows)
        expected = np.frombuffer(bytes(memory), np.uint32)
        found = after[wave, : REGION // 4]
        wrong = ~_same(found, expected, access.code if isinstance(access, Atomic) else "")
        if wrong.any():
            place = int(np.argmax(wrong))
            return (
                f"wave {wave}, memory {4 * place}: {int(found[place]):x} for "
                f"{int(expected[place]):x}"
            )
        registers = after[wave, REGION // 4 :][: 4 * lanes_of_wave()].reshape(-1, 4).T
        bad = ~_same(registers, result, code)
        if bad.any():
            lane = int(np.argmax(bad.any(axis=0)))
            mine, right = (
                [hex(value) for value in values[:, lane]] for values in (registers, result)
            )
            return f"wave {wave}, lane {lane}: {mine} for {right}"
    return ""


def _same(found: NDArray[np.uint32], expected: NDArray[np.uint32], code: str) -> NDArray[np.bool_]:
    """Equal, or both NaN where the code says that they are floats."""
    same = found == expected
    if code == "f32":
        both = [np.isnan(np.ascontiguousarray(x).view(np.float32)) for x in (found, expected)]
        return same | (both[0] & both[1])
    if code.startswith("2x"):
        kinds = {"2xf16": (0x7C00, 0x3FF), "2xbf16": (0x7F80, 0x7F)}
        exponent, fraction = kinds[code]
        halves = []
        for shift in (0, 16):
            pair = [(x >> shift) & 0xFFFF for x in (found, expected)]
            nan = [(p & exponent == exponent) & (p & fraction != 0) for p in pair]
            halves.append((pair[0] == pair[1]) | (nan[0] & nan[1]))
        return halves[0] & halves[1]
    return same
