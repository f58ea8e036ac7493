"""Devices as Numba describes them, and functions that have nothing to do on them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from amdjit.devices import current_device, devices, synchronize
from amdjit.runtime.device import Device

__all__ = [
    "CudaDevice",
    "MemoryInfo",
    "close",
    "cuda_error",
    "current_context",
    "defer_cleanup",
    "detect",
    "get_context",
    "get_current_device",
    "gpus",
    "is_available",
    "is_bfloat16_supported",
    "is_float16_supported",
    "is_fp8_supported",
    "is_supported_version",
    "list_devices",
    "profile_start",
    "profile_stop",
    "profiling",
    "require_context",
    "reset",
    "runtime",
    "select_device",
    "synchronize",
]


class Deallocations:
    """`current_context().deallocations`, which is always empty, because memory is freed with its
    last array."""

    def __len__(self) -> int:
        return 0

    def clear(self) -> None:
        """Do nothing: no memory waits to be freed."""


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory."""

    free: int
    total: int


# The number of the last work-item of a grid must fit 32 bits
# (`hsa_kernel_dispatch_packet_t.grid_size_x`).
_MOST_ITEMS = 2**32 - 1
# CUDA's attributes that are the same on all AMD GPUs, as amdjit uses them.
_SAME_ON_ALL = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "ASYNC_ENGINE_COUNT", "CAN_MAP_HOST_MEMORY",
                "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM",
                "CONCURRENT_KERNELS", "GLOBAL_L1_CACHE_SUPPORTED", "GPU_OVERLAP",
                "LOCAL_L1_CACHE_SUPPORTED", "MANAGED_MEMORY", "MEMORY_POOLS_SUPPORTED",
                "STREAM_PRIORITIES_SUPPORTED", "UNIFIED_ADDRESSING", "COOPERATIVE_LAUNCH",
            ),
            1,
        ),
        **dict.fromkeys(
            (
                "COMPUTE_MODE", "COOPERATIVE_MULTI_DEVICE_LAUNCH", "KERNEL_EXEC_TIMEOUT",
                "MULTI_GPU_BOARD", "MULTI_GPU_BOARD_GROUP_ID", "TCC_DRIVER",
            ),
            0,
        ),
        "MAX_PITCH": 2**31 - 1,
        "TOTAL_CONSTANT_MEMORY": 2**16,
    }
)  # fmt: skip


class CudaDevice:
    """A device with Numba's names for its facts. It is also its own context."""

    supports_float16 = supports_bfloat16 = supports_fp8 = True
    deallocations = Deallocations()

    def __init__(self, device: Device, number: int) -> None:
        self._device, self.id = device, number
        target = device.target
        most = target.max_workgroup_size
        self.WARP_SIZE = target.wave_size
        self.MULTIPROCESSOR_COUNT = device.multiprocessor_count
        self.COMPUTE_CAPABILITY_MAJOR, self.COMPUTE_CAPABILITY_MINOR = self.compute_capability
        self.MAX_THREADS_PER_BLOCK = most
        self.MAX_BLOCK_DIM_X = self.MAX_BLOCK_DIM_Y = self.MAX_BLOCK_DIM_Z = most
        self.MAX_GRID_DIM_X = _MOST_ITEMS // most
        self.MAX_GRID_DIM_Y = self.MAX_GRID_DIM_Z = 2**16 - 1
        self.MAX_SHARED_MEMORY_PER_BLOCK = target.lds_per_workgroup
        self.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = target.lds_per_workgroup
        self.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = target.lds_per_workgroup_processor
        simds = target.simds_per_workgroup_processor
        self.MAX_THREADS_PER_MULTIPROCESSOR = target.max_waves * simds * target.wave_size
        # Registers are counted as in CUDA, one for each lane: those of the register file, times its
        # lanes.
        lanes = 64 if target.wave_size == 64 else 32
        self.MAX_REGISTERS_PER_BLOCK = target.vgpr_file * lanes * simds
        self.MAX_REGISTERS_PER_MULTIPROCESSOR = self.MAX_REGISTERS_PER_BLOCK

    def __getattr__(self, name: str) -> int:
        if name in _SAME_ON_ALL:
            return _SAME_ON_ALL[name]
        raise AttributeError(
            f"a device has no {name!r} here: the attributes of AMD GPUs are in the table of "
            "docs/numba_cuda.md, and amdjit.devices and `amdjit doctor` tell more"
        )

    @property
    def uuid(self) -> str:
        """A name that distinguishes devices, in CUDA's form."""
        return f"GPU-{uuid5(NAMESPACE_URL, f'amdjit:{self._device.description}:{self.id}')}"

    @property
    def memory_manager(self) -> CudaDevice:
        """The object that knows the device's memory: the context itself."""
        return self

    def get_memory_info(self) -> MemoryInfo:
        """Return how many bytes of memory are free, and how many there are."""
        return MemoryInfo(*self._device.memory_info())

    def push(self) -> None:
        """Do nothing: the context of the current device is always active."""

    def pop(self) -> None:
        """Do nothing, as `push` does."""

    def get_primary_context(self) -> CudaDevice:
        """Return the context of the device."""
        return self

    @property
    def name(self) -> bytes:
        """The device's name."""
        return self._device.name.encode()

    @property
    def compute_capability(self) -> tuple[int, int]:
        """The processor's generation: (12, 0) for gfx1201."""
        major, minor, _ = self._device.target.isa
        return major, minor

    @property
    def device(self) -> CudaDevice:
        """The device of this context."""
        return self

    def synchronize(self) -> None:
        """Wait for all work of the device."""
        self._device.synchronize()

    def reset(self) -> None:
        """Wait for all work. Memory is freed with the last array that uses it."""
        self._device.synchronize()

    def __enter__(self) -> CudaDevice:
        return self

    def __exit__(self, *problem: object) -> None:
        pass


