"""Run a lowered kernel's IR on the CPU: what the IR means, independently of what the AMDGPU back
end makes of it.

Only kernels whose work-item indices do not matter: the kernel is called once, as a function.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import llvmlite.binding as llvm
import numpy as np

_C_INTEGERS = {
    np.dtype(kind): getattr(ctypes, f"c_{kind}") for kind in ("int8", "int16", "int32", "int64")
}
_C_INTEGERS |= {
    np.dtype(f"u{kind}"): getattr(ctypes, f"c_u{kind}")
    for kind in ("int8", "int16", "int32", "int64")
}
_C_NUMBERS = _C_INTEGERS | {
    np.dtype(np.float32): ctypes.c_float,
    np.dtype(np.float64): ctypes.c_double,
}


def run_on_host(llvm_text: str, kernel: str, *arguments: Any) -> None:
    """Call a kernel with NumPy arrays (contiguous, one axis, 32-bit extents) and NumPy scalars."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    with llvm.parse_assembly(_for_host(llvm_text)) as module:
        module.verify()
        # The CPU name that the wheel detects is wrong on some virtual machines; a baseline CPU is
        # sufficient.
        machine = llvm.Target.from_default_triple().create_target_machine(
            opt=2, features="+f16c,+fma"
        )
        module.data_layout = str(machine.target_data)
        with llvm.create_mcjit_compiler(module, machine) as engine:
            engine.finalize_object()
            values = _in_kernarg_order([_c_values(argument) for argument in arguments])
            prototype = ctypes.CFUNCTYPE(None, *(type(value) for value in values))
            prototype(engine.get_function_address(kernel))(*values)
            engine.remove_module(module)
            module.detach()


def _for_host(text: str) -> str:
    text = re.sub(r"target (triple|datalayout) = .*", "", text)
    text = (
        re.sub(r",? ?addrspace\([0-9]\)", "", text)
        .replace("amdgpu_kernel ", "")
        .replace("protected ", "")
    )
    return re.sub(
        r'"(target-cpu|target-features|amdgpu-[a-z-]+|uniform-work-group-size)"="[^"]*"', "", text
    )


def _in_kernarg_order(arguments: list[list[Any]]) -> list[Any]:
    """Addresses first, as `amdjit.abi.kernarg` says."""
    addresses = [values[0] for values in arguments if len(values) > 1]
    return addresses + [values[-1] for values in arguments]


def _c_values(argument: Any) -> list[Any]:
    if isinstance(argument, np.ndarray):
        assert argument.ndim == 1
        assert argument.flags.c_contiguous
        return [ctypes.c_void_p(argument.ctypes.data), ctypes.c_int32(argument.size)]
    return [_C_NUMBERS[argument.dtype](argument)]
