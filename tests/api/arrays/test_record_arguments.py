"""Single NumPy records as arguments: kernels read and write them where they are, as NumPy would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from tests.api.lanes import DEVICE

INNER = np.dtype([("p", "f4"), ("q", "i2")])
RECORD = np.dtype(
    [("a", "f4"), ("m", "i4", (2, 3)), ("inner", INNER), ("z", "c8"), ("name", "S6"), ("on", "?")]
)


def sample() -> Any:
    a = np.zeros(3, RECORD)
    a["a"], a["m"], a["name"] = (
        [1, 2, 3],
        np.arange(18).reshape(3, 2, 3),
        [b"one", b"two", b"6 long"],
    )
    return a


def changes(r: Any, k: Any) -> None:
    r["a"] += 0.5
    r["m"][1, k] = r["m"][0, k + 1] + 40
    r["m"][0] = 7
    r["inner"]["p"] = r["a"]
    r["inner"]["q"] += 3
    r["z"] = 1 + 2j
    r["on"] = not r["on"]
    r["name"] = r["name"]


KERNEL = amdjit.kernel(changes)


@pytest.mark.parametrize("make", [lambda a: a[1], lambda a: a.view(np.recarray)[1]])
def test_a_record_of_an_array_is_written_in_the_array(make: Any) -> None:
    a, expected = sample(), sample()
    changes(expected[1], 1)
    with amdjit.use(DEVICE):
        KERNEL[1, 1](make(a), 1)
    assert a.tobytes() == expected.tobytes()


def test_a_record_of_its_own_and_an_array_without_dimensions_are_written() -> None:
    expected = sample()[2].copy()
    changes(expected, 0)
    alone, array = sample()[2].copy(), np.array(sample()[2])
    with amdjit.use(DEVICE):
        KERNEL[1, 1](alone, 0)
        KERNEL[1, 1](array, 0)
    assert alone.tobytes() == array.tobytes() == expected.tobytes()
    assert array.shape == ()


def test_device_records_keep_what_kernels_write() -> None:
    expected = sample()[0].copy()
    changes(expected, 1)
    changes(expected, 0)
    with amdjit.use(DEVICE):
        record = amdjit.to_device(sample()[0])
        assert (record.shape, record.dtype) == ((), RECORD)
        for k in (1, 0):
            KERNEL[1, 1](record, k)
        assert record.copy_to_host().tobytes() == expected.tobytes()
        array = amdjit.to_device(sample())
        KERNEL[1, 1](array[1], 0)
        host = array.copy_to_host()
    assert host[0].tobytes() == sample()[0].tobytes() != host[1].tobytes()


def test_attributes_name_the_same_fields() -> None:
    @amdjit.kernel
    def by_attribute(r, k):
        r.a += 0.5
        r.inner.q += 3
        r.m[1, k] += 5
        for name in ("a", "on"):
            r[name] = 1

    a, expected = sample(), sample()
    expected[0]["inner"]["q"] += 3
    expected[0]["m"][1, 2] += 5
    expected[0]["a"], expected[0]["on"] = 1, True
    with amdjit.use(DEVICE):
        by_attribute[1, 1](a[0], 2)
    assert a.tobytes() == expected.tobytes()


def helper(r: Any) -> Any:
    r["a"] = 9
    return r["inner"]


def test_functions_take_and_return_records() -> None:
    @amdjit.kernel
    def through_functions(r, out):
        inner = helper(r)
        inner.p = 4
        out[1] = r
        out[0].inner = helper(out[0])

    a, out = sample(), sample()
    with amdjit.use(DEVICE):
        through_functions[1, 1](a[2], out)
    assert (a[2]["a"], a[2]["inner"]["p"]) == (9, 4)
    assert out[1].tobytes() == a[2].tobytes()
    assert (out[0]["a"], out[2]["a"]) == (9, 3)


def test_a_record_that_is_only_read_may_be_read_only() -> None:
    @amdjit.kernel
    def reads(r, out):
        out[0] = r.a + r.m[1, 2]

    a, out = sample(), np.zeros(1, np.float32)
    a.flags.writeable = False
    with amdjit.use(DEVICE):
        reads[1, 1](a[2], out)
        assert out[0] == 3 + 17
        with pytest.raises(amdjit.LaunchError, match="the kernel writes argument r, a read-only"):
            KERNEL[1, 1](a[2], 0)


def test_a_fault_leaves_the_record_as_it_was() -> None:
    @amdjit.kernel
    def fails(r):
        r.a = 7
        raise ValueError("no", r.a)

    a = sample()
    with amdjit.use(DEVICE), pytest.raises(ValueError, match="no") as caught:
        fails[1, 1](a[1])
    assert caught.value.args == ("no", 7)
    assert a.tobytes() == sample().tobytes()


def test_kernels_compile_for_a_structured_type() -> None:
    compiled = KERNEL.compile(RECORD, int)
    assert "r" in compiled.program.written
    with pytest.raises(amdjit.LaunchError, match="without fields"), amdjit.use(DEVICE):
        KERNEL[1, 1](np.void(b"abcd"), 1)


def test_text_and_dates_are_the_numbers_in_memory() -> None:
    @amdjit.kernel
    def reads(r, out):
        for i in range(4):
            out[i] = r.name[i]
            out[4 + i] = r.wide[i]
        out[8] = r.day.ticks

    kind = np.dtype([("name", "S4"), ("wide", "U4"), ("day", "M8[D]")], align=True)
    a, out = np.array([("ab", "äß€", "1970-02-03")], kind), np.zeros(9, np.int64)
    with amdjit.use(DEVICE):
        reads[1, 1](a[0], out)
    assert out.tolist() == [97, 98, 0, 0, 0xE4, 0xDF, 0x20AC, 0, 33]
