"""Kernels decorated with signatures: what they are compiled for, take, convert and refuse."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f16, f32, f32x4, f64, i8, i16, i32, i64, u8, u32, u64, void
from amdjit.language.complex_types import complex64, complex128
from amdjit.language.conversion_ranks import conversion
from amdjit.language.signature_texts import NUMBA_SHORT_NAMES, parse_signature
from amdjit.options import OptionError
from amdjit.types import SCALARS, boolean, from_dtype


def add(r, x, y):
    r[0] = x + y


def scale(x, n, factor):
    i = amdjit.grid(1)
    if i < n:
        x[i] *= factor


@pytest.mark.parametrize(
    "signature",
    [
        "void(float32[:], int32, float32)",
        "(f32[::1], i32, f32)",
        "void ( f32[ : ] , i32,f32 )",
        (f32[:], i32, f32),
        void(f32[:], i32, f32),
        ["void(f32[:], i32, f32)"],
        (f32[:], np.int32, np.dtype("float32")),
    ],
)
def test_a_signature_is_compiled_at_once_and_launched(signature: Any) -> None:
    kernel = amdjit.kernel(signature)(scale)
    assert len(kernel.specialisations) == 1
    assert kernel.specialized is not isinstance(signature, list)
    x = np.arange(8, dtype=np.float32)
    kernel[1, 8](x, 5, np.float32(3))
    np.testing.assert_array_equal(x, [0, 3, 6, 9, 12, 5, 6, 7])
    assert len(kernel.specialisations) == 1


def test_errors_of_the_kernel_are_raised_by_the_decorator() -> None:
    with pytest.raises(amdjit.CompileError, match="nothing_of_this_name"):

        @amdjit.kernel("(f32[:])")
        def wrong(x):
            x[0] = nothing_of_this_name  # type: ignore[name-defined]  # noqa: F821


# How Numba's dispatcher names these types, in its documentation of types ("Basic types").
_LONG_NAMES = {
    "int8": i8, "int16": i16, "int32": i32, "int64": i64, "uint8": u8, "uint32": u32,
    "uint64": u64, "float16": f16, "float32": f32, "float64": f64, "intp": i64, "intc": i32,
    "bool_": boolean, "boolean": boolean, "double": f64, "complex64": complex64,
    "complex128": complex128, "void": void, "f32": f32, "i8": i8, "f32x4": f32x4,
}  # fmt: skip


def test_texts_mean_types() -> None:
    for name, kind in _LONG_NAMES.items():
        if name != "void":
            assert parse_signature(f"void({name})").args == (kind,)
    for name, kind in NUMBA_SHORT_NAMES.items():
        letter, size = name[0], int(name[1:])
        if letter in "iuf":
            assert np.dtype(f"{letter}{size}") == kind.dtype  # type: ignore[attr-defined]
        assert parse_signature(f"({name})", NUMBA_SHORT_NAMES).args == (kind,)
    signature = parse_signature("int32(float32[:, ::1], UniTuple(i32, 3), Tuple((f32, i32)))")
    assert signature.return_type == i32
    assert signature.args == (f32[:, ::1], (i32, i32, i32), (f32, i32))
    assert parse_signature("()").args == ()
    assert parse_signature("void()").args == ()
    for scalar in SCALARS:
        assert parse_signature(f"({scalar}[:, :], {scalar})").args == (scalar[:, :], scalar)


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("(f32[:]", "not a signature"),
        ("f32[:]", "not a signature"),
        ("(q)", "`q` is no type"),
        ("(i4)", "write `i32` for `i4`"),
        ("(f32[::2])", "not a signature"),
        ("(f32[])", "no axis"),
        ("(f32 i32)", "`\\)` is expected"),
        ("(f32[:]) x)", "after the last"),
        ("(void)", "no type of a parameter"),
        ("(f32x4[:])", "no arrays of f32x4"),
        ("(CPointer(f32))", "pass an array"),
        ("(UniTuple(f32, n))", "a number of items"),
        ("(f32$)", "not expected"),
        ("i32(f32[:], i32, i32)", "returns nothing"),
        ("(f32[:], i32)", "has 2 types"),
        ([], "an empty list"),
        ((f32[:], i32, 3), "not a type of an argument"),
        (f32, "types of all parameters"),
    ],
)
def test_what_is_no_signature_of_a_kernel_is_refused(signature: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        amdjit.kernel(signature)(add)


def test_numbers_become_what_the_signature_says() -> None:
    kernel = amdjit.kernel("(f64[:], f32, i16)")(add)
    r = np.zeros(1)
    for x, y in [(1.5, 2), (np.int64(3), np.int64(4)), (True, np.uint8(7)), (np.float64(0.1), 0)]:
        kernel[1, 1](r, x, y)
        assert r[0] == np.float32(x) + np.float32(y)
    assert len(kernel.specialisations) == 1


def test_what_does_not_fit_is_refused_with_all_signatures() -> None:
    kernel = amdjit.kernel(["(f32[:], i8, i8)", "(f32[:, :], f32, f32)"])(add)
    x = np.zeros(1, np.float32)
    for wrong in [(x, 1.5, 2), (x, 1j, 1), (x.astype(int), 1, 2), (1, 1, 2), (x, np.float16(1), 2)]:
        with pytest.raises(amdjit.LaunchError, match=r"\(f32\[:\], i8, i8\), \(f32\[:, :\], f32"):
            kernel[1, 1](*wrong)
    with pytest.raises(amdjit.LaunchError, match="300 does not fit the i8"):
        kernel[1, 1](x, np.int64(300), 2)
    with pytest.raises(amdjit.AmdjitError, match="does not fit"):
        kernel[1, 1](x, 300, 2)
    contiguous = amdjit.kernel("(f32[::1], i8, i8)")(add)
    with pytest.raises(amdjit.LaunchError, match="No matching definition"):
        contiguous[1, 1](np.zeros(4, np.float32)[::2], 1, 2)
    with pytest.raises(amdjit.LaunchError, match="No matching definition"):
        contiguous[1, 1](amdjit.zeros(4)[::2], 1, 2)


# Which signature Numba 0.68 takes in numba_cuda's tests/cudapy/test_dispatcher.py,
# test_explicit_signatures_same_type_class.
def test_the_signature_that_needs_least_is_taken() -> None:
    kernel = amdjit.kernel([(f64[::1], f32, f32), (f64[::1], f64, f64)])(add)
    r = np.zeros(1)
    kernel[1, 1](r, np.float32(1), np.float32(2**-25))
    assert r[0] == 1.0
    kernel[1, 1](r, 1, 2**-25)
    assert r[0] == 1.0000000298023224


def test_signatures_that_fit_equally_well_are_refused() -> None:
    kernel = amdjit.kernel(["(f64[:], f32, f64)", "(f64[:], f64, f32)", "(f64[:], i64, i64)"])(add)
    with pytest.raises(TypeError, match="Ambiguous") as refusal:
        kernel[1, 1](np.zeros(1), 1.0, 2.0)
    assert "i64" not in str(refusal.value)
    r = np.zeros(1)
    kernel[1, 1](r, 1, 2)
    assert r[0] == 3


def test_the_same_signature_is_taken_by_quick_calls() -> None:
    kernel = amdjit.kernel(["(f64[:], f32, f32)", "(f64[:], f64, f64)", "(f64[:], u64, u64)"])(add)
    r = amdjit.zeros(1, np.float64)
    choices: list[tuple[Any, float]] = [
        (np.float32(0.1), float(np.float32(0.1))), (0.1, 0.1), (np.float64(0.1), 0.1),
        (np.uint64(2**60), 2.0**60), (np.uint64(3), 3.0),
    ]  # fmt: skip
    order = [choice for choice in choices for _ in range(4)]
    random.Random(1).shuffle(order)
    for value, expected in order:
        kernel[1, 1](r, value, type(value)(0))
        assert r.copy_to_host()[0] == expected


def test_every_conversion_is_exact_where_the_rule_says_so() -> None:
    """Against NumPy's `can_cast`, which knows the same of all types but bf16, fp8 and bf8."""
    known = [s for s in SCALARS if not str(s).startswith(("bf", "fp"))]
    for found, kind in itertools.product(known, known):
        rank = conversion(found, kind)
        is_safe = np.can_cast(found.dtype, kind.dtype, "safe")
        if found.is_integer and kind is f64 and found.bits == 64:
            is_safe = False  # NumPy counts i64 to f64 as safe; it is not exact.
        if rank is None:
            assert (found.is_float and not kind.is_float) or kind is boolean
        else:
            assert (rank < 3) == is_safe, (found, kind)


