"""PyTorch's tensors on the CPU as those of an emulated GPU, for programs in Triton.

Their tensors are made with `device="cuda"`, which is also what PyTorch calls AMD's GPUs. Where
PyTorch finds no GPU, `on_the_cpu` puts them on the CPU, whose memory is the emulator's. It also
answers what such programs ask `torch.cuda`. `tensors_at` finds the tensors that addresses are in.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.device import EmulatorDevice
from amdjit.late import late

__all__ = ["DeviceInterface", "on_the_cpu", "tensors_at"]

torch = late("torch")
# What programs that run on one GPU call of `torch.cuda`, which `DeviceInterface` has.
_ANSWERED = (
    "current_device", "device", "device_count", "empty_cache", "get_device_capability",
    "get_device_name", "get_device_properties", "set_device", "synchronize",
)  # fmt: skip


@dataclass(frozen=True)
class DeviceInterface:
    """The functions of `torch.cuda` that programs and Triton's helpers call, for one emulator."""

    emulator: EmulatorDevice
    number: int
    """How Triton numbers the device."""

    def current_device(self) -> int:
        """Return the number of the device."""
        return self.number

    def device(self, device: Any = None) -> Any:
        """Return a context in which nothing changes: there is one device."""
        return nullcontext(device)

    def device_count(self) -> int:
        """Return 1."""
        return 1

    def set_device(self, device: Any) -> None:
        """Do nothing: `amdjit.triton.use` chooses the device."""

    def synchronize(self, device: Any = None) -> None:
        """Do nothing: a launch returns when it is done."""

    def empty_cache(self) -> None:
        """Do nothing: PyTorch keeps no memory for a GPU."""

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """Return the major and minor version of the processor."""
        number = self.emulator.target.name.removeprefix("gfx")
        return int(number[:-2]), int(number[-2], 16)

    def get_device_name(self, device: Any = None) -> str:
        """Return the name of the emulator, such as "emulator:gfx942"."""
        return self.emulator.name

    def get_device_properties(self, device: Any = None) -> Any:
        """Return the properties that kernels are tuned by."""
        target = self.emulator.target
        major, minor = self.get_device_capability()
        return SimpleNamespace(
            name=self.emulator.name,
            major=major,
            minor=minor,
            gcnArchName=target.id,
            warp_size=target.wave_size,
            multi_processor_count=self.emulator.multiprocessor_count,
            shared_memory_per_block=target.lds_per_workgroup,
            total_memory=self.emulator.memory_info()[1],
        )


@contextmanager
def on_the_cpu(interface: DeviceInterface, is_first: bool) -> Iterator[None]:
    """Make PyTorch, which is loaded, put on the CPU what a program puts on "cuda", unless it has a
    GPU. In this thread: PyTorch keeps such modes by thread.

    is_first: whether this is not inside of another.
    """
    if torch.cuda.is_available():
        yield
        return
    with ExitStack() as undone:
        for name in _ANSWERED:
            undone.callback(setattr, torch.cuda, name, getattr(torch.cuda, name))
            setattr(torch.cuda, name, getattr(interface, name))
        if is_first:
            undone.enter_context(_mode()())
        yield


@functools.cache
def _mode() -> Any:
    class OnTheCpu(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined, unused-ignore]
        """Replaces the device of calls. What moves between devices is a copy, as on a GPU."""

        def __torch_function__(
            self, function: Any, types: Any, given: Any = (), options: Any = None
        ) -> Any:
            options = dict(options or {})
            if function in (torch.Tensor.cuda, torch.Tensor.cpu):
                return given[0].clone()
            device = options.get("device")
            if function is torch.Tensor.to:
                if any(isinstance(each, (str, torch.device)) for each in (device, *given[1:2])):
                    options["copy"] = True
                given = tuple("cpu" if _is_cuda(each) else each for each in given)
            if _is_cuda(device):
                options["device"] = "cpu"
            return function(*given, **options)

    return OnTheCpu


def _is_cuda(value: Any) -> bool:
    if isinstance(value, str):
        return value.partition(":")[0] == "cuda"
    return isinstance(value, torch.device) and value.type == "cuda"


def tensors_at(addresses: NDArray[np.uint64]) -> dict[int, Any]:
    """Return PyTorch's tensors on the CPU whose storage has one of these sorted addresses, by the
    first byte of the storage. They are looked for among all objects of the program, which takes a
    twentieth of a second."""
    if not addresses.size or "torch" not in sys.modules:
        return {}
    kinds = torch.Tensor, torch.nn.Parameter
    with torch._C.DisableTorchFunction():
        live = [
            each
            for each in gc.get_objects()
            if type(each) in kinds and each.device.type == "cpu" and each.layout is torch.strided
        ]
        storages = {each.untyped_storage().data_ptr(): each for each in live}
        found = {}
        for start, tensor in storages.items():
            last = start + tensor.untyped_storage().nbytes() - 1
            first, after = np.searchsorted(addresses, np.array([start, last + 1], np.uint64))
            if first < after:
                found[start] = tensor
    return found
