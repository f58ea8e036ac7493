"""Random machine code on floats of all kinds, NaNs above all, for comparing the emulator's tiers
bit by bit."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

LANES = 64
# v1 to v8 are the operands, v[100:115] the results; s8 to s15 scalars that floats are computed in.
OPERANDS = 8
RESULTS = tuple(range(100, 116))
_NANS = {
    16: (0x7C01, 0x7E55, 0xFD01, 0xFE00, 0xFFFF),
    32: (0x7F800001, 0x7FC00000, 0x7FD55555, 0xFF812345, 0xFFC00000, 0xFFFFFFFF),
    64: (
        0x7FF0000000000001,
        0x7FF8000000000000,
        0x7FF80000DEADBEEF,
        0xFFF4000000000000,
        0xFFF8000000000000,
    ),
}
_NUMBERS = {
    16: (0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7BFF, 0x0001, 0x4248, 0x0400),
    32: (
        0,
        1 << 31,
        0x3F800000,
        0xBF800000,
        0x7F800000,
        0xFF800000,
        0x7F7FFFFF,
        1,
        0x40490FDB,
        0x00800000,
    ),
    64: (
        0,
        1 << 63,
        0x3FF << 52,
        0xBFF << 52,
        0x7FF << 52,
        0xFFF << 52,
        (0x7FF << 52) - 1,
        1,
        0x3FB999999999999A,
    ),
}
_CONSTANTS = (
    "-1.0",
    "1.0",
    "0.5",
    "-0.5",
    "2.0",
    "-2.0",
    "4.0",
    "-4.0",
    "0",
    "0.15915494",
    "-16",
    "64",
)
_ONE = (
    "rcp",
    "sqrt",
    "rsq",
    "fract",
    "floor",
    "ceil",
    "trunc",
    "rndne",
    "frexp_mant",
    "exp",
    "log",
    "sin",
    "cos",
)
_TWO = ("add", "sub", "subrev", "mul", "min_num", "max_num", "minimum", "maximum")
_THREE = (
    "fma",
    "min3_num",
    "max3_num",
    "med3_num",
    "minimum3",
    "maximum3",
    "minmax_num",
    "maxmin_num",
)
_ONE_DOUBLE = ("rcp", "sqrt", "rsq", "fract", "floor", "ceil", "trunc", "rndne", "frexp_mant")
_SCALAR = ("add", "sub", "mul", "fmac", "min_num", "max_num", "minimum", "maximum")


def operands(seed: int) -> NDArray[np.uint32]:
    """Registers by lanes: v1 to v4 hold f32, v5 two f16, v6 and v7 one f64, v8 whatever."""
    chance = random.Random(seed)

    def pick(width: int) -> int:
        return chance.choice(_NANS[width] if chance.random() < 0.6 else _NUMBERS[width])

    rows = [[pick(32) for _ in range(LANES)] for _ in range(4)]
    rows.append([pick(16) | pick(16) << 16 for _ in range(LANES)])
    wide = [pick(64) for _ in range(LANES)]
    rows += [[value & 0xFFFFFFFF for value in wide], [value >> 32 for value in wide]]
    rows.append([chance.getrandbits(32) for _ in range(LANES)])
    return np.array(rows, np.uint32)


class Program:
    """Random instructions; `body` is their text."""

    def __init__(self, seed: int, count: int = 48) -> None:
        self._chance = random.Random(seed)
        lines = [f"  v_mov_b32 v{number}, v{1 + number % OPERANDS}" for number in RESULTS]
        lines += [
            f"  v_readlane_b32 s{8 + number}, v{1 + number}, {seed % 32}" for number in range(8)
        ]
        makers = (
            self._vector,
            self._double,
            self._scalar,
            self._mixed,
            self._masked,
            self._packed,
            self._converted,
        )
        for _ in range(count):
            lines.append(f"  {self._chance.choice(makers)()}")
            if self._chance.random() < 0.08:
                lines.append(f"  s_mov_b32 exec_lo, {self._chance.choice((-1, 0x5A5AC3F1, -1))}")
            if seed % 2 and self._chance.random() < 0.3:
                lines.append(f"  {self._mode()}")
        self.body = "\n".join([*lines, "  s_mov_b32 exec_lo, -1"])

    def _mode(self) -> str:
        """A write of MODE, one of few, so that programs come back to modes that they had."""
        rounding, denormals = self._chance.choice((0, 5, 10)), self._chance.choice((0, 15))
        return self._chance.choice(
            (
                f"s_round_mode {rounding}",
                f"s_denorm_mode {denormals}",
                f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {denormals << 4 | rounding}",
                "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s9",
            )
        )

    def _register(self) -> str:
        """A vector register that is read: an operand or an earlier result."""
        return f"v{self._chance.choice((*range(1, 1 + OPERANDS), *RESULTS))}"

    def _target(self) -> str:
        return f"v{self._chance.choice(RESULTS)}"

    def _pair(self, registers: tuple[int, ...]) -> str:
        first = self._chance.choice(registers[::2])
        return f"v[{first}:{first + 1}]"

    def _signed(self, text: str) -> str:
        text = f"|{text}|" if self._chance.random() < 0.2 else text
        return f"-{text}" if self._chance.random() < 0.2 else text

    def _sources(self, count: int, wide: bool = False) -> str:
        """At most one constant or scalar among them."""
        special = self._chance.randrange(2 * count)
        found = []
        for place in range(count):
            if place == special:
                scalar = (
                    f"s[{self._chance.choice((8, 10, 12))}:{0}]"
                    if wide
                    else f"s{self._chance.randrange(8, 16)}"
                )
                constant = self._chance.choice(_CONSTANTS[:9])
                found.append(constant if wide or self._chance.random() < 0.7 else scalar)
            else:
                found.append(
                    self._signed(self._pair((6, 7, *RESULTS)) if wide else self._register())
                )
        return ", ".join(found)

    def _vector(self) -> str:
        code = self._chance.choice(("f16", "f32", "f32"))
        names, count = self._chance.choice(
            ((_ONE, 1), (_TWO, 2), (_TWO, 2), (_THREE, 3), (("fma",), 3))
        )
        tail = self._chance.choice(("", "", "", "", " clamp", " mul:2", " div:2"))
        name = f"v_{self._chance.choice(names)}_{code}_e64"
        name = name.removesuffix("_e64") if count == 3 else name
        return f"{name} {self._target()}, {self._sources(count)}{tail}"

    def _double(self) -> str:
        names, count = self._chance.choice(
            ((_ONE_DOUBLE, 1), (("add", "mul", "min_num", "max_num"), 2), (("fma",), 3))
        )
        name = f"v_{self._chance.choice(names)}_f64{'_e64' if count < 3 else ''}"
        return f"{name} {self._pair(RESULTS)}, {self._sources(count, wide=True)}"

    def _scalar(self) -> str:
        code, name = self._chance.choice(("f16", "f32")), self._chance.choice(_SCALAR)
        left = f"s{self._chance.randrange(8, 16)}"
        right = self._chance.choice((*_CONSTANTS[:9], f"s{self._chance.randrange(8, 16)}"))
        target = self._chance.choice(("vcc_lo", *(f"s{number}" for number in range(8, 16))))
        line = f"s_{name}_{code} {target}, {left}, {right}"
        if self._chance.random() < 0.5:
            return line
        # The result as a mask of lanes, in the next instruction.
        return (
            f"{line}\n  v_cndmask_b32_e64 {self._target()}, {self._register()}, "
            f"{self._register()}, {target}"
        )

    def _masked(self) -> str:
        """A scalar, of whatever kind it is, as a mask of lanes."""
        mask = self._chance.choice(("vcc_lo", *(f"s{number}" for number in range(8, 16))))
        if self._chance.random() < 0.2:
            return f"v_readlane_b32 {mask}, {self._register()}, {self._chance.randrange(32)}"
        if self._chance.random() < 0.2:
            return f"v_cmp_u_f32_e64 {mask}, {self._register()}, {self._register()}"
        return f"v_cndmask_b32_e64 {self._target()}, {self._register()}, {self._register()}, {mask}"

    def _mixed(self) -> str:
        name = self._chance.choice(("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"))
        high = ",".join(str(self._chance.randrange(2)) for _ in range(3))
        return (
            f"{name} {self._target()}, {', '.join(self._register() for _ in range(3))} "
            f"op_sel_hi:[{high}]"
        )

    def _packed(self) -> str:
        name, count = self._chance.choice(
            (("add", 2), ("mul", 2), ("fma", 3), ("min_num", 2), ("maximum", 2))
        )
        signs = ",".join(str(self._chance.randrange(2)) for _ in range(count))
        return (
            f"v_pk_{name}_f16 {self._target()}, "
            f"{', '.join(self._register() for _ in range(count))} neg_lo:[{signs}]"
        )

    def _converted(self) -> str:
        kind = self._chance.randrange(5)
        if kind == 0:
            return f"v_cvt_f32_f64 {self._target()}, {self._pair((6, 7, *RESULTS))}"
        if kind == 1:
            return f"v_cvt_f64_f32 {self._pair(RESULTS)}, {self._register()}"
        name = ("v_cvt_f32_f16", "v_cvt_f16_f32", "v_xor_b32")[kind - 2]
        return f"{name} {self._target()}, {'s9, ' if kind == 4 else ''}{self._register()}"