def test_random_numbers_arrive_as_numpy_converts_them() -> None:
    """The choice of one of several signatures, and the value, against a model in NumPy."""
    rng = random.Random(7)
    kinds = [i16, i64, f32, f64]
    kernels = {kind: amdjit.kernel((kind[:], kind))(_store) for kind in kinds}
    values = [3, -4, 1.25, True, np.int8(-3), np.uint16(40000), np.float16(0.3), np.float64(1e-3)]
    for _ in range(60):
        kind, value = rng.choice(kinds), rng.choice(values)
        out = np.zeros(1, kind.dtype)
        natural = np.asarray(value).dtype
        is_float = natural.kind == "f"
        fits = kind.is_float or (not is_float and kind.minimum <= int(value) <= kind.maximum)
        if not fits:
            with pytest.raises(amdjit.AmdjitError):
                kernels[kind][1, 1](out, value)
            continue
        kernels[kind][1, 1](out, value)
        assert out[0] == kind.dtype.type(value)


def _store(out, value):
    out[0] = value


def test_tuples_and_complex_numbers() -> None:
    @amdjit.kernel("(UniTuple(i32, 3), Tuple((f32, i32)), complex64, f32[:, ::1])")
    def parts(u, v, c, out):
        out[0, 0] = u[0] + u[2]
        out[0, 1] = v[0] * v[1]
        out[0, 2] = c.real + c.imag

    out = np.zeros((1, 3), np.float32)
    for c in (1 + 2j, np.complex128(1 + 2j), np.complex64(1 + 2j)):
        parts[1, 1]((1, 2, np.int64(3)), (np.float64(1.5), 4), c, out)
        np.testing.assert_array_equal(out, [[4, 6, 3]])
    parts[1, 1]((1, 2, 3), (1, 4), 7, out)
    np.testing.assert_array_equal(out, [[4, 4, 7]])
    with pytest.raises(amdjit.LaunchError, match="No matching definition"):
        parts[1, 1]((1, 2), (1, 4), 7, out)


