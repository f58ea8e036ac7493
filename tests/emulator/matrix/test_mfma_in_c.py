"""MFMA and SMFMAC in kernels that clang compiles, with registers as it allocates them: bit for bit
what the host reference computes."""

from __future__ import annotations

import re
import zlib

import numpy as np
import pytest

from amdjit.intrinsics.builtins.table import rows
from amdjit.intrinsics.models.mfma_arithmetic import wave_product
from amdjit.intrinsics.models.mfma_instructions import CDNA, MfmaInstruction, mfma_instructions
from tests.emulator.building import compile_source, emulate, using
from tests.emulator.mfma_registers import operands
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
TYPES = {
    "f64": "double", "f32": "float", "f16": "_Float16", "bf16": "__bf16", "i64": "long",
    "i32": "int", "i16": "short",
}  # fmt: skip


def typed(word: str, name: str) -> str:
    element, _, count = word.partition("x")
    vector = f" __attribute__((ext_vector_type({count})))" if count else ""
    return f"typedef {TYPES[element]} {name}{vector};\n"


def kernel(instruction: MfmaInstruction) -> str:
    """Return a kernel that multiplies twice: the sum of the first product is C of the second."""
    name = instruction.name
    words = [
        each for each in rows()[name].signature.split() if re.match(r"b?[fi]\d+(x\d+)?$", each)
    ]
    names = "abci"[: len(words) - 1]
    text = "".join(typed(word, f"{name}_{each}") for word, each in zip(words, names, strict=False))
    parameters = ", ".join(f"GLOBAL {name}_{each} *{each}" for each in (*names, "c"))
    parameters = re.sub(r"\*c$", "*d", parameters)
    index = ", i[lane]" if instruction.is_sparse else ""
    zeros = ", 0, 0" if instruction.is_sparse else ", 0, 0, 0"
    call = f"__builtin_amdgcn_{name}(a[lane], b[lane], {{}}{index}{zeros})"
    return f"""{text}KERNEL {name}({parameters}) {{
  u32 lane = __builtin_amdgcn_workitem_id_x();
  {name}_c sum = {call.format("c[lane]")};
  d[lane] = {call.format("sum")};
}}
"""


def check(target: str, every: int) -> None:
    each = [item for item in mfma_instructions(target).values() if not item.is_scaled][::every]
    with using(cpu=target):
        code = compile_source('#include "common.h"\n' + "".join(map(kernel, each)), "-O2")
        for instruction in each:
            random = np.random.default_rng(zlib.crc32(instruction.name.encode()))
            given = operands(random, instruction, ("specials", "normal"))
            lanes = [np.ascontiguousarray(registers.T) for registers in given]
            d = np.zeros_like(lanes[2])
            emulate(code, instruction.name, 1, 64, [*lanes, d])
            first = wave_product(instruction, *lanes)
            wanted = wave_product(instruction, *lanes[:2], first, *lanes[3:])
            np.testing.assert_array_equal(d, wanted, err_msg=instruction.name)


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", CDNA)
def test_products_that_clang_compiles(target: str) -> None:
    check(target, 4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", CDNA)
def test_all_products_that_clang_compiles(target: str) -> None:
    check(target, 1)
