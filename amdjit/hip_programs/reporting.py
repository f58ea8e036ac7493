"""What people are told of launches: faults, and what the checks find."""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import dataclasses
import functools
import os
import re
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.settings import Request, publish, settings_for
from amdjit.code_object.debug_info import read_debug_info, read_parameters
from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.memory.quarantine import PROGRAM_PLACE, CallPlace, call_place
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.hip_programs.call_sites import CallSites, is_header
from amdjit.hip_programs.gpu import Gpu, frames_of
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.profiling import profile as profiles
    from amdjit.runtime import recording
else:
    recording = late("amdjit.runtime.recording")
    profiles = late("amdjit.profiling.profile")

__all__ = ["ReportingGpu"]

# Return addresses, the innermost first, or a line of Python.
_Asking = Sequence[int] | CallPlace | None
_ADDRESS = struct.Struct("<Q")
# Farther away than that is another mistake than an index slightly out of bounds.
_NEAR = 1 << 20
# What of a fault's message is in fields of its report.
_IS_SAID = re.compile(r"  (at|instruction:) ")
_PC = re.compile(r"at pc (0x[0-9a-f]+)$")


class ReportingGpu(Gpu):
    """A device that makes the checks of AMDJIT_SANITIZE in all launches, and ends the program when
    a kernel fails.

    is_python: the program is Python, whose lines are those of its frames.
    """

    def __init__(self, device: EmulatorDevice, is_python: bool = False) -> None:
        super().__init__(device)
        self._is_python = is_python
        self._sites = CallSites()
        self._settings = settings_for((), device.environment)._replace(raises=False)
        self._made: dict[int, tuple[int, _Asking]] = {}
        self._starts: list[int] = []  # the keys of `_made`, in order
        self._parameters: dict[EmulatedFunction, dict[int, tuple[str, str]]] = {}
        self._page = device.environment.profile
        self._profile = None if self._page is None else profiles.profile()

    def write_profile(self) -> None:
        """Write the page or the JSON of all launches, if AMDJIT_PROFILE asks for it."""
        if self._profile is None or self._page is None:
            return
        try:
            self._profile.write(self._page)
        except (OSError, ValueError) as error:
            self.failed(error, f"no profile {self._page}")

    def allocate(self, nbytes: int, for_host: int, frames: Any, count: int) -> int:
        """Allocate, and note who asks for it."""
        asking = self._asking(frames, count)
        token = PROGRAM_PLACE.set(self._place(asking))
        address = super().allocate(nbytes, for_host, frames, count)
        PROGRAM_PLACE.reset(token)
        if address:
            self._made[address] = nbytes, asking
            bisect.insort(self._starts, address)
        return address

    def release(self, address: int, frames: Any, count: int) -> int:
        """Free, and note who does."""
        if self._made.pop(address, None):
            del self._starts[bisect.bisect_left(self._starts, address)]
        token = PROGRAM_PLACE.set(self._place(self._asking(frames, count)))
        code = super().release(address, frames, count)
        PROGRAM_PLACE.reset(token)
        return code

    def _asking(self, frames: Any, count: int) -> _Asking:
        return call_place() if self._is_python else frames_of(frames, count)

    def _place(self, asking: _Asking) -> CallPlace | None:
        """Return the place in the program, where checks will tell it."""
        if "memory" not in self._settings.checks:
            return None
        return self._line(asking) or CallPlace(None, None, by_array=False)

    def _line(self, asking: _Asking) -> CallPlace | None:
        if asking is None or isinstance(asking, CallPlace):
            return asking
        line = self._sites.line_of(asking)
        return None if line is None else CallPlace(*line, by_array=False)

    def run(self, function: EmulatedFunction, shape: LaunchShape, kernarg: bytearray) -> None:
        """Launch with the checks; a fault ends the program."""
        folder = self.device.environment.record
        if folder is not None:
            arrays = self._arrays(function, kernarg)
            recording.write_down(folder, self.device, function, shape, bytes(kernarg), arrays)
        if not self._settings.checks:
            try:
                with self._profile or contextlib.nullcontext():
                    self.device.launch(function, shape, kernarg)
            except KernelFault as fault:
                self._end(fault, function)
            return
        request = Request(
            self._settings.checks,
            self._settings.limit,
            tuple(self._arrays(function, kernarg)),
            promises_alignment=False,
        )
        reports, stopped = self.device.launch_sanitized(function, shape, kernarg, request)
        for report in reports:
            self._tell(report, function)
        if stopped is not None:
            self._end(stopped, function)

    def _tell(self, report: SanitizerReport, function: EmulatedFunction) -> None:
        """Publish a report, with what the program's debug information adds to it."""
        report = _in_program(report, function)
        where = None if report.address is None else self._allocation_of(report.address)
        if where is not None and report.kind != "use-after-free":  # which says it
            report = dataclasses.replace(report, notes=(*report.notes, where))
        publish((report,), self._settings)
        print(report.render(), file=sys.stderr, flush=True)

    def _end(self, fault: KernelFault, function: EmulatedFunction) -> None:
        """Report a fault and end the program, as HIP does."""
        first, *more = fault.message.split("\n")
        report = SanitizerReport(
            check="fault",
            kind=fault.kind,
            severity="error",
            kernel=fault.kernel,
            message=first.removeprefix(f"{fault.kernel}: "),
            file=fault.source_file,
            line=fault.source_line,
            block=fault.block,
            thread=fault.thread,
            lane=fault.lane,
            address=fault.address,
            instruction=fault.instruction,
            notes=tuple(text.strip() for text in more if not _IS_SAID.match(text)),
        )
        self._tell(report, function)
        self.write_profile()
        os.abort()

    def _allocation_of(self, address: int) -> str | None:
        """Return in words which allocation an address is in or near, and who made it."""

        def distance(start: int) -> int:
            return max(start - address, address - start - self._made[start][0] + 1, 0)

        after = bisect.bisect_right(self._starts, address)
        neighbours = self._starts[max(after - 1, 0) : after + 1]
        near = min(neighbours, key=distance, default=None)
        if near is None or distance(near) > _NEAR:
            return None
        nbytes, asking = self._made[near]
        place = self._line(asking) or CallPlace(None, None, by_array=False)
        return (
            f"{'near' if distance(near) else 'in'} {nbytes} bytes that are allocated {place.text}"
        )

    def _arrays(self, function: EmulatedFunction, kernarg: bytearray) -> list[ArrayArgument]:
        """Return the arguments that point into allocations, as arrays to their end."""
        if function not in self._parameters:
            elf, entry = function.module.code_object.elf, function.kernel.entry_address
            self._parameters[function] = dict(enumerate(read_parameters(elf, entry)))
        names = self._parameters[function]
        found = []
        for number, argument in enumerate(function.kernel.metadata.explicit_arguments):
            if argument.value_kind != "global_buffer" or argument.size != _ADDRESS.size:
                continue
            (address,) = _ADDRESS.unpack_from(kernarg, argument.offset)
            before = bisect.bisect_right(self._starts, address)
            start = self._starts[before - 1] if before else address
            if start not in self._made or address > start + self._made[start][0]:
                continue
            name, text = names.get(number, (f"argument_{number}", ""))
            dtype, size = _pointed(text)
            count = (start + self._made[start][0] - address) // size
            found.append(ArrayArgument(name, address, (count,), (size,), size, dtype))
        return found