def list_devices() -> list[CudaDevice]:
    """Return the devices of this process that are of the same kind as the current one."""
    current = current_device()
    alike = [each for each in devices() if type(each) is type(current)]
    if "emulator" in current.name:
        alike = [current]
    return [CudaDevice(each, number) for number, each in enumerate(alike)]


class _Gpus:
    """`cuda.gpus`: the devices, by number."""

    def __getitem__(self, number: int) -> CudaDevice:
        return list_devices()[number]

    def __len__(self) -> int:
        return len(list_devices())

    def __iter__(self) -> Iterator[CudaDevice]:
        return iter(list_devices())

    @property
    def lst(self) -> list[CudaDevice]:
        """The devices as a list."""
        return list_devices()

    @property
    def current(self) -> CudaDevice:
        """The current device."""
        return get_current_device()


gpus = _Gpus()


def get_current_device() -> CudaDevice:
    """Return the current device."""
    current = current_device().name
    found = [each for each in list_devices() if each.name == current.encode()]
    return found[0]


def current_context(devnum: int | None = None) -> CudaDevice:
    """Return the current device, which stands for its context."""
    return get_current_device() if devnum is None else gpus[devnum]


get_context = current_context
"""As `numba.cuda.cudadrv.devices` calls it."""


def select_device(device_id: int) -> CudaDevice:
    """Return a device if it is the current one; ValueError for others, which `amdjit.use`
    selects."""
    chosen = gpus[device_id]
    if chosen.name != get_current_device().name:
        raise ValueError(
            f"select_device({device_id}): choose a device for a block of the program by "
            f"`with amdjit.use({chosen.name.decode()!r}):`, or for all by AMDJIT_DEVICE"
        )
    return chosen


def close() -> None:
    """Wait for the device. Memory is freed with the last array that uses it."""
    synchronize()


def reset() -> None:
    """Wait for the device, as `close` does."""
    synchronize()


def require_context(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function unchanged: amdjit opens a device by itself."""
    return fn


def detect() -> bool:
    """Print the devices; return whether there are any."""
    found = list_devices()
    print(f"Found {len(found)} CUDA devices")
    for each in found:
        major, minor = each.compute_capability
        print(f"id {each.id}{each.name!r:>40}{'[SUPPORTED]':>50}")
        print(f"{'Compute Capability':>40}: {major}.{minor}")
    return bool(found)


def is_available() -> bool:
    """Return True: kernels can always run, because there is an emulator."""
    return True


def is_float16_supported() -> bool:
    """Return True: kernels can always compute in f16."""
    return True


def is_bfloat16_supported() -> bool:
    """Return True: kernels can always compute in bf16."""
    return True


def is_fp8_supported() -> bool:
    """Return True: kernels can always convert from and to fp8."""
    return True


class Runtime:
    """`cuda.runtime`: the runtime library, which amdjit does not need."""

    def get_version(self) -> tuple[int, int]:
        """Return (0, 0): there is no CUDA."""
        return 0, 0

    def is_supported_version(self) -> bool:
        """Return True: amdjit works with any version of the runtime."""
        return True


runtime = Runtime()


def is_supported_version() -> bool:
    """Return True: amdjit works with any version of the runtime."""
    return True


def cuda_error() -> None:
    """Return None: nothing failed."""


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Do nothing around a block: memory is freed with its last array, in stream order."""
    yield


def profile_start() -> None:
    """Do nothing: `amdjit.profile()` and ROCm's profilers need no marker in the program."""


def profile_stop() -> None:
    """Do nothing, as `profile_start` does."""


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """Do nothing around a block, as `profile_start` does."""
    yield
