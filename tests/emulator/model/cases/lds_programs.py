"""LDS instructions with two addresses, with counters, with addresses by lane number; blocks of
registers.

RDNA 4 ISA, 16.15 "DS instructions", 16.16 (GLOBAL_*_ADDTID); a wave's LDS is a row of bytes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tests.emulator.model.cases.programs import PARTIAL, Case, Registers
from tests.emulator.model.waves import all_lanes, lane_mask, lanes_of_wave, set_mask

# Bytes of LDS that a lane fills.
_FILLED = 64
_PAIRS = {"b32": 4, "b64": 8}
_FORMS = ("2addr", "2addr_stride64")
ALL = (
    *(
        f"ds_{verb}_{form}_{code}"
        for verb in ("load", "store")
        for form in _FORMS
        for code in _PAIRS
    ),
    *(f"ds_storexchg_{form}_rtn_{code}" for form in _FORMS for code in _PAIRS),
    *(
        "ds_condxchg32_rtn_b64",
        "ds_append",
        "ds_consume",
        "ds_load_addtid_b32",
        "ds_store_addtid_b32",
    ),
    *("global_load_addtid_b32", "global_store_addtid_b32"),
    *(f"{space}_{verb}_block" for space in ("global", "scratch") for verb in ("load", "store")),
)
# What one lane does: its number, its inputs by register, memory, its results.
Step = Callable[[int, dict[int, int], bytearray, list[int]], None]


def region() -> int:
    """Return the bytes of LDS of a wave."""
    return _FILLED * lanes_of_wave()


def read(memory: bytearray, place: int, size: int) -> int:
    """Return a number in memory."""
    return int.from_bytes(memory[place : place + size], "little")


def write(memory: bytearray, place: int, value: int, size: int) -> None:
    """Put a number into memory."""
    memory[place : place + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def _dwords(value: int, count: int) -> list[int]:
    return [value >> 32 * part & 0xFFFFFFFF for part in range(count)]


class SharedMemory:
    """Makes cases: LDS is filled from the inputs, changed by one instruction, and read back as a
    whole."""

    def __init__(self, inputs: Registers, random: np.random.Generator) -> None:
        self._inputs = inputs
        self._random = random

    def cases(self, times: int) -> Iterator[Case]:
        """Yield `times` cases of each instruction."""
        for _ in range(times):
            for code, size in _PAIRS.items():
                for form in _FORMS:
                    yield from self._two(code, size, form)
            yield self._conditional()
            yield from self._counters()
            yield from self._by_lane()
            yield from self._global_by_lane()
            yield from self._blocks()

    def _number(self, end: int, start: int = 0) -> int:
        return int(self._random.integers(start, end))

    def _case(
        self, text: str, step: Step, before: tuple[str, ...] = (), after: tuple[str, ...] = ()
    ) -> Case:
        """`after` runs with all lanes."""
        mask = lane_mask(int(self._random.choice([0xFFFFFFFF, PARTIAL, 0x80000000])))
        row = 16 * lanes_of_wave()
        lines = [f"  v_mov_b32 v{100 + part}, v{2 + part}" for part in range(4)]
        lines += ["  v_lshlrev_b32 v251, 4, v0"]
        lines += [
            f"  ds_store_b128 v251, v[{2 + 2 * part}:{5 + 2 * part}] offset:{row * part}"
            for part in range(4)
        ]
        lines += [*(f"  {line}" for line in before), *set_mask("exec_lo", mask), f"  {text}"]
        lines += ["  s_wait_dscnt 0x0", *all_lanes(), *(f"  {line}" for line in after)]
        lines += [
            f"  ds_load_b128 v[{104 + 4 * part}:{107 + 4 * part}], v251 offset:{row * part}"
            for part in range(4)
        ]
        outputs = tuple(f"v{number}" for number in range(100, 120))
        expected = self._after(step, mask)

        def judge(found: Registers) -> NDArray[np.bool_]:
            return np.asarray((found != expected).any(0))

        return Case(f"{text} (EXEC {mask:#x})", tuple(lines), outputs, judge)

    def _after(self, step: Step, mask: int) -> Registers:
        columns = []
        size = lanes_of_wave()
        for first in range(0, self._inputs.shape[1], size):
            rows = self._inputs[:, first : first + size]
            parts = [np.ascontiguousarray(rows[2 * part : 2 * part + 4].T) for part in range(4)]
            memory = bytearray(b"".join(part.tobytes() for part in parts))
            results = [[int(rows[part][lane]) for part in range(4)] for lane in range(size)]
            for lane in range(size):
                if mask >> lane & 1:
                    inputs = {2 + row: int(values[lane]) for row, values in enumerate(rows)}
                    step(lane, inputs, memory, results[lane])
            back = (
                np.frombuffer(bytes(memory), np.uint32)
                .reshape(4, size, 4)
                .transpose(0, 2, 1)
                .reshape(16, size)
            )
            columns.append(np.concatenate([np.array(results, np.uint32).T, back]))
        return np.concatenate(columns, axis=1)

    # Two addresses

    def _two(self, code: str, size: int, form: str) -> Iterator[Case]:
        stride = size * (64 if "stride" in form else 1)
        many = lanes_of_wave()
        last = (region() - many * size) // stride
        loads = [self._number(min(last, 255) + 1) for _ in range(2)]
        anywhere = (f"v_and_b32 v20, {(many - 1) * size:#x}, v9",)
        own = (f"v_xor_b32 v20, {self._number(many)}, v0", f"v_mul_u32_u24 v20, {size}, v20")
        first = self._number(
            max(1, min(last, 255) - many // (stride // size) + 1) if stride == size else last
        )
        stores = [first, first + (many if stride == size else 1)]
        flip = int(own[0].split(", ")[1])
        if self._number(2):
            stores.reverse()
        count = size // 4

        def load(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            place = inputs[9] & (many - 1) * size
            values = [read(memory, place + offset * stride, size) for offset in loads]
            result[: 2 * count] = [part for value in values for part in _dwords(value, count)]

        def exchange(keeps: bool) -> Step:
            def step(
                lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]
            ) -> None:
                for number, offset in enumerate(stores):
                    place = (lane ^ flip) * size + offset * stride
                    data = sum(inputs[2 + 2 * number + part] << 32 * part for part in range(count))
                    if keeps:
                        result[number * count : (number + 1) * count] = _dwords(
                            read(memory, place, size), count
                        )
                    write(memory, place, data, size)

            return step

        target = f"v[100:{99 + 2 * count}]"
        data = ", ".join(f"v{n}" if count == 1 else f"v[{n}:{n + 1}]" for n in (2, 4))
        tails = [f" offset0:{pair[0]} offset1:{pair[1]}" for pair in (loads, stores)]
        yield self._case(f"ds_load_{form}_{code} {target}, v20{tails[0]}", load, anywhere)
        yield self._case(f"ds_store_{form}_{code} v20, {data}{tails[1]}", exchange(False), own)
        yield self._case(
            f"ds_storexchg_{form}_rtn_{code} {target}, v20, {data}{tails[1]}", exchange(True), own
        )

    # Others

    def _conditional(self) -> Case:
        offset = 8 * self._number(100)

        def step(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            place = 8 * lane + offset
            result[:2] = _dwords(read(memory, place, 8), 2)
            for part in (0, 1):
                if inputs[2 + part] >> 31:
                    write(memory, place + 4 * part, inputs[2 + part] & 0x7FFFFFFF, 4)

        before = ("v_lshlrev_b32 v20, 3, v0",)
        return self._case(
            f"ds_condxchg32_rtn_b64 v[100:101], v20, v[2:3] offset:{offset}", step, before
        )

    def _counters(self) -> Iterator[Case]:
        for name, sign in (("append", 1), ("consume", -1)):
            base, offset = 4 * self._number(200), 4 * self._number(200)
            before = (f"s_mov_b32 m0, {base | self._number(1 << 16) << 16:#x}",)
            seen: dict[int, int] = {}

            def step(
                lane: int,
                inputs: dict[int, int],
                memory: bytearray,
                result: list[int],
                seen: dict[int, int] = seen,
                place: int = base + offset,
                sign: int = sign,
            ) -> None:
                # All lanes get what was there before the first of them.
                if id(memory) not in seen:
                    seen.clear()
                    seen[id(memory)] = read(memory, place, 4)
                result[0] = seen[id(memory)]
                write(memory, place, read(memory, place, 4) + sign, 4)

            yield self._case(f"ds_{name} v100 offset:{offset}", step, before)

    def _by_lane(self) -> Iterator[Case]:
        base, offset = 4 * self._number(200), 4 * self._number(200)
        before = (f"s_mov_b32 m0, {base | self._number(1 << 16) << 16:#x}",)

        def load(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            result[0] = read(memory, base + offset + 4 * lane, 4)

        def store(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            write(memory, base + offset + 4 * lane, inputs[3], 4)

        yield self._case(f"ds_load_addtid_b32 v100 offset:{offset}", load, before)
        yield self._case(f"ds_store_addtid_b32 v3 offset:{offset}", store, before)

    def _global_by_lane(self) -> Iterator[Case]:
        row = self._number(12)
        place = f"s[0:1] offset:{4 * lanes_of_wave() * row}"

        def load(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            result[0] = inputs[2 + row]

        def store(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            result[0] = inputs[4]

        yield self._case(f"global_load_addtid_b32 v100, {place}", load)
        # The inputs are put back, so that other cases find them.
        text = f"global_store_addtid_b32 v4, {place}\n  global_load_b32 v100, v250, {place}"
        yield self._case(text, store, (), (f"global_store_b32 v250, v{2 + row}, {place}",))

    def _blocks(self) -> Iterator[Case]:
        """M0 says which of 32 registers are loaded or stored: each has a dword, whether it is meant
        or not."""
        mask = self._number(16)
        before = (f"s_mov_b32 m0, {mask}", "v_lshlrev_b32 v252, 4, v0")
        back = tuple(
            f"global_store_b32 v250, v{2 + row}, s[0:1] offset:{4 * lanes_of_wave() * row}"
            for row in range(4)
        )

        def load(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            for part in range(4):
                if mask >> part & 1:
                    result[part] = inputs[6 + part]

        def store(lane: int, inputs: dict[int, int], memory: bytearray, result: list[int]) -> None:
            result[:] = [inputs[(6 if mask >> part & 1 else 2) + part] for part in range(4)]

        for space, address in (("scratch", ("off", "off")), ("global", ("v252", "s[0:1]"))):
            first, second = address
            after = back if space == "global" else ()
            fill = f"{space}_store_b128 {first}, v[{{}}], {second}"
            text = f"{space}_load_block v[100:131], {first}, {second}"
            yield self._case(text, load, (*before, fill.format("6:9")), after)
            text = (
                f"{space}_store_block {first}, v[6:37], {second}\n  {space}_load_b128 "
                f"v[100:103], {first}, {second}"
            )
            yield self._case(text, store, (*before, fill.format("2:5")), after)
