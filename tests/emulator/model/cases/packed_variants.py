"""Forms of VOP3P instructions (halves of each operand, signs of each half) and of dual instructions
(VOPD)."""

from __future__ import annotations

import numpy as np

from tests.emulator.model.cases.operand_makers import Maker
from tests.emulator.model.cases.programs import OLD, PARTIAL, RESULT, VCC, Case, Registers
from tests.emulator.model.cases.variants import clamped
from tests.emulator.model.families import has, instruction_set, is_gfx9
from tests.emulator.model.gfx9 import dot_is_known as gfx9_dot_is_known
from tests.emulator.model.gfx9 import dot_of_pairs as gfx9_dot
from tests.emulator.model.operation import Op
from tests.emulator.model.packed import BYTE_DOTS, MIXED, dot_of_pairs
from tests.emulator.model.tables import tables
from tests.emulator.model.values import (
    Bits,
    Numbers,
    differences,
    fma,
    halves,
    numbers,
    patterns,
    saturated,
)
from tests.emulator.model.waves import all_lanes, lane_mask, set_mask

CLASSES = ("plain", "halves", "signs", "clamp", "scalar", "partial")


class Packed:
    """Makes one case. `name` is any VOP3P mnemonic but the matrix ones, or v_pk_fmac_f16."""

    def __init__(self, maker: Maker, name: str, klass: str) -> None:
        self._maker = maker
        self._name = name
        self._class = klass
        self._clamp = klass == "clamp"
        self._known: Numbers | bool = True

    def case(self) -> Case:
        code, expected, text = self._instruction()
        lines = [f"  v_mov_b32 v{RESULT}, v{OLD}"]
        partial = self._class == "partial"
        lines += set_mask("exec_lo", lane_mask(PARTIAL)) if partial else []
        lines += [f"  {text}"] + (all_lanes() if partial else [])
        written = self._maker.lane_bits(PARTIAL if partial else 0xFFFFFFFF)

        def judge(found: Registers) -> Numbers:
            mine = found[0].astype(np.uint64)
            wrong = differences(mine, expected, code, 0, 0.0, self._knows_nans())
            return np.where(written, wrong & self._known, mine != self._old())

        return Case(text, tuple(lines), (f"v{RESULT}",), judge)

    def _knows_nans(self) -> bool:
        entry = tables().halves.get(self._name)
        return entry is not None and entry.nans

    def _old(self) -> Bits:
        return self._maker.registers(OLD, 1)

    def _flags(self, count: int, chance: bool, default: int) -> list[int]:
        return [int(self._maker.flip()) if chance else default for _ in range(count)]

    def _operands(self, count: int) -> tuple[list[str], list[Bits]]:
        scalar = int(self._maker.flip()) if self._class == "scalar" else count
        if self._name == "v_pk_fmac_f16" and scalar < count:
            scalar = 0  # VOP2 takes a scalar as the first operand only
        found = [
            self._maker.scalar(place, "b32")
            if place == scalar
            else self._maker.vector(place, "b32", 0)
            for place in range(count)
        ]
        return [source.text for source in found], [source.bits for source in found]

    def _instruction(self) -> tuple[str, Bits, str]:
        if self._name in tables().halves:
            return self._on_halves(tables().halves[self._name])
        if self._name in tables().pairs:
            return self._pairs(tables().pairs[self._name])
        if self._name in tables().dots:
            return self._integer_dot(tables().dots[self._name])
        if self._name in BYTE_DOTS:
            return self._byte_dot(BYTE_DOTS[self._name])
        assert self._name in MIXED
        return self._mixed()

    def _selected(self, bits: Bits, code: str, upper: int, negate: int) -> Numbers:
        part = bits >> np.uint64(16 * upper)
        return numbers(part ^ np.uint64(0x8000) if negate else part, code)

    def _on_halves(self, entry: Op) -> tuple[str, Bits, str]:
        count = len(entry.sources)
        short = self._name == "v_pk_fmac_f16"
        texts, bits = self._operands(count)
        floats = entry.result == "f16"
        select = [
            self._flags(count, self._class == "halves" and not short, 0),
            self._flags(count, self._class == "halves" and not short, 1),
        ]
        negate = [
            self._flags(count, self._class in ("signs", "clamp") and floats and not short, 0)
            for _ in range(2)
        ]
        parts = []
        for upper in (0, 1):
            operands = [
                self._selected(value, code, select[upper][place], negate[upper][place])
                for place, (value, code) in enumerate(zip(bits, entry.sources, strict=True))
            ]
            if entry.old:
                operands.append(self._selected(self._old(), "f16", upper, 0))
            parts.append(patterns(self._limited(entry, operands), entry.result))
        text = f"{self._name} v{RESULT}, {', '.join(texts)}"
        if not short:
            text += f" op_sel:{_list(select[0])} op_sel_hi:{_list(select[1])}"
            text += f" neg_lo:{_list(negate[0])} neg_hi:{_list(negate[1])}" if floats else ""
            text += " clamp" if self._clamp and (floats or entry.clamps) else ""
        return f"2x{entry.result}", halves(*parts), text

    def _limited(self, entry: Op, operands: list[Numbers]) -> Numbers:
        with np.errstate(all="ignore"):
            values = entry.compute(*operands)
            if not self._clamp or self._name == "v_pk_fmac_f16":
                return values
            if entry.result in ("f16", "f32"):
                return clamped(values)
            return saturated(values, entry.result) if entry.clamps else values

    def _pairs(self, entry: Op) -> tuple[str, Bits, str]:
        texts, bits = self._operands(3)
        # gfx942's dot products take whole registers.
        selects = instruction_set().name not in ("gfx942", "gfx950")
        chance = self._class == "halves" and selects
        select = [[*self._flags(2, chance, 0), 0], [*self._flags(2, chance, 1), 1]]
        chance = self._class in ("signs", "clamp")
        negate = [[*self._flags(2, chance, 0), 0] for _ in range(2)]
        code = entry.sources[0]
        pairs = [
            [
                self._selected(bits[place], code, select[upper][place], negate[upper][place])
                for upper in (0, 1)
            ]
            for place in (0, 1)
        ]
        addend = numbers(bits[2], "f32")
        with np.errstate(all="ignore"):
            total = (gfx9_dot if is_gfx9() else dot_of_pairs)(pairs[0], pairs[1], addend, code)
            if is_gfx9():
                self._known = gfx9_dot_is_known(pairs[0], pairs[1], addend, code)
        text = f"{self._name} v{RESULT}, {', '.join(texts)}"
        if selects:
            text += f" op_sel:{_list(select[0])} op_sel_hi:{_list(select[1])}"
        text += f" neg_lo:{_list(negate[0])} neg_hi:{_list(negate[1])}"
        return "f32", patterns(clamped(total) if self._clamp else total, "f32"), text + self._tail()

    def _tail(self) -> str:
        return " clamp" if self._clamp else ""

    def _integer_dot(self, entry: Op) -> tuple[str, Bits, str]:
        texts, bits = self._operands(3)
        operands = [numbers(value, code) for value, code in zip(bits, entry.sources, strict=True)]
        text = f"{self._name} v{RESULT}, {', '.join(texts)}"
        signs: list[bool] = []
        if entry.result == "i32" and not is_gfx9():
            signs = [bool(value) for value in self._flags(2, True, 0)]
            text += f" neg_lo:{_list([*map(int, signs), 0])}"
        values = entry.compute(*operands, *signs)
        values = saturated(values, entry.result) if self._clamp else values
        return entry.result, patterns(values, entry.result), text + self._tail()

    def _byte_dot(self, entry: Op) -> tuple[str, Bits, str]:
        texts, bits = self._operands(3)
        with np.errstate(all="ignore"):
            total = entry.compute(
                *(numbers(value, code) for value, code in zip(bits, entry.sources, strict=True))
            )
        return "f32", patterns(total, "f32"), f"{self._name} v{RESULT}, {', '.join(texts)}"

    def _mixed(self) -> tuple[str, Bits, str]:
        """f32, or a half as f32, of each operand; neg and abs as in VOP3."""
        texts, bits = self._operands(3)
        upper, is_half = self._flags(3, True, 0), self._flags(3, True, 0)
        negate, absolute = (self._flags(3, self._class == "signs", 0) for _ in range(2))
        operands = []
        for place, value in enumerate(bits):
            number = numbers(value, "f32")
            if is_half[place]:
                number = self._selected(value, "f16", upper[place], 0).astype(np.float32)
            number = np.abs(number) if absolute[place] else number
            operands.append(-number if negate[place] else number)
            text = f"|{texts[place]}|" if absolute[place] else texts[place]
            texts[place] = f"-{text}" if negate[place] else text
        with np.errstate(all="ignore"):
            total = fma(*operands)
        text = (
            f"{self._name} v{RESULT}, {', '.join(texts)} op_sel:{_list(upper)} "
            f"op_sel_hi:{_list(is_half)}"
        )
        if self._name == "v_fma_mix_f32":
            return (
                "f32",
                patterns(clamped(total) if self._clamp else total, "f32"),
                text + self._tail(),
            )
        with np.errstate(all="ignore"):
            narrow = total.astype(np.float16)
        half = patterns(clamped(narrow) if self._clamp else narrow, "f16")
        old = self._old()
        if self._name.endswith("lo_f16"):
            return "2xf16", halves(half, old >> np.uint64(16)), text + self._tail()
        return "2xf16", halves(old, half), text + self._tail()


