"""Memory is freed when the program says or with the last array; a use after that is refused."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit

FREED = r"the memory of this DeviceArray\(shape=.* was freed, by free\(\)"


@amdjit.kernel(warnings=False)
def count_up(x):
    x[amdjit.grid(1)] += 1


USES: list[Callable[[Any], object]] = [
    lambda a: a.copy_to_host(),
    lambda a: a.copy_from_host(np.zeros(8, np.float32)),
    lambda a: a[1:],
    lambda a: a.T,
    lambda a: a.reshape(2, 4),
    lambda a: a.fill(1),
    lambda a: a.copy(),
    lambda a: a.view(np.int32),
    lambda a: a.astype(np.int32),
    lambda a: np.asarray(a),
    lambda a: a.__dlpack__(),
    lambda a: a.__setitem__(0, 1),
    lambda a: amdjit.zeros(8).assign(a),
    lambda a: count_up[1, 8](a),
    lambda a: a.address,
]


@pytest.mark.parametrize("use", range(len(USES)))
@pytest.mark.parametrize("through", ["array", "view"])
def test_every_use_of_freed_memory_is_refused(use: int, through: str) -> None:
    there = amdjit.zeros(8)
    view = there[:]
    for array in (there, view):
        count_up[1, 8](array)  # so that launches know it
    there.free()
    with pytest.raises(amdjit.LaunchError, match=FREED):
        USES[use](there if through == "array" else view)


def test_a_bound_launch_of_freed_memory_is_refused() -> None:
    there = amdjit.zeros(8)
    launch = count_up[1, 8].bind(there)
    launch()
    assert there.copy_to_host().tolist() == [1] * 8
    there.free()
    with pytest.raises(amdjit.LaunchError, match="freed"):
        launch()


def test_freeing_twice_is_refused_also_through_a_view() -> None:
    there = amdjit.zeros((4, 4))
    rows = [there[i] for i in range(4)]
    rows[2].free()
    for array in (there, *rows):
        with pytest.raises(amdjit.LaunchError, match="freed before"):
            array.free()
    assert repr(there) == (f"DeviceArray(shape=(4, 4), dtype=float32, device={there.device.name})")


def test_views_that_come_and_go_cost_no_memory() -> None:
    there = amdjit.zeros(100)
    for i in range(5000):
        there[i % 100 :]
    owner = there._owner
    assert len(owner._arrays) < 100  # type: ignore[attr-defined]
    kept = [there[i:] for i in range(100)]
    there.free()
    for view in kept:
        with pytest.raises(amdjit.LaunchError, match=FREED):
            view.copy_to_host()


def test_a_block_frees_its_array_also_when_it_fails() -> None:
    made = []

    def fail() -> None:
        with amdjit.zeros(8) as there:
            made.append(there)
            count_up[1, 8](there)
            assert there.copy_to_host().tolist() == [1] * 8
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        fail()
    (there,) = made
    with pytest.raises(amdjit.LaunchError, match=FREED):
        there.copy_to_host()
    with amdjit.zeros(8) as there:
        there.free()  # the end of the block has nothing to do


def test_work_that_uses_freed_memory_is_done_before() -> None:
    """The stand-in works as late as HIP may."""
    out = amdjit.zeros(8)
    for _ in range(10):
        temporary = amdjit.ones(8)
        count_up[1, 8](temporary)
        out[...] = temporary
        temporary.free()
    assert out.copy_to_host().tolist() == [2] * 8


def test_memory_that_another_library_holds_is_not_freed() -> None:
    there = amdjit.zeros(8)
    capsule = there.__dlpack__()
    with pytest.raises(amdjit.LaunchError, match="another library holds this memory"):
        there.free()
    del capsule
    gc.collect()
    there.free()


def test_borrowed_memory_is_its_librarys() -> None:
    there = amdjit.zeros(8)
    borrowed = amdjit.DeviceArray(
        there.device, there.address, there.shape, there.dtype, there.strides, object()
    )
    with pytest.raises(amdjit.LaunchError, match="another library's"):
        borrowed.free()
    with borrowed:
        pass  # the end of a block leaves it to the library
    there.free()


def test_out_of_memory_names_the_largest_arrays() -> None:
    small, large = amdjit.zeros(10), amdjit.zeros((1000, 3000), np.int16)
    view = large[:, 1]
    with pytest.raises(amdjit.BackendError) as caught:
        amdjit.empty(1 << 50)
    text = str(caught.value)
    assert "6000000 bytes, DeviceArray(shape=(1000, 3000), dtype=int16" in text
    assert small.size + view.size
    large.free()
    with pytest.raises(amdjit.BackendError) as caught:
        amdjit.zeros(1 << 50)
    assert "6000000 bytes" not in str(caught.value)


def test_arrays_in_reference_cycles_are_freed_before_memory_is_said_to_be_out() -> None:
    device: Any = amdjit.current_device()
    if device.name.startswith("emulator"):
        free = device.memory_limit - device.memory_used
    else:
        _, free, _ = device.hip.hipMemGetInfo()
    nbytes = free // 2 + (1 << 20)
    gc.disable()
    try:
        cycle: list[Any] = [amdjit.empty(nbytes, np.uint8)]
        cycle.append(cycle)
        del cycle
        amdjit.empty(nbytes, np.uint8).free()
    finally:
        gc.enable()


def test_copies_and_pickles() -> None:
    there = amdjit.arange(6).reshape(2, 3)
    for duplicate in (copy.copy(there), copy.deepcopy(there[:, ::-1])):
        assert duplicate.address != there.address
        assert duplicate.shape == (2, 3)
    with pytest.raises(TypeError, match=r"pickle array\.copy_to_host\(\)"):
        pickle.dumps(there)


REFUSED: dict[str, Callable[[Any], object]] = {
    "==": lambda a: a == a,
    "!=": lambda a: a != None,  # noqa: E711
    "<": lambda a: a < 3,
    ">=": lambda a: a >= 3,
    "+": lambda a: a + 1,
    "-": lambda a: 1 - a,
    "*": lambda a: np.float32(2) * a,
    "@": lambda a: a @ a,
    "/": lambda a: np.ones(3) / a,
    "**": lambda a: a**2,
    "&": lambda a: a & 1,
    "~": lambda a: ~a,
    "abs": lambda a: abs(a),
    "neither true nor false": lambda a: bool(a),
    "not iterated": lambda a: list(a),
    "does not look into": lambda a: 1 in a,
    "float(a.copy_to_host())": lambda a: float(a),
    "int(a.copy_to_host())": lambda a: int(a),
    "numpy.sin": lambda a: np.sin(a),
    "numpy.add": lambda a: np.add.reduce(a),
}


def test_methods_of_numpys_arrays_are_missing_with_what_to_do() -> None:
    there = amdjit.zeros(3)
    with pytest.raises(
        AttributeError, match=r"no attribute 'sum': copy to the host first, `a\.copy"
    ):
        there.sum()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'summe'$"):
        there.summe  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_numpys_business_is_refused_with_what_to_do(words: str) -> None:
    there = amdjit.zeros(3)
    with pytest.raises(TypeError) as caught:
        REFUSED[words](there)
    text = str(caught.value)
    assert words in text or "numpy." in text
    assert "copy_to_host()" in text or "copy to the host" in text


def test_arrays_are_found_in_sets_and_lists_as_themselves() -> None:
    one, other = amdjit.zeros(3), amdjit.zeros(3)
    assert len({one, other, one}) == 2
    assert [one, other].index(one) == 0
    assert {one: 1}[one] == 1
