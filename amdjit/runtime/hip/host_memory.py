"""Host memory that an AMD GPU uses in place: pinned, mapped and managed."""

from __future__ import annotations

from functools import partial
from typing import Any

from amdjit.diagnostics.errors import BackendError
from amdjit.runtime.device_memory import HostKind
from amdjit.runtime.hip.calls import HipCalls
from amdjit.runtime.hip.captures import ThreadCaptures

# hip_runtime_api.h: hipHostMallocPortable, hipHostMallocMapped, hipMemAttachGlobal.
_PORTABLE, _MAPPED = 1, 2
_ATTACH_GLOBAL = 1


class HipHostMemory(HipCalls):
    """The part of `amdjit.runtime.device_memory.MemoryDevice` about host memory."""

    _managed: set[int]
    thread_captures: ThreadCaptures

    def allocate_on_host(self, nbytes: int, kind: HostKind) -> tuple[int, int | None]:
        """Allocate host memory through HIP; BackendError where a GPU has no managed memory."""
        size = max(nbytes, 1)
        if kind is HostKind.MANAGED:
            return self._allocate_managed(size)
        flags = _PORTABLE | (_MAPPED if kind is HostKind.MAPPED else 0)
        doing = f"allocate {size} bytes of pinned host memory for {self.name}"
        address = int(self.here(doing, self.hip.hipHostMalloc, size, flags))
        if kind is HostKind.PINNED:
            return address, None
        find = self.hip.hipHostGetDevicePointer
        there = self.here("ask where host memory is mapped to", find, address, 0)
        return address, int(there)

    def _allocate_managed(self, size: int) -> tuple[int, int]:
        attribute = self.hip.hipDeviceAttribute_t.hipDeviceAttributeManagedMemory
        ask = self.hip.hipDeviceGetAttribute
        if not self.here(f"ask {self.name} for managed memory", ask, attribute, self.index):
            raise BackendError(
                f"{self.name} has no managed memory. Use amdjit.pinned_empty(shape, dtype, "
                "mapped=True), which kernels use in place, too."
            )
        doing = f"allocate {size} bytes of managed memory for {self.name}"
        address = int(self.here(doing, self.hip.hipMallocManaged, size, _ATTACH_GLOBAL))
        self._managed.add(address)
        return address, address

    def free_on_host(self, address: int) -> None:
        """Free host memory. HIP waits for the work of the device first."""
        if self.thread_captures.count:  # waiting would spoil the capture
            self.thread_captures.freed_later.append(partial(self.free_on_host, address))
            return
        if address in self._managed:
            self._managed.discard(address)
            free: Any = self.hip.hipFree
        else:
            free = self.hip.hipHostFree
        self.here(f"free host memory of {self.name}", free, address)
