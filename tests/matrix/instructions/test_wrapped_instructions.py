"""The instructions as kernels call them: by a name without wave size, with vectors of the
elements."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import threadIdx
from amdjit.declarations import DeviceFunction
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.multiply.instructions import operand_types
from amdjit.intrinsics.models.matrix_layouts import MatrixInstruction
from amdjit.types import Scalar, Vector, i32
from tests.matrix.sparse_data import two_of_four
from tests.matrix.wrapped_products import compute, nothing, wrapper_of

ALL = list(matrix.INSTRUCTIONS.values())
SPARSE = [product for product in ALL if product.is_sparse]


def test_every_row_has_a_wrapper_and_every_wrapper_a_row_in_both_wave_sizes() -> None:
    found = {name for name in dir(matrix) if name.startswith(("wmma_", "swmmac_"))}
    assert found == {re.sub(r"_w\d\d(_gfx12)?$", "", name) for name in matrix.INSTRUCTIONS}
    assert (len(found), len(ALL)) == (22, 44)
    for name in found:
        wrapper = getattr(matrix, name)
        assert isinstance(wrapper, DeviceFunction)
        assert f"v_{name}`" in (inspect.getdoc(wrapper.function) or "")


@pytest.mark.sample(12)
@pytest.mark.parametrize("product", ALL, ids=lambda product: product.name)
def test_products_are_those_of_numpy(product: MatrixInstruction) -> None:
    random = np.random.default_rng(ALL.index(product))
    low, high = (-8, 8) if product.is_integer else (-3, 4)
    a = random.integers(low, high, (16, product.k))
    b, c = random.integers(low, high, (product.k, 16)), random.integers(-20, 21, (16, 16))
    if not product.is_sparse:
        np.testing.assert_array_equal(compute(product, (a, b, c)).astype(int), a @ b + c)
        return
    a = two_of_four(random, a)
    values, index = matrix.compress_2to4(a)
    key = ALL.index(product) // 2 % product.layout("index").sets
    found = compute(product, (values, b, c), index, key)
    np.testing.assert_array_equal(found.astype(int), a @ b + c, err_msg=f"key {key}")


def integer_types(product: MatrixInstruction) -> list[tuple[Any, ...]]:
    return [
        (a, b)
        for a in operand_types(product.layout("a"))
        for b in operand_types(product.layout("b"))
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "product", [each for each in ALL if each.is_integer], ids=lambda product: product.name
)
def test_signs_are_those_of_the_types_and_clamp_saturates(product: MatrixInstruction) -> None:
    """Vectors of i8 and u8 say their sign, words do not: those are signed unless `a_signed` says
    otherwise."""
    random = np.random.default_rng(3)
    limit = 1 << product.layout("a").bits
    a, b = random.integers(0, limit, (16, product.k)), random.integers(0, limit, (product.k, 16))
    a = two_of_four(random, a) if product.is_sparse else a
    values, index = matrix.compress_2to4(a) if product.is_sparse else (a, None)
    c = random.integers(-(1 << 31), 1 << 31, (16, 16))
    c[0], c[1] = (1 << 31) - 1, -(1 << 31)
    seen = set()
    for number, (a_type, b_type) in enumerate(integer_types(product)):
        for words_are_signed in (True, False, None):
            signs = tuple(words_are_signed if is_word(type) else None for type in (a_type, b_type))
            signed = tuple(
                said is not False and "u8" not in str(type)
                for type, said in zip((a_type, b_type), signs, strict=True)
            )
            clamp = bool(number % 2) != bool(words_are_signed)
            if any(signed == known for known, _ in seen) and len({each for _, each in seen}) == 2:
                continue
            seen.add((signed, clamp))
            types = (a_type, b_type, operand_types(product.layout("c"))[0])
            found = compute(product, (values, b, c), index, 0, clamp, types, signs)
            expected = matrix.reference(
                product.name,
                values,
                b,
                c,
                index,
                a_signed=signed[0],
                b_signed=signed[1],
                clamp=clamp,
            )
            np.testing.assert_array_equal(found, expected)
    assert len({signed for signed, _ in seen}) >= 2
    assert {clamp for _, clamp in seen} == {True, False}


def is_word(type: Any) -> bool:
    return type is i32 or (isinstance(type, Vector) and type.element is i32)


@pytest.mark.sample(6)
@pytest.mark.parametrize("product", SPARSE, ids=lambda product: product.name)
def test_the_key_is_part_of_the_instruction(product: MatrixInstruction) -> None:
    """One register holds the positions of several products, none of which shifts it."""
    wrapper, sets = wrapper_of(product), product.layout("index").sets
    types = tuple(operand_types(product.layout(operand))[0] for operand in "abc")

    @amdjit.kernel(block=product.wave_size, wave_size=product.wave_size)
    def chain(index, d):
        left, right, total = nothing(types[0]), nothing(types[1]), types[2]()
        for key in amdjit.static_range(sets):
            total = wrapper(left, right, total, index[threadIdx.x], key)
        d.store(threadIdx.x * len(total), total, 4)

    element = types[2].element
    code = chain.compile(i32[:], element[:], target="gfx1201").asm_full
    lines = re.findall(r"^\tv_swmmac.*$", code, re.MULTILINE)
    found = [int(key[1]) if (key := re.search(r"index_key:(\d)", line)) else 0 for line in lines]
    assert found == list(range(sets))
    assert len({line.split(",")[-1].split()[0] for line in lines}) == 1


@pytest.mark.parametrize(
    ("call", "wave_size", "message"),
    [
        (
            "matrix.wmma_f32_16x16x16_f16(amdjit.f16x4(), amdjit.f16x4(), amdjit.f32x8())",
            32,
            "a is f16x8",
        ),
        (
            "matrix.wmma_f32_16x16x16_f16(amdjit.f16x8(), amdjit.f16x8(), amdjit.f32x8())",
            64,
            "a is f16x4",
        ),
        (
            "matrix.wmma_f32_16x16x16_f16(amdjit.f16x8(), amdjit.f16x8(), amdjit.f32x4())",
            32,
            "c is f32x8",
        ),
        ("matrix.wmma_f32_16x16x16_f16(1.0, amdjit.f16x8(), amdjit.f32x8())", 32, "a is f16x8"),
        (
            "matrix.wmma_f32_16x16x16_bf16(amdjit.f16x8(), amdjit.f16x8(), amdjit.f32x8())",
            32,
            "bf16x8 or i16x8",
        ),
        ("matrix.wmma_i32_16x16x16_iu8(U8, U8, C, a_signed=True)", 32, "leave out a_signed"),
        ("matrix.wmma_i32_16x16x16_iu8(U8, U8, C, b_signed=n)", 32, "known when compiling"),
        (
            "matrix.swmmac_i32_16x16x32_iu8(U8, amdjit.vector(amdjit.u8, 16)(), C, n, key=2)",
            32,
            "give 0 to 1",
        ),
        (
            "matrix.swmmac_i32_16x16x32_iu8(U8, amdjit.vector(amdjit.u8, 16)(), C, n, key=n)",
            32,
            "give 0 to 1",
        ),
        (
            "matrix.swmmac_i32_16x16x64_iu4(amdjit.i32x2(), amdjit.i32x4(), C, n, key=1)",
            32,
            "there is one part only",
        ),
    ],
)
def test_wrong_operands_are_refused(call: str, wave_size: int, message: str, tmp_path: Any) -> None:
    path = tmp_path / "refused.py"
    path.write_text(
        "import amdjit\nfrom amdjit.intrinsics import matrix\n\n"
        f"@amdjit.kernel(wave_size={wave_size})\ndef refused(n):\n"
        f"    U8, C = amdjit.vector(amdjit.u8, 8)(), amdjit.i32x8()\n    d = {call}\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(amdjit.CompileError, match=re.escape(message)):
        namespace["refused"].compile(i32, target="gfx1201")


def test_other_processors_are_told_which_have_them() -> None:
    @amdjit.kernel
    def product(d):
        d.store(0, matrix.wmma_f32_16x16x16_f16(amdjit.f16x8(), amdjit.f16x8(), amdjit.f32x8()))

    with pytest.raises(amdjit.CompileError, match="compile for gfx1200 or gfx1201"):
        product.compile(amdjit.f32[:], target="gfx1030")


@pytest.mark.parametrize("product", ALL, ids=lambda product: product.name)
def test_every_type_of_an_operand_fills_its_registers(product: MatrixInstruction) -> None:
    for operand in "abc":
        layout = product.layout(operand)
        for type in operand_types(layout):
            assert isinstance(type, (Scalar, Vector))
            assert type.bits == 32 * layout.registers
