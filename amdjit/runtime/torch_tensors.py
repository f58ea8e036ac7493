"""PyTorch's tensors, read by their own methods: ten times as fast as by DLPack, and also where
PyTorch refuses DLPack, on a GPU that is not its current one."""

from __future__ import annotations

import functools
import sys
from typing import Any

import ml_dtypes
import numpy as np

from amdjit.late import when_loaded
from amdjit.runtime import dlpack

# torch's names of the types that amdjit's arrays can have.
_DTYPES: dict[str, Any] = {
    "bool": np.bool_,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "float16": np.float16,
    "float32": np.float32,
    "float64": np.float64,
    "complex64": np.complex64,
    "complex128": np.complex128,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}


# The module in which Dynamo, the tracer of `torch.compile`, lists the files that it skips.
_RULES = "torch._dynamo.trace_rules"


def keep_torch_compile_out() -> None:
    """Make `torch.compile` break its graph at calls of amdjit instead of tracing through them.

    `torch.compiler.disable` would take effect only when a function is called, and Dynamo traces
    into a call before that. So amdjit is added to the files that Dynamo skips, without loading
    PyTorch.
    """

    def add(rules: Any) -> None:
        rules.add("amdjit")

    when_loaded(_RULES, add)


def is_tensor(value: object) -> bool:
    """Return whether a value is a PyTorch tensor; False if PyTorch is not loaded."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def place_of(tensor: Any) -> tuple[int, int]:
    """Return the DLPack device of a tensor. BufferError if neither the host nor HIP reaches it."""
    if tensor.is_cpu:
        return dlpack.CPU, 0
    if tensor.is_cuda and _torch().version.hip is not None:
        return dlpack.ROCM, tensor.get_device()
    if tensor.is_meta:
        raise BufferError("is a meta tensor, which has no memory")
    raise BufferError(
        f"is on {tensor.device}, which is neither the host nor an AMD GPU: pass a copy, `.cpu()`"
    )


def host_array(tensor: Any) -> np.ndarray[Any, Any]:
    """Return a NumPy array over a tensor in host memory. BufferError as `memory`."""
    dtype = _checked(tensor)
    plain = tensor.detach() if tensor.requires_grad else tensor
    try:
        if dtype.isbuiltin == 1:
            return plain.numpy()  # type: ignore[no-any-return]
        # PyTorch makes no arrays of types that only ml_dtypes has.
        integers = getattr(_torch(), f"int{8 * dtype.itemsize}")
        return plain.view(integers).numpy().view(dtype)  # type: ignore[no-any-return]
    except (RuntimeError, TypeError) as error:
        raise BufferError(f"has no memory that can be read: {_first_line(error)}") from None


def memory(tensor: Any) -> dlpack.Tensor:
    """Return where the elements of a tensor lie.

    BufferError for a tensor that is more than its elements: lazily conjugated or negated, sparse,
    or recorded by autograd.
    """
    dtype = _checked(tensor)
    try:
        address = tensor.data_ptr()
    except RuntimeError as error:
        raise BufferError(f"has no memory that can be read: {_first_line(error)}") from None
    if not address and tensor.numel():
        raise BufferError("has no memory of its own: it represents a tensor that is computed later")
    itemsize = dtype.itemsize
    strides = tuple([stride * itemsize for stride in tensor.stride()])
    return dlpack.Tensor(
        address,
        place_of(tensor),
        dtype=dtype,
        shape=tuple(tensor.shape),
        strides=strides,
        owner=tensor,
    )


def _checked(tensor: Any) -> np.dtype[Any]:
    """Return NumPy's type of the elements of a tensor that is nothing more than its elements."""
    torch = _torch()
    if tensor.requires_grad and torch.is_grad_enabled():
        raise BufferError(
            "requires grad, and autograd does not see what kernels do: pass `.detach()`, launch "
            "inside `with torch.no_grad():`, or in a torch.autograd.Function"
        )
    if tensor.layout is not torch.strided:
        raise BufferError(f"has layout {tensor.layout}: pass `.to_dense()`, or its parts")
    if tensor.is_conj():
        raise BufferError("is conjugated lazily: pass `.resolve_conj()`")
    if tensor.is_neg():
        raise BufferError("is negated lazily: pass `.resolve_neg()`")
    dtype = _dtypes().get(tensor.dtype)
    if dtype is None:
        raise BufferError(f"has elements of {tensor.dtype}, a type that amdjit does not have")
    return dtype


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def current_stream(index: int) -> int:
    """Return the handle of PyTorch's current stream on a GPU, 0 for the default stream."""
    torch = _torch()
    # What `torch.cuda.current_stream(index).cuda_stream` calls; directly it takes 1/20 of the time.
    ask = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(torch.cuda.current_stream(index).cuda_stream if ask is None else ask(index))


def _torch() -> Any:
    return sys.modules["torch"]


@functools.cache
def _dtypes() -> dict[Any, np.dtype[Any]]:
    torch = _torch()
    known = ((getattr(torch, name, None), dtype) for name, dtype in _DTYPES.items())
    return {name: np.dtype(dtype) for name, dtype in known if name is not None}
