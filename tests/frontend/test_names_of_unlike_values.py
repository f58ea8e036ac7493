"""A name may have unlike values on two paths, as long as nothing reads it where these meet."""

import numpy as np
import pytest

import amdjit


def branches(out, x, n):
    if n > 1:
        part = x[0]
        out[0] = part[1]
    else:
        part = n + 1
        out[0] = part
    part = out[0] * 2
    out[1] = part


def iterations(out, x, n):
    part = 1
    for i in range(n):
        part = x[i]
        out[i] = part[0] + part[1]
    part = 2
    out[2] = part


def target_of_loop(out, x, n):
    for part in range(n):
        for i in range(2):
            part = x[i]
            if i == 0:
                out[i] = part[1]
            else:
                out[i] += part[0]


def while_loop(out, x, n):
    i = 0
    part = True
    while i < n:
        part = x[i]
        out[i] = part[1]
        i += 1


@pytest.mark.parametrize("function", [branches, iterations, target_of_loop, while_loop])
@pytest.mark.parametrize("typing", ["amdjit", "numba"])
def test_values_are_those_of_python(function, typing):
    x = np.arange(6.0).reshape(3, 2)
    kernel = amdjit.kernel(typing=typing)(function)
    for n in (1, 2):
        out, expected = np.zeros(3), np.zeros(3)
        kernel[1, 1](out, x, n)
        function(expected, x, n)
        assert list(out) == list(expected)


def after_branches(out, x, n):
    if n > 1:
        part = x[0]
        out[2] = 1
    else:
        part = n + 1
    out[0] = part
    out[1] = part


def in_an_iteration(out, x, n):
    part = n
    for i in range(n):
        out[i] = part
        part = x[i]


def after_iterations(out, x, n):
    part = n
    for i in range(n):
        part = x[i]
    out[0] = part


@pytest.mark.parametrize("function", [after_branches, in_an_iteration, after_iterations])
def test_reading_it_where_they_meet_is_one_error_that_names_both(function):
    kernel = amdjit.kernel(function)
    with pytest.raises(amdjit.TypeCheckError, match="`part` would be") as raised:
        kernel[1, 1](np.zeros(3), np.ones((3, 2)), 2)
    assert str(raised.value).count("error[") == 1
