"""Numba's `cudadrv.driver`: its exceptions, and functions about devices and events that programs
call."""

from amdjit.numba_cuda.cudadrv.error import *  # noqa: F403
from amdjit.numba_cuda.device_facts import CudaDevice as Device
from amdjit.numba_cuda.device_facts import MemoryInfo as MemoryInfo
from amdjit.numba_cuda.streams import Event as Event
from amdjit.numba_cuda.streams import Stream as Stream
from amdjit.numba_cuda.streams import event_elapsed_time as event_elapsed_time

__all__ = ["Device", "Event", "MemoryInfo", "Stream", "event_elapsed_time"]
