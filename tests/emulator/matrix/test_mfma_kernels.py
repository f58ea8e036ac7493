"""Kernels over MFMA and SMFMAC builtins on the emulator: what they compute of random registers is,
bit for bit, what the host reference computes."""

from __future__ import annotations

import re
import zlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.builtins.table import rows
from amdjit.intrinsics.models.mfma_arithmetic import Modifiers, wave_product
from amdjit.intrinsics.models.mfma_instructions import (
    CDNA,
    MfmaInstruction,
    mfma_instruction,
    mfma_instructions,
)
from tests.emulator.mfma_registers import PLAIN, operands, run_native

ALL = [each for target in CDNA for each in mfma_instructions(target).values() if not each.is_scaled]
TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32,
    "i16": np.int16, "bf16": ml_dtypes.bfloat16,
}  # fmt: skip


def dense(builtin: Any, n_a: int, n_b: int, n_c: int) -> Any:
    @amdjit.kernel
    def multiply(a, b, c, d, cbsz: amdjit.Const, abid: amdjit.Const, blgp: amdjit.Const):
        i = amdjit.lane_id()
        if n_a == 1:
            x, y = a[i], b[i]
        else:
            x, y = a.load(n_a * i, n_a), b.load(n_b * i, n_b)
        if n_c == 1:
            d[i] = builtin(x, y, c[i], cbsz, abid, blgp)
        else:
            d.store(n_c * i, builtin(x, y, c.load(n_c * i, n_c), cbsz, abid, blgp))

    return multiply


def sparse(builtin: Any, n_a: int, n_b: int, n_c: int) -> Any:
    @amdjit.kernel
    def multiply(a, b, c, d, index, cbsz: amdjit.Const, abid: amdjit.Const):
        i = amdjit.lane_id()
        x, y, z = a.load(n_a * i, n_a), b.load(n_b * i, n_b), c.load(n_c * i, n_c)
        d.store(n_c * i, builtin(x, y, z, index[i], cbsz, abid))

    return multiply


def lanes_of(registers: Any, word: str) -> Any:
    """Return registers as an array of a builtin's elements, those of a lane together."""
    words = np.ascontiguousarray(registers.T)
    kind = word.partition("x")[0]
    return words.view(TYPES[kind]).ravel()


def run(instruction: MfmaInstruction, given: list[Any], modifiers: Modifiers) -> Any:
    """Return D, the elements of each lane together."""
    row = rows()[instruction.name]
    words = [each for each in row.signature.split() if re.match(r"b?[fi]\d+(x\d+)?$", each)]
    counts = [int(each.partition("x")[2] or 1) for each in words[:3]]
    arrays = [lanes_of(*each) for each in zip(given, words, strict=False)]
    d = np.zeros_like(arrays[2])
    builtin = getattr(amdgcn, instruction.name)
    controls = [modifiers.cbsz, modifiers.abid]
    with amdjit.use(f"emulator:{instruction.target}"):
        if instruction.is_sparse:
            sparse(builtin, *counts)[1, 64](*arrays[:3], d, arrays[3], *controls)
        else:
            dense(builtin, *counts)[1, 64](*arrays[:3], d, *controls, modifiers.blgp)
    return d


def check(instruction: MfmaInstruction) -> None:
    random = np.random.default_rng(zlib.crc32(instruction.name.encode()))
    modifiers = PLAIN
    if instruction.is_sparse:
        modifiers = Modifiers(abid=instruction.layout("index").sets - 1)
    elif instruction.highest_blgp:
        modifiers = Modifiers(instruction.highest_cbsz, (1 << instruction.highest_cbsz) - 1, 3)
    given = operands(random, instruction, ("specials", "specials"))
    found = run(instruction, given, modifiers)
    wanted = wave_product(
        instruction, *(np.ascontiguousarray(each.T) for each in given), modifiers=modifiers
    )
    np.testing.assert_array_equal(found.view(np.uint32).reshape(64, -1), wanted)


def name_of(instruction: MfmaInstruction) -> str:
    return f"{instruction.target}-{instruction.name}"


@pytest.mark.sample(6)
@pytest.mark.parametrize("instruction", ALL[::6], ids=name_of)
def test_builtins_compute_what_the_reference_computes(instruction: MfmaInstruction) -> None:
    check(instruction)


@pytest.mark.exhaustive
@pytest.mark.parametrize("instruction", ALL, ids=name_of)
def test_all_builtins_compute_what_the_reference_computes(instruction: MfmaInstruction) -> None:
    check(instruction)


def test_the_quick_mode_is_a_device_of_its_own() -> None:
    instruction = mfma_instruction("mfma_f32_32x32x8f16", "gfx942")
    given = operands(np.random.default_rng(8), instruction, ("normal", "normal"))
    a, b, c = (
        lanes_of(each, kind) for each, kind in zip(given, ("f16", "f16", "f32"), strict=True)
    )
    sums = []
    for arithmetic in ("silicon", "fma"):
        d = np.zeros_like(c)
        with amdjit.use("emulator:gfx942", matrix=arithmetic):
            dense(amdgcn.mfma_f32_32x32x8f16, 4, 4, 16)[1, 64](a, b, c, d, 0, 0, 0)
        sums.append(d.view(np.uint32).reshape(64, -1).T)
        np.testing.assert_array_equal(
            sums[-1], run_native(instruction, given, arithmetic=arithmetic)
        )
    assert (sums[0] != sums[1]).any()
