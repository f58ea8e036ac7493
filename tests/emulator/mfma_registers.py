"""Registers of MFMA operands with numbers of many distributions, and the native functions called
with them."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.host.jit import HostCompiler
from amdjit.emulator.instructions.matrix.cdna.native import mfma_text, parameters_of
from amdjit.emulator.instructions.matrix.cdna.products import GENERATIONS, Mfma, products
from amdjit.intrinsics.models.mfma_arithmetic import Modifiers
from amdjit.intrinsics.models.mfma_instructions import (
    CDNA,
    MfmaInstruction,
    lanes_of_b,
    mfma_instructions,
)
from amdjit.intrinsics.models.mfma_layouts import BITS, DTYPES, MfmaLayout
from tests.emulator.host_processors import HOSTS

Registers = NDArray[np.uint32]
Bits = NDArray[np.uint64]
Random = np.random.Generator
PLAIN = Modifiers()

# Of factors and of C.
CASES = (
    ("normal", "normal"), ("any bits", "any bits"), ("near", "near"), ("near", "wide"),
    ("wide", "normal"), ("wide", "wide"), ("small", "small"), ("specials", "normal"),
    ("normal", "specials"), ("zeros", "zeros"), ("zeros", "wide"), ("cancelling", "zeros"),
    ("cancelling", "near"), ("integers", "integers"), ("edges", "edges"), ("ones", "edges"),
)  # fmt: skip
# How far exponents of ordinary bf16 and xf32 factors, and of C, are from that of 1 at most; a few
# beyond.
_EDGES = {"bf16": (-39, 39), "xf32": (-39, 39), "f32": (-92, 102)}


def product_of(instruction: MfmaInstruction) -> Mfma:
    """Return what the emulator calls an instruction's product."""
    each = instruction
    return Mfma(
        GENERATIONS[each.target], each.result, each.a, each.b, each.m, each.k, each.blocks,
        each.is_sparse,
    )  # fmt: skip


def instructions() -> list[MfmaInstruction]:
    """Return an instruction for each product that has a native function."""
    found: dict[str, MfmaInstruction] = {}
    for target in CDNA:
        for each in mfma_instructions(target).values():
            if not each.is_scaled:
                found.setdefault(product_of(each).symbol, each)
    assert set(found) == {each.symbol for each in products()}
    return list(found.values())


def bits_of(values: NDArray[Any], kind: str) -> Bits:
    with np.errstate(all="ignore"):
        typed = np.ascontiguousarray(values.astype(DTYPES[kind]))
    return typed.view(f"u{typed.itemsize}").astype(np.uint64)


def _fields(kind: str) -> tuple[int, int, int]:
    """Return the exponent field of 1, the largest one, and the bits of a fraction."""
    information: Any = ml_dtypes.finfo(DTYPES[kind])  # type: ignore[no-untyped-call]
    one = int(bits_of(np.ones(1), kind)[0])
    fraction = int(information.nmant)
    return one >> fraction, (1 << BITS[kind] - 1 - fraction) - 1, fraction


def _signs(random: Random, kind: str, shape: Any) -> Bits:
    return random.integers(0, 2, shape).astype(np.uint64) << np.uint64(BITS[kind] - 1)


def _with_fields(random: Random, kind: str, shape: Any, first: int, last: int) -> Bits:
    """Return numbers whose exponents are from `first` to `last`, or what the type has of them."""
    one, top, fraction = _fields(kind)
    lowest, highest = (min(max(one + each, 0), top) for each in (first, last))
    field = random.integers(lowest, highest + 1, shape)
    bits: Bits = (field << fraction | random.integers(0, 1 << fraction, shape)).astype(np.uint64)
    return bits | _signs(random, kind, shape)


def _normal(random: Random, kind: str, shape: Any) -> Bits:
    return bits_of(random.standard_normal(shape), kind)


def _any_bits(random: Random, kind: str, shape: Any) -> Bits:
    return random.integers(0, (1 << BITS[kind]) - 1, shape, np.uint64, endpoint=True)


def _near(random: Random, kind: str, shape: Any) -> Bits:
    middle = int(random.integers(-20, 21))
    return _with_fields(random, kind, shape, middle - 3, middle + 3)


def _wide(random: Random, kind: str, shape: Any) -> Bits:
    one, top, _ = _fields(kind)
    return _with_fields(random, kind, shape, -one, top - one - 1)


def _edges(random: Random, kind: str, shape: Any) -> Bits:
    if kind not in _EDGES:
        return _wide(random, kind, shape)
    return _with_fields(random, kind, shape, *_EDGES[kind])


def _small(random: Random, kind: str, shape: Any) -> Bits:
    one, _, _ = _fields(kind)
    return _with_fields(random, kind, shape, -one, 1 - one)


def _specials(random: Random, kind: str, shape: Any) -> Bits:
    _, top, fraction = _fields(kind)
    infinity, smallest = top << fraction, 1 << fraction
    nans = infinity | smallest // 2, infinity | 1
    chosen = np.array([0, 1, infinity - 1, infinity, *nans, smallest], np.uint64)
    bits = chosen[random.integers(0, len(chosen), shape)] | _signs(random, kind, shape)
    return np.where(random.random(shape) < 0.03, bits, _normal(random, kind, shape))


