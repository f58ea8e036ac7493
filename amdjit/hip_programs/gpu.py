"""The callbacks of the C side: an emulated device's memory, code objects and launches."""

from __future__ import annotations

import ctypes
import shutil
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object.bundles import bundle_size, is_bundle, read_bundle
from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.diagnostics.errors import AmdjitError, LaunchError
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.launch.kernarg import explicit_size
from amdjit.emulator.launch.loader import EmulatedFunction, EmulatedModule
from amdjit.hip_programs.runtime_compilation import compile_program
from amdjit.target import most_specific

__all__ = ["Callbacks", "Facts", "Gpu"]

# hipError_t, hip_runtime_api.h.
OUT_OF_MEMORY, INVALID_IMAGE, NO_BINARY, NOT_FOUND, LAUNCH_FAILURE = 2, 200, 209, 500, 719
SUCCESS, INVALID_VALUE, OUT_OF_RESOURCES = 0, 1, 701
# What the callbacks return instead of a code if they fail: no address, no layout, the host's time.
_WITHOUT_CODE = {"allocate": 0, "describe": None, "unload": None, "discard": None, "time": 0}

_Address = ctypes.c_uint64
_Code = ctypes.c_int
_Words = ctypes.POINTER(ctypes.c_uint32)
_Out = ctypes.POINTER(ctypes.c_uint64)
_Frames = ctypes.POINTER(ctypes.c_uint64)


class Callbacks(ctypes.Structure):
    """`Emulator` of source/amdhip64.c, which says what each does."""

    _fields_ = (
        (
            "allocate",
            ctypes.CFUNCTYPE(_Address, ctypes.c_uint64, ctypes.c_int, _Frames, ctypes.c_uint64),
        ),
        ("release", ctypes.CFUNCTYPE(_Code, _Address, _Frames, ctypes.c_uint64)),
        ("adopt", ctypes.CFUNCTYPE(_Code, _Address, ctypes.c_uint64)),
        ("to_device", ctypes.CFUNCTYPE(_Code, _Address, ctypes.c_void_p, ctypes.c_uint64)),
        ("to_host", ctypes.CFUNCTYPE(_Code, ctypes.c_void_p, _Address, ctypes.c_uint64)),
        ("load", ctypes.CFUNCTYPE(_Code, ctypes.c_void_p, ctypes.c_uint64, _Out)),
        ("unload", ctypes.CFUNCTYPE(None, _Address)),
        ("describe", ctypes.CFUNCTYPE(ctypes.c_void_p, _Address, ctypes.c_char_p)),
        ("symbol", ctypes.CFUNCTYPE(_Code, _Address, ctypes.c_char_p, _Out, _Out)),
        (
            "launch",
            ctypes.CFUNCTYPE(
                _Code,
                _Address,
                ctypes.c_char_p,
                _Words,
                ctypes.c_uint32,
                ctypes.c_void_p,
                ctypes.c_uint64,
                ctypes.c_int,
            ),
        ),
        (
            "compile",
            ctypes.CFUNCTYPE(_Code, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int),
        ),
        ("discard", ctypes.CFUNCTYPE(None, ctypes.c_char_p)),
        ("time", ctypes.CFUNCTYPE(ctypes.c_uint64)),
    )


