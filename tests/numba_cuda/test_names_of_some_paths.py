"""Numba's typing: a name that only some paths assign has its value, or is an UnboundLocalError with
debug=True."""

import numpy as np
import pytest

import amdjit
from amdjit import numba_cuda as cuda


def ran(function, *arguments, lanes=1, size=8, debug=False):
    """Return what a function writes as a kernel."""
    out = np.zeros(size)
    cuda.jit(function, debug=debug)[1, lanes](out, *arguments)
    return out


def in_python(function, *arguments, size=8):
    """Return what it writes in Python."""
    out = np.zeros(size)
    function(out, *arguments)
    return out


def test_a_chain_that_assigns_in_every_case_that_comes():
    @cuda.jit
    def chain(out):
        i = cuda.grid(1)
        if i % 4 == 0:
            value = 1
        elif i % 4 == 1:
            value = 2
        elif i % 4 == 2:
            value = 2.5
        elif i % 4 == 3:
            value = True
        out[i] = value

    out = np.zeros(8)
    chain[1, 8](out)
    assert list(out) == [1, 2, 2.5, 1] * 2


def first_iteration(out, n):
    for i in range(n):
        if i == 0:
            x = 5
        if i > 0:
            x = x + i
    out[0] = x
    out[1] = i * 2


def inner_loop(out, n):
    for i in range(n):
        for j in range(2 - i):
            last = j + i
        out[i] = last


def sequence(out, n):
    for item in out[:n]:
        last = item + 1
    out[0] = last + item


def left_early(out, n):
    while True:
        if n > 3:
            found = n
            break
        n += 1
    if found > 3:
        out[0] = found


def nested(out, n):
    for i in range(n):
        if i != 1:
            if i == 0:
                total = 0.5
            else:
                total += i
        out[i] = total
        total = total * 2


@pytest.mark.covering(1)
@pytest.mark.parametrize("function", [first_iteration, inner_loop, sequence, left_early, nested])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_values_are_those_of_python(function, n):
    for debug in (False, True):
        assert list(ran(function, n, debug=debug)) == list(in_python(function, n))


@pytest.mark.parametrize("function", [first_iteration, sequence])
def test_a_name_without_a_value_is_an_unbound_local_error(function):
    with pytest.raises(UnboundLocalError) as expected:
        in_python(function, 0)
    with pytest.raises(UnboundLocalError) as raised:
        ran(function, 0, debug=True)
    assert raised.value.args == expected.value.args


def test_only_lanes_that_read_it_without_a_value_fail():
    @cuda.jit(debug=True)
    def kernel(out, bound):
        i = cuda.grid(1)
        if i < 3:
            value = i
        if i < bound:
            out[i] = value

    out = np.ones(8)
    kernel[1, 8](out, 3)
    assert list(out[:3]) == [0, 1, 2]
    with pytest.raises(UnboundLocalError, match="'value'"):
        kernel[1, 8](out, 4)


def test_device_functions_have_such_names_too():
    @cuda.jit(device=True)
    def chosen(n):
        if n > 2:
            result = n
        elif n > 0:
            result = 0.5
        return result

    @cuda.jit(debug=True)
    def kernel(out, n):
        out[0] = chosen(n)

    out = np.zeros(1)
    for n, expected in ((3, 3), (1, 0.5)):
        kernel[1, 1](out, n)
        assert out[0] == expected
    with pytest.raises(UnboundLocalError, match="'result'"):
        kernel[1, 1](out, 0)


def test_arrays_need_an_assignment_on_every_path():
    @cuda.jit
    def kernel(out, n):
        if n:
            chosen = out
        out[0] = chosen[0]

    with pytest.raises(amdjit.CompileError, match="only one path"):
        kernel[1, 1](np.zeros(1), 1)


@pytest.mark.parametrize("options", [{"typing": "amdjit"}, {"typing": "numba", "asserts": False}])
def test_other_kernels_refuse_such_names(options):
    @amdjit.kernel(**options)
    def kernel(out, n):
        if n:
            value = 1
        out[0] = value

    with pytest.raises(amdjit.CompileError, match="only one path"):
        kernel[1, 1](np.zeros(1), 1)
