"""PyTorch's tensors on the CPU as those of an emulated GPU, for programs in Triton.

Their tensors are made with `device="cuda"`, which is also what PyTorch calls AMD's GPUs. Where
PyTorch finds no GPU, `on_the_cpu` puts them on the CPU, whose memory is the emulator's. It also
answers what such programs ask `torch.cuda`. `tensors_at` finds the tensors that addresses are in.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Iterator
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
# What makes tensors, on a device that is an option.
_MAKERS = (
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided",
    "eye", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "rand", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "randperm", "scalar_tensor", "tensor",
    "tril_indices", "triu_indices", "zeros", "zeros_like",
)  # fmt: skip
_METHODS = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")


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
def on_the_cpu(interface: DeviceInterface) -> Iterator[None]:
    """Make PyTorch, which is loaded, put on the CPU what a program puts on "cuda", unless it has a
    GPU."""
    if torch.cuda.is_available():
        yield
        return
    changed = [(torch.cuda, name, getattr(interface, name)) for name in _ANSWERED]
    for holder, names in ((sys.modules["torch"], _MAKERS), (torch.Tensor, _METHODS)):
        changed += [(holder, name, _made(getattr(holder, name))) for name in names]
    changed.append((torch.Tensor, "to", _moved(torch.Tensor.to)))
    changed += [(torch.Tensor, name, _copied) for name in ("cpu", "cuda")]
    with ExitStack() as undone:
        for holder, name, function in changed:
            undone.callback(setattr, holder, name, getattr(holder, name))
            setattr(holder, name, function)
        yield


_Function = Callable[..., Any]


def _made(function: _Function) -> _Function:
    """Return a function that makes tensors, on the CPU if the device is "cuda"."""
    if hasattr(function, "amdjit_wrapped"):  # `use` inside of another
        return function

    @functools.wraps(function)
    def made(*given: Any, **options: Any) -> Any:
        if _is_cuda(options.get("device")):
            options["device"] = "cpu"
        return function(*given, **options)

    made.amdjit_wrapped = function  # type: ignore[attr-defined]
    return made


def _copied(tensor: Any, *given: Any, **options: Any) -> Any:
    """Return a copy, whatever the arguments of `Tensor.cpu` and `Tensor.cuda` say."""
    return tensor.clone()


def _moved(function: _Function) -> _Function:
    """Return `Tensor.to`, which copies what moves between devices, as on a GPU."""
    if hasattr(function, "amdjit_wrapped"):
        return function

    @functools.wraps(function)
    def moved(tensor: Any, *given: Any, **options: Any) -> Any:
        device = options.get("device")
        if any(isinstance(each, (str, torch.device)) for each in (device, *given[:1])):
            options["copy"] = True
        if _is_cuda(device):
            options["device"] = "cpu"
        return function(tensor, *("cpu" if _is_cuda(each) else each for each in given), **options)

    moved.amdjit_wrapped = function  # type: ignore[attr-defined]
    return moved


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
    live = [
        each
        for each in gc.get_objects()
        if type(each) in kinds and each.device.type == "cpu" and each.layout is torch.strided
    ]
    found = {}
    for start, tensor in {each.untyped_storage().data_ptr(): each for each in live}.items():
        end = start + tensor.untyped_storage().nbytes()
        first, after = np.searchsorted(addresses, np.array([start, end], np.uint64))
        if first < after:
            found[start] = tensor
    return found
