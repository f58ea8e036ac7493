"""`cuda.jit`: kernels and device functions as Numba declares them."""

from __future__ import annotations

import numbers
import types
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from amdjit import frontend
from amdjit.api import Kernel, Launcher
from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import LaunchError
from amdjit.language.call_signatures import CallSignature
from amdjit.language.signature_texts import NUMBA_SHORT_NAMES, numba_name, parse_signature
from amdjit.launching import explicit_signatures
from amdjit.launching.launchers import ForAll
from amdjit.numba_cuda import config
from amdjit.numba_cuda.absent import refused, stand_in
from amdjit.numba_cuda.args import HintedForAll, HintedLauncher, warn_of_few_blocks, with_hints
from amdjit.numba_cuda.arrays import array_at
from amdjit.numba_cuda.signatures import type_of
from amdjit.numba_cuda.streams import stream_of
from amdjit.numba_cuda.type_classes import as_dtype
from amdjit.types import Array, Layout, Pointer

__all__ = [
    "CUDADispatcher",
    "ConfigurationError",
    "ConfigurationTypeError",
    "DeviceDispatcher",
    "DeviceFunctionError",
    "Dispatcher",
    "declare_device",
    "jit",
]


class CompileStats(NamedTuple):
    """What was compiled, by signature."""

    cache_path: str | None
    """None, since amdjit finds its own cache."""
    cache_hits: Any
    cache_misses: Any


class ConfigurationTypeError(LaunchError, TypeError):
    """A grid or block that does not consist of integers: also a TypeError, as in Numba."""


class DeviceFunctionError(LaunchError, RuntimeError):
    """The program asked a device function for something that only kernels have: also a
    RuntimeError, as in Numba."""


class ConfigurationError(LaunchError, ValueError):
    """A launch without a grid and a block, or with too many axes: also a ValueError, as in
    Numba."""