def _list(flags: list[int]) -> str:
    return f"[{','.join(map(str, flags))}]"


_DUAL_X = (
    "fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32",
    "mul_dx9_zero_f32",
    "mov_b32", "cndmask_b32", "dot2acc_f32_f16", "dot2acc_f32_bf16",
    "max_num_f32", "min_num_f32", "max_f32", "min_f32",
)  # fmt: skip
_DUAL_Y = ("add_nc_u32", "lshlrev_b32", "and_b32")
_LITERAL = 0x40490FDB


def dual_operations() -> tuple[list[str], list[str]]:
    """Return what the first and the second half of a dual instruction may be."""
    first, second = (
        [name for name in names if has(f"v_dual_{name}")] for names in (_DUAL_X, _DUAL_Y)
    )
    return first, [*first, *second]


def dual_case(maker: Maker, first: str, second: str) -> Case:
    """X reads v2 and v6, Y reads v5 and v9 (their banks must differ); all is read before anything
    is written."""
    texts, results = [], []
    for number, name in enumerate((first, second)):
        sources = (2 + 3 * number, 6 + 3 * number)
        text, result = _dual_half(maker, name, RESULT + number, OLD + number, sources)
        texts.append(text)
        results.append(result)
    line = " :: ".join(texts)
    lines = [f"  v_mov_b32 v{RESULT + part}, v{OLD + part}" for part in (0, 1)]
    lines += [f"  s_mov_b32 vcc_lo, {VCC:#x}", f"  {line}"]

    def judge(found: Registers) -> Numbers:
        wrong = np.zeros(found.shape[1], bool)
        for name, (code, expected), mine in zip((first, second), results, found, strict=True):
            nans = f"v_{name}" in tables().vector and tables().vector[f"v_{name}"].nans
            wrong |= differences(mine.astype(np.uint64), expected, code, 0, 0.0, nans)
        return wrong

    return Case(line, tuple(lines), (f"v{RESULT}", f"v{RESULT + 1}"), judge)