class Facts(ctypes.Structure):
    """`Facts` of source/amdhip64.c: the device as programs see it."""

    _fields_ = (
        ("name", ctypes.c_char * 256),
        ("architecture", ctypes.c_char * 256),
        ("memory", ctypes.c_uint64),
        ("devices", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("multiprocessors", ctypes.c_uint32),
        ("wave_size", ctypes.c_uint32),
        ("lds_bytes", ctypes.c_uint32),
        ("has_pools", ctypes.c_uint32),
        ("has_managed_memory", ctypes.c_uint32),
    )


class Gpu:
    """Does for the C side what it asks for, on a device. Errors go to `failed`, codes to C."""

    def __init__(self, device: EmulatorDevice) -> None:
        self.device = device
        self.modules: dict[int, EmulatedModule] = {}
        self._functions: dict[tuple[int, bytes], EmulatedFunction] = {}
        self._layouts: dict[tuple[int, bytes], ctypes.Array[ctypes.c_uint32]] = {}
        self._next_module = 1
        # C calls these until the process ends.
        self.callbacks = Callbacks(
            **{name: kind(self._callback(name)) for name, kind in Callbacks._fields_}
        )

    def _callback(self, name: str) -> Callable[..., Any]:
        """Return a method for C. What it raises itself would be success there: ctypes prints the
        error and returns 0."""
        method = getattr(self, name)
        failed = _WITHOUT_CODE.get(name, INVALID_VALUE)

        def called(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except BaseException as error:  # a C caller knows error codes only
                self.failed(error, name)
                return failed

        return called

    def failed(self, error: BaseException, what: str) -> None:
        """Tell people of an error, of which the program only gets a code."""
        print(f"amdjit's HIP: {what}: {error}", file=sys.stderr, flush=True)

    def allocate(self, nbytes: int, for_host: int, frames: Any, count: int) -> int:
        """Return the address of new memory, which the host may write if it is for it."""

        def make() -> int:
            address = self.device.allocate(nbytes)
            if for_host:
                self.device.share(address)
            return address

        return self._guarded(make, 0, "hipMalloc")

    def release(self, address: int, frames: Any, count: int) -> int:
        """Free memory."""
        return self._done(lambda: self.device.free(address), INVALID_VALUE, "hipFree")

    def adopt(self, address: int, nbytes: int) -> int:
        """Let kernels access memory of the program until it is released."""
        return self._done(
            lambda: self.device.adopt(address, nbytes), INVALID_VALUE, "hipHostRegister"
        )

    def to_device(self, address: int, source: int, nbytes: int) -> int:
        """Copy from the host."""
        return self._done(
            lambda: self.device.copy_to_device(address, _bytes(source, nbytes)),
            INVALID_VALUE,
            "a copy to the device",
        )

    def to_host(self, destination: int, address: int, nbytes: int) -> int:
        """Copy to the host."""
        return self._done(
            lambda: self.device.copy_to_host(_bytes(destination, nbytes), address),
            INVALID_VALUE,
            "a copy to the host",
        )

    def load(self, image: int, most_bytes: int, module: Any) -> int:
        """Load a code object, or the one of a bundle that suits the device."""
        try:
            data = _image(image, most_bytes)
            chosen = self._chosen(data)
            module[0] = self._next_module
            self.modules[self._next_module] = self.device.load(chosen)
        except MalformedCodeObject as error:
            self.failed(error, "a code object is damaged")
            return INVALID_IMAGE
        except AmdjitError as error:
            self.failed(error, "a code object cannot be loaded")
            return NO_BINARY
        except BaseException as error:  # a C caller knows error codes only
            self.failed(error, "a code object cannot be loaded")
            return INVALID_IMAGE
        self._next_module += 1
        return SUCCESS

    def _chosen(self, data: bytes) -> bytes:
        bundle = read_bundle(data)
        target = most_specific([each.target for each in bundle.members], self.device.target)
        for member in bundle.members:
            if member.target == target:
                return member.code_object.data
        there = ", ".join(each.target.id for each in bundle.members)
        raise LaunchError(
            f"the program has code for {there}, and the device is {self.device.name}: compile it "
            f"with --offload-arch={self.device.target.name}, or choose another device"
        )

    def unload(self, module: int) -> None:
        """Forget a module."""
        self.modules.pop(module, None)
        for known in (self._functions, self._layouts):
            for key in [key for key in known if key[0] == module]:
                known.pop(key)

    def describe(self, module: int, name: bytes) -> int:
        """Return the address of a kernel's `Layout`, 0 if there is no such kernel."""
        key = module, name
        if key not in self._layouts:
            if name.decode() not in self.modules[module].code_object.kernels:
                return 0
            self._layouts[key] = self._layout(self._function(*key))
        return ctypes.addressof(self._layouts[key])

    def _layout(self, function: EmulatedFunction) -> ctypes.Array[ctypes.c_uint32]:
        facts = function.kernel.metadata
        pairs = [each for one in facts.explicit_arguments for each in (one.offset, one.size)]
        words = [
            max(facts.kernarg_size, explicit_size(function.kernel)),
            facts.group_segment_bytes,
            facts.private_segment_bytes,
            facts.vgpr_count,
            facts.wave_size,
            facts.max_flat_workgroup_size,
            len(pairs) // 2,
            *pairs,
        ]
        return (ctypes.c_uint32 * len(words))(*words)

    def _function(self, module: int, name: bytes) -> EmulatedFunction:
        key = module, name
        if key not in self._functions:
            self._functions[key] = self.modules[module].function(name.decode())
        return self._functions[key]

    def symbol(self, module: int, name: bytes, address: Any, nbytes: Any) -> int:
        """Say where a variable of a module is, and how long."""
        loaded = self.modules[module]
        wanted = name.decode()
        for symbol in loaded.code_object.dynamic_symbols:
            if symbol.name == wanted and symbol.section:
                address[0], nbytes[0] = loaded.load_bias + symbol.address, symbol.size
                return SUCCESS
        return NOT_FOUND

    def launch(
        self,
        module: int,
        name: bytes,
        sizes: Any,
        dynamic_lds: int,
        kernarg: int,
        nbytes: int,
        cooperative: int,
    ) -> int:
        """Run a kernel to its end."""

        def run() -> None:
            x, y, z, block_x, block_y, block_z = sizes[:6]
            shape = LaunchShape(
                (x, y, z), (block_x, block_y, block_z), dynamic_lds, bool(cooperative)
            )
            arguments = bytearray(ctypes.string_at(kernarg, nbytes))
            self.run(self._function(module, name), shape, arguments)

        return self._done(run, LAUNCH_FAILURE, "a launch")

    def run(self, function: EmulatedFunction, shape: LaunchShape, kernarg: bytearray) -> None:
        """Launch a kernel."""
        self.device.launch(function, shape, kernarg)

    def compile(self, folder: bytes, options: Any, count: int) -> int:
        """Compile a program of hiprtc."""
        target = self.device.target
        given = [options[number].decode() for number in range(count)]
        return compile_program(Path(folder.decode()), given, target.name, target.wave_size)

    def discard(self, folder: bytes) -> None:
        """Remove the folder of a program of hiprtc."""
        shutil.rmtree(folder.decode(), ignore_errors=True)

    def time(self) -> int:
        """The device's time in nanoseconds, 0 for that of the host."""
        return 0

    def _done(self, action: Callable[[], None], code: int, what: str) -> int:
        def succeed() -> int:
            action()
            return SUCCESS

        return self._guarded(succeed, code, what)

    def _guarded(self, action: Callable[[], int], failed: int, what: str) -> int:
        try:
            return action()
        except BaseException as error:  # a C caller knows error codes only
            self.failed(error, what)
            return failed


def frames_of(frames: Any, count: int) -> Sequence[int]:
    """Return the return addresses that C passes, the innermost first."""
    return frames[:count] if count else ()


def _bytes(address: int, nbytes: int) -> memoryview:
    return memoryview((ctypes.c_ubyte * nbytes).from_address(address)).cast("B")


_LONGEST_HEAD = 1 << 20


def _image(address: int, most_bytes: int) -> bytes:
    """Return the code object or bundle at an address, which does not say where it ends."""
    head = ctypes.string_at(address, min(most_bytes, _LONGEST_HEAD))
    if is_bundle(head):
        nbytes = bundle_size(head)
    elif head[:4] == b"\x7fELF" and len(head) >= 64:
        # Linkers put the section headers last (e_shoff, e_shentsize, e_shnum).
        start, size, count = struct.unpack_from("<40xQ10x2H", head)
        nbytes = start + size * count
    else:
        raise MalformedCodeObject("it is neither an ELF file nor an offload bundle")
    if nbytes > most_bytes:
        raise MalformedCodeObject(f"it claims {nbytes} bytes, and {most_bytes} are there")
    return ctypes.string_at(address, nbytes)
