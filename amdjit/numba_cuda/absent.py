"""Names of `numba.cuda` that have no meaning on an AMD GPU. They exist, and using one says why it
does not work."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Any, NoReturn

from amdjit.diagnostics import LaunchError

__all__ = ["ABSENT", "AbsentError", "refused", "stand_in"]


class AbsentError(LaunchError, NotImplementedError):
    """The program used something of CUDA's that an AMD GPU does not have."""


class AbsentAttributeError(AbsentError, AttributeError):
    """The program asked for an attribute of something of CUDA's: also an AttributeError, which
    `hasattr` and `getattr` with a default expect."""


_PTX = "PTX is NVIDIA's assembly language, which an AMD GPU does not run"
_ASSEMBLY = "`kernel.compile(types).asm` has the assembly, and `.code_object` what the GPU loads"
_LINKED = "an AMD GPU links no code of CUDA's"
_BITCODE = "declare a function of LLVM bitcode by @amdjit.intrinsic(LlvmCall(name, library=file))"
_MEMORY = "memory belongs to amdjit's pools"
_POOLS = "amdjit.MemoryPool says how they grow, and arrays of other libraries are used in place"
_IPC = "memory is not shared between processes"
_SHARING = "share it on the host with multiprocessing.shared_memory, and copy"
ABSENT = MappingProxyType(
    {
        **dict.fromkeys(
            ("compile", "compile_all", "compile_for_current_device"), (_PTX, _ASSEMBLY)
        ),
        **dict.fromkeys(("compile_ptx", "compile_ptx_for_current_device"), (_PTX, _ASSEMBLY)),
        **dict.fromkeys(
            (
                "Archive", "CUSource", "Cubin", "Fatbin", "LinkableCode", "LTOIR", "Object",
                "declare_device",
            ),
            (_LINKED, _BITCODE),
        ),
        "PTXSource": (_PTX, _BITCODE),
        **dict.fromkeys(
            (
                "BaseCUDAMemoryManager", "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager",
                "MappedMemory", "MemoryPointer", "PinnedMemory", "set_memory_manager",
            ),
            (_MEMORY, _POOLS),
        ),
        **dict.fromkeys(("IpcHandle", "get_ipc_handle", "open_ipc_array"), (_IPC, _SHARING)),
        "inspect_lto_ptx": (_PTX, "`inspect_asm` has the assembly"),
        "inspect_sass_cfg": (
            "there is no SASS on an AMD GPU",
            "`inspect_asm` has the assembly, and `amdjit explore` shows its branches",
        ),
        **dict.fromkeys(
            (
                "core_models", "infer", "infer_getattr", "infer_global", "intrinsic",
                "lower", "lower_attr", "lower_builtin", "lower_cast", "lower_constant",
                "make_attribute_wrapper", "models", "overload_attribute",
                "overload_classmethod", "overload_method", "register_model", "type_callable",
                "typeof_impl",
            ),
            (
                "it extends Numba's compiler, which does not compile this kernel",
                "write a function in Python and `overload` it, or declare an operation by "
                "@amdjit.intrinsic",
            ),
        ),
        "Literal": (
            "literal types exist only inside Numba's compiler", "pass a Const[...] parameter"
        ),
        "literal": (
            "overloads of literals exist only inside Numba's compiler",
            "write `literal_unroll`, or a plain loop over the tuple",
        ),
    }
)  # fmt: skip
"""For each name, the reason and what to do instead."""


def refused(name: str) -> NoReturn:
    """Raise AbsentError for a name."""
    raise AbsentError(_refusal(name))


def _refusal(name: str) -> str:
    reason, instead = ABSENT[name]
    return f"{name}: {reason}; {instead}"


class _Refusing(type):
    """The class of names that are refused when they are used, as a function or as a base class."""

    def __call__(cls, *arguments: Any, **keywords: Any) -> NoReturn:
        refused(cls.__name__)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(f"{cls.__name__!r} has no attribute {name!r}")
        raise AbsentAttributeError(f"{cls.__name__}.{name}: {_refusal(cls.__name__)}")

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        for base in bases:
            refused(base.__name__)
        return super().__new__(cls, name, bases, namespace)


@functools.cache
def stand_in(name: str) -> Any:
    """Return the object that stands for an absent name; None for other names."""
    if name not in ABSENT:
        return None
    return _Refusing(name, (), {"__doc__": f"Not on an AMD GPU: {ABSENT[name][0]}."})
