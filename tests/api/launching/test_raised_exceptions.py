"""The exception of a `raise` reaches the host: its class and its arguments are those of Python."""

from __future__ import annotations

import pickle
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import amdjit

Pair = namedtuple("Pair", "first second")


class CodeError(Exception):
    def __init__(self, code: int, what: str = "nothing") -> None:
        super().__init__(f"code {code}", what)
        self.code = code


class PlainError(ValueError):
    pass


MADE = PlainError("made outside", 3)


def raising(n: Any, x: Any) -> None:  # noqa: C901 (one case after another)
    i = n + 2
    if n == 0:
        raise ValueError("bad", i, x[1])
    if n == 1:
        raise CodeError(i, what=f"x is {x[1]:.3f}")
    if n == 2:
        raise PlainError
    if n == 3:
        raise PlainError("foo") from None
    if n == 4:
        raise KeyError("foo")
    if n == 5:
        raise OSError(2, "no file")
    if n == 6:
        raise MADE
    if n == 7:
        raise PlainError((i, x[1]), 1 + 2j, True, None, 0.5)
    if n == 8:
        raise ZeroDivisionError(Pair(i, (x[0], "text")))
    if n == 9:
        raise AssertionError("no")
    if n == 10:
        raise StopIteration(x[0])
    if n == 11:
        raise Exception(f"{x[0]}", f"{i}", i)
    if n == 12:
        raise CodeError(code=i)
    if n == 13:
        raise IndexError()


on_device = amdjit.kernel(raising)


@pytest.mark.parametrize("case", range(14))
def test_class_and_arguments_are_pythons(case: int) -> None:
    x = np.array([1.5, 0.1], np.float32)
    with pytest.raises(Exception) as expected:  # noqa: PT011
        raising(case, x)
    with pytest.raises(type(expected.value)) as caught:
        on_device[1, 1](case, x)
    fault: Any = caught.value
    assert isinstance(fault, amdjit.KernelFault)
    assert type(fault).__name__ == type(expected.value).__name__
    assert fault.args == expected.value.args
    assert [type(each) for each in fault.args] == [type(each) for each in expected.value.args]
    assert getattr(fault, "code", None) == getattr(expected.value, "code", None)
    assert (fault.block, fault.thread, fault.source_file) == ((0, 0, 0), (0, 0, 0), __file__)
    written = "OSError" if case == 5 else type(expected.value).__name__
    assert str(fault).startswith(f"raising: {written}")


@pytest.mark.parametrize("case", [0, 1, 8])
def test_faults_pickle_as_what_they_are(case: int) -> None:
    with pytest.raises(amdjit.KernelFault) as caught:
        on_device[1, 1](case, np.ones(2, np.float32))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), copy.args, str(copy), copy.thread) == (
        type(caught.value),
        caught.value.args,
        str(caught.value),
        caught.value.thread,
    )


def test_bad_indices_are_index_errors() -> None:
    @amdjit.kernel(bounds_check=True)
    def reads(x):
        x[0] = x[len(x)]

    with pytest.raises(IndexError, match="index 2 is outside") as caught:
        reads[1, 1](np.ones(2, np.float32))
    assert isinstance(caught.value, amdjit.KernelFault)
    assert caught.value.index == (2,)


def test_an_exception_that_the_host_cannot_make_stays_a_fault() -> None:
    @amdjit.kernel
    def undecodable(x):
        raise UnicodeDecodeError("a", "b")

    with pytest.raises(amdjit.KernelFault, match="could not make the UnicodeDecodeError") as caught:
        undecodable[1, 1](np.ones(2, np.float32))
    assert not isinstance(caught.value, UnicodeDecodeError)


def without_arguments(x):
    raise CodeError


def too_many(x):
    raise CodeError(1, "a", 3)


def no_keywords(x):
    raise PlainError(a=3)


def with_cause(x):
    raise PlainError("a") from MADE


def ends_the_host(x):
    raise SystemExit


def raises_again(x):
    raise


def raises_a_number(x):
    raise x[0]


REFUSED = {
    without_arguments: "missing a required argument: 'code'",
    too_many: "too many positional arguments",
    no_keywords: "PlainError takes no keyword arguments",
    with_cause: "from None",
    ends_the_host: "SystemExit would end the host",
    raises_again: "write `raise ValueError",
    raises_a_number: "write `raise ValueError",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_python_could_not_raise_here_is_refused(function: Any) -> None:
    with pytest.raises(amdjit.UnsupportedSyntaxError) as caught:
        amdjit.kernel(function)[1, 1](np.ones(2, np.float32))
    assert REFUSED[function] in str(caught.value)
