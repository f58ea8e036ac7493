"""Code objects that a GPU has loaded, and their kernels."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amdjit.late import late
from amdjit.runtime.hip.calls import call, hip_library, version_text
from amdjit.runtime.hip.handles import Handle
from amdjit.runtime.hip_errors import (
    FIRST_WITH_VERSION_6,
    UPDATE_ROCM,
    WITHOUT_VERSION_6,
    HipError,
)

if TYPE_CHECKING:
    from amdjit import code_object
else:
    # Only cooperative launches ask where the arguments are.
    code_object = late("amdjit.code_object")

# What HIP says of code objects that it cannot load: hipErrorInvalidDeviceFunction, InvalidImage,
# NoBinaryForGpu, SharedObjectInitFailed.
_REFUSED_CODE = frozenset({98, 200, 209, 303})


class HipFunction:
    """A kernel of a loaded code object."""

    def __init__(self, name: str, module: HipModule, native: Any) -> None:
        self.name = name
        self.doing = f"launch {name}"
        self.native = native
        self._module = module
        self._parameters = bytearray()
        self._parameters_address = 0
        self.lock = threading.Lock()

    def fill_parameters(self, kernarg: bytearray) -> int:
        """Return the address of `kernelParams` for this kernarg: a pointer to each argument. Hold
        `lock` until HIP has read it."""
        if not self._parameters:
            self._make_parameters(len(kernarg))
        self._parameters[len(self._parameters) - len(kernarg) :] = kernarg
        return self._parameters_address

    def _make_parameters(self, nbytes: int) -> None:
        offsets = self._module.argument_offsets(self.name)
        places = 8 * len(offsets)
        parameters = bytearray(places + nbytes)
        self._pinned_parameters = (ctypes.c_char * len(parameters)).from_buffer(parameters)
        self._parameters_address = ctypes.addressof(self._pinned_parameters)
        first = self._parameters_address + places
        pointers = (first + offset for offset in offsets)
        struct.pack_into(f"<{len(offsets)}Q", parameters, 0, *pointers)
        self._parameters = parameters


class HipModule:
    """A code object that one GPU has loaded."""

    def __init__(
        self, code_object: bytes, caller: Callable[..., Any], unload: Callable[[Any], None]
    ) -> None:
        # HIP does not copy the image, and may read it when a kernel is first looked up.
        self._image = code_object
        doing = f"load a code object of {len(code_object)} bytes"
        try:
            native = caller(doing, hip_library().hipModuleLoadData, code_object)
        except HipError as error:
            raise _explained(error) from None
        self._handle = Handle(native, unload)

    def argument_offsets(self, name: str) -> list[int]:
        """Return where each explicit argument of a kernel is, in bytes."""
        kernel = code_object.CodeObject.read(self._image).kernels[name]
        return [argument.offset for argument in kernel.metadata.explicit_arguments]

    def function(self, name: str) -> HipFunction:
        """Return the kernel of this symbol name; HipError if there is none."""
        doing = f"find the kernel {name} in its code object"
        native = call(doing, hip_library().hipModuleGetFunction, self._handle.native, name.encode())
        return HipFunction(name, self, native)


def _explained(error: HipError) -> HipError:
    """Return why HIP refused a code object. What looks like another processor's code may be code of
    a format that this HIP does not read yet."""
    if error.code not in _REFUSED_CODE:
        return error
    number = call("read the runtime's version", hip_library().hipRuntimeGetVersion)
    found = f"This is HIP {version_text(number)}"
    if number >= FIRST_WITH_VERSION_6:
        return error.with_detail(f"{found}.")
    return error.with_detail(f"{found}, {WITHOUT_VERSION_6}.", UPDATE_ROCM)
