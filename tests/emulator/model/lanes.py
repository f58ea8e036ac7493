"""Instructions that move data between lanes, or between registers that are chosen when they run.

RDNA 4 ISA, 16.7 (V_READFIRSTLANE, V_PERMLANE64, V_MOVREL*, V_SWAP*), 16.12 (V_READLANE,
V_PERMLANE*), 16.15 (DS_PERMUTE, DS_BPERMUTE, DS_SWIZZLE).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tests.emulator.model.cases.programs import PARTIAL, Case, Registers
from tests.emulator.model.families import is_gfx9
from tests.emulator.model.waves import all_lanes, lane_mask, lanes_of_wave, set_mask

# What a wave's lanes hold, by register, and EXEC: to what registers hold afterwards.
Wave = dict[int, NDArray[np.uint32]]
Change = Callable[[Wave, int], None]
ALL = (
    *(
        f"v_{name}_b32"
        for name in ("readlane", "readfirstlane", "writelane", "permlane16", "permlanex16")
    ),
    *(
        f"v_{name}_b32"
        for name in ("permlane16_var", "permlanex16_var", "permlane64", "swap", "swaprel")
    ),
    *(f"v_{name}_b32" for name in ("movrels", "movreld", "movrelsd", "movrelsd_2")),
    "v_swap_b16",
    *(f"ds_{name}_b32" for name in ("permute", "bpermute", "bpermute_fi", "swizzle")),
)


class Lanes:
    """Makes cases on the same inputs. Registers 2 to 13 hold inputs, 100 to 107 copies of the last
    ones."""

    def __init__(self, inputs: Registers, random: np.random.Generator) -> None:
        self._inputs = inputs
        self._random = random

    def cases(self, times: int) -> Iterator[Case]:
        """Yield `times` cases of each instruction; EXEC is partial in some, empty now and then."""
        for _ in range(times):
            for make in (self._read, self._write, self._permutes, self._through_lds, self._chosen):
                yield from make()

    def _number(self, end: int) -> int:
        return int(self._random.integers(end))

    def _case(
        self,
        text: str,
        outputs: tuple[str, ...],
        change: Change,
        before: tuple[str, ...] = (),
        mask: int | None = None,
        after: tuple[str, ...] = (),
    ) -> Case:
        """`change` is given the registers of a wave and EXEC, and leaves what they are after.
        `after` runs with all lanes."""
        if mask is None:
            mask = lane_mask(int(self._random.choice([0xFFFFFFFF, PARTIAL, 0x00010000])))
        lines = [f"  v_mov_b32 v{100 + part}, v{6 + part}" for part in range(8)]
        lines += [*(f"  {line}" for line in before), *set_mask("exec_lo", mask), f"  {text}"]
        lines += ["  s_wait_dscnt 0x0", *all_lanes(), *(f"  {line}" for line in after)]
        expected = np.stack([self._after(change, mask, int(name[1:]), name[0]) for name in outputs])

        def judge(found: Registers) -> NDArray[np.bool_]:
            return np.asarray((found != expected).any(0))

        return Case(f"{text} (EXEC {mask:#x})", tuple(lines), outputs, judge)

    def _after(self, change: Change, mask: int, number: int, file: str) -> NDArray[np.uint32]:
        result = np.zeros(self._inputs.shape[1], np.uint32)
        size = lanes_of_wave()
        for first in range(0, len(result), size):
            wave = {
                2 + row: values[first : first + size].copy()
                for row, values in enumerate(self._inputs)
            }
            wave |= {100 + part: wave[6 + part].copy() for part in range(8)}
            change(wave, mask)
            # A scalar register is in all lanes.
            result[first : first + size] = wave[number] if file == "v" else wave[-number]
        return result

    # One lane and a scalar

    def _read(self) -> Iterator[Case]:
        size = lanes_of_wave()
        lane = self._number(size)

        def read(wave: Wave, mask: int) -> None:
            wave[-50] = np.full(size, wave[3][lane])

        # The upper bits of the number do not count.
        dirty = lane | self._number(1 << 26) * lanes_of_wave()
        yield self._case(
            "v_readlane_b32 s50, v3, s51", ("s50",), read, (f"s_mov_b32 s51, {dirty:#x}",)
        )
        yield self._case(f"v_readlane_b32 s50, v3, {lane}", ("s50",), read)

        def first(wave: Wave, mask: int) -> None:
            wave[-50] = np.full(size, wave[4][(mask & -mask).bit_length() - 1 if mask else 0])

        masks = [lane_mask(0xFFFFFFFF), lane_mask(PARTIAL), 0, 1 << lane]
        mask = masks[self._number(len(masks))]
        yield self._case("v_readfirstlane_b32 s50, v4", ("s50",), first, mask=mask)

    def _write(self) -> Iterator[Case]:
        lane, value = self._number(lanes_of_wave()), self._number(1 << 32)

        def write(wave: Wave, mask: int) -> None:
            wave[100][lane] = value

        dirty = lane | self._number(1 << 26) * lanes_of_wave()
        # gfx9 reads one scalar beside M0.
        place = "m0" if is_gfx9() else "s51"
        before = (f"s_mov_b32 s50, {value:#x}", f"s_mov_b32 {place}, {dirty:#x}")
        yield self._case(f"v_writelane_b32 v100, s50, {place}", ("v100",), write, before)
        yield self._case(f"v_writelane_b32 v100, s50, {lane}", ("v100",), write, before)

    # Rows

    def _permutes(self) -> Iterator[Case]:
        for other in (0, 16):
            name = "v_permlanex16" if other else "v_permlane16"
            fetches, zeroes = self._number(2), self._number(2)
            select = [self._number(1 << 32) for _ in range(2)]
            tail = f" op_sel:[{fetches},{zeroes}]"

            def places(wave: Wave, select: list[int] = select) -> list[int]:
                return [select[lane % 16 // 8] >> 4 * (lane % 8) & 15 for lane in lanes()]

            def named(wave: Wave) -> list[int]:
                return [int(value) & 15 for value in wave[3]]

            before = tuple(
                f"s_mov_b32 s{50 + number}, {value:#x}" for number, value in enumerate(select)
            )
            change = _permutation(places, other, bool(fetches), bool(zeroes))
            yield self._case(f"{name}_b32 v100, v2, s50, s51{tail}", ("v100",), change, before)
            change = _permutation(named, other, bool(fetches), bool(zeroes))
            yield self._case(f"{name}_var_b32 v100, v2, v3{tail}", ("v100",), change)
        yield self._case("v_permlane64_b32 v100, v2", ("v100",), lambda wave, mask: None)

    # Through the hardware of LDS

    def _through_lds(self) -> Iterator[Case]:
        offset = self._number(64)

        def lane_of(wave: Wave, lane: int) -> int:
            return (int(wave[5][lane]) + offset >> 2) % lanes_of_wave()

        def pull(fetches: bool) -> Change:
            def change(wave: Wave, mask: int) -> None:
                places = [lane_of(wave, lane) for lane in lanes()]
                taken = [int(wave[2][p]) if fetches or mask >> p & 1 else 0 for p in places]
                put(wave[100], taken, mask)

            return change

        def push(wave: Wave, mask: int) -> None:
            sent = [0] * lanes_of_wave()
            for lane in lanes():
                if mask >> lane & 1:
                    sent[lane_of(wave, lane)] = int(wave[2][lane])
            put(wave[100], sent, mask)

        for name, change in (
            ("bpermute", pull(False)),
            ("bpermute_fi", pull(True)),
            ("permute", push),
        ):
            yield self._case(f"ds_{name}_b32 v100, v5, v2 offset:{offset}", ("v100",), change)
        for pattern in (
            self._number(0x8000),
            0x8000 | self._number(256),
            0xC000 | self._number(0x800),
        ):
            yield self._swizzle(pattern)
        yield self._swizzle(0xE000 | int(self._random.choice([0, 0x10, 0x18, 0x1C, 0x1E, 0x1F])))

    def _swizzle(self, pattern: int) -> Case:
        def change(wave: Wave, mask: int) -> None:
            places = [lane & 32 | _swizzled(lane & 31, pattern) for lane in lanes()]
            put(wave[100], [int(wave[2][p]) if mask >> p & 1 else 0 for p in places], mask)

        return self._case(f"ds_swizzle_b32 v100, v2 offset:{pattern:#x}", ("v100",), change)

    # Registers that M0 chooses

    def _chosen(self) -> Iterator[Case]:
        source, target = self._number(6), self._number(4)

        def copy(far_source: bool, far_target: bool) -> Change:
            def change(wave: Wave, mask: int) -> None:
                taken = wave[2 + source * far_source].tolist()
                put(wave[100 + (target if far_target else 0)], taken, mask)

            return change

        def exchange(near: int, far: int) -> Change:
            def change(wave: Wave, mask: int) -> None:
                left, right = wave[near].tolist(), wave[far].tolist()
                put(wave[near], right, mask)
                put(wave[far], left, mask)

            return change

        every = tuple(f"v{number}" for number in range(100, 108))
        alone, both = (f"s_mov_b32 m0, {source}",), (f"s_mov_b32 m0, {target << 16 | source:#x}",)
        yield self._case("v_movrels_b32 v100, v2", every, copy(True, False), alone)
        self_target = (f"s_mov_b32 m0, {target}",)
        yield self._case("v_movreld_b32 v100, v2", every, copy(False, True), self_target)
        yield self._case("v_movrelsd_2_b32 v100, v2", every, copy(True, True), both)
        same = source = target
        yield self._case(
            "v_movrelsd_b32 v100, v2", every, copy(True, True), (f"s_mov_b32 m0, {same}",)
        )
        yield self._case("v_swap_b32 v100, v101", every, exchange(100, 101))
        for near, far in ((100, 101), (102, 102)):
            for halves in ((0, 0), (0, 1), (1, 0), (1, 1)):
                text = f"v_swap_b16 v{near}.{'lh'[halves[0]]}, v{far}.{'lh'[halves[1]]}"
                yield self._case(text, every, _exchange_halves((near, halves[0]), (far, halves[1])))
        yield self._case(
            "v_swaprel_b32 v100, v104",
            every,
            exchange(100 + target, 104 + target // 2),
            (f"s_mov_b32 m0, {target << 16 | target // 2:#x}",),
        )


def lanes() -> range:
    """Return the numbers of a wave's lanes."""
    return range(lanes_of_wave())


