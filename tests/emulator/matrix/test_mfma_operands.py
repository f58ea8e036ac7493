"""Operands of MFMA and SMFMAC instructions: VGPRs and accumulation VGPRs, constants, results over
factors, negation, and EXEC, which does not count. The results are the host reference's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from amdjit.intrinsics.models.mfma_arithmetic import Modifiers, wave_product
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction, mfma_instruction
from tests.emulator.building import compile_source, emulate, using
from tests.emulator.mfma_registers import PLAIN, operands
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
_SOURCE = """#include "common.h"
#define V(n) __attribute__((ext_vector_type(n))) u32
{types}
KERNEL multiply({parameters}, GLOBAL D *out) {{
  u32 lane = __builtin_amdgcn_workitem_id_x();
  D d{start};
  __asm__ volatile("{before}{instruction}\\n{after}s_nop 15\\ns_nop 15"
                   : "{result}"(d) : {given} : "s10", "s11");
  out[lane] = d;
}}
"""
_SAVE = "s_mov_b64 s[10:11], exec\\n"
_RESTORE = "s_mov_b64 exec, s[10:11]\\n"


@dataclass(frozen=True)
class Case:
    """An instruction and its operands. files: of D and C, of A, and of B, as constraints of
    assembly. constant: C's text, and its dwords."""

    target: str
    mnemonic: str
    files: str = "vvv"
    constant: tuple[str, tuple[int, ...]] | None = None
    suffix: str = ""
    modifiers: Modifiers = PLAIN
    exec: str = ""

    @property
    def instruction(self) -> MfmaInstruction:
        return mfma_instruction(self.mnemonic, self.target)

    def __str__(self) -> str:
        parts = [self.target, self.mnemonic, self.files, *(self.constant or ())[:1], self.suffix]
        return "-".join(filter(None, [*parts, self.exec and f"exec {self.exec}"]))


def source(case: Case, sizes: list[int]) -> str:
    """Return a kernel in C. sizes: dwords of A, B, C and of an index."""
    is_sparse = case.instruction.is_sparse
    names = "abci"[: 4 if is_sparse else 3]
    types = "".join(
        f"typedef {'u32' if size == 1 else f'V({size})'} {name.upper()};\n"
        for name, size in zip([*names, "d"], [*sizes, sizes[2]], strict=True)
    )
    d, a, b = case.files
    files = {"a": a, "b": b, "c": d, "i": "v"}
    given = [f'"{files[name]}"({name}[lane])' for name in names if name != "c"]
    places, start = ["%0", "%1", "%2"], ""
    if is_sparse:
        places.append("%3")
        start = " = c[lane]"
    elif case.constant is not None:
        places.append(case.constant[0])
    else:
        given.append(f'"{files["c"]}"(c[lane])')
        places.append("%3")
    return _SOURCE.format(
        types=types,
        parameters=", ".join(f"GLOBAL const {name.upper()} *{name}" for name in names),
        instruction=f"v_{case.mnemonic} {', '.join(places)}{case.suffix}",
        before=f"{_SAVE}s_mov_b64 exec, {case.exec}\\n" if case.exec else "",
        after=_RESTORE if case.exec else "",
        result=("+" if is_sparse else "=&") + d,
        given=", ".join(given),
        start=start,
    )


def check(case: Case, seed: int = 1) -> None:
    random = np.random.default_rng(seed)
    given = operands(random, case.instruction, ("specials", "specials"))
    if case.constant is not None:
        dwords = np.array(case.constant[1], np.uint32)
        given[2] = np.tile(np.resize(dwords, len(given[2]))[:, None], (1, 64))
    lanes = [np.ascontiguousarray(each.T) for each in given]
    out = np.zeros_like(lanes[2])
    with using(cpu=case.target):
        code = compile_source(source(case, [len(each) for each in given]), "-O1")
        emulate(code, "multiply", 1, 64, [*lanes, out])
    wanted = wave_product(case.instruction, *lanes, modifiers=case.modifiers)
    np.testing.assert_array_equal(out, wanted)


_ONE, _FOUR = ("1.0", (0x3F800000,)), ("-4.0", (0xC0800000,))
_F16 = {"gfx908": "mfma_f32_16x16x16f16", "gfx90a": "mfma_f32_32x32x4f16",
        "gfx942": "mfma_f32_4x4x4_16b_f16", "gfx950": "mfma_f32_32x32x16_f16"}  # fmt: skip
