"""The forms in which an opcode may stand: encodings, kinds of operands, modifiers, lanes from
elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amdjit.isa.rows import Row
from tests.emulator.model.cases.operand_makers import Lanes, Maker, Source, _size
from tests.emulator.model.cases.programs import MASK, OLD, PARTIAL, RESULT, VCC, Case, Registers
from tests.emulator.model.families import is_gfx9, is_gfx11
from tests.emulator.model.ieee import FORMATS, output
from tests.emulator.model.operation import Op
from tests.emulator.model.values import (
    FLOATS,
    Bits,
    Numbers,
    differences,
    numbers,
    patterns,
    saturated,
    width,
)
from tests.emulator.model.waves import (
    all_lanes,
    copied_mask,
    lane_bits,
    lane_mask,
    lanes_of_wave,
    mask_name,
    set_mask,
)

CLASSES = (
    "plain",
    "signs",
    "clamp",
    "omod",
    "scalar",
    "inline",
    "literal",
    "halves",
    "dpp16",
    "dpp8",
    "partial",
)


def signed(source: Source, negate: bool, absolute: bool) -> Source:
    """Apply the modifiers to the pattern and the text."""
    bits, text = source.bits, source.text
    top = np.uint64(1 << _size(source.code) - 1)
    if absolute:
        bits, text = bits & ~top, f"|{text}|"
    if negate:
        bits, text = bits ^ top, f"-{text}"
    return replace(source, bits=bits, text=text)


def clamped(values: Numbers) -> Numbers:
    """[0, 1]; NaN is 0."""
    low = np.where(values > 0, values, np.asarray(0, values.dtype))
    return np.where(low < 1, low, np.asarray(1, values.dtype))


def scaled(values: Numbers, code: str, omod: int) -> Numbers:
    """Results under `omod`."""
    form = FORMATS[code]
    return numbers(
        np.array([output(form, int(x), omod, False) for x in patterns(values, code)], np.uint64),
        code,
    )


class Variant:
    """One instruction in one form."""

    def __init__(
        self, maker: Maker, row: Row, entry: Op, klass: str, halves: tuple[int, ...] = ()
    ) -> None:
        self._maker = maker
        self._row = row
        self._op = entry
        self._class = klass
        self._short = row.format.name != "VOP3"
        self._clamp = klass == "clamp" and self._may_clamp()
        self._omod = 1 + int(maker.flip()) if klass == "omod" and self._may_scale() else 0
        # Which half each of the three sources and the result name, where they are 16-bit operands.
        self._known: Numbers | bool = True
        self._halves = halves or tuple(int(klass == "halves" and maker.flip()) for _ in range(4))
        self._lanes: Lanes | None = None
        if klass in ("dpp8", "dpp16") and row.has(klass) and "kf32" not in entry.sources:
            self._lanes = maker.other_lanes(klass, entry.result, not self._short)
        self._partial = klass == "partial" or (self._lanes is not None and maker.flip())

    def _may_clamp(self) -> bool:
        known = self._op.clamps or self._op.clamped is not None or self._op.result in FLOATS
        return bool(self._row.flags.get("clamp")) and known

    def _may_scale(self) -> bool:
        return bool(self._row.flags.get("omod")) and self._op.result in FLOATS

    def case(self) -> Case:
        sources = self._sources()
        values = self._computed(sources)
        name = self._text(sources)
        lines = [f"  v_mov_b32 v{RESULT + part}, v{OLD + part}" for part in range(self._dwords())]
        lines += [*set_mask("vcc_lo", lane_mask(VCC)), *set_mask("s48", lane_mask(MASK))]
        lines += set_mask("exec_lo", lane_mask(PARTIAL)) if self._partial else []
        lines.append(f"  {name}")
        # Where EXEC is the result it is kept before it is set back.
        lines += copied_mask("exec_lo", "s50") if self._narrows_exec() else []
        lines += all_lanes() if self._partial or self._narrows_exec() else []
        return Case(name, tuple(lines), self._outputs(), lambda found: self._judge(values, found))

    def _narrows_exec(self) -> bool:
        return "cmpx" in self._row.opcode.mnemonic

    # Sources

    def _sources(self) -> list[Source]:
        special = int(self._maker.pick(*range(self._places()))) if self._places() else 0  # type: ignore[call-overload]
        if self._short:
            special = 0
        result = []
        place = 0
        for code in self._op.sources:
            if code == "vcc":
                result.append(Source("", self._maker.mask("vcc_lo").bits, "mask"))
            elif code == "mask":
                result.append(self._maker.mask("vcc_lo" if self._short else "s48"))
            elif code[0] == "k":
                result.append(self._maker.literal(code[1:]))
            else:
                result.append(self._operand(place, code, place == special))
                place += 1
        return result

    def _places(self) -> int:
        return sum(code not in ("vcc", "mask") and code[0] != "k" for code in self._op.sources)

    def _operand(self, place: int, code: str, special: bool) -> Source:
        takes = self._takes(place)
        if special and self._class == "scalar" and "s" in takes:
            source = self._maker.scalar(place, code)
        elif special and self._class == "inline" and "i" in takes:
            return self._maker.inline(code)
        elif special and self._class == "literal" and "l" in takes and not self._has_constant():
            return self._maker.literal(code)
        else:
            source = self._maker.vector(place, code, self._halves[place], self._is_half(place))
        if self._lanes is not None and place == 0:
            source = replace(source, bits=self._moved(source.bits))
        if self._class in ("signs", "clamp", "omod", "dpp16") and self._may_sign(place, code):
            return signed(source, self._maker.flip(), self._maker.flip())
        return source

    def _has_constant(self) -> bool:
        return any(code[0] == "k" for code in self._op.sources)

    def _operand_row(self, place: int) -> object:
        return next(o for o in self._row.operands if o.spec.role == f"src{place}")

    def _takes(self, place: int) -> str:
        return self._operand_row(place).takes  # type: ignore[attr-defined,no-any-return]

    def _is_half(self, place: int) -> bool:
        return self._operand_row(place).half  # type: ignore[attr-defined,no-any-return]

    def _may_sign(self, place: int, code: str) -> bool:
        if self._short:
            return (
                self._lanes is not None
                and self._row.has(f"dneg{place}")
                and self._row.has(f"dabs{place}")
            )
        flags = self._row.flags
        both = flags.get("neg", 0) & flags.get("abs", 0)
        return bool(both >> place & 1) and (
            code in FLOATS or self._row.opcode.mnemonic.startswith("v_cndmask")
        )

    def _moved(self, bits: Bits) -> Bits:
        """Patterns from other lanes; 0 for a missing lane if `bound_ctrl` is set."""
        assert self._lanes is not None
        waves = bits.reshape(-1, lanes_of_wave())
        moved = waves[:, [lane or 0 for lane in self._lanes.sources]]
        return np.where(self._valid(), moved, 0).astype(np.uint64).reshape(-1)

    def _valid(self) -> Numbers:
        """Return which lanes of a wave have a source."""
        assert self._lanes is not None
        active = lane_mask(PARTIAL) if self._partial and not self._lanes.inactive else -1
        return np.array(
            [lane is not None and bool(active >> lane & 1) for lane in self._lanes.sources]
        )

    def _writes(self) -> Numbers:
        """Return which lanes of a wave are written."""
        lanes = lane_bits(lane_mask(PARTIAL) if self._partial else -1)
        if self._lanes is not None:
            lanes &= np.array(self._lanes.written)
            if not self._lanes.zero:
                lanes &= self._valid()
        return lanes

    # Results

    def _computed(self, sources: list[Source]) -> tuple[Numbers, Numbers | None]:
        operands = [
            s.bits.astype(bool) if s.code == "mask" else numbers(s.bits, s.code) for s in sources
        ]
        if self._op.carry:
            operands = [o.astype(int).astype(object) if o.dtype == bool else o for o in operands]
        if self._op.old:
            operands.append(
                numbers(self._old() >> np.uint64(16 * self._result_half()), self._op.result)
            )
        with np.errstate(all="ignore"):
            self._known = self._op.known(*operands) if self._op.known else True
            values = self._op.compute(*operands)
            carry = None
            if self._op.carry:
                values, carry = values
            if self._omod and not (is_gfx11() or is_gfx9()):
                values = scaled(values, self._op.result, self._omod)
            if self._clamp:
                values = self._clamped(values)
        return values, carry

    def _clamped(self, values: Numbers) -> Numbers:
        if self._op.clamped is not None:
            return self._op.clamped(values)  # type: ignore[no-any-return]
        return clamped(values) if self._op.result in FLOATS else saturated(values, self._op.result)

    def _result_half(self) -> int:
        return self._halves[3] if self._row.operands[0].half else 0

    def _old(self) -> Bits:
        return self._maker.registers(OLD, self._dwords())

    def _dwords(self) -> int:
        return 0 if self._op.result == "mask" else max(1, width(self._op.result) // 32)

    def _outputs(self) -> tuple[str, ...]:
        vectors = [f"v{RESULT + part}" for part in range(self._dwords())]
        if self._op.carry or self._op.result == "mask":
            vectors.append(self._mask_register())
        return tuple(vectors)

    def _mask_register(self) -> str:
        if self._narrows_exec():
            return mask_name("s50")
        return mask_name("vcc_lo" if self._short else "s50")

    def _judge(self, expected: tuple[Numbers, Numbers | None], found: Registers) -> Numbers:
        values, carry = expected
        written = np.tile(self._writes(), found.shape[1] // lanes_of_wave())
        wrong = np.zeros(found.shape[1], bool)
        if self._op.result == "mask" or carry is not None:
            bits = np.asarray(values if carry is None else carry, bool) & written
            wrong |= self._wrong_mask(bits, found[-1])
        if self._op.result != "mask":
            wrong |= self._wrong_values(values, written, found)
        return wrong

    def _wrong_mask(self, bits: Numbers, found: Registers) -> Numbers:
        return (found >> (np.arange(len(found)) % 32).astype(np.uint32) & 1).astype(bool) != bits

    def _wrong_values(self, values: Numbers, written: Numbers, found: Registers) -> Numbers:
        code = self._op.result
        mine = found[0].astype(np.uint64)
        if self._dwords() == 2:
            mine |= found[1].astype(np.uint64) << np.uint64(32)
        new = _as_bits(values, code)
        wrong = (written & self._known) & differences(
            self._part(mine), new, code, self._op.ulps, self._op.absolute, self._op.nans
        )
        # What is not written stays: whole registers of other lanes, the other half.
        kept = mine != self._old()
        wrong |= ~written & kept
        return wrong | written & self._wrong_beside(mine)

    def _wrong_beside(self, mine: Bits) -> Numbers:
        """Where the other half of the register has changed."""
        if width(self._op.result) != 16 or not self._row.operands[0].half:
            return np.zeros(len(mine), bool)
        other = np.uint64(16 * (1 - self._result_half()))
        return (mine ^ self._old()) >> other & np.uint64(0xFFFF) != 0

    def _part(self, bits: Bits) -> Bits:
        return bits >> np.uint64(16 * self._result_half())

    # Text

    def _text(self, sources: list[Source]) -> str:
        operands = [*self._targets(), *(source.text for source in sources if source.text)]
        tail = (" clamp" if self._clamp else "") + (f" mul:{2 * self._omod}" if self._omod else "")
        tail += self._lanes.text if self._lanes else ""
        return f"{self._row.opcode.mnemonic}{self._suffix()} {', '.join(operands)}{tail}"

    def _suffix(self) -> str:
        if self._lanes is not None:
            return "_dpp" if self._short else "_e64_dpp"
        if not self._row.suffixed:
            return ""
        return "_e32" if self._short else "_e64"

    def _targets(self) -> list[str]:
        if self._op.result == "mask":
            return [] if "cmpx" in self._row.opcode.mnemonic else [self._mask_register()]
        result = f"v{RESULT}"
        if self._dwords() == 2:
            result = f"v[{RESULT}:{RESULT + 1}]"
        elif self._row.operands[0].half:
            result += "." + "lh"[self._result_half()]
        return [result, self._mask_register()] if self._op.carry else [result]


def _as_bits(values: Numbers, code: str) -> Bits:
    """Results of several elements come as patterns already."""
    return patterns(values, code if code[0] in "fbiu" and "x" not in code else f"b{width(code)}")