def put(register: NDArray[np.uint32], values: list[int], mask: int) -> None:
    """Change the active lanes of a register."""
    for lane in lanes():
        if mask >> lane & 1:
            register[lane] = values[lane]


def _exchange_halves(first: tuple[int, int], second: tuple[int, int]) -> Change:
    """Register and half of both; the halves beside them stay."""

    def change(wave: Wave, mask: int) -> None:
        taken = [
            [int(value) >> 16 * half & 0xFFFF for value in wave[number]]
            for number, half in (second, first)
        ]
        for (number, half), values in zip((first, second), taken, strict=True):
            kept = 0xFFFF << 16 * (1 - half)
            rows = zip(wave[number].tolist(), values, strict=True)
            put(wave[number], [old & kept | new << 16 * half for old, new in rows], mask)

    return change


def _permutation(
    places: Callable[[Wave], list[int]], other: int, fetches: bool, zeroes: bool
) -> Change:
    """A lane of the own row, or of the other one; what an inactive one holds counts, is 0, or
    leaves the lane alone."""

    def change(wave: Wave, mask: int) -> None:
        for lane, place in enumerate(places(wave)):
            source = (lane & 16 ^ other) + place
            valid = fetches or mask >> source & 1
            if mask >> lane & 1 and (valid or zeroes):
                wave[100][lane] = wave[2][source] if valid else 0

    return change


def _swizzled(lane: int, pattern: int) -> int:
    mask = pattern & 31
    if pattern >= 0xE000:
        return int(f"{lane:05b}"[::-1], 2) >> mask.bit_count() | lane & mask
    if pattern >= 0xC000:
        count = pattern >> 5 & 31
        moved = lane - count if pattern >> 10 & 1 else lane + count
        return lane & mask | moved & ~mask & 31
    if pattern >= 0x8000:
        return lane & ~3 | pattern >> 2 * (lane & 3) & 3
    return (lane & mask | pattern >> 5 & 31) ^ pattern >> 10 & 31
