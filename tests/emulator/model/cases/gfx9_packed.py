"""gfx9's packed instructions on 32-bit elements: any dword of each source for either element of the
result (CDNA 3 ISA, V_PK_FMA_F32 and V_PK_MOV_B32; MI200 ISA, "Packed Math")."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.emulator.model.cases.operand_makers import Maker
from tests.emulator.model.cases.programs import OLD, PARTIAL, RESULT, SOURCES, Case, Registers
from tests.emulator.model.cases.variants import clamped
from tests.emulator.model.families import has
from tests.emulator.model.operation import Op
from tests.emulator.model.tables import tables
from tests.emulator.model.values import Bits, Numbers, differences, numbers, patterns
from tests.emulator.model.waves import all_lanes, lane_mask, set_mask


def wide_cases(maker: Maker, random: np.random.Generator, times: int) -> Iterator[Case]:
    """Yield cases of every instruction."""
    for _ in range(times):
        for name, entry in tables().wide.items():
            yield _case(maker, name, *_arithmetic(maker, name, entry))
        if has("v_pk_mov_b32"):
            yield _case(maker, "v_pk_mov_b32", *_moves(maker))


def _flags(maker: Maker, count: int, chance: bool, default: int) -> list[int]:
    return [int(maker.flip()) if chance else default for _ in range(count)]


def _list(flags: list[int]) -> str:
    return f"[{','.join(map(str, flags))}]"


def _sources(maker: Maker, count: int) -> tuple[list[str], list[list[Bits]]]:
    """Pairs of registers; one of them may be of scalars."""
    scalar = int(maker.pick(*range(count), count, count))  # type: ignore[call-overload]
    texts, dwords = [], []
    for place in range(count):
        first = SOURCES[place]
        if place == scalar:
            source = maker.scalar(place, "b64")
            texts.append(source.text)
            dwords.append([source.bits & np.uint64(0xFFFFFFFF), source.bits >> np.uint64(32)])
        else:
            texts.append(f"v[{first}:{first + 1}]")
            dwords.append([maker.registers(first, 1), maker.registers(first + 1, 1)])
    return texts, dwords


def _arithmetic(maker: Maker, name: str, entry: Op) -> tuple[str, list[Bits]]:
    count = len(entry.sources)
    texts, dwords = _sources(maker, count)
    halves, signs, clamp = maker.flip(), maker.flip(), maker.flip()
    select = [_flags(maker, count, halves, 0), _flags(maker, count, halves, 1)]
    negate = [_flags(maker, count, signs, 0) for _ in range(2)]
    results = []
    for upper in (0, 1):
        operands: list[Numbers] = []
        for place in range(count):
            bits = dwords[place][select[upper][place]]
            if negate[upper][place]:
                bits = bits ^ np.uint64(0x80000000)
            operands.append(numbers(bits, "f32"))
        with np.errstate(all="ignore"):
            values = entry.compute(*operands)
            results.append(patterns(clamped(values) if clamp else values, "f32"))
    text = f"{', '.join(texts)} op_sel:{_list(select[0])} op_sel_hi:{_list(select[1])}"
    text += f" neg_lo:{_list(negate[0])} neg_hi:{_list(negate[1])}" + " clamp" * clamp
    return text, results


def _moves(maker: Maker) -> tuple[str, list[Bits]]:
    """The lower element comes from the first source, the upper one from the second."""
    texts, dwords = _sources(maker, 2)
    select = _flags(maker, 2, True, 0)
    results = [dwords[place][select[place]] for place in (0, 1)]
    return f"{', '.join(texts)} op_sel:{_list(select)}", results


def _case(maker: Maker, name: str, text: str, results: list[Bits]) -> Case:
    partial = maker.flip()
    target = f"v[{RESULT}:{RESULT + 1}]"
    lines = [f"  v_mov_b32 v{RESULT + part}, v{OLD + part}" for part in (0, 1)]
    lines += set_mask("exec_lo", lane_mask(PARTIAL)) if partial else []
    line = f"{name} {target}, {text}"
    lines += [f"  {line}", *all_lanes()]
    written = maker.lane_bits(PARTIAL if partial else 0xFFFFFFFF)
    code = "b32" if "mov" in name else "f32"

    def judge(found: Registers) -> Numbers:
        wrong = np.zeros(found.shape[1], bool)
        for part, (mine, expected) in enumerate(zip(found, results, strict=True)):
            bits = mine.astype(np.uint64)
            apart = differences(bits, expected, code, 0, 0.0)
            wrong |= np.where(written, apart, bits != maker.registers(OLD + part, 1))
        return wrong

    return Case(line, tuple(lines), (f"v{RESULT}", f"v{RESULT + 1}"), judge)
