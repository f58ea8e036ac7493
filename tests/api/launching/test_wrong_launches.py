"""Wrong launches and faults: the right exception, every array intact, and the next launch works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import Const, KernelFault, LaunchError, f32, i32, shared
from amdjit.diagnostics import CompileError, TargetError, TypeCheckError, UnsupportedSyntaxError
from tests.api.lanes import DEVICE


@amdjit.kernel
def add_one(x: f32[:], n: i32):
    i = amdjit.grid(1)
    if i < n:
        x[i] += 1


@amdjit.kernel
def beyond(x, distance):
    i = amdjit.grid(1)
    if i == 5:
        x[i + distance] = 3.0


@amdjit.kernel(block=64)
def small(x):
    x[amdjit.grid(1)] = 1.0


@amdjit.kernel(block=(8, 4))
def shaped(x):
    x[amdjit.grid(1)] = 1.0


@amdjit.kernel
def constant(x, n: Const):
    x[0] = n


@amdjit.kernel
def much_lds(x):
    tile = shared.array(20000, f32)
    tile[0] = x[0]
    x[0] = tile[0]


@amdjit.kernel
def returns(x):
    return x[0]


@amdjit.kernel
def starred(x, *rest):
    x[0] = 1.0


ARRAY = np.arange(32, dtype=np.float32)
READ_ONLY = ARRAY.copy()
READ_ONLY.flags.writeable = False
BIG_ENDIAN = ARRAY.astype(">f4")


class Thing:
    """Something that no kernel takes."""


WRONG: dict[str, tuple[type[Exception], Callable[[Any], None]]] = {
    "too few arguments": (LaunchError, lambda x: add_one[1, 32](x)),
    "too many arguments": (LaunchError, lambda x: add_one[1, 32](x, 1, 2)),
    "an unknown keyword": (LaunchError, lambda x: add_one[1, 32](x, m=1)),
    "an argument twice": (LaunchError, lambda x: add_one[1, 32](x, 1, n=1)),
    "another element type": (TypeCheckError, lambda x: add_one[1, 32](x.astype(np.float16), 1)),
    "another dimension": (TypeCheckError, lambda x: add_one[1, 32](x.reshape(4, 8), 1)),
    "a scalar for an array": (TypeCheckError, lambda x: add_one[1, 32](1.0, 1)),
    "an array for a scalar": (TypeCheckError, lambda x: add_one[1, 32](x, x)),
    "a float for an integer": (TypeCheckError, lambda x: add_one[1, 32](x, 1.5)),
    "another NumPy scalar": (TypeCheckError, lambda x: add_one[1, 32](x, np.int64(1))),
    "an integer out of range": (TypeCheckError, lambda x: add_one[1, 32](x, 2**31)),
    "an integer beyond 64 bits": (LaunchError, lambda x: beyond[1, 32](x, 2**64)),
    "a string": (LaunchError, lambda x: beyond[1, 32](x, "one")),
    "None": (CompileError, lambda x: beyond[1, 32](None, 1)),
    "an object": (LaunchError, lambda x: beyond[1, 32](Thing(), 1)),
    "a complex number": (CompileError, lambda x: beyond[1, 32](x, 1j)),
    "an array of times": (CompileError, lambda x: beyond[1, 32](x.astype("m8[s]"), 1)),
    "an array of objects": (LaunchError, lambda x: beyond[1, 32](x.astype(object), 1)),
    "an array without dimensions": (CompileError, lambda x: beyond[1, 32](np.array(1.0), 1)),
    "an array of another byte order": (LaunchError, lambda x: beyond[1, 32](BIG_ENDIAN, 1)),
    "a read-only array that is written": (LaunchError, lambda x: beyond[1, 32](READ_ONLY, 1)),
    "a block over 1024": (LaunchError, lambda x: add_one[1, 1025](x, 1)),
    "a block over 1024 of two axes": (LaunchError, lambda x: add_one[1, (64, 32)](x, 1)),
    "a block over the kernel's": (LaunchError, lambda x: small[1, 65](x)),
    "another block than the compiled one": (LaunchError, lambda x: shaped[1, (4, 8)](x)),
    "an empty block": (LaunchError, lambda x: add_one[1, 0](x, 1)),
    "an empty grid": (LaunchError, lambda x: add_one[0, 32](x, 1)),
    "a negative grid": (LaunchError, lambda x: add_one[-1, 32](x, 1)),
    "a grid of floats": (LaunchError, lambda x: add_one[32 / 8, 32](x, 1)),
    "four axes": (LaunchError, lambda x: add_one[(1, 1, 1, 1), 32](x, 1)),
    "a huge grid": (LaunchError, lambda x: add_one[2**31, 32](x, 1)),
    "no block": (LaunchError, lambda x: add_one[1](x, 1)),
    "no grid": (LaunchError, lambda x: add_one(x, 1)),
    "too many launch parameters": (LaunchError, lambda x: add_one[1, 32, None, 0, 0](x, 1)),
    "something else for a stream": (LaunchError, lambda x: add_one[1, 32, "stream"](x, 1)),
    "too much dynamic LDS": (LaunchError, lambda x: add_one[1, 32, None, 65537](x, 1)),
    "negative dynamic LDS": (LaunchError, lambda x: add_one[1, 32, None, -4](x, 1)),
    "forall of a negative number": (LaunchError, lambda x: add_one.forall(-1)(x, 1)),
    "forall of a float": (LaunchError, lambda x: add_one.forall(1.5)(x, 1)),
    "too much static LDS": (TargetError, lambda x: much_lds[1, 32](x)),
    "a constant that no code can hold": (CompileError, lambda x: constant[1, 32](x, [1, 2])),
    "a kernel that returns": (UnsupportedSyntaxError, lambda x: returns[1, 32](x)),
    "a kernel with starred parameters": (UnsupportedSyntaxError, lambda x: starred[1, 32](x, x)),
    "a store beyond the array": (KernelFault, lambda x: beyond[1, 32](x, 1 << 20)),
    "a store before the array": (KernelFault, lambda x: beyond[1, 32](x, -(1 << 20))),
    "a store just behind the array": (KernelFault, lambda x: beyond[1, 32](x, 27)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_launches_lose_nothing(name: str) -> None:
    kind, launch = WRONG[name]
    x = ARRAY.copy()
    with amdjit.use(DEVICE):
        with pytest.raises(kind) as caught:
            launch(x)
        assert issubclass(caught.type, amdjit.AmdjitError)
        assert len(str(caught.value)) > 20
        assert (x == ARRAY).all()
        add_one[1, 32](x, 32)
        assert (x == ARRAY + 1).all()


def test_a_fault_leaves_device_arrays_usable() -> None:
    with amdjit.use(DEVICE):
        x, y = amdjit.to_device(ARRAY), amdjit.to_device(ARRAY)
        with pytest.raises(KernelFault) as caught:
            beyond[1, 32](x, 1 << 20)
        fault = caught.value
        assert (fault.kernel, fault.thread, fault.block, fault.lane) == (
            "beyond",
            (5, 0, 0),
            (0, 0, 0),
            5,
        )
        assert fault.source_file == __file__
        assert fault.source_line == beyond.function.__code__.co_firstlineno + 4
        assert (x.copy_to_host() == ARRAY).all()
        add_one[1, 32](y, 32)
        assert (y.copy_to_host() == ARRAY + 1).all()


WRONG_COMPILATIONS: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "too few types": (LaunchError, lambda: beyond.compile(f32[:])),
    "a value for a type": (LaunchError, lambda: beyond.compile(f32[:], 5)),
    "a Python type that is no number": (LaunchError, lambda: beyond.compile(f32[:], str)),
    "another type than annotated": (TypeCheckError, lambda: add_one.compile(f32[:], f32)),
    "another array than annotated": (TypeCheckError, lambda: add_one.compile(f32[:, :], i32)),
    "a type that no argument has": (
        LaunchError,
        lambda: beyond.compile(f32[:], amdjit.types.VOID),
    ),
    "an unknown target": (amdjit.AmdjitError, lambda: add_one.compile(target="gfx0")),
    "an unknown option": (TypeError, lambda: add_one.compile(blok=3)),
    "an option out of range": (amdjit.AmdjitError, lambda: add_one.compile(opt_level=7)),
    "an unknown option of the decorator": (
        TypeError,
        lambda: amdjit.kernel(blok=3)(lambda x: None),
    ),
    "a class": (TypeError, lambda: amdjit.kernel(Thing)),
}


@pytest.mark.parametrize("name", WRONG_COMPILATIONS)
def test_compilations_for_wrong_arguments_are_refused(name: str) -> None:
    kind, compile_wrongly = WRONG_COMPILATIONS[name]
    with pytest.raises(kind):
        compile_wrongly()
    assert add_one.compile(None, None).signature == "add_one(f32[::1], i32)"
    assert add_one.compile(fastmath={"nnan"}).options.fast_math_flags == ("nnan",)
