"""Details of Numba's programs: integers as bits, records by position, programs given as text."""

import subprocess
import sys

import numpy as np
import pytest

import amdjit
from amdjit import numba_cuda as cuda

_PAIR = np.dtype([("number", np.int32), ("places", np.float32, 2)])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0xFFFFFFFF, -1),
        (np.uint32(0x80000000), -(1 << 31)),
        (np.int64(0xFFFFFFFE), -2),
        (-3, -3),
        (True, 1),
    ],
    ids=["all-ones", "highest-bit", "wide", "signed", "boolean"],
)
def test_an_integer_of_the_signatures_width_is_taken_as_its_bits(given, expected):
    @cuda.jit("void(int32[:], int32)")
    def kernel(out, number):
        out[0] = number

    out = np.zeros(1, np.int32)
    kernel[1, 1](out, given)
    assert out[0] == expected


def test_a_negative_integer_is_taken_as_the_bits_of_an_unsigned_one():
    @cuda.jit("void(uint64[:], uint64)")
    def kernel(out, number):
        out[0] = number

    out = np.zeros(1, np.uint64)
    kernel[1, 1](out, -1)
    assert out[0] == 2**64 - 1


def test_an_integer_of_more_bits_is_refused():
    @cuda.jit("void(int32[:], int32)")
    def kernel(out, number):
        out[0] = number

    with pytest.raises(amdjit.TypeCheckError, match="does not fit"):
        kernel[1, 1](np.zeros(1, np.int32), 1 << 32)


def test_amdjits_own_kernels_refuse_what_their_signature_does_not_hold():
    @amdjit.kernel("void(int32[:], int32)")
    def kernel(out, number):
        out[0] = number

    with pytest.raises(amdjit.TypeCheckError, match="does not fit"):
        kernel[1, 1](np.zeros(1, np.int32), 0xFFFFFFFF)


def test_a_field_of_a_record_by_its_position():
    @cuda.jit
    def kernel(record, records, out):
        out[0] = record[0]
        out[1] = record[-1][1]
        out[2] = records[1][0]

    records = np.zeros(2, _PAIR)
    records[0] = 7, (2, 3)
    records[1] = 9, (4, 5)
    out = np.zeros(3, np.float32)
    kernel[1, 1](records[0], records, out)
    assert list(out) == [records[0][0], records[0][-1][1], records[1][0]]


def test_a_record_has_no_field_at_a_position_beyond_its_last():
    @cuda.jit
    def kernel(record, out):
        out[0] = record[2]

    with pytest.raises(amdjit.CompileError, match="its fields are"):
        kernel[1, 1](np.zeros(1, _PAIR)[0], np.zeros(1, np.float32))


def test_a_signature_of_aligned_records_takes_a_record_array():
    aligned = np.dtype([("a", np.int32), ("b", np.float64)], align=True)

    @cuda.jit((cuda.from_dtype(aligned)[:],))
    def kernel(records):
        i = cuda.grid(1)
        records[i].a = records[i].b

    records = np.recarray(3, aligned)
    records.b = [1, 2, 3]
    kernel[1, 3](records)
    assert list(records.a) == [1, 2, 3]


_PROGRAM = """
from amdjit import numba_cuda as cuda

@cuda.jit
def kernel(number):
    print(number + 1)

kernel[1, 1](3)
cuda.synchronize()
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "options",
    [["-c", _PROGRAM], ["-W", "ignore", "-Bc", _PROGRAM]],
    ids=["plain", "with-options"],
)
def test_kernels_of_a_program_given_as_text(options):
    run = subprocess.run(
        [sys.executable, *options], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.split() == ["4"]


def test_names_of_the_host():
    assert cuda.require_context(_PAIR) is _PAIR
    assert [each.id for each in cuda.gpus.lst] == [each.id for each in cuda.gpus]
    assert cuda.types.complex128.underlying_float is cuda.types.float64


@pytest.mark.parametrize("mask", [2.5, -1.0])
def test_a_mask_that_is_no_integer_is_refused(mask):
    @cuda.jit
    def known(out):
        out[0] = cuda.any_sync(mask, out[0] > 0)

    @cuda.jit
    def unknown(out):
        out[0] = cuda.ballot_sync(out[0] + mask, True)

    for kernel in (known, unknown):
        with pytest.raises(amdjit.CompileError, match="Mask type must be an integer, not"):
            kernel[1, 32](np.zeros(1))


@pytest.mark.parametrize("vote", [cuda.all_sync, cuda.any_sync, cuda.eq_sync, cuda.ballot_sync])
def test_a_float_does_not_vote(vote):
    @cuda.jit
    def kernel(out):
        out[0] = vote(0xFFFFFFFF, out[0])

    with pytest.raises(amdjit.CompileError, match=r"integer or boolean, not f64(.|\n)*x != 0"):
        kernel[1, 32](np.zeros(1))


def test_errors_of_shared_arrays_are_shown_at_the_programs_line():
    @cuda.jit
    def of_no_type(out):
        tile = cuda.shared.array(10, "int33")
        out[0] = tile[0]

    @cuda.jit
    def of_no_constant_shape(out, n):
        tile = cuda.shared.array((1, n), np.float32)
        out[0] = tile[0, 0]

    for kernel, arguments in ((of_no_type, ()), (of_no_constant_shape, (3,))):
        with pytest.raises(amdjit.CompileError) as caught:
            kernel[1, 32](np.zeros(1), *arguments)
        place, shown = str(caught.value).splitlines()[1:4:2]
        assert __file__ in place
        assert "tile = cuda.shared.array(" in shown


@pytest.mark.parametrize("on_device", [False, True])
def test_a_signature_takes_arrays_of_integers_by_their_bits(on_device: bool) -> None:
    @cuda.jit("void(int32[:], uint16[:, :])")
    def kernel(x, y):
        i = cuda.grid(1)
        x[i] = x[i] >> 1
        y[i, 0] = y[i, 0] >> 1

    x, y = np.array([0x80000000, 6], np.uint32), np.array([[-2, 7], [4, 7]], np.int16)
    given = (cuda.to_device(x), cuda.to_device(y)) if on_device else (x, y)
    for _ in range(2):
        kernel[1, 2](*given)
    if on_device:
        x, y = (each.copy_to_host() for each in given)
    assert x.tolist() == [0xE0000000, 1]
    assert y.tolist() == [[0x3FFF, 7], [1, 7]]
    for wrong in (np.zeros(2, np.int64), np.zeros(2, np.float32), np.zeros((2, 2), np.uint32)):
        with pytest.raises(amdjit.LaunchError, match="No matching definition"):
            kernel[1, 2](wrong, y)
    other = cuda.jit(["void(int32[:])", "void(float32[:])"])(lambda x: None)
    with pytest.raises(amdjit.LaunchError, match="No matching definition"):
        other[1, 1](np.zeros(2, np.uint32))