def test_forall_bound_launches_and_keywords_take_the_signature() -> None:
    kernel = amdjit.kernel("(f32[:], i32, f32)")(scale)
    x = amdjit.ones(4)
    kernel.forall(4)(x, np.int64(4), np.int64(3))
    kernel[1, 4].bind(x, np.int64(4), np.float64(2))()
    kernel[1, 4](x, factor=np.int8(2), n=4)
    np.testing.assert_array_equal(x.copy_to_host(), np.full(4, 12, np.float32))


def test_a_signature_is_also_what_compile_takes() -> None:
    kernel = amdjit.kernel(add)
    first = kernel.compile("(f32[:], f32, i32)")
    for same in [
        kernel.compile((f32[:], f32, i32)),
        kernel.compile(void(f32[:], f32, i32)),
        kernel.compile(f32[:], f32, i32),
    ]:
        assert same is first


def _sum(x, y):
    return x + y


def _user(signatures: Any, **options: Any) -> Any:
    function = amdjit.jit(signatures, device=True, **options)(_sum)

    @amdjit.kernel
    def kernel(r, x, y):
        r[0] = function(x, y)

    return kernel


# The values are those of numba_cuda's tests/cudapy/test_dispatcher.py, whose names follow.
def test_device_functions_take_the_types_of_their_signatures() -> None:
    r = np.zeros(1)
    single = _user(["(float32, float32)", "(float64, float64)"])  # device_same_type_class
    single[1, 1](r, np.float32(1), np.float32(2**-25))
    assert r[0] == 1.0
    single[1, 1](r, 1, 2**-25)
    assert r[0] == 1.0000000298023224
    ambiguous = _user(["(float32, float64)", "(float64, float32)", "(int64, int64)"])
    ambiguous[1, 1](r, 1.5, 2.5)  # device_ambiguous
    assert r[0] == 4.0
    mixed = _user(["(int64, int64)", "(float64, float64)"])  # device_unsafe, its safe half
    mixed[1, 1](r, np.int32(1), 2.5)
    assert r[0] == 3.5


