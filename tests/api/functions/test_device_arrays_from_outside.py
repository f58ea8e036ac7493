"""DeviceArrays outside of a kernel are arguments that each launch finds by itself."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import amdjit
from amdjit import KernelFault, LaunchError, f32

pytestmark = pytest.mark.usefixtures("emulator")
module = ModuleType("tables")


def counting(n: int, kind: type[np.generic] = np.float32) -> amdjit.DeviceArray:
    return amdjit.to_device(np.arange(n, dtype=kind))


def values(array: amdjit.DeviceArray) -> list[float]:
    return array.copy_to_host().tolist()


def test_kernels_and_their_functions_read_and_write_them() -> None:
    table, results = counting(8), amdjit.zeros((2, 8))
    module.weights = amdjit.to_device(np.asfortranarray(np.arange(16.0).reshape(8, 2)))
    pair = (table, results[1])

    def weighted(i):
        return table[i] * module.weights[i, 1]

    @amdjit.kernel
    def run():
        i = amdjit.grid(1)
        results[0, i] = weighted(i) + len(table) + table.ndim
        pair[1][i] = pair[0][i] + weighted(i)

    for _ in range(3):
        run[1, 8]()
    i = np.arange(8)
    np.testing.assert_array_equal(
        results.copy_to_host(), [i * (2 * i + 1) + 9, i + i * (2 * i + 1)]
    )


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float16, np.complex64])
def test_types_and_arrays_without_axes(kind: type[np.generic]) -> None:
    scale, out = amdjit.to_device(np.array(3, kind)), amdjit.zeros((), kind)

    @amdjit.kernel
    def double():
        out[()] = scale[()] + scale[()]

    double[1, 1]()
    assert out.copy_to_host() == 6


def test_the_next_launch_uses_the_array_that_the_name_has_then() -> None:
    table, out = counting(4), amdjit.zeros(4)

    @amdjit.kernel
    def copy(out):
        i = amdjit.grid(1)
        out[i] = table[i]

    launch = copy[1, 4].bind(out)
    for k in range(6):
        table = amdjit.to_device(np.arange(4, dtype=np.float32) * k)
        copy[1, 4](out)
        assert values(out) == [0, k, 2 * k, 3 * k]
        out.fill(0)
        table = amdjit.to_device(np.full(4, k, np.float32))
        launch()
        assert values(out) == [k] * 4
    assert len(copy.inspect_llvm()) == 1
    assert not copy.why_recompiled()
    table = counting(8)[::2]
    copy[1, 4](out)
    assert values(out) == [0, 2, 4, 6]
    table = counting(4, np.float64)
    copy[1, 4](out)
    changes = [str(change) for change in copy.why_recompiled()]
    assert changes == ["`table` of an enclosing function: f32[:] -> f64[::1]"]


def test_an_argument_that_shares_memory_with_one_is_seen_to_change() -> None:
    table = counting(4)

    @amdjit.kernel
    def shift(out, n):
        before = table[0]
        for _ in range(n):
            out[0] = table[0] + 1
        out[1] = table[0] * 100 + before

    apart = amdjit.zeros(4)
    for out in (apart, apart, table, table, apart):
        shift[1, 1](out, 3)
    assert values(apart) == [7, 606, 0, 0]
    assert values(table) == [6, 603, 2, 3]


def test_a_captured_array_may_be_given_as_an_argument_too_by_different_code() -> None:
    table = counting(4)

    @amdjit.kernel
    def swap(out):
        first = out[0]
        table[0] = 9
        out[1] = first + out[0]

    for out in (table, amdjit.ones(4)):
        compiled = swap.compile(f32[:])
        swap[1, 1](out)
        assert compiled.optimized_llvm.count("noalias") == 1
    assert values(table) == [9, 9, 2, 3]
    assert values(out) == [1, 2, 1, 1]


def test_graphs_keep_them_alive_and_use_those_of_the_capture() -> None:
    table, out = counting(4), amdjit.zeros(4)

    @amdjit.kernel
    def add(out):
        i = amdjit.grid(1)
        out[i] += table[i]

    stream = amdjit.Stream()
    add[1, 4, stream](out)
    stream.synchronize()
    with stream.capture() as graph:
        add[1, 4, stream](out)
    table = amdjit.to_device(np.full(4, 100, np.float32))
    executable = graph.instantiate()
    executable.launch(stream)
    stream.synchronize()
    assert values(out) == [0, 2, 4, 6]
    other = amdjit.zeros(4)
    executable.update(graph.nodes[0], other)
    executable.launch(stream)
    stream.synchronize()
    assert values(other) == [100] * 4


def test_a_freed_array_is_refused() -> None:
    table, out = counting(4), amdjit.zeros(4)

    @amdjit.kernel
    def copy(out):
        out[amdjit.grid(1)] = table[amdjit.grid(1)]

    launch = copy[1, 4].bind(out)
    for _ in range(2):
        copy[1, 4](out)
    table.free()
    for run in (lambda: copy[1, 4](out), launch):
        with pytest.raises(LaunchError, match="was freed"):
            run()


def test_an_array_of_another_device_is_refused() -> None:
    with amdjit.use("emulator:gfx1200"):
        table = counting(4)

    @amdjit.kernel
    def copy(out):
        out[amdjit.grid(1)] = table[amdjit.grid(1)]

    with pytest.raises(LaunchError, match="uses the array table, which is on emulator:gfx1200"):
        copy[1, 4](np.zeros(4, np.float32))


def test_what_became_of_a_name_is_an_error_of_the_kernel() -> None:
    module.table = counting(4)

    @amdjit.kernel
    def copy(out):
        out[0] = module.table[1]

    out = amdjit.zeros(4)
    copy[1, 1](out)
    copy[1, 1](out)
    module.table = None
    with pytest.raises(amdjit.CompileError, match="None"):
        copy[1, 1](out)
    module.table = np.full(4, 5, np.float32)
    copy[1, 1](out)
    assert values(out)[0] == 5


def test_a_fault_names_them() -> None:
    table = counting(4)

    @amdjit.kernel
    def copy(out, n):
        out[0] = table[n]

    with pytest.raises(KernelFault, match=r"table\[6\]") as caught:
        copy[1, 1](np.zeros(4, np.float32), 6)
    assert caught.value.array == "table"

    @amdjit.kernel(bounds_check=True)
    def checked(out, n):
        out[0] = table[n]

    with pytest.raises(KernelFault, match="index 4 is outside of `table`"):
        checked[1, 1](np.zeros(4, np.float32), 4)


def test_a_read_only_array_is_refused_where_the_kernel_writes_it() -> None:
    own = counting(4)
    lender = SimpleNamespace(is_read_only=True, own=own)
    table = amdjit.DeviceArray(own.device, own.address, (4,), own.dtype, (4,), lender)

    @amdjit.kernel
    def read(out):
        out[0] = table[0]

    @amdjit.kernel
    def write(out):
        table[0] = out[0]

    read[1, 1](amdjit.zeros(4))
    with pytest.raises(LaunchError, match="write writes the array table, which is read-only"):
        write[1, 1](amdjit.zeros(4))


def test_other_libraries_arrays_in_memory_of_no_known_gpu_say_what_to_write() -> None:
    class Tensor:
        __cuda_array_interface__ = {  # noqa: RUF012
            "shape": (4,), "typestr": "<f4", "data": (0x1000, False), "version": 3
        }  # fmt: skip

        def __getitem__(self, index: int) -> float:
            return 1.0

    tensor = Tensor()

    @amdjit.kernel
    def read(out):
        out[0] = tensor[0]

    with pytest.raises(amdjit.CompileError, match=r"`tensor = amdjit\.asarray\(tensor\)`"):
        read[1, 1](amdjit.zeros(4))


def test_classes_of_arrays_are_read_as_classes() -> None:
    @amdjit.kernel
    def read(out):
        out[0] = 1 if isinstance(out[0], (np.ndarray, amdjit.DeviceArray)) else 2

    out = np.zeros(1, np.float32)
    read[1, 1](out)
    assert out[0] == 2
