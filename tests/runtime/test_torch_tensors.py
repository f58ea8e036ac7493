"""Tensors as arguments, and DeviceArrays as tensors, with PyTorch's CPU build."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit.diagnostics import LaunchError

torch: Any = None

NAMES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "float8_e4m3fnuz", "float8_e5m2fnuz",
]  # fmt: skip
# What the kernel language has: the types above but NumPy's other fp8 formats.
KERNEL_NAMES = [name for name in NAMES if not name.endswith("fnuz") and "complex" not in name]


@pytest.fixture(scope="module", autouse=True)
def loaded_torch() -> None:
    """Load PyTorch, which takes seconds, where these tests run, not where they are collected."""
    reason = "PyTorch is not installed: pip install amdjit[torch]"
    globals()["torch"] = pytest.importorskip("torch", reason=reason)


@pytest.fixture(autouse=True)
def device() -> Iterator[Any]:
    with amdjit.use("emulator:gfx1201") as chosen:
        yield chosen


@amdjit.kernel(warnings=False)
def copy(x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i]


@amdjit.kernel(warnings=False)
def add_rows(x, out):
    row, column = amdjit.blockIdx.x, amdjit.threadIdx.x
    out[row, column] += x[row, column]


def equal(x: Any, y: Any) -> bool:
    if x.dtype.itemsize == 1:
        x, y = x.view(torch.uint8), y.view(torch.uint8)
    return bool(torch.equal(x, y))


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_tensors_of_every_type_are_read_and_written(name: str) -> None:
    x = torch.arange(8).to(getattr(torch, name))
    out = torch.zeros(8, dtype=x.dtype)
    before = out.data_ptr()
    copy[1, 8](x, out)
    assert out.data_ptr() == before
    assert equal(out, x)


@st.composite
def tensors(draw: Any) -> Any:
    """A tensor of two axes, perhaps strided, transposed or part of another."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    base = torch.arange(4.0 * rows * columns).reshape(2 * rows, 2 * columns)
    part = base[draw(st.integers(0, rows)) :, draw(st.integers(0, columns)) :]
    part = part[:: draw(st.integers(1, 2)), :: draw(st.integers(1, 2))]
    return part.T if draw(st.booleans()) else part


@settings(max_examples=40)
@given(tensors(), st.booleans())
def test_strided_tensors_are_read_and_written_where_they_lie(x: Any, is_view: bool) -> None:
    rows, columns = x.shape
    around = torch.full((rows + 1, 2 * columns), 0.5)
    out = around[1:, ::2] if is_view else torch.ones(rows, columns)
    expected = out + x
    with amdjit.use("emulator:gfx1201"):
        add_rows[rows, columns](x, out)
    assert torch.equal(out, expected)
    if is_view:
        assert (around[0] == 0.5).all()
        assert (around[:, 1::2] == 0.5).all()


def test_a_tensor_given_twice_is_one_array() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    add_rows[2, 3](x, x)
    assert x.tolist() == [[0, 2, 4], [6, 8, 10]]
    halves = torch.arange(12.0).reshape(2, 6)
    add_rows[2, 3](halves[:, :3], halves[:, 3:].T.T)
    assert halves.tolist() == [[0, 1, 2, 3, 5, 7], [6, 7, 8, 15, 17, 19]]


