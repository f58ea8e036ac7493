"""Numba's classes of types: what they make, and what `isinstance` answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amdjit import CompileError, f32, f64, i32, i64, u8, u64
from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import as_dtype, from_dtype, typeof, types

PARTICLE = np.dtype([("x", "f4"), ("hits", "i8", (2,)), ("kind", "i1")], align=True)


def test_types_are_amdjits_own() -> None:
    assert types.Array(types.float32, 2, "C") == f32[:, ::1]
    assert types.Array(np.float32, 1, "A") == f32[:] == types.Array(np.dtype("f4"), 1, "F")
    assert types.Array(f64, 0, "C") == f64[()]
    assert types.Array(types.complex64, 1, "C") == types.complex64[::1]
    assert types.UniTuple(types.int32, 2) == types.Tuple((i32, i32))
    assert (
        types.Tuple([i32, types.complex64]).elements[1]
        == types.UniTuple(np.complex64, 1).elements[0]
    )
    with pytest.raises(ValueError, match="'C', 'F' or 'A'"):
        types.Array(f32, 1, "K")
    with pytest.raises(TypeError, match="no elements of"):
        types.Array(list, 1, "C")
    with pytest.raises(TypeError, match="no items of"):
        types.UniTuple(list, 2)
    with pytest.raises(TypeError, match="make_c_struct"):
        types.Record()


MEMBERS: list[tuple[Any, set[str]]] = [
    (types.int8, {"Type", "Integer", "Number"}),
    (np.dtype("u8"), {"Type", "Integer", "Number"}),
    (types.float16, {"Type", "Float", "Number"}),
    (np.float64, {"Type", "Float", "Number"}),
    (types.complex64, {"Type", "Complex", "Number"}),
    (types.UniTuple(types.complex128, 1).elements[0], {"Type", "Complex", "Number"}),
    (types.boolean, {"Type", "Boolean"}),
    (types.float32[:, :], {"Type", "Array"}),
    (types.UniTuple(i32, 3), {"Type", "BaseTuple", "UniTuple"}),
    (types.Tuple((i32, f32)), {"Type", "BaseTuple", "Tuple"}),
    (from_dtype(PARTICLE), {"Type", "Record"}),
    (types.void, {"Type"}),
    (3, set()),
]


@pytest.mark.parametrize("number", range(len(MEMBERS)))
def test_isinstance_asks_for_the_kind_of_a_type(number: int) -> None:
    member, classes = MEMBERS[number]
    names = ("Type", "Integer", "Float", "Complex", "Number", "Boolean", "Array", "BaseTuple",
             "Tuple", "UniTuple", "Record")  # fmt: skip
    assert {name for name in names if isinstance(member, getattr(types, name))} == classes


def test_domains_hold_types_of_both_libraries() -> None:
    assert np.dtype("i4") in types.signed_domain
    assert types.uint8 in types.integer_domain - types.signed_domain
    assert types.float16 not in types.real_domain
    assert types.complex_domain < types.number_domain
    assert "i32" not in types.number_domain


def test_types_of_values_and_of_numpy() -> None:
    for letter in "?bBhHiIqQefdFD":
        dtype = np.dtype(letter)
        assert as_dtype(from_dtype(dtype)) == dtype
        assert typeof(dtype.type(1)) == from_dtype(dtype)
    for dtype in (PARTICLE, np.dtype("m8[s]")):
        found = as_dtype(from_dtype(dtype))
        assert found == dtype or found.fields == dtype.fields
        assert found.itemsize == dtype.itemsize
    assert typeof(np.zeros((2, 3))) == f64[:, ::1]
    assert typeof(np.zeros((2, 3), order="F")) == f64[:, :]
    assert typeof(np.zeros(2, PARTICLE)).dtype.names == PARTICLE.names
    assert isinstance(typeof(np.zeros(1, PARTICLE)[0]), types.Record)
    assert isinstance(typeof(cuda.to_device(np.zeros(3))), types.Array)
    assert typeof((1, 2.0, 2**63)) == types.Tuple((i64, f64, u64))
    assert [typeof(x) for x in (True, 1j, None)] == [types.boolean, types.complex128, types.void]
    for value in ("text", 2**64, -(2**64), object()):
        with pytest.raises(ValueError, match="Cannot determine Numba type"):
            typeof(value)
    with pytest.raises(NotImplementedError):
        from_dtype(np.dtype(object))
    with pytest.raises(NotImplementedError):
        as_dtype(types.void)


def test_signatures_and_kernels_take_them() -> None:
    record = types.Record.make_c_struct([("x", types.float32), ("n", types.uint8)])
    assert record == from_dtype(np.dtype([("x", "f4"), ("n", "u1")], align=True))
    pair = types.UniTuple(types.float64, 2)

    @cuda.jit(pair(pair, types.int64), device=True)
    def scaled(values, n):
        return values[0] * n, values[1] * n

    @cuda.jit(types.void(types.Array(types.float64, 1, "C"), pair, record, record[:]))
    def kernel(out, values, one, all):
        out[0], out[1] = scaled(values, 3)
        out[2] = isinstance(values, types.UniTuple) + isinstance(1.5, types.Float)
        out[3] = isinstance(one.n, (types.Float, types.Integer)) and not isinstance(
            out, types.Number
        )
        out[4] = one[0] + all[1][-1]
        all[0][1] = one["n"]

    out, records = np.zeros(5), np.array([(1.5, 2), (2.5, 4)], as_dtype(record))
    kernel[1, 1](out, (3.0, 4.0), records[0], records)
    assert out.tolist() == [9, 12, 2, 1, 5.5]
    assert records["n"].tolist() == [2, 4]
    assert from_dtype(records.dtype).field("n").type == u8


def test_a_field_that_a_record_lacks_is_refused() -> None:
    def kernel(r, out):
        out[0] = r[0][3]

    with pytest.raises(CompileError, match="its fields are x, hits, kind"):
        cuda.jit(kernel).compile(from_dtype(PARTICLE)[:], f32[:])
