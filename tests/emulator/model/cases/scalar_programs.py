"""Programs of scalar instructions: a wave is one case, its inputs are eight dwords."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import emulate
from tests.emulator.model.cases.operand_makers import INLINE_FLOATS, INLINE_INTEGERS, LITERALS
from tests.emulator.model.cases.programs import PARTIAL
from tests.emulator.model.families import assembled
from tests.emulator.model.operation import Op
from tests.emulator.model.scalars import EXEC_OPS, ScalarOp
from tests.emulator.model.values import Bits, Numbers, differences, numbers, patterns, width

Inputs = NDArray[np.uint32]
Judge = Callable[[Inputs], NDArray[np.bool_]]
CLASSES = ("plain", "inline", "literal")

_HEAD = """
  s_load_b128 s[0:3], s[0:1], 0x0
  s_wait_kmcnt 0x0
  s_mul_i32 s4, ttmp9, 32
  s_add_co_u32 s0, s0, s4
  s_add_co_ci_u32 s1, s1, 0
  s_mul_i32 s4, ttmp9, {bytes}
  s_add_co_u32 s2, s2, s4
  s_add_co_ci_u32 s3, s3, 0
  s_load_b256 s[40:47], s[0:1], 0x0
  s_wait_kmcnt 0x0
  v_mov_b32 v0, 0