CASES = [
    *(Case("gfx908", _F16["gfx908"], files) for files in ("avv", "ava", "aav", "aaa")),
    *(
        Case(target, _F16[target], files)
        for target in ("gfx90a", "gfx942", "gfx950") for files in ("avv", "vav", "vva", "aaa")
    ),
    Case("gfx942", "smfmac_f32_16x16x32_f16", "vva"),
    Case("gfx950", "smfmac_i32_16x16x128_i8", "vav"),
    Case("gfx90a", "mfma_f64_16x16x4f64", "aav"),
    Case("gfx90a", "mfma_f32_4x4x1f32", "avv", _ONE),
    Case("gfx90a", "mfma_f32_32x32x1f32", "vvv", _FOUR),
    Case("gfx942", "mfma_f32_16x16x8_xf32", "avv", ("64", (64,))),
    Case("gfx942", "mfma_i32_16x16x32_i8", "vvv", ("-16", (0xFFFFFFF0,))),
    Case("gfx90a", "mfma_i32_4x4x4i8", "vvv", ("0.5", (0x3F000000,))),
    Case("gfx90a", "mfma_f64_4x4x4f64", "vvv", ("2.0", (0, 0x40000000))),
    Case("gfx942", "mfma_f64_16x16x4_f64", "avv", ("-1", (0xFFFFFFFF, 0xFFFFFFFF))),
    *(
        Case("gfx942", "mfma_f64_16x16x4_f64", suffix=f" neg:[{bits & 1},{bits >> 1 & 1},"
             f"{bits >> 2}]", modifiers=Modifiers(blgp=bits))
        for bits in (1, 2, 4, 7)
    ),
    Case("gfx950", "mfma_f64_4x4x4_4b_f64", "avv", suffix=" neg:[0,1,1]",
         modifiers=Modifiers(blgp=6)),
    *(
        Case("gfx90a", "mfma_f32_4x4x4f16", suffix=f" cbsz:{cbsz} abid:{abid} blgp:{blgp}",
             modifiers=Modifiers(cbsz, abid, blgp))
        for cbsz, abid, blgp in ((1, 1, 0), (2, 2, 5), (4, 13, 3), (0, 0, 7))
    ),
    Case("gfx942", "smfmac_f32_32x32x16_bf16", suffix=" cbsz:1 abid:2",
         modifiers=Modifiers(cbsz=1, abid=2)),
    Case("gfx942", "mfma_f32_16x16x16_f16", exec="0"),
    Case("gfx90a", "mfma_f32_16x16x4f32", "avv", exec="-5"),
]  # fmt: skip


@pytest.mark.sample(10)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_operands_are_what_the_reference_multiplies(case: Case) -> None:
    check(case)


@pytest.mark.covering(1)
@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize("case", CASES[1:-1:9], ids=str)
def test_both_tiers_multiply_alike(case: Case, tier: str) -> None:
    with using(tier=tier):
        check(case, 2)


def test_a_result_may_lie_over_its_factors() -> None:
    """All sources are read before D is written: D's four registers are those of A and B."""
    case = Case("gfx942", "mfma_f32_4x4x4_16b_f16")
    product = "v_mfma_f32_4x4x4_16b_f16 %0, %1, %2, %3"
    moves = "".join(f"v_mov_b32 v{20 + n}, v{8 + n}\\n" for n in range(4))
    back = "".join(f"v_mov_b32 v{8 + n}, v{20 + n}\\n" for n in range(4))
    over = f"v_mfma_f32_4x4x4_16b_f16 v[20:23], v[20:21], v[22:23], v[12:15]\\n{back}"
    text = source(case, [2, 2, 4]).replace(product, moves + over)
    text = text.replace('"=&v"(d)', '"={v[8:11]}"(d)').replace('"v"(a', '"{v[8:9]}"(a')
    text = text.replace('"v"(b', '"{v[10:11]}"(b').replace('"v"(c', '"{v[12:15]}"(c')
    text = text.replace('"s10", "s11"', '"v20", "v21", "v22", "v23"')
    given = operands(np.random.default_rng(3), case.instruction, ("normal", "normal"))
    lanes = [np.ascontiguousarray(each.T) for each in given]
    out = np.zeros_like(lanes[2])
    with using(cpu="gfx942"):
        emulate(compile_source(text, "-O1"), "multiply", 1, 64, [*lanes, out])
    np.testing.assert_array_equal(out, wave_product(case.instruction, *lanes))


@pytest.mark.parametrize(
    ("mnemonic", "suffix", "text"),
    [
        ("mfma_f32_16x16x16f16", " cbsz:1", "cbsz is 0 to 0"),
        ("mfma_f32_4x4x4f16", " cbsz:1 abid:2", "abid is less than 2"),
        ("mfma_f64_4x4x4f64", " blgp:1", "it has no blgp"),
    ],
)
def test_modifiers_that_an_instruction_has_not_are_refused(
    mnemonic: str, suffix: str, text: str
) -> None:
    with pytest.raises(KernelFault, match=text):
        check(replace(Case("gfx90a", mnemonic), suffix=suffix))


def test_gfx908_takes_no_constants() -> None:
    """v_mfma_f32_4x4x1f32 a[0:3], v0, v1, 1.0: no assembler writes it."""
    text = source(Case("gfx908", "mfma_f32_4x4x1f32", "avv"), [1, 1, 4])
    text = text.replace("v_mfma_f32_4x4x1f32 %0, %1, %2, %3", ".long 0xd3c20000, 0x03ca0300")
    lanes = [np.zeros((64, size), np.uint32) for size in (1, 1, 4, 4)]
    with using(cpu="gfx908"), pytest.raises(KernelFault, match="constants as C are a bug"):
        emulate(compile_source(text, "-O1"), "multiply", 1, 64, lanes)


def test_another_constant_is_noticed() -> None:
    with pytest.raises(AssertionError):
        check(Case("gfx942", "mfma_f32_16x16x16_f16", constant=("1.0", (0x40000000,))))