def _dual_half(
    maker: Maker, name: str, target: int, old: int, sources: tuple[int, int]
) -> tuple[str, tuple[str, Bits]]:
    bits = [maker.registers(register, 1) for register in sources]
    start = f"v_dual_{name} v{target}, v{sources[0]}"
    with np.errstate(all="ignore"):
        if name.startswith("dot2acc"):
            code = "bf16" if name.endswith("bf16") else "f16"
            pairs = [
                [numbers(value >> np.uint64(16 * upper), code) for upper in (0, 1)]
                for value in bits
            ]
            total = dot_of_pairs(pairs[0], pairs[1], numbers(maker.registers(old, 1), "f32"), code)
            return f"{start}, v{sources[1]}", ("f32", patterns(total, "f32"))
        entry = tables().vector[f"v_{name}"]
        operands, texts = [], []
        registers = iter(zip(sources, bits, strict=True))
        for code in entry.sources:
            if code == "mask":
                operands.append(maker.lane_bits(VCC))
            elif code[0] == "k":
                operands.append(numbers(maker.everywhere(_LITERAL), "f32"))
                texts.append(f"{_LITERAL:#x}")
            else:
                register, value = next(registers)
                operands.append(numbers(value, code))
                texts.append(f"v{register}")
        if entry.old:
            operands.append(numbers(maker.registers(old, 1), entry.result))
        values = entry.compute(*operands)
    return f"v_dual_{name} v{target}, {', '.join(texts)}", (
        entry.result,
        patterns(values, entry.result),
    )
