"""amdjit: typed Python functions as AMDGPU kernels, on an AMD GPU or on the embedded emulator.

@amdjit.kernel
def saxpy(a, x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]

saxpy[(n + 255) // 256, 256](np.float32(2), x, y, out)
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

# Not in `__all__`: `from amdjit import *` is not to hide Python's own `compile`, `random`, `types`.
from amdjit import declarations as declarations
from amdjit import intrinsics
from amdjit import types as types
from amdjit.api import Kernel, kernel
from amdjit.api import compile as compile
from amdjit.checking.sanitizing import sanitize
from amdjit.checking.simulating import simulate
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
    current_stream,
    devices,
    synchronize,
    use,
)
from amdjit.diagnostics import (
    AmdjitError,
    BackendError,
    CompileError,
    CompileWarning,
    DeviceWarning,
    InternalError,
    KernelFault,
    LaunchError,
    LaunchWarning,
    PerformanceWarning,
    TargetError,
    TypeCheckError,
    UnsupportedSyntaxError,
)
from amdjit.intrinsics import atomic
from amdjit.intrinsics.lds import address_of, const, local, shared
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
from amdjit.language.named_types import *  # noqa: F403
from amdjit.late import late
from amdjit.launching.compiled_bundle import CompiledBundle
from amdjit.options import OptionError
from amdjit.runtime.torch_tensors import keep_torch_compile_out
from amdjit.types import Choice, Immediate

if TYPE_CHECKING:
    from amdjit import random as random
    from amdjit.advising.launches import profile
    from amdjit.algorithms.histogram import histogram
    from amdjit.algorithms.reduction import reduce
    from amdjit.algorithms.scan import exclusive_scan, inclusive_scan
    from amdjit.algorithms.selection import compact, unique
    from amdjit.algorithms.sorting import argsort, sort
    from amdjit.algorithms.vectorize import Vectorized, vectorize
    from amdjit.arrays.creation import (
        MemoryPool,
        arange,
        asarray,
        empty,
        empty_like,
        from_dlpack,
        full,
        full_like,
        managed_empty,
        ones,
        ones_like,
        pinned_empty,
        to_device,
        zeros,
        zeros_like,
    )
    from amdjit.arrays.device_array import DeviceArray
    from amdjit.command_line.magics import load_ipython_extension as load_ipython_extension
    from amdjit.debugging.debugger import Debugger
    from amdjit.debugging.opening import debug
    from amdjit.diagnostics.sanitizer import SanitizerError, SanitizerReport, SanitizerWarning
    from amdjit.hip_programs.library import hip_library
    from amdjit.inspection.hazards import Hazards, hazards
    from amdjit.inspection.inspection import Inspection
    from amdjit.inspection.reading import inspect_object
    from amdjit.intrinsics import arithmetic as arithmetic
    from amdjit.intrinsics import block as block
    from amdjit.intrinsics import cooperative_groups as cooperative_groups
    from amdjit.language import signature_texts
    from amdjit.launching.loaded_modules import load
    from amdjit.profiling.launch_profile import LaunchProfile
    from amdjit.replaying import Replay, replay
    from amdjit.runtime.graphs import ExecutableGraph, Graph, GraphNode
    from amdjit.runtime.ranges import named_range
    from amdjit.runtime.recording import record
    from amdjit.tuning.autotuned import TunedKernel, autotune
    from amdjit.tuning.bench import bench
    from amdjit.tuning.errors import TuningError
    from amdjit.tuning.timing import Timing
else:
    signature_texts = late("amdjit.language.signature_texts")

__version__ = "0.1.0"

keep_torch_compile_out()

jit = kernel
bitcast = SpecialForm(
    Form.BITCAST,
    "`bitcast(value, type)`: the same bits read as another type of the same size.",
    "bits = amdjit.bitcast(x[i], i32)",
)
shuffle = SpecialForm(
    Form.SHUFFLE,
    "`shuffle(v, w, indices)`: elements of two vectors, counted through both.",
    "low = amdjit.shuffle(v, w, (0, 1, 4, 5))",
)
static_range = SpecialForm(
    Form.STATIC_RANGE,
    "`static_range(start, stop, step)`: a range of compile-time bounds whose rounds are typed one "
    "by one; arguments as `range` has them.",
    "for k in amdjit.static_range(4): total += v[k]",
)
unroll = SpecialForm(
    Form.UNROLL,
    "`unroll(range(...), n)`: ask for n rounds at a time (all without n).",
    "for k in amdjit.unroll(range(n), 4): total += x[k]",
)

__all__ = [
    "AmdjitError",
    "As",
    "BackendError",
    "Choice",
    "CompileError",
    "CompileWarning",
    "CompiledBundle",
    "CompiledKernel",
    "Const",
    "Debugger",
    "DeviceArray",
    "DeviceWarning",
    "Emit",
    "Event",
    "ExecutableGraph",
    "Graph",
    "GraphNode",
    "Hazards",
    "Immediate",
    "InlineAsm",
    "Inspection",
    "InternalError",
    "Kernel",
    "KernelFault",
    "LaunchError",
    "LaunchProfile",
    "LaunchWarning",
    "LlvmCall",
    "MemoryPool",
    "OptionError",
    "PerformanceWarning",
    "Replay",
    "SanitizerError",
    "SanitizerReport",
    "SanitizerWarning",
    "Stream",
    "TargetError",
    "Timing",
    "TunedKernel",
    "TuningError",
    "TypeCheckError",
    "UnsupportedSyntaxError",
    "Vectorized",
    "address_of",
    "arange",
    "argsort",
    "asarray",
    "atomic",
    "autotune",
    "bench",
    "bf8",
    "bf8_fnuz",
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
    "block",
    "blockDim",
    "blockIdx",
    "boolean",
    "compact",
    "complex64",
    "complex128",
    "const",
    "cooperative_groups",
    "current_device",
    "current_stream",
    "debug",
    "device_function",
    "devices",
    "empty",
    "empty_like",
    "exclusive_scan",
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
    "fp8_fnuz",
    "fp8x2",
    "fp8x3",
    "fp8x4",
    "fp8x8",
    "fp8x16",
    "fp8x32",
    "from_dlpack",
    "full",
    "full_like",
    "grid",
    "gridDim",
    "gridsize",
    "hazards",
    "hip_library",
    "histogram",
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
    "inclusive_scan",
    "inspect_object",
    "intrinsic",
    "intrinsics",
    "jit",
    "kernel",
    "lane_id",
    "load",
    "local",
    "managed_empty",
    "named_range",
    "ones",
    "ones_like",
    "pinned_empty",
    "profile",
    "record",
    "reduce",
    "replay",
    "sanitize",
    "shared",
    "shuffle",
    "simulate",
    "sort",
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
    "unique",
    "unroll",
    "use",
    "vector",
    "vectorize",
    "void",
    "wave_id",
    "wavefront_size",
    "zeros",
    "zeros_like",
]

# What only some programs use is loaded at its first use: modules, with the names that they have.
_LATE_NAMES = {
    "amdjit.algorithms.histogram": ("histogram",),
    "amdjit.algorithms.reduction": ("reduce",),
    "amdjit.algorithms.scan": ("exclusive_scan", "inclusive_scan"),
    "amdjit.algorithms.selection": ("compact", "unique"),
    "amdjit.algorithms.sorting": ("argsort", "sort"),
    "amdjit.algorithms.vectorize": ("Vectorized", "vectorize"),
    "amdjit.arrays.creation": (
        "MemoryPool", "arange", "asarray", "empty", "empty_like", "from_dlpack", "full",
        "full_like", "managed_empty", "ones", "ones_like", "pinned_empty", "to_device", "zeros",
        "zeros_like",
    ),
    "amdjit.arrays.device_array": ("DeviceArray",),
    "amdjit.command_line.magics": ("load_ipython_extension",),
    "amdjit.diagnostics.sanitizer": ("SanitizerError", "SanitizerReport", "SanitizerWarning"),
    "amdjit.hip_programs.library": ("hip_library",),
    "amdjit.debugging.debugger": ("Debugger",),
    "amdjit.debugging.opening": ("debug",),
    "amdjit.inspection.inspection": ("Inspection",),
    "amdjit.inspection.hazards": ("Hazards", "hazards"),
    "amdjit.inspection.reading": ("inspect_object",),
    "amdjit.launching.loaded_modules": ("load",),
    "amdjit.replaying": ("Replay", "replay"),
    "amdjit.runtime.recording": ("record",),
    "amdjit.advising.launches": ("profile",),
    "amdjit.profiling.launch_profile": ("LaunchProfile",),
    "amdjit.runtime.graphs": ("ExecutableGraph", "Graph", "GraphNode"),
    "amdjit.runtime.ranges": ("named_range",),
    "amdjit.tuning.autotuned": ("TunedKernel", "autotune"),
    "amdjit.tuning.bench": ("bench",),
    "amdjit.tuning.errors": ("TuningError",),
    "amdjit.tuning.timing": ("Timing",),
}  # fmt: skip
_LATE = {name: module for module, names in _LATE_NAMES.items() for name in names}


_LATE_MODULES = {
    "arithmetic": "amdjit.intrinsics.arithmetic",
    "block": "amdjit.intrinsics.block",
    "cooperative_groups": "amdjit.intrinsics.cooperative_groups",
    "random": "amdjit.random",
}


if not TYPE_CHECKING:  # which would take every name for one of the module's

    def __getattr__(name: str) -> Any:
        if name in _LATE_MODULES:
            return importlib.import_module(_LATE_MODULES[name])
        if name not in _LATE:
            known = signature_texts.other_name(name)
            message = f"module {__name__!r} has no attribute {name!r}"
            # With the name and the module, Python suggests a similar name itself.
            raise AttributeError(
                f"{message}: {known}" if known else message, name=name, obj=sys.modules[__name__]
            )
        return getattr(late(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "compile", "declarations", "random", "types"])
