"""Compile the GEMM of `flydsl_kernels.py` for gfx1201, without a GPU: the request is JSON on
standard input.

Writes the code object to the file that the first argument names, and what a launch must know to
standard output. FlyDSL imports torch for its types alone, and runs ROCm's linker: here are names in
torch's place, and LLVM's linker.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import sys
import types
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

_NAMES = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "Tensor",
)
# Arrays of the same size that NumPy exports, and the codes of the types that it does not (DLPack's
# dlpack.h).
_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": np.int16,
    "fp8": np.int8,
    "i8": np.int8,
    "f32": np.float32,
    "i32": np.int32,
}
_CODES = {"bf16": 4, "fp8": 10}
# Where `code` lies in a DLTensor: after data, device and ndim.
_CODE_OFFSET = 20
_ESCAPED = re.compile(rb"\\([0-9A-F]{2}|.)")


class _Tensor:
    """An array that calls its elements something else in DLPack."""

    def __init__(self, shape: tuple[int, int], kind: str) -> None:
        self._array = np.zeros(shape, _DTYPES[kind])
        self._kind = kind

    def __dlpack__(self, **_: Any) -> Any:
        capsule = self._array.__dlpack__()
        if self._kind in _CODES:
            pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
            pointer_of.restype, pointer_of.argtypes = (
                ctypes.c_void_p,
                [ctypes.py_object, ctypes.c_char_p],
            )
            ctypes.c_uint8.from_address(
                pointer_of(capsule, b"dltensor") + _CODE_OFFSET
            ).value = _CODES[self._kind]
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def _prepare(folder: Path) -> None:
    """Set up what FlyDSL looks for."""
    if "torch" not in sys.modules:
        torch = types.ModuleType("torch")
        for name in _NAMES:
            setattr(torch, name, type(name, (), {}))
        torch.cuda = types.SimpleNamespace(Stream=type("Stream", (), {}))  # type: ignore[attr-defined]
        sys.modules["torch"] = torch
    linker = shutil.which("ld.lld-22") or shutil.which("ld.lld")
    assert linker, "ld.lld is not installed"
    (folder / "llvm" / "bin").mkdir(parents=True)
    (folder / "llvm" / "bin" / "ld.lld").symlink_to(linker)
    os.environ |= {
        "ROCM_PATH": str(folder),
        "COMPILE_ONLY": "1",
        "ARCH": "gfx1201",
        "FLYDSL_GPU_ARCH": "gfx1201",
        "FLYDSL_DUMP_IR": "1",
        "FLYDSL_DUMP_DIR": str(folder / "dump"),
        "FLYDSL_RUNTIME_ENABLE_CACHE": "0",
    }


def _code_object(folder: Path) -> tuple[bytes, str]:
    """Return the binary in the last module that FlyDSL wrote down, and the kernel's name."""
    (module,) = folder.glob("dump/*/*_gpu_module_to_binary.mlir")
    text = module.read_bytes()
    found = re.search(rb'bin = "((?:[^"\\]|\\.)*)"', text)
    kernel = re.search(rb"@kernels::@(\w+)", text)
    assert found
    assert kernel
    code = _ESCAPED.sub(lambda m: bytes([int(m[1], 16)]) if len(m[1]) == 2 else m[1], found[1])
    return code, kernel[1].decode()


def main() -> None:
    """Compile what standard input asks for."""
    request = json.load(sys.stdin)
    output = Path(sys.argv[1])
    folder = output.parent
    _prepare(folder)
    # After the preparation: importing FlyDSL imports torch.
    import flydsl.compiler as flyc  # noqa: PLC0415

    from tests.foreign.flydsl_kernels import gemm  # noqa: PLC0415

    m, n, k = request["size"]
    kind, total = request["kinds"]
    tensors = _Tensor((m, k), kind), _Tensor((n, k), kind), _Tensor((m, n), total)
    launch = gemm(kind, total, (m, n, k), tuple(request["waves"]), request["unrolled"])
    launch(*(flyc.from_dlpack(tensor) for tensor in tensors))
    code, symbol = _code_object(folder)
    output.write_bytes(code)
    items = 32 * request["waves"][0] * request["waves"][1]
    print(
        json.dumps({"version": version("flydsl"), "symbol": symbol, "lds": 0, "work_items": items})
    )


if __name__ == "__main__":
    main()