def test_tensors_stand_beside_other_arrays_and_in_records() -> None:
    x, there = torch.arange(4.0), amdjit.zeros(4)
    copy[1, 4](x, there)
    assert there.copy_to_host().tolist() == [0, 1, 2, 3]
    host = np.zeros(4, np.float32)
    copy[1, 4](x, host)
    assert host.tolist() == [0, 1, 2, 3]

    @amdjit.kernel(warnings=False)
    def of_pair(pair):
        i = amdjit.threadIdx.x
        pair[1][i] = pair[0][i] + 1

    out = torch.zeros(4)
    of_pair[1, 4]((x, out))
    assert out.tolist() == [1, 2, 3, 4]


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "grad": (lambda: torch.ones(4, requires_grad=True), r"requires grad.*\.detach\(\)"),
    "parameter": (lambda: torch.nn.Parameter(torch.ones(4)), r"requires grad.*no_grad"),
    "conjugated": (lambda: torch.ones(4, dtype=torch.complex64).conj(), r"resolve_conj\(\)"),
    "negated": (lambda: torch.ones(4, dtype=torch.complex64).conj().imag, r"resolve_neg\(\)"),
    "sparse": (lambda: torch.ones(4).to_sparse(), r"torch\.sparse_coo.*to_dense\(\)"),
    "meta": (lambda: torch.ones(4, device="meta"), "is a meta tensor, which has no memory"),
    "scales": (
        lambda: torch.zeros(4, dtype=torch.uint8).view(torch.float8_e8m0fnu),
        r"elements of torch\.float8_e8m0fnu",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_tensors_that_are_more_than_their_elements_are_refused(kind: str) -> None:
    make, reason = REFUSED[kind]
    out = torch.zeros(4)
    with pytest.raises(LaunchError, match=f"argument x of copy .*{reason}"):
        copy[1, 4](make(), out)
    assert not out.any()


def test_tensors_that_stand_for_others_have_no_memory() -> None:
    class Wrapper(torch.Tensor):
        """A tensor of a library on top of PyTorch, whose memory is elsewhere."""

        @staticmethod
        def __new__(cls) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, (4,))

        @classmethod
        def __torch_dispatch__(
            cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            raise AssertionError("the memory is asked for, nothing else")

    with pytest.raises(LaunchError, match="argument x of copy has no memory"):
        copy[1, 4](Wrapper(), torch.zeros(4))


def test_a_tensor_that_requires_grad_is_taken_where_autograd_is_off() -> None:
    weight = torch.nn.Parameter(torch.arange(4.0))
    with torch.no_grad():
        copy[1, 4](torch.full((4,), 3.0), weight)
    assert weight.tolist() == [3] * 4


@amdjit.kernel(warnings=False)
def square(x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] * x[i]


@amdjit.kernel(warnings=False)
def square_backward(x, grad, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = 2.0 * x[i] * grad[i]


def test_a_kernel_is_a_function_of_autograd() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            out = torch.empty_like(x)
            square.forall(x.numel())(x, out)
            return out

        @staticmethod
        def backward(context: Any, grad: Any) -> Any:
            (x,) = context.saved_tensors
            out = torch.empty_like(x)
            square_backward.forall(x.numel())(x, grad, out)
            return out

    x = torch.linspace(-2, 2, 9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Square.apply, (x,))


@pytest.mark.parametrize("name", NAMES)
def test_device_arrays_are_tensors_over_the_same_memory(name: str) -> None:
    x = torch.arange(12).reshape(3, 4).to(getattr(torch, name))
    there = amdjit.from_dlpack(x)
    for view in (there, there.T, there[1:, ::2]):
        shared = torch.from_dlpack(view)
        assert shared.data_ptr() == view.address
        assert shared.dtype == x.dtype
        assert tuple(shared.shape) == view.shape
    assert equal(torch.from_dlpack(there), x)
    assert not equal(torch.from_dlpack(there[::-1][:0]), x)


def test_a_tensor_over_a_device_array_sees_what_kernels_write() -> None:
    there = amdjit.zeros(4)
    shared = torch.from_dlpack(there)
    copy[1, 4](torch.arange(4.0), there)
    assert shared.tolist() == [0, 1, 2, 3]
    shared += 1
    assert there.copy_to_host().tolist() == [1, 2, 3, 4]
    address = there.address
    del there
    assert (shared.data_ptr(), shared.sum()) == (address, 10)
    copied = torch.from_dlpack(amdjit.to_device(np.ones(3)), copy=True)
    assert copied.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_tensors_are_sources_of_copies(name: str) -> None:
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, name))
    there = amdjit.to_device(x.T)
    assert equal(torch.from_dlpack(there), x.T)
    there[...] = x[1, :2]
    assert equal(torch.from_dlpack(there), x[1, :2].expand(3, 2))
    like = amdjit.empty_like(x)
    like.copy_from_host(x)
    assert equal(torch.from_dlpack(like), x)


@settings(max_examples=40)
@given(tensors(), st.sampled_from(NAMES))
def test_from_dlpack_and_back_keeps_shape_and_values(x: Any, name: str) -> None:
    x = x.to(getattr(torch, name))
    with amdjit.use("emulator:gfx1201"):
        there = amdjit.from_dlpack(x)
    assert there.shape == tuple(x.shape)
    assert there.size == math.prod(x.shape)
    assert equal(torch.from_dlpack(there), x)


def test_streams_of_pytorch_on_nvidia_or_without_gpu_are_no_streams_of_the_emulator() -> None:
    class OfTorch:
        cuda_stream = 4096

    with pytest.raises(LaunchError, match="the emulator has no HIP stream 0x1000"):
        copy[1, 4, OfTorch()](torch.ones(4), torch.zeros(4))
