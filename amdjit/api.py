"""Kernels as users see them: decorate, launch, compile, inspect."""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from amdjit.compiled_kernel import CompiledKernel
from amdjit.declarations import DeviceFunction
from amdjit.devices import current_device
from amdjit.diagnostics import LaunchError, TypeCheckError
from amdjit.diagnostics.source_files import remember
from amdjit.language.call_signatures import CallSignature
from amdjit.language.pickling import PickledByName
from amdjit.late import late
from amdjit.launching import residence
from amdjit.launching.argument_types import given_type
from amdjit.launching.compiled_bundle import CompiledBundle, bundled_targets
from amdjit.launching.kernel_options import KernelOptions, checked_options
from amdjit.launching.launchers import ForAll, Launcher
from amdjit.launching.numba_names import NumbaNames
from amdjit.launching.prepared import LaunchableKernel, PreparedLaunch, prepare
from amdjit.launching.quick_launches import LauncherCache, QuickCalls
from amdjit.launching.recompilation import Change
from amdjit.launching.record_arguments import Annotation, is_const
from amdjit.launching.signature import Signature
from amdjit.launching.specialisations import Specialisations
from amdjit.options import CompileOptions, OptionError, read_environment
from amdjit.runtime.host_copies import HostCopies
from amdjit.runtime.streams import Stream
from amdjit.target import Target, runs_on
from amdjit.types import Type

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from amdjit.language import signature_texts
    from amdjit.launching import explicit_signatures
    from amdjit.launching.explicit_signatures import ExplicitSignatures
    from amdjit.launching.kernel_options import GivenOptions
else:
    signature_texts = late("amdjit.language.signature_texts")
    explicit_signatures = late("amdjit.launching.explicit_signatures")

__all__ = ["ForAll", "Kernel", "Launcher", "compile", "kernel"]


