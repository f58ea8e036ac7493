"""amdjit: typed Python functions as AMDGPU kernels, on an AMD GPU or on the embedded emulator.

@amdjit.kernel
def saxpy(a, x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]

saxpy[(n + 255) // 256, 256](np.float32(2), x, y, out)
"""

import importlib
from typing import TYPE_CHECKING, Any

# Not in `__all__`: `from amdjit import *` is not to hide Python's own module `types`.
from amdjit import declarations as declarations
from amdjit import intrinsics
from amdjit import types as types
from amdjit.api import Kernel, kernel
from amdjit.checking.sanitizing import sanitize
from amdjit.compiled_kernel import CompiledKernel
from amdjit.declarations import (
    As,
    Emit,
    Form,
    InlineAsm,
    LlvmCall,
    SpecialForm,
    device_function,
    intrinsic,
)
from amdjit.devices import (
    Event,
    Stream,
    current_device,
    devices,
    empty,
    from_dlpack,
    full,
    synchronize,
    to_device,
    use,
    zeros,
)
from amdjit.diagnostics import (
    AmdjitError,
    BackendError,
    CompileError,
    CompileWarning,
    InternalError,
    KernelFault,
    LaunchError,
    PerformanceWarning,
    TargetError,
    TypeCheckError,
    UnsupportedSyntaxError,
)
from amdjit.intrinsics import atomic
from amdjit.intrinsics.lds import address_of, local, shared
from amdjit.intrinsics.sync import syncthreads
from amdjit.intrinsics.workitem import (
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    lane_id,
    threadIdx,
    wave_id,
    wavefront_size,
)
from amdjit.language.complex_types import complex64, complex128
from amdjit.language.vector_types import *  # noqa: F403
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import (
    Choice,
    Const,
    Immediate,
    bf8,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    fp8,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    vector,
)

if TYPE_CHECKING:
    from amdjit.diagnostics.sanitizer import SanitizerError, SanitizerReport, SanitizerWarning
    from amdjit.inspection.inspection import Inspection
    from amdjit.inspection.reading import inspect_object
    from amdjit.profiling.profile import LaunchProfile, profile

__version__ = "0.1.0"

jit = kernel
bitcast = SpecialForm(
    Form.BITCAST, "`bitcast(value, type)`: the same bits read as another type of the same size."
)
shuffle = SpecialForm(
    Form.SHUFFLE, "`shuffle(v, w, indices)`: elements of two vectors, counted through both."
)
static_range = SpecialForm(
    Form.STATIC_RANGE, "A range of compile-time bounds whose rounds are typed one by one."
)
unroll = SpecialForm(
    Form.UNROLL, "`unroll(range(...), n)`: ask for n rounds at a time (all without n)."
)

__all__ = [
    "AmdjitError",
    "As",
    "BackendError",
    "Choice",
    "CompileError",
    "CompileWarning",
    "CompiledKernel",
    "Const",
    "DeviceArray",
    "Emit",
    "Event",
    "Immediate",
    "InlineAsm",
    "Inspection",
    "InternalError",
    "Kernel",
    "KernelFault",
    "LaunchError",
    "LaunchProfile",
    "LlvmCall",
    "PerformanceWarning",
    "SanitizerError",
    "SanitizerReport",
    "SanitizerWarning",
    "Stream",
    "TargetError",
    "TypeCheckError",
    "UnsupportedSyntaxError",
    "address_of",
    "atomic",
    "bf8",
    "bf8x2",
    "bf8x3",
    "bf8x4",
    "bf8x8",
    "bf8x16",
    "bf8x32",
    "bf16",
    "bf16x2",
    "bf16x3",
    "bf16x4",
    "bf16x8",
    "bf16x16",
    "bf16x32",
    "bitcast",
    "blockDim",
    "blockIdx",
    "boolean",
    "complex64",
    "complex128",
    "current_device",
    "device_function",
    "devices",
    "empty",
    "f16",
    "f16x2",
    "f16x3",
    "f16x4",
    "f16x8",
    "f16x16",
    "f16x32",
    "f32",
    "f32x2",
    "f32x3",
    "f32x4",
    "f32x8",
    "f32x16",
    "f32x32",
    "f64",
    "f64x2",
    "f64x3",
    "f64x4",
    "f64x8",
    "f64x16",
    "f64x32",
    "fp8",
    "fp8x2",
    "fp8x3",
    "fp8x4",
    "fp8x8",
    "fp8x16",
    "fp8x32",
    "from_dlpack",
    "full",
    "grid",
    "gridDim",
    "gridsize",
    "i8",
    "i8x2",
    "i8x3",
    "i8x4",
    "i8x8",
    "i8x16",
    "i8x32",
    "i16",
    "i16x2",
    "i16x3",
    "i16x4",
    "i16x8",
    "i16x16",
    "i16x32",
    "i32",
    "i32x2",
    "i32x3",
    "i32x4",
    "i32x8",
    "i32x16",
    "i32x32",
    "i64",
    "i64x2",
    "i64x3",
    "i64x4",
    "i64x8",
    "i64x16",
    "i64x32",
    "inspect_object",
    "intrinsic",
    "intrinsics",
    "jit",
    "kernel",
    "lane_id",
    "local",
    "profile",
    "sanitize",
    "shared",
    "shuffle",
    "static_range",
    "synchronize",
    "syncthreads",
    "threadIdx",
    "to_device",
    "u8",
    "u8x2",
    "u8x3",
    "u8x4",
    "u8x8",
    "u8x16",
    "u8x32",
    "u16",
    "u16x2",
    "u16x3",
    "u16x4",
    "u16x8",
    "u16x16",
    "u16x32",
    "u32",
    "u32x2",
    "u32x3",
    "u32x4",
    "u32x8",
    "u32x16",
    "u32x32",
    "u64",
    "u64x2",
    "u64x3",
    "u64x4",
    "u64x8",
    "u64x16",
    "u64x32",
    "unroll",
    "use",
    "vector",
    "wave_id",
    "wavefront_size",
    "zeros",
]

# What only some programs use is loaded at its first use: names, with the modules that have them.
_LATE = {
    "Inspection": "amdjit.inspection.inspection",
    "LaunchProfile": "amdjit.profiling.profile",
    "SanitizerError": "amdjit.diagnostics.sanitizer",
    "SanitizerReport": "amdjit.diagnostics.sanitizer",
    "SanitizerWarning": "amdjit.diagnostics.sanitizer",
    "inspect_object": "amdjit.inspection.reading",
    "profile": "amdjit.profiling.profile",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)