# Of x86-64 and AMDGPU, on which HIP's host and device agree.
_SIZES = {
    **dict.fromkeys(("char", "signed char", "unsigned char", "bool"), 1),
    **dict.fromkeys(("short", "unsigned short", "_Float16", "__bf16"), 2),
    **dict.fromkeys(("int", "unsigned int", "float"), 4),
    **dict.fromkeys(("double", "long", "unsigned long", "long long", "unsigned long long"), 8),
}


def _pointed(text: str) -> tuple[str, int]:
    """Return what a pointer type such as "const float *" points to, and its size; bytes if that is
    not known."""
    name = " ".join(re.sub(r"\b(const|volatile|restrict|__restrict)\b|\*", " ", text).split())
    return (name, _SIZES[name]) if name in _SIZES and text.count("*") == 1 else ("byte", 1)


def _in_program(report: SanitizerReport, function: EmulatedFunction) -> SanitizerReport:
    """Return a report with the kernel's name as C++ writes it, at the program's own line: for code
    that HIP's headers inline, that of the call."""
    report = dataclasses.replace(report, kernel=_demangled(report.kernel))
    pc = _PC.search(report.instruction or "")
    if report.file is None or pc is None or not is_header(report.file):
        return report
    info = read_debug_info(function.module.code_object.elf)
    for _, file, line in info.inline_stack(int(pc[1], 16)):
        if not is_header(file):
            note = f"in {report.file}:{report.line}"
            return dataclasses.replace(report, file=file, line=line, notes=(*report.notes, note))
    return report


@functools.cache
def _demangled(name: str) -> str:
    """Return the C++ name, by the program's own library; the name itself if it has none."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except OSError:
        return name
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int(0)
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    return ctypes.string_at(text).decode() if text else name  # a few bytes that nobody frees
