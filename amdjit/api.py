"""Kernels as users see them: decorate, launch, compile, inspect."""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from typing import Any, overload

from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import LaunchError, TypeCheckError
from amdjit.launching.argument_types import given_type
from amdjit.launching.block_choice import choose_block
from amdjit.launching.kernel_options import KernelOptions, checked_options
from amdjit.launching.prepared import LaunchableKernel, prepare
from amdjit.launching.recompilation import Change
from amdjit.launching.record_arguments import is_const
from amdjit.launching.signature import Signature
from amdjit.launching.specialisations import Specialisations
from amdjit.options import read_environment
from amdjit.runtime.host_copies import HostCopies
from amdjit.runtime.streams import Stream

__all__ = ["ForAll", "Kernel", "Launcher", "kernel"]


class Kernel:
    """A Python function that runs on a device: `kernel[grid, block](arguments...)`.

    It is compiled at the first launch with each combination of argument types, or ahead of time by
    `compile`.
    """

    is_amdjit_kernel = True
    __name__: str
    __qualname__: str

    def __init__(self, function: types.FunctionType, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._options = KernelOptions(checked_options(options), read_environment(os.environ))
        # Wrong options are refused here, where they are written.
        self._options.complete(self._options.target(None))
        signature = Signature(self.__name__, function)
        self._launchable = LaunchableKernel(
            signature,
            Specialisations(function, signature, self._options),
            HostCopies(self.__name__),
        )

    def __getitem__(self, launch: Any) -> Launcher:
        """Configure a launch: `kernel[grid, block]`, then call it with the arguments.

        A stream and the bytes of dynamic LDS may follow: `[grid, block, stream,
        dynamic_lds_bytes]`. grid counts workgroups, block the work-items of one; each is an int or
        a tuple of up to three.
        """
        if not isinstance(launch, tuple) or not 2 <= len(launch) <= 4:
            raise LaunchError(
                f"{self.__name__}[{launch}]: write {self.__name__}[grid, block](...); a stream and "
                "the bytes of dynamic LDS may follow"
            )
        stream = launch[2] if len(launch) > 2 else None
        dynamic_lds = launch[3] if len(launch) > 3 else 0
        return Launcher(self._launchable, launch[0], launch[1], stream, dynamic_lds)

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Raise LaunchError: a kernel is launched with a grid."""
        raise LaunchError(
            f"write {self.__name__}[grid, block](...), or {self.__name__}.forall(n)(...)"
        )

    def forall(self, n: int, stream: Stream | None = None, dynamic_lds_bytes: int = 0) -> ForAll:
        """Configure a launch of at least `n` work-items in one dimension.

        The block is chosen for occupancy.
        """
        return ForAll(self._launchable, n, stream, dynamic_lds_bytes)

    def compile(self, *arguments: Any, target: str | None = None, **options: Any) -> CompiledKernel:
        """Compile for argument types (values for `Const` parameters), without a device or a launch.

        None stands for the type of an annotated parameter; no arguments at all stand for None for
        each. `f32[:]` means a C-contiguous array here.
        """
        signature = self._launchable.signature
        complete = self._options.complete(self._options.target(target), **options)
        annotations = signature.annotations(complete)
        if not arguments and all(a is not None and not is_const(a) for a in annotations):
            arguments = (None,) * len(annotations)
        signature.check_count(len(arguments))
        parts = zip(signature.names, annotations, arguments, strict=True)
        try:
            types = tuple(given_type(self.__name__, *part) for part in parts)
        except TypeCheckError as failure:
            raise signature.at_annotation(failure) from None
        return self._launchable.specialisations.compile(complete, types)

    @property
    def specialisations(self) -> tuple[CompiledKernel, ...]:
        """What this kernel was compiled to so far, one for each combination of options and
        types."""
        return self._launchable.specialisations.compiled

    def why_recompiled(self) -> tuple[Change, ...]:
        """Return why the kernel was compiled last: how that differs from the nearest compilation
        before.

        Differences are argument types, options, and what the kernel and its helpers read from
        outside, each with its old and new value. The first compilation has none.
        """
        return self._launchable.specialisations.changes

    def inspect_types(self) -> dict[str, str]:
        """Return the typed tree of each specialisation so far, by signature."""
        return {c.signature: c.typed_tree for c in self.specialisations}

    def inspect_llvm(self) -> dict[str, str]:
        """Return the LLVM IR, before optimisation, of each specialisation so far, by signature."""
        return {c.signature: c.llvm for c in self.specialisations}

    def inspect_asm(self) -> dict[str, str]:
        """Return the assembly of each specialisation so far, by signature."""
        return {c.signature: c.asm for c in self.specialisations}

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self._launchable.signature.names

    def __repr__(self) -> str:
        return f"<amdjit kernel {self.__qualname__}>"


class Launcher:
    """A kernel with a grid and a block: call it with the arguments."""

    def __init__(
        self,
        kernel: LaunchableKernel,
        grid: Any,
        block: Any,
        stream: Stream | None,
        dynamic_lds: int,
    ) -> None:
        self._kernel, self._grid, self._block = kernel, grid, block
        self._stream, self._dynamic_lds = stream, dynamic_lds

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Launch the kernel.

        NumPy arrays are copied to the device and, where the kernel writes them, back. Where all
        arrays are DeviceArrays, the call may return before the kernel has ended.
        """
        prepared = prepare(self._kernel, arguments, keywords, self._stream)
        prepared.launch(self._grid, self._block, self._dynamic_lds)


class ForAll:
    """A kernel over `n` work-items: call it with the arguments."""

    def __init__(
        self, kernel: LaunchableKernel, n: int, stream: Stream | None, dynamic_lds: int
    ) -> None:
        self._kernel, self._n, self._stream, self._dynamic_lds = kernel, n, stream, dynamic_lds

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Launch, as `kernel[grid, block](...)` does; nothing runs for n = 0."""
        if self._n < 0:
            name = self._kernel.signature.kernel
            raise LaunchError(f"{name}.forall({self._n}): n counts work-items and is at least 0")
        prepared = prepare(self._kernel, arguments, keywords, self._stream)
        if self._n == 0:
            return
        block = choose_block(prepared.loaded, prepared.device.target, self._dynamic_lds)
        prepared.launch(-(-self._n // block[0]), block, self._dynamic_lds)


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...
@overload
def kernel(**options: Any) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(function: Callable[..., None] | None = None, /, **options: Any) -> Any:
    """Make a Python function a kernel: `@kernel`, or `@kernel(fastmath=True, block=256, ...)`.

    The options are those of `amdjit.options.CompileOptions`. A wrong value raises OptionError.
    """
    if function is None:
        return lambda inner: _kernel(inner, options)
    return _kernel(function, options)


def _kernel(function: Callable[..., None], options: dict[str, Any]) -> Kernel:
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"@amdjit.kernel decorates a Python function, not {function!r}")
    return Kernel(function, options)
