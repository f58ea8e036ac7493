"""The forms that gfx9 has beside those of `variants.py`: halves by op_sel, parts of registers
(SDWA), comparisons that write two masks.

CDNA 3 ISA: "SDWA", "DPP", and the results of 16-bit instructions in chapter 12.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from amdjit.isa.rows import Row
from tests.emulator.model.cases.operand_makers import Maker, Source
from tests.emulator.model.cases.programs import Registers
from tests.emulator.model.cases.variants import Variant, signed
from tests.emulator.model.operation import Op
from tests.emulator.model.values import FLOATS, Bits, Numbers, patterns, width
from tests.emulator.model.waves import copied_mask, mask_name

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
    "sdwa",
    "partial",
)
# What 16-bit instructions without op_sel leave in the upper half: LLVM counts on zeros
# (GCNSubtarget::zeroesHigh16BitsOfDest, GFX9), and the document has them for V_MAC_F16,
# V_MADAK_F16, V_MADMK_F16 and V_*_LEGACY_F16. Of these neither says anything.
_UNKNOWN_BESIDE = ("v_cvt_norm_i16_f16", "v_cvt_norm_u16_f16", "v_sat_pk_u8_i16")
# What has several numbers in one register: parts of those are refused.
_OF_SEVERAL = ("v_sat_pk_u8_i16",)
_PARTS = {
    **{f"BYTE_{n}": (8 * n, 8) for n in range(4)},
    **{f"WORD_{n}": (16 * n, 16) for n in range(2)},
    "DWORD": (0, 32),
}
_EXEC_COPY = "s92"


@dataclass(frozen=True)
class Part:
    """A part of a source register: its name, and whether the sign is extended."""

    name: str
    signed: bool = False

    def of(self, bits: Bits, size: int) -> Bits:
        first, count = _PARTS[self.name]
        mask = (1 << count) - 1
        found = [int(value) >> first & mask for value in bits]
        if self.signed:
            top = 1 << count - 1
            found = [((value ^ top) - top) & (1 << size) - 1 for value in found]
        return np.array(found, np.uint64)


class Gfx9Variant(Variant):
    """One instruction of gfx9 in one form."""

    def __init__(self, maker: Maker, row: Row, entry: Op, klass: str) -> None:
        super().__init__(maker, row, entry, klass)
        self._sub: dict[str, str] = {}
        if klass == "sdwa" and row.has("sdwa") and row.opcode.mnemonic not in _OF_SEVERAL:
            whole = row.has("swhole")  # its text has no destination
            self._sub = {"dst": "DWORD" if whole else str(maker.pick(*_PARTS))}
            self._sub["unused"] = str(maker.pick("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"))
            self._clamp = row.has("sclamp") and self._op.result in FLOATS and maker.flip()
        if klass == "dpp16" and self._is_wide():
            # Operations on 64 bits have one control, and none on gfx908.
            has_it = row.has("dpp_newbcast")
            self._lanes = maker.other_lanes("broadcast", entry.result, False) if has_it else None
        self._chosen = self._choose_halves() if klass == "halves" else [0, 0, 0, 0]

    def _is_wide(self) -> bool:
        return any(
            operand.dwords == 2 and operand.takes[:1] == "v" for operand in self._row.operands
        )

    def _choose_halves(self) -> list[int]:
        """op_sel: the half of each 16-bit source, and of the result."""
        allowed = self._row.flags.get("op_sel", 0)
        codes = [code for code in self._op.sources if code not in ("mask", "vcc")]
        chosen = [0, 0, 0, 0]
        for place, code in enumerate(codes):
            if code[0] != "k" and width(code) == 16 and allowed >> place & 1:
                chosen[place] = int(self._maker.flip())
        if self._op.result != "mask" and width(self._op.result) == 16 and allowed & 8:
            chosen[3] = int(self._maker.flip())
        return chosen

    # Sources

    def _takes(self, place: int) -> str:
        """One scalar is all that an instruction may read, a mask or a constant among them."""
        takes = super()._takes(place)
        other = any(code in ("mask", "vcc") or code[0] == "k" for code in self._op.sources)
        return takes.replace("s", "").replace("l", "") if other else takes

    def _is_half(self, place: int) -> bool:
        return False

    def _operand(self, place: int, code: str, special: bool) -> Source:
        if self._sub:
            return self._partial_operand(place, code)
        source = super()._operand(place, code, special)
        if self._chosen[place]:
            source = replace(source, bits=source.bits >> np.uint64(16))
        return source

    def _partial_operand(self, place: int, code: str) -> Source:
        """A part of a register, and the modifiers of the operand's type after that."""
        size = 16 if width(code) == 16 else 32
        # LLVM writes neither scalars nor signs where conversions of bytes may take them.
        bytewise = self._row.opcode.mnemonic.endswith("f8")
        source = self._maker.vector(place, "b32", 0)
        if place == 0 and self._maker.flip() and "s" in self._takes(place) and not bytewise:
            source = self._maker.scalar(place, "b32")
        extends = not bytewise and self._row.has(f"ssext{place}") and self._maker.flip()
        part = Part(str(self._maker.pick(*_PARTS)), extends)
        self._sub[f"src{place}"] = part.name
        source = Source(source.text, part.of(source.bits, 32), code)
        if extends:
            return replace(source, text=f"sext({source.text})")
        if self._row.has(f"sneg{place}") and code in FLOATS:
            low = source.bits & np.uint64((1 << size) - 1)
            return signed(replace(source, bits=low), self._maker.flip(), self._maker.flip())
        return source

    # Results

    def case(self):  # type: ignore[no-untyped-def]
        made = super().case()
        if not self._narrows_exec():
            return made
        # Comparisons that write EXEC write their own result, too.
        lines = [line for line in made.lines if "s[50:51], exec" not in line]
        at = next(n for n, line in enumerate(lines) if line.strip() == made.name)
        lines[at + 1 : at + 1] = copied_mask("exec_lo", _EXEC_COPY)
        return replace(made, lines=tuple(lines))

    def _outputs(self) -> tuple[str, ...]:
        more = (mask_name(_EXEC_COPY),) if self._narrows_exec() else ()
        return (*super()._outputs(), *more)

    def _mask_register(self) -> str:
        return mask_name("vcc_lo" if self._short and not self._scalar_target() else "s50")

    def _scalar_target(self) -> bool:
        """Comparisons of parts may write any pair of scalars."""
        return bool(self._sub) and self._op.result == "mask"

    def _judge(self, expected: tuple[Numbers, Numbers | None], found: Registers) -> Numbers:
        wrong = super()._judge(expected, found)
        if self._narrows_exec():
            wrong |= super()._judge(expected, found[:-1])
        return wrong

    def _result_half(self) -> int:
        return self._chosen[3]

    def _wrong_values(self, values: Numbers, written: Numbers, found: Registers) -> Numbers:
        if not self._sub:
            return super()._wrong_values(values, written, found)
        code = self._op.result
        bits = patterns(values, code) if "x" not in code else patterns(values, "b32")
        old, mine = self._old(), found[0].astype(np.uint64)
        expected = np.where(written, self._placed(bits, old), old)
        if code not in FLOATS:
            return np.asarray(mine != expected)
        return self._known & self._far(mine, expected, values)

    def _far(self, mine: Bits, expected: Bits, values: Numbers) -> Numbers:
        """Floats may be off by some units, and NaNs are not all alike: only whole parts say so."""
        if self._op.ulps or self._op.absolute:
            return np.zeros(len(mine), bool)
        nan = np.isnan(np.asarray(values, np.float64)) & (not self._op.nans)
        return np.asarray((mine != expected) & ~nan)

    def _placed(self, bits: Bits, old: Bits) -> Bits:
        """The result's low bits in the part that dst_sel names; dst_unused says what is beside."""
        first, count = _PARTS[self._sub["dst"]]
        mask = (1 << count) - 1
        found = []
        for value, before in zip(bits.tolist(), old.tolist(), strict=True):
            part = value & mask
            if self._sub["unused"] == "UNUSED_PRESERVE":
                placed = before & ~(mask << first) | part << first
            elif self._sub["unused"] == "UNUSED_SEXT":
                top = 1 << count - 1
                placed = ((part ^ top) - top) << first
            else:
                placed = part << first
            found.append(placed & 0xFFFFFFFF)
        return np.array(found, np.uint64)

    def _wrong_beside(self, mine: Bits) -> Numbers:
        """Instructions with op_sel keep the other half, others clear the upper one."""
        name = self._row.opcode.mnemonic
        if width(self._op.result) != 16 or name in _UNKNOWN_BESIDE:
            return np.zeros(len(mine), bool)
        other = np.uint64(16 * (1 - self._result_half()))
        kept = self._old() if self._row.flags.get("op_sel", 0) & 8 else np.uint64(0)
        return (mine ^ kept) >> other & np.uint64(0xFFFF) != 0

    # Text

    def _text(self, sources: list[Source]) -> str:
        text = super()._text(sources)
        if self._sub:
            return text + self._sub_text()
        if not any(self._chosen):
            return text
        places = [self._chosen[int(place)] for place in self._row.selects]
        words = f" op_sel:[{','.join(map(str, places))}]"
        return text.replace(" clamp", f"{words} clamp") if " clamp" in text else text + words

    def _sub_text(self) -> str:
        words = ""
        if self._op.result != "mask" and not self._row.has("swhole"):
            words += f" dst_sel:{self._sub['dst']} dst_unused:{self._sub['unused']}"
        for place in range(2):
            if f"src{place}" in self._sub:
                words += f" src{place}_sel:{self._sub[f'src{place}']}"
        return words

    def _suffix(self) -> str:
        if self._sub:
            return "_sdwa"
        return super()._suffix() if self._lanes is None else "_dpp"

    def _targets(self) -> list[str]:
        if self._op.result == "mask":
            return [self._mask_register()]
        return super()._targets()
