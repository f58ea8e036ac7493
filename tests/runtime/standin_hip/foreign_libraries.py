"""Other libraries on a GPU, for checks: their arrays, and the streams that they work on."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import dlpack_protocol
import numpy as np
from dlpack_protocol import Producer

import amdjit

INT64 = (0, 64, 1)


@amdjit.kernel
def append(x, value):
    # What came first stands in front: 12 is 1, then 2.
    i = amdjit.threadIdx.x
    x[i] = x[i] * 10 + value


def numbers(device: str = "hip:0") -> amdjit.DeviceArray:
    with amdjit.use(device):
        return amdjit.to_device(np.zeros(4, np.int64))


class Library:
    """Another library on a GPU: its arrays, and the stream that it works on."""

    def __init__(self, device: str = "hip:0") -> None:
        with amdjit.use(device) as self.device:
            self.stream = amdjit.Stream(non_blocking=True)
            self.memory = numbers(device)
        self.handle = self.device.stream_number(self.stream.handle)

    def work(self, value: int) -> None:
        append[1, 4, self.stream](self.memory, value)


class WithDlpack(Library):
    """An array with DLPack, whose producer lets the consumer's stream wait for its own."""

    def __init__(self, device: str = "hip:0", **facts: Any) -> None:
        super().__init__(device)
        place = (dlpack_protocol.ROCM, int(device[-1]))
        self.producer = Producer(self.memory, INT64, place, **facts)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.producer.__dlpack_device__()

    def __dlpack__(self, *, stream: int | None = None, **keywords: Any) -> object:
        assert stream is not None
        if stream >= 0:
            with amdjit.use(self.device):
                amdjit.Stream.external(stream).wait(self.stream)
        return self.producer.__dlpack__(stream=stream, **keywords)


class WithInterface(Library):
    """An array with the CUDA array interface alone."""

    def __init__(self, device: str = "hip:0", **changes: Any) -> None:
        super().__init__(device)
        self.changes = changes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (4,),
            "typestr": "<i8",
            "data": (self.memory.address, False),
            "stream": self.handle,
            "version": 3,
        } | self.changes


class Tensor(Library):
    """PyTorch's tensor of a ROCm build, as far as amdjit reads one."""

    is_cpu = is_meta = requires_grad = False
    is_cuda = True
    layout = "strided"
    dtype = "int64"
    shape = (4,)
    current: dict[int, int]

    def __init__(self, device: str = "hip:0") -> None:
        super().__init__(device)
        self.index = int(device[-1])
        Tensor.current[self.index] = self.handle

    def get_device(self) -> int:
        return self.index

    def is_conj(self) -> bool:
        return False

    is_neg = is_conj

    def data_ptr(self) -> int:
        return self.memory.address

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def numel(self) -> int:
        return 4

    def __dlpack__(self) -> object:
        raise AssertionError("PyTorch's tensors are read without DLPack")


class Protocol:
    def __init__(self, handle: int, version: int = 0) -> None:
        self.answer = version, handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return self.answer


STREAMS: dict[str, Callable[[int], Any]] = {
    "int": int,
    "ctypes": ctypes.c_void_p,
    "torch": lambda handle: SimpleNamespace(cuda_stream=handle, device_index=0),
    "cupy": lambda handle: SimpleNamespace(ptr=handle, device_id=0),
    "protocol": Protocol,
    "property": lambda handle: SimpleNamespace(__cuda_stream__=(0, handle)),
}