def _zeros(random: Random, kind: str, shape: Any) -> Bits:
    some = _with_fields(random, kind, shape, -12, 12)
    return np.where(random.random(shape) < 0.8, _signs(random, kind, shape), some)


def _cancelling(random: Random, kind: str, shape: Any) -> Bits:
    return bits_of(random.choice([1.0, -1.0, 1.125, 2.0**-5, -(2.0**-5)], shape), kind)


def _integers(random: Random, kind: str, shape: Any) -> Bits:
    return bits_of(random.integers(-8, 9, shape), kind)


def _ones(random: Random, kind: str, shape: Any) -> Bits:
    return bits_of(np.where(random.random(shape) < 0.02, 1.0, 0.0), kind)


_SAMPLES = {
    "normal": _normal, "any bits": _any_bits, "near": _near, "wide": _wide, "edges": _edges,
    "small": _small, "specials": _specials, "zeros": _zeros, "cancelling": _cancelling,
    "integers": _integers, "ones": _ones,
}  # fmt: skip


def drawn(random: Random, kind: str, case: str, shape: Any) -> Bits:
    """Return the bits of numbers of a type."""
    sample = _any_bits if kind in ("i8", "i32") else _SAMPLES[case]
    return sample(random, kind, shape)


def packed(layout: MfmaLayout, raw: NDArray[np.uint64]) -> Registers:
    """Return the registers, [registers, 64], of elements' bits, [64, elements]."""
    bits = layout.bits
    if bits == 64:
        return np.ascontiguousarray(raw.view(np.uint32).reshape(64, -1).T)
    per = 32 // bits
    shifts = np.arange(per, dtype=np.uint64) * np.uint64(bits)
    words = (raw.reshape(64, -1, per) << shifts).sum(axis=2, dtype=np.uint64)
    return np.ascontiguousarray(words.astype(np.uint32).T)


def operands(
    random: Random, instruction: MfmaInstruction, case: tuple[str, str]
) -> list[Registers]:
    """Return registers of A, B and C, and of a sparse A's index, [registers, 64]."""
    found = []
    for operand, spread in zip("abc", (case[0], case[0], case[1]), strict=True):
        layout = instruction.layout(operand)
        raw = drawn(random, layout.kind, spread, (64, layout.elements))
        found.append(packed(layout, raw))
    if instruction.is_sparse:
        found.append(random.integers(0, 1 << 32, (1, 64), np.uint32))
    return found


@cache
def compiled(product: Mfma, arithmetic: str = "silicon", host: str = "") -> tuple[Any, Any]:
    """Return a product's function, and what keeps it alive."""
    compiler = HostCompiler(host, HOSTS[host]) if host else HostCompiler()
    made = compiler.compile(mfma_text(product, arithmetic, compiler.function_attributes))
    code = compiler.link([made.image], {}, [product.symbol])
    c_types = {"ptr": ctypes.c_void_p, "i64": ctypes.c_int64, "i32": ctypes.c_int32}
    types = [c_types[kind] for kind, _ in parameters_of(product)]
    return ctypes.CFUNCTYPE(None, *types)(code.addresses[product.symbol]), code


def _halves(registers: Registers) -> list[NDArray[np.uint32]]:
    """Return copies of the halves of registers, aligned as those of a wave are."""
    found = []
    for half in range(2):
        raw = np.zeros(registers.shape[0] * 32 + 16, np.uint32)
        start = -raw.ctypes.data % 64 // 4
        held = raw[start : start + registers.shape[0] * 32].reshape(-1, 32)
        held[...] = registers[:, 32 * half : 32 * half + 32]
        found.append(held)
    return found


def run_native(
    instruction: MfmaInstruction, given: list[Registers], modifiers: Modifiers = PLAIN,
    arithmetic: str = "silicon", host: str = "",
) -> Registers:  # fmt: skip
    """Return the registers of D, [registers, 64]."""
    product = product_of(instruction)
    function, _ = compiled(product, arithmetic, host)
    d = _halves(np.full((product.result_dwords, 64), 0xDEADBEEF, np.uint32))
    parts = [d, *map(_halves, given)]
    arguments = [half.ctypes.data for part in parts for half in part]
    arguments.append(128 * (2 if product.is_double else 1))
    if product.sparse:
        arguments.append(modifiers.abid if modifiers.cbsz == 0 else 0)
    else:
        signs = modifiers.blgp if instruction.negates else 0
        lanes = lanes_of_b(instruction, 0 if instruction.negates else modifiers.blgp)
        rows = sum(int(lane) // 16 << 2 * row for row, lane in enumerate(lanes[::16]))
        arguments += [rows, -1 << modifiers.cbsz, modifiers.abid]
        arguments += [signs] if product.is_double else []
    function(*arguments)
    return np.concatenate(d, axis=1)