def test_device_functions_convert_arguments_and_results() -> None:
    kernel = _user("int16(uint8, int32)", inline="never")
    r = np.zeros(1, np.int64)
    kernel[1, 1](r, np.int32(259), np.int32(65535))
    assert r[0] == np.int16(np.uint32(3 + 65535).astype(np.uint16).astype(np.int16))
    with pytest.raises(amdjit.TypeCheckError, match=r"no signature of `_sum` takes"):
        kernel[1, 1](r, np.float32(1), np.int32(1))
    assert amdjit.kernel(device=True)(_sum)(2, 3) == 5
    with pytest.raises(OptionError, match="options of its kernel"):
        amdjit.kernel(device=True, fastmath=True)(_sum)
    with pytest.raises(OptionError, match=r"takes \(x, y\)"):
        amdjit.kernel("i32(i32)", device=True)(_sum)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", [i8, u64, f16, f64])
def test_every_conversion_of_a_device_function_is_numpys(kind: Any) -> None:
    """Arguments of every type: as NumPy casts them, or refused."""
    same = amdjit.jit(kind(kind), device=True)(_same)

    @amdjit.kernel
    def kernel(x, out):
        i = amdjit.threadIdx.x
        out[i] = same(x[i])

    for found in (boolean, u8, i32, i64, f16, f32, f64):
        x = np.array([0, 1, 77, 250]).astype(found.dtype)
        out = np.zeros(4, kind.dtype)
        if conversion(found, kind) is None:
            with pytest.raises(amdjit.TypeCheckError, match="no signature of `_same` takes"):
                kernel[1, 4](x, out)
        else:
            kernel[1, 4](x, out)
            np.testing.assert_array_equal(out, x.astype(kind.dtype))


def _same(x):
    return x


def test_layouts_of_signatures() -> None:
    def first(x, out):
        out[0] = x[1, 0] + x.shape[0]

    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    columns = np.asfortranarray(rows)
    for text, takes in (("[:, ::1]", 1), ("[:, :]", 3), ("[::1, :]", 3)):
        kernel = amdjit.kernel(f"(f32{text}, f32[:])")(first)
        for x in (rows, columns, amdjit.to_device(rows)[:, ::2])[:takes]:
            out = np.zeros(1, np.float32)
            kernel[1, 1](x, out)
            assert out[0] == 5
        if takes == 1:
            with pytest.raises(amdjit.LaunchError, match="No matching definition"):
                kernel[1, 1](amdjit.to_device(rows)[:, ::2], np.zeros(1, np.float32))


def test_contiguous_arrays_prefer_the_signature_that_says_so() -> None:
    kernel = amdjit.kernel(["(f32[:], f32, f64)", "(f32[::1], f32, f32)"])(add)
    x = amdjit.zeros(4)
    kernel[1, 1](x, np.float32(2**25), np.float32(1))
    assert x.copy_to_host()[0] == 2**25
    kernel = amdjit.kernel(["(f32[:], i32, i32)", "(f32[::1], i32, i32)"])(add)
    kernel[1, 1](x, np.int32(1), np.int32(1))
    assert x.copy_to_host()[0] == 2
    kernel[1, 1](x[::2], np.int32(1), np.int32(2))
    assert x.copy_to_host()[0] == 3


def test_device_functions_with_arrays_and_wrong_results() -> None:
    @amdjit.jit("void(float32[:], int32)", device=True)
    def fill(a, n):
        for i in range(n):
            a[i] = n

    @amdjit.jit("int32(float32)", device=True)
    def wrong(x):
        return x

    @amdjit.kernel
    def filled(a):
        fill(a, 3)

    @amdjit.kernel
    def refused(a):
        a[0] = wrong(a[1])

    a = np.zeros(4, np.float32)
    filled[1, 1](a)
    np.testing.assert_array_equal(a, [3, 3, 3, 0])
    with pytest.raises(amdjit.TypeCheckError, match="no signature of `fill`"):
        filled[1, 1](np.zeros(4))
    with pytest.raises(amdjit.CompileError, match="change the result's type"):
        refused[1, 1](a)


def test_types_of_values_are_found_as_numpy_finds_them() -> None:
    for scalar in SCALARS:
        assert from_dtype(scalar.dtype) is scalar
