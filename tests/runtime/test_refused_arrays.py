"""Invalid shapes, and arrays that would lose something on the way to a device, are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit

DEVICE = "emulator:gfx1201"


@amdjit.kernel(warnings=False)
def double(a, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * 2


@pytest.mark.parametrize("make", [amdjit.empty, amdjit.zeros, lambda shape: amdjit.full(shape, 1)])
@pytest.mark.parametrize(
    "shape",
    [(1.5,), 1.5, (2, 2.0), (np.float64(2),), "ab", ("3",), None, {2: 3}, ((2,),), (None,), (1j,)],
    ids=repr,
)
def test_a_shape_of_something_other_than_integers_is_a_type_error_as_in_numpy(
    make: Callable[[Any], Any], shape: Any
) -> None:
    with pytest.raises(TypeError):
        np.empty(shape)
    with (
        amdjit.use(DEVICE),
        pytest.raises(TypeError, match="a shape is an integer or a tuple of integers, not"),
    ):
        make(shape)


@pytest.mark.parametrize(
    "shape",
    [
        3,
        (),
        (2, 3),
        [2, 3],
        np.int64(4),
        (np.int8(2), 3),
        np.array([2, 3]),
        np.array(2),
        (0, 5),
        range(2, 4),
    ],
    ids=repr,
)
def test_integers_of_any_type_are_a_shape_as_in_numpy(shape: Any) -> None:
    with amdjit.use(DEVICE):
        assert amdjit.empty(shape).shape == np.empty(shape).shape


@pytest.mark.parametrize("shape", [-1, (-1,), (2, -3)], ids=repr)
def test_negative_extents_are_a_value_error(shape: Any) -> None:
    with amdjit.use(DEVICE), pytest.raises(ValueError, match="negative"):
        amdjit.empty(shape)


def masked() -> Any:
    return np.ma.array(np.arange(4, dtype=np.int32), mask=[False, True, False, True])


USES: dict[str, Callable[[], Any]] = {
    "to_device": lambda: amdjit.to_device(masked()),
    "copy_from_host": lambda: amdjit.zeros(4, np.int32).copy_from_host(masked()),
    "copy_to_host": lambda: amdjit.zeros(4, np.int32).copy_to_host(masked()),
    "from_dlpack": lambda: amdjit.from_dlpack(masked()),
    "nothing masked": lambda: amdjit.to_device(np.ma.array([1, 2])),
}


@pytest.mark.parametrize("use", USES)
def test_a_masked_array_is_refused_with_a_remedy(use: str) -> None:
    with (
        amdjit.use(DEVICE),
        pytest.raises(TypeError, match=r"masked array.*array\.filled\(value\)"),
    ):
        USES[use]()


def test_a_masked_argument_is_refused_whether_read_or_written() -> None:
    with amdjit.use(DEVICE):
        with pytest.raises(amdjit.LaunchError, match=r"argument a is a masked array.*filled"):
            double[1, 4](masked(), np.zeros(4, np.int32))
        with pytest.raises(amdjit.LaunchError, match="argument out is a masked array"):
            double[1, 4](np.zeros(4, np.int32), masked())
        out = np.zeros(4, np.int32)
        double[1, 4](masked().filled(9), out)
    assert list(out) == [0, 18, 4, 18]


class Subclass(np.ndarray):  # type: ignore[type-arg]
    """An array whose class adds nothing that a kernel could lose."""


SAME: dict[str, Callable[[], Any]] = {
    "a subclass": lambda: np.arange(4, dtype=np.int32).view(Subclass),
    "read-only": lambda: np.broadcast_to(np.int32(3), (4,)),
    "overlapping itself": lambda: np.lib.stride_tricks.as_strided(
        np.arange(9, dtype=np.int32)[::2], (4,), (4,)
    ),
    "a strided view": lambda: np.arange(12, dtype=np.int32)[::-3],
}


@pytest.mark.parametrize("kind", SAME)
def test_other_kinds_of_arrays_are_read_as_numpy_reads_them(kind: str) -> None:
    array, out = SAME[kind](), np.zeros(4, np.int32)
    with amdjit.use(DEVICE):
        double[1, 4](array, out)
    assert (out == array * 2).all()


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "object": (lambda: np.array([1, 2], object), "array of object"),
    "another byte order": (lambda: np.arange(4, dtype=">i4"), "array of >i4"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_type_in_a_kernel_is_refused(kind: str) -> None:
    make, message = REFUSED[kind]
    with amdjit.use(DEVICE), pytest.raises(amdjit.LaunchError, match=message):
        double[1, 4](make(), np.zeros(4, np.int32))


def test_a_read_only_array_is_refused_where_the_kernel_writes_it() -> None:
    array = np.zeros(4, np.int32)
    array.flags.writeable = False
    with amdjit.use(DEVICE), pytest.raises(amdjit.LaunchError, match="read-only"):
        double[1, 4](np.zeros(4, np.int32), array)