"""


class ScalarCase:
    """One scalar instruction; the operands are s[40:41], s[42:43], the old result s[44:45], SCC bit
    0 of s46."""

    def __init__(
        self, name: str, entry: ScalarOp, klass: str, inputs: Inputs, random: np.random.Generator
    ) -> None:
        self._inputs = inputs
        self._random = random
        self._entry = entry
        self._op: Op = entry.op
        self._class = klass
        self._wide = entry.op.result != "scc" and width(entry.op.result) == 64
        operands, values = self._operands()
        target = [] if entry.op.result == "scc" else ["s[60:61]" if self._wide else "s60"]
        self.text = f"{name} {', '.join([*target, *operands])}"
        self._expected = self._computed(values)

    def _dword(self, number: int) -> Bits:
        return self._inputs[number].astype(np.uint64)

    def _everywhere(self, value: int) -> Bits:
        return np.full(self._inputs.shape[1], value & 0xFFFFFFFFFFFFFFFF, np.uint64)

    def _operands(self) -> tuple[list[str], list[Numbers]]:
        texts, values = [], []
        place = 0
        for code in self._op.sources:
            if code == "scc":
                values.append((self._dword(6) & np.uint64(1)).astype(bool))
                continue
            text, bits, kind = self._operand(place, code)
            place += code != "simm" and code[0] != "k"
            texts.append(text)
            values.append(numbers(bits, kind))
        if self._op.carry:
            values = [v.astype(int).astype(object) if v.dtype == bool else v for v in values]
        if self._op.old:
            values.append(numbers(self._old(), self._op.result))
        return texts, values

    def _operand(self, place: int, code: str) -> tuple[str, Bits, str]:
        if code == "simm":
            value = int(self._random.integers(-0x8000, 0x8000))
            return f"{value & 0xFFFF:#x}", self._everywhere(value), "i32"
        if code[0] == "k":
            value = int(self._random.choice(LITERALS))
            return f"{value:#x}", self._everywhere(value), code[1:]
        if code == "hf16":
            return "s40", self._dword(0) >> np.uint64(16), "f16"
        size = max(32, width(code))
        # An immediate stands beside registers only.
        literals = any(source[0] == "k" or source == "simm" for source in self._op.sources)
        if place == 0 and self._class == "inline" and "simm" not in self._op.sources:
            return (*self._inline(code), code)
        if place == 0 and self._class == "literal" and not literals:
            value = int(self._random.choice(LITERALS)) & (0xFFFF if code == "f16" else 0xFFFFFFFF)
            extended = value - (value >> 31 << 32) if code == "i64" else value
            return f"{value:#x}", self._everywhere(extended), code
        first = 40 + 2 * place
        if size == 64:
            wide = self._dword(2 * place) | self._dword(2 * place + 1) << np.uint64(32)
            return f"s[{first}:{first + 1}]", wide, code
        return f"s{first}", self._dword(2 * place), code

    def _inline(self, code: str) -> tuple[str, Bits]:
        if code in ("f16", "f32") and self._random.integers(2):
            value = float(self._random.choice(INLINE_FLOATS))
            return str(value), self._everywhere(int(patterns(np.array([value]), code)[0]))
        integer = int(self._random.choice(INLINE_INTEGERS))
        return str(integer), self._everywhere(integer & (1 << max(32, width(code))) - 1)

    def _old(self) -> Bits:
        low = self._dword(4)
        return low | self._dword(5) << np.uint64(32) if self._wide else low

    def _computed(self, values: list[Numbers]) -> tuple[Bits | None, Numbers]:
        before = (self._dword(6) & np.uint64(1)).astype(bool)
        with np.errstate(all="ignore"):
            result = self._op.compute(*values)
        if self._op.result == "scc":
            return None, np.asarray(result, bool)
        if self._op.carry:
            result, after = result
            return self._bits(result), np.asarray(after, bool)
        bits = self._bits(result)
        return bits, bits != 0 if self._entry.scc == "nonzero" else before

    def _bits(self, values: Numbers) -> Bits:
        code = self._op.result
        return patterns(values, f"b{width(code)}" if "x" in code else code)

    def lines(self) -> list[str]:
        return [
            "  s_mov_b64 s[60:61], s[44:45]",
            "  s_bitcmp1_b32 s46, 0",
            f"  {self.text}",
            "  s_cselect_b32 s62, 1, 0",
        ]

    def judge(self, found: Inputs) -> NDArray[np.bool_]:
        """found: s60, s61, s62 of each wave."""
        bits, condition = self._expected
        wrong = found[2].astype(bool) != condition
        low, high = found[0].astype(np.uint64), found[1].astype(np.uint64)
        if bits is None:
            return wrong | (low != self._dword(4)) | (high != self._dword(5))
        mine = low | high << np.uint64(32) if self._wide else low
        wrong |= differences(mine, bits, self._op.result, self._op.ulps, 0.0, self._op.nans)
        if width(self._op.result) == 16:
            wrong |= mine >> np.uint64(16) != 0
        return wrong if self._wide else wrong | (high != self._dword(5))


class ExecCase:
    """One of the instructions that change EXEC."""

    def __init__(self, name: str, verb: str, inputs: Inputs) -> None:
        self.text = f"s_{name}_{verb}_b32 s60, s40"
        self._after = EXEC_OPS[name](inputs[0].astype(object), PARTIAL) & 0xFFFFFFFF
        self._verb = verb

    def lines(self) -> list[str]:
        return [
            f"  s_mov_b32 exec_lo, {PARTIAL:#x}",
            f"  {self.text}",
            "  s_mov_b32 s61, exec_lo",
            "  s_cselect_b32 s62, 1, 0",
            "  s_mov_b32 exec_lo, -1",
        ]

    def judge(self, found: Inputs) -> NDArray[np.bool_]:
        kept = (
            np.full(len(self._after), PARTIAL, object) if self._verb == "saveexec" else self._after
        )
        wrong = (
            (found[0] != kept)
            | (found[1] != self._after)
            | (found[2].astype(bool) != (self._after != 0))
        )
        return np.asarray(wrong, bool)


def exec_cases(inputs: Inputs) -> list[ExecCase]:
    """Every instruction that combines EXEC with a scalar, in 32 bits."""
    saving = [ExecCase(name, "saveexec", inputs) for name in EXEC_OPS]
    return [*saving, *(ExecCase(name, "wrexec", inputs) for name in ("and_not0", "and_not1"))]


class AnyCase(Protocol):
    """What a program is made of; the case leaves s60, s61 and s62."""

    @property
    def text(self) -> str:
        """The instruction."""

    def lines(self) -> list[str]:
        """Its program."""

    def judge(self, found: Inputs) -> NDArray[np.bool_]:
        """Say in which waves the three registers are wrong."""


def run_scalar_cases(cases: Sequence[AnyCase], inputs: Inputs, wave_size: int = 32) -> list[str]:
    """Run all cases on `inputs` (eight dwords by waves); return what is wrong."""
    waves = inputs.shape[1]
    lines = [_HEAD.format(bytes=16 * len(cases))]
    for number, case in enumerate(cases):
        lines += case.lines()
        lines += [f"  v_mov_b32 v{2 + part}, s{60 + part}" for part in range(3)]
        lines.append(f"  global_store_b96 v0, v[2:4], s[2:3] offset:{16 * number}")
    found = np.zeros((waves, len(cases), 4), np.uint32)
    code = assembled("\n".join([*lines, ""]), wave_size=wave_size)
    emulate(code, "kernel", waves, 1, [np.ascontiguousarray(inputs.T), found])
    failures = []
    for number, case in enumerate(cases):
        wrong = case.judge(found[:, number, :3].T)
        if wrong.any():
            wave = int(np.argmax(wrong))
            given = [f"{int(value):08x}" for value in inputs[:, wave]]
            mine = [f"{int(value):08x}" for value in found[wave, number, :3]]
            failures.append(f"{case.text}: {int(wrong.sum())} waves wrong; {given} gives {mine}")
    return failures