class Dispatcher(Kernel):
    """A kernel that is launched like Numba's kernels, and that other kernels may call."""

    _launcher_types = (HintedLauncher, HintedForAll)
    _has_annotations = False

    def __init__(
        self, function: types.FunctionType, options: dict[str, Any], signatures: Any = None
    ) -> None:
        super().__init__(function, options, _with_arrays(signatures))
        self._signatures = signatures
        self._pointers = _pointers(signatures)
        inline = {"inline": False} if self._options.given.get("inline") is False else {}
        self.device_function = explicit_signatures.device_function_of(
            function, inline, _with_arrays(signatures)
        )
        self._extensions: list[Any] = []

    @property
    def pointers(self) -> dict[int, Any]:
        """NumPy's type of what each parameter that is a `CPointer` points at, by the parameter's
        place. A launch takes an address for it, and the kernel an array without an end."""
        return self._pointers

    @property
    def extensions(self) -> list[Any]:
        """Handlers of arguments: `prepare_args(type, value, stream=..., retr=...)` returns the type
        and value to launch with. They are called from the last to the first."""
        return self._extensions

    def __getitem__(self, launch: Any) -> Any:
        """Configure a launch: `kernel[griddim, blockdim, stream, sharedmem]`. A stream of 0 is the
        default stream, sharedmem counts bytes."""
        parts = launch if isinstance(launch, tuple) else (launch,)
        if not 2 <= len(parts) <= 4:
            raise ConfigurationError(
                f"must specify at least the griddim and blockdim: {self._usage()}"
            )
        return self.configure(*parts)

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Any:
        """Return `kernel[griddim, blockdim, stream, sharedmem]`."""
        grid, block = self._extents("griddim", griddim), self._extents("blockdim", blockdim)
        stream = stream_of(stream)
        if config.CUDA_LOW_OCCUPANCY_WARNINGS:
            warn_of_few_blocks(grid)
        parts = (grid, block) if stream is None and sharedmem == 0 else (grid, block, stream)
        launcher = super().__getitem__(parts if len(parts) == 2 else (*parts, sharedmem))
        return self._extended(launcher, stream)

    def _extents(self, name: str, given: Any) -> int | tuple[int, ...]:
        """Return a grid or block as Python's own integers."""
        if given.__class__ is int:
            return given
        extents = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if given is None:
            raise ConfigurationError(f"{name} is None: {self._usage()}")
        if len(extents) not in (1, 2, 3):
            raise ConfigurationError(
                f"{self.__name__}: {name} must be a sequence of 1, 2 or 3 integers, got "
                f"{list(extents)}: an AMD GPU counts along x, y and z"
            )
        for extent in extents:
            if not isinstance(extent, numbers.Integral):
                raise ConfigurationTypeError(
                    f"{self.__name__}: {name} must be a sequence of integers, got "
                    f"{list(extents)}, and {extent!r} is a {type(extent).__name__}: write "
                    "int(...), or `//` in place of `/`"
                )
        return tuple(map(int, extents))

    def _extended(self, launcher: Launcher | ForAll, stream: Any) -> Any:
        is_extended = self._extensions or self._pointers
        return ExtendedLaunch(self, launcher, stream) if is_extended else launcher

    def _usage(self) -> str:
        return (
            f"launch configuration was not specified; write {self.__name__}[griddim, blockdim](...)"
        )

    @property
    def specializations(self) -> dict[tuple[Any, ...], Kernel]:
        """The `specialized_kernels`."""
        return self.specialized_kernels

    @property
    def stats(self) -> CompileStats:
        """How many specialisations were compiled in this process."""
        return CompileStats(None, {}, dict.fromkeys(self.signatures, 1))

    @property
    def definition(self) -> Any:
        """The first specialisation; None if there is none yet."""
        return next(iter(self.overloads.values()), None)

    @property
    def call_count(self) -> int:
        """The number of specialisations."""
        return len(self.overloads)

    def recompile(self) -> None:
        """Forget the specialisations, so that later launches compile again."""
        self.__init__(self.function, self._options.given, self._signatures)  # type: ignore[misc]

    def inspect_types(  # type: ignore[override]
        self, file: Any = None, signature: Any = None, **how: Any
    ) -> Any:
        """Write the typed tree of each specialisation, behind its signature, to an open text file.
        Without one, return them as text, by signature.

        how: Numba's `pretty=` and `style=`, which change nothing here.
        """
        if not hasattr(file, "write"):  # a signature comes first in amdjit's own kernels
            return super().inspect_types(signature if file is None else file)
        for given in self.signatures if signature is None else [signature]:
            names = ", ".join(map(numba_name, given))
            file.write(f"{self.__name__} ({names})\n{super().inspect_types(given)}\n")
        return None

    def inspect_sass_cfg(self, signature: Any = None) -> NoReturn:
        """Raise AbsentError: there is no SASS on an AMD GPU."""
        refused("inspect_sass_cfg")

    def inspect_lto_ptx(self, signature: Any = None) -> NoReturn:
        """Raise AbsentError: there is no PTX on an AMD GPU."""
        refused("inspect_lto_ptx")

    def forall(  # type: ignore[override]
        self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0
    ) -> Any:
        """Configure a launch of at least `ntasks` work-items. tpb: work-items of a block; 0 lets
        amdjit choose."""
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        if tpb and ntasks:
            return self.configure(-(-ntasks // tpb), tpb, stream, sharedmem)
        stream = stream_of(stream)
        return self._extended(super().forall(ntasks, stream, sharedmem), stream)

    def compile(self, *arguments: Any, target: Any = None, **options: Any) -> Any:
        """Compile for types, or for a signature: a tuple of types, `void(float32[:])`, or text."""
        if len(arguments) == 1 and isinstance(arguments[0], (str, tuple, CallSignature)):
            arguments = explicit_signatures.parameter_types(
                self.__name__, _with_arrays(_signatures(arguments[0]))
            )
        return super().compile(*arguments, target=target, **options)

    def specialize(self, *arguments: Any) -> Kernel:
        """Return a kernel for arguments of these types, or of the types of these values."""
        return super().specialize(*(type_of(each) or each for each in arguments))

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Raise ValueError: a kernel is launched with a grid."""
        raise ConfigurationError(self._usage())

    def pickled_parts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what makes this kernel in a process that does not find it by its name."""
        return Dispatcher, (self.function, self._options.given, self._signatures)


CUDADispatcher = Dispatcher


class ExtendedLaunch:
    """A launch whose arguments the handlers of a kernel's `extensions` prepare, and whose
    addresses become arrays."""

    def __init__(self, kernel: Dispatcher, launcher: Launcher | ForAll, stream: Any) -> None:
        self._kernel, self._launcher, self._stream = kernel, launcher, stream

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._launcher, name)  # the names of the configuration

    def __call__(self, *arguments: Any) -> None:
        """Launch the kernel."""
        finish: list[Any] = []
        stream = 0 if self._stream is None else self._stream
        prepared = [self._prepared(each, stream, finish) for each in arguments]
        for place, dtype in self._kernel.pointers.items():
            if place < len(prepared) and isinstance(prepared[place], numbers.Integral):
                prepared[place] = array_at(int(prepared[place]), dtype)
        with_hints(self._launcher, prepared, stream, finish)

    def _prepared(self, value: Any, stream: Any, finish: list[Any]) -> Any:
        kind: Any = type_of(value)
        for handler in reversed(self._kernel.extensions):
            kind, value = handler.prepare_args(kind, value, stream=stream, retr=finish)
        return value


class DeviceDispatcher(DeviceFunction):
    """A device function with the attributes that Numba's device functions have."""

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The docstring of the Python function."""
        return self.function.__doc__

    @property
    def __name__(self) -> str:
        """The name of the Python function."""
        return self.function.__name__

    @property
    def py_func(self) -> Callable[..., Any]:
        """The Python function."""
        return self.function

    def inspect_llvm(self, signature: Any = None) -> NoReturn:
        """Raise DeviceFunctionError: a device function is compiled as a part of kernels."""
        self._no_code_of_its_own("inspect_llvm")

    def inspect_asm(self, signature: Any = None) -> NoReturn:
        """Raise DeviceFunctionError, as `inspect_llvm`."""
        self._no_code_of_its_own("inspect_asm")

    def compile_device(self, args: Any, return_type: Any = None) -> NoReturn:
        """Raise DeviceFunctionError, as `inspect_llvm`."""
        self._no_code_of_its_own("compile_device")

    def _no_code_of_its_own(self, what: str) -> NoReturn:
        raise DeviceFunctionError(
            f"{self.__name__}.{what}: a device function is compiled with each kernel that calls "
            "it; look at that kernel's, `kernel.inspect_asm(types)`"
        )

    def __getitem__(self, launch: Any) -> Any:
        """Raise RuntimeError: only kernels are launched."""
        raise DeviceFunctionError(
            f"{self.__name__}: Cannot compile a device function as a kernel; leave out device=True"
        )


def jit(
    func_or_sig: Any = None,
    device: bool = False,
    inline: Any = "never",
    extensions: Any = (),
    **options: Any,
) -> Any:
    """Turn a Python function into a kernel, or with device=True into a function that kernels call.

    func_or_sig: the function, or a signature or a list of signatures, as text or made of types. The
    options are those of `amdjit.kernel` under Numba's names; unless given, `typing` is "numba" and
    `wraparound` True. extensions: handlers of arguments, as in `Dispatcher.extensions`. inline may
    be a function, as in Numba, but it is not called: the compiler decides.
    """
    if not (callable(inline) or options.get("forceinline")):
        options["inline"] = inline
    if isinstance(func_or_sig, (types.FunctionType, Kernel, DeviceFunction)):
        return _made(func_or_sig, None, device, options, extensions)
    signatures = None if func_or_sig is None else _signatures(func_or_sig)
    return lambda function: _made(function, signatures, device, options, extensions)


def _signatures(given: Any) -> Any:
    """Return signatures, after reading those that are text. In their text, `i8` has 8 bytes."""
    if isinstance(given, str):
        return parse_signature(given, NUMBA_SHORT_NAMES, pointers=True)
    if isinstance(given, list):
        return [_signatures(each) for each in given]
    return frontend.of_numba(given)


def _types(signature: Any) -> tuple[Any, ...]:
    """Return the types of the parameters in one signature."""
    types = signature.args if isinstance(signature, CallSignature) else signature
    return tuple(map(frontend.of_numba, types)) if isinstance(types, tuple) else ()


def _with_arrays(given: Any) -> Any:
    """Return signatures with an array in the place of each pointer, which begins at its address."""
    if isinstance(given, list):
        return [_with_arrays(each) for each in given]
    if not any(isinstance(each, Pointer) for each in _types(given)):
        return given
    types = tuple(
        Array(e.element, 1, Layout.CONTIGUOUS) if isinstance(e, Pointer) else e
        for e in _types(given)
    )
    return CallSignature(given.return_type, types) if isinstance(given, CallSignature) else types


def _pointers(given: Any) -> dict[int, Any]:
    """Return NumPy's type of what the pointers of signatures point at, by the parameters'
    places."""
    return {
        place: as_dtype(kind.element)
        for signature in (given if isinstance(given, list) else [given])
        for place, kind in enumerate(_types(signature))
        if isinstance(kind, Pointer)
    }


def _made(
    function: Any, signatures: Any, device: bool, options: dict[str, Any], extensions: Any
) -> Any:
    if isinstance(function, (Kernel, DeviceFunction)):
        function = function.function
    if device:
        made = explicit_signatures.device_function_of(function, options, _with_arrays(signatures))
        return DeviceDispatcher(made.function, made.inline, made.signatures)
    # Whether a launch is cooperative follows from what the kernel calls.
    options = {name: value for name, value in options.items() if name != "cooperative"}
    if options.get("debug") and not options.get("fastmath"):
        options = {"division_check": True, **options}
    kernel = Dispatcher(function, {"typing": "numba", "wraparound": True, **options}, signatures)
    kernel.extensions.extend(extensions)
    return kernel


declare_device = stand_in("declare_device")