class Kernel(NumbaNames, PickledByName):
    """A Python function that runs on a device: `kernel[grid, block](arguments...)`.

    It is compiled at the first launch with each combination of argument types, or ahead of time by
    `compile`.
    """

    is_amdjit_kernel = True
    device_function: DeviceFunction | None = None
    """What other kernels call under this one's name, if they may."""
    _launcher_types: tuple[type[Launcher], type[ForAll]] = (Launcher, ForAll)
    __name__: str
    __qualname__: str
    # Whether annotations of parameters are types.
    _has_annotations = True

    def __init__(
        self, function: types.FunctionType, options: dict[str, Any], signatures: Any = None
    ) -> None:
        functools.update_wrapper(self, function)
        remember(function)
        self.function: types.FunctionType = function
        self._options = KernelOptions(checked_options(options), read_environment(os.environ))
        # Wrong options are refused here, where they are written.
        self._options.complete(self._options.target(None))
        signature = Signature(self.__name__, function, self._has_annotations)
        self._launchable = LaunchableKernel(
            signature,
            Specialisations(function, signature, self._options),
            HostCopies(self.__name__),
            self._explicit(signatures),
        )
        self._signatures = signatures
        self.specialized_kernels: dict[tuple[Any, ...], Kernel] = {}
        """What `specialize` has returned so far, by the types of the arguments."""
        self._launchers = LauncherCache(QuickCalls(self._launchable, self), *self._launcher_types)
        if self._launchable.explicit is not None and not self._options.environment.simulate:
            target = current_device().target.id
            for types_given in self._launchable.explicit.signatures:
                self.compile(*types_given, target=target)

    def _explicit(self, signatures: Any) -> ExplicitSignatures | None:
        if signatures is None:
            return None
        parameters = tuple(inspect.signature(self.function).parameters)
        takes_bits = self._options.given.get("typing") == "numba"
        return explicit_signatures.of_decorator(self.__name__, parameters, signatures, takes_bits)

    def __getitem__(self, launch: Any) -> Launcher:
        """Configure a launch: `kernel[grid, block]`, then call it with the arguments.

        A stream and the bytes of dynamic LDS may follow: `[grid, block, stream,
        dynamic_lds_bytes]`. grid counts workgroups, block the work-items of one; each is an int or
        a tuple of up to three.
        """
        return self._launchers.get(launch)

    def launch(
        self,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        stream: Stream | None = None,
        dynamic_lds: int = 0,
        cooperative: bool = False,
    ) -> Launcher:
        """Configure a launch as `kernel[grid, block, stream, dynamic_lds]` does, by keywords.

        dynamic_lds: bytes. cooperative: whether all workgroups run at the same time, so that they
        may wait for each other; the launch raises LaunchError if the device cannot hold them all.
        """
        self._launchers.watch()
        launcher, _ = self._launcher_types
        return launcher(self._launchers.calls, grid, block, stream, dynamic_lds, cooperative)

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Raise LaunchError: a kernel is launched with a grid."""
        raise LaunchError(
            f"write {self.__name__}[grid, block](...), or {self.__name__}.forall(n)(...)"
        )

    def forall(
        self,
        n: int,
        stream: Stream | None = None,
        dynamic_lds_bytes: int = 0,
        *,
        grid_stride: bool = False,
    ) -> ForAll:
        """Configure a launch of at least `n` work-items in one dimension.

        The block is chosen for occupancy. grid_stride: launch no more workgroups than the device
        runs at the same time. The kernel has to do the rest: `for i in range(amdjit.grid(1), n,
        amdjit.gridsize(1))`.
        """
        self._launchers.watch()
        if stream is None and dynamic_lds_bytes == 0 and not grid_stride:
            return self._launchers.over(n)
        _, for_all = self._launcher_types
        return for_all(self._launchers.calls, n, stream, dynamic_lds_bytes, grid_stride)

    def max_active_blocks(
        self,
        block: int | tuple[int, ...],
        dynamic_lds: int = 0,
        *,
        signature: Any = None,
    ) -> int:
        """Return how many workgroups of a block one multiprocessor holds at a time: a workgroup
        processor, or a compute unit where there are none.

        dynamic_lds: bytes. signature: the types of the arguments, as `compile` takes them, if the
        kernel has several specialisations or none. The kernel is compiled for the current device.
        LaunchError where it is not clear which specialisation is meant.
        """
        return residence.max_active_blocks(self._chosen(signature), block, dynamic_lds)

    def max_cooperative_grid(
        self,
        block: int | tuple[int, ...],
        dynamic_lds: int = 0,
        *,
        signature: Any = None,
    ) -> int:
        """Return the most workgroups of a cooperative launch on the current device: those that all
        of its multiprocessors hold at a time. The rest is as in `max_active_blocks`."""
        compiled = self._chosen(signature)
        return residence.resident_workgroups(compiled, current_device(), block, dynamic_lds)

    def _chosen(self, signature: Any) -> CompiledKernel:
        """Return the specialisation of a signature for the current device, or the only one."""
        target = current_device().target
        if signature is not None:
            # A tuple may hold the values of `Const` parameters, too.
            given = signature if isinstance(signature, (tuple, list)) else (signature,)
            return self.compile(*given, target=target.id)
        annotations = self._launchable.signature.annotations(self._options.complete(target))
        if all(a is not None and not is_const(a) for a in annotations):
            return self.compile(target=target.id)
        found = [each for each in self.specialisations if runs_on(each.target, target)]
        if len(found) != 1:
            raise LaunchError(
                f"{self.__name__} has {len(found)} specialisations for {target}: say which one, "
                "with the types of its arguments: signature=(amdjit.f32[:], ...)"
            )
        return found[0]

    def prepare(self, *arguments: Any, **keywords: Any) -> PreparedLaunch:
        """Return what a launch with these arguments on the current device is made of: the code, and
        the values to pass. The kernel is compiled where that was not done before; nothing runs.
        """
        return prepare(self._launchable, arguments, keywords, None)

    @overload
    def compile(
        self, *arguments: Any, target: str | None = None, **options: Unpack[GivenOptions]
    ) -> CompiledKernel: ...
    @overload
    def compile(
        self, *arguments: Any, target: list[str] | tuple[str, ...], **options: Unpack[GivenOptions]
    ) -> CompiledBundle: ...
    def compile(
        self,
        *arguments: Any,
        target: str | list[str] | tuple[str, ...] | None = None,
        **options: Any,
    ) -> CompiledKernel | CompiledBundle:
        """Compile for argument types (values for `Const` parameters), without a device or a launch.

        None stands for the type of an annotated parameter; no arguments at all stand for None for
        each. `f32[:]` means a C-contiguous array here. Types may be written as text, "f32[:]", and
        one signature may stand for them: `compile("void(f32[:], i32)")`. target: a processor, such
        as "gfx1201", or a target id with settings, "gfx90a:xnack-"; a list of them makes a bundle,
        a code object for each. OptionError for targets that amdjit does not have.
        """
        if isinstance(target, (list, tuple)):
            targets = bundled_targets(target)
            return CompiledBundle(tuple(self._for(each, arguments, options) for each in targets))
        return self._for(self._options.target(target), arguments, options)

    def _for(
        self, target: Target, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> CompiledKernel:
        """Compile for a target."""
        signature = self._launchable.signature
        complete = self._options.complete(target, **options)
        annotations = signature.annotations(complete)
        arguments = self._types_of(arguments, annotations)
        if not arguments and all(a is not None and not is_const(a) for a in annotations):
            arguments = (None,) * len(annotations)
        signature.check_count(len(arguments))
        parts = zip(signature.names, annotations, arguments, strict=True)
        try:
            types = tuple(given_type(self.__name__, *part) for part in parts)
        except TypeCheckError as failure:
            raise signature.at_annotation(failure) from None
        return self._launchable.specialisations.compile(complete, types)

    def _types_of(
        self, arguments: tuple[Any, ...], annotations: Sequence[Annotation]
    ) -> tuple[Any, ...]:
        """Return the types that `compile` was given, which may stand in one signature, or be
        written as text."""
        if len(arguments) == 1:
            (given,) = arguments
            is_listed = isinstance(given, tuple) and len(annotations) > 1
            if is_listed or isinstance(given, CallSignature) or _is_text(given):
                return explicit_signatures.parameter_types(self.__name__, given)
        if len(arguments) != len(annotations):
            return arguments
        return tuple(
            explicit_signatures.parameter_type(self.__name__, each)
            if isinstance(each, str) and not is_const(annotation)
            else each
            for each, annotation in zip(arguments, annotations, strict=True)
        )

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

    @property
    def specialized(self) -> bool:
        """Whether the kernel was decorated with exactly one signature."""
        return self._launchable.explicit is not None and self._launchable.explicit.specialised

    def specialize(self, *arguments: Any) -> Kernel:
        """Return a kernel that takes arguments of these types only, compiled for the current
        device. It is the same kernel for the same types. SpecialisedError if this one has been
        specialised."""
        explicit = self._launchable.explicit
        if explicit is not None and explicit.specialised:
            raise explicit.specialised_twice()
        is_one = len(arguments) == 1 and (
            isinstance(arguments[0], CallSignature) or _is_text(arguments[0])
        )
        given = arguments[0] if is_one else arguments
        signature = explicit_signatures.parameter_types(self.__name__, given)
        found = self.specialized_kernels.get(signature)
        if found is None:
            found = type(self)(self.function, self._options.given, signature)
            self.specialized_kernels[signature] = found
        return found

    def max_cooperative_grid_blocks(
        self, block: int | tuple[int, ...], dynamic_lds: int = 0, *, signature: Any = None
    ) -> int:
        """Return what `max_cooperative_grid` does, which is not Numba's name."""
        return self.max_cooperative_grid(block, dynamic_lds, signature=signature)

    @property
    def options_given(self) -> dict[str, Any]:
        """The options that the kernel was decorated with."""
        return dict(self._options.given)

    def complete_options(self, target: Target, **options: Any) -> CompileOptions:
        """Return the options of a compilation for a processor. options: in place of the
        decorator's."""
        return self._options.complete(target, **options)

    def with_options(self, **options: Unpack[GivenOptions]) -> Kernel:
        """Return a kernel of the same function with further options, compiled on its own."""
        return type(self)(self.function, {**self._options.given, **options}, self._signatures)

    def pickled_parts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what makes this kernel in a process that does not find it by its name."""
        return Kernel, (self.function, self._options.given, self._signatures)

    @property
    def quick_calls(self) -> QuickCalls:
        """The calls that are recognised, of all launchers of this kernel."""
        return self._launchers.calls

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self._launchable.signature.names

    def __repr__(self) -> str:
        return f"<amdjit kernel {self.__qualname__}>"


def _is_text(given: object) -> bool:
    return isinstance(given, str) and signature_texts.is_signature_text(given)


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...
@overload
def kernel(
    signatures: str | tuple[Any, ...] | CallSignature | list[Any],
    /,
    **options: Unpack[GivenOptions],
) -> Callable[[Callable[..., Any]], Any]: ...
@overload
def kernel(
    *, device: Literal[True], **options: Unpack[GivenOptions]
) -> Callable[[Callable[..., Any]], Any]: ...
@overload
def kernel(**options: Unpack[GivenOptions]) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(function: Any = None, /, *, device: bool = False, **options: Any) -> Any:
    """Make a Python function a kernel: `@kernel`, or `@kernel(fastmath=True, block=256, ...)`.

    The options are those of `amdjit.options.CompileOptions`. A wrong value raises OptionError.

    Signatures come first, as in Numba: `@kernel("void(f32[:], i32)")`, `@kernel((f32[:], i32))`, or
    a list of them. The kernel is then compiled at once for the current device, and takes arguments
    of these types only. device: make a function that kernels call, as `device_function` does.
    """
    if function is None or isinstance(function, (str, tuple, list, CallSignature)):
        return lambda inner: _decorated(inner, options, function, device)
    return _decorated(function, options, None, device)


@overload
def compile(
    kernel: Kernel | Callable[..., None],
    /,
    *arguments: Any,
    target: str | None = None,
    **options: Unpack[GivenOptions],
) -> CompiledKernel: ...
@overload
def compile(
    kernel: Kernel | Callable[..., None],
    /,
    *arguments: Any,
    target: list[str] | tuple[str, ...],
    **options: Unpack[GivenOptions],
) -> CompiledBundle: ...
def compile(kernel: Any, /, *arguments: Any, target: Any = None, **options: Any) -> Any:
    """Compile a kernel, or a Python function as one, for argument types: as `Kernel.compile`.

    target: a processor or target id; a list of them gives a bundle.
    """
    made = kernel if isinstance(kernel, Kernel) else _decorated(kernel, {}, None, False)
    return made.compile(*arguments, target=target, **options)


def _decorated(function: Any, options: dict[str, Any], signatures: Any, device: bool) -> Any:
    if isinstance(function, Type):
        raise OptionError(
            f"@amdjit.kernel({function}): write the types of all parameters, "
            f"@amdjit.kernel(({function},)), or annotate them, `def kernel(x: f32[:]):`"
        )
    if isinstance(function, Kernel):
        raise OptionError(f"`{function.__name__}` is a kernel already: decorate it once")
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"@amdjit.kernel decorates a Python function, not {function!r}")
    if device:
        return explicit_signatures.device_function_of(function, options, signatures)
    return Kernel(function, options, signatures)
