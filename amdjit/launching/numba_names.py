"""What Numba's dispatchers offer, under its names: a kernel's specialisations by the types of their
arguments.

Kernels of amdjit have these names, too (docs/from_numba.md), which is why they are not in
`amdjit.numba_cuda`: that imports all of the host's side, and kernels must not wait for it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.devices import current_device
from amdjit.diagnostics import LaunchError
from amdjit.frontend import CompileTime
from amdjit.language.call_signatures import CallSignature
from amdjit.language.launch_numbers import PYTHON_FLOAT, PYTHON_INT
from amdjit.late import late
from amdjit.target import Target, runs_on
from amdjit.types import Array, Known, Layout, Tuple, f64, i64

if TYPE_CHECKING:
    from amdjit.launching import explicit_signatures
else:
    explicit_signatures = late("amdjit.launching.explicit_signatures")

__all__ = ["NumbaNames", "Overloads", "overloads_of", "plain_types"]


class NumbaNames:
    """A kernel's specialisations and what they need, by Numba's names.

    A signature is a tuple of types, text such as `"(f32[::1], i32)"`, or `void(f32[::1], i32)`. If
    the kernel has not been compiled for it, it is now, for the current device's processor. Without
    a signature the result is a dictionary by types, unless the kernel was decorated with one
    signature, whose value it then is.
    """

    __name__: str
    function: Any
    compile: Callable[..., Any]

    @property
    def specialisations(self) -> tuple[CompiledKernel, ...]:
        """The specialisations of this kernel so far."""
        raise NotImplementedError

    @property
    def specialized(self) -> bool:
        """Whether the kernel was decorated with exactly one signature."""
        raise NotImplementedError

    @property
    def overloads(self) -> Overloads:
        """The specialisations so far for the current device's processor, by argument types."""
        target = current_device().target
        return overloads_of(self.__name__, self.specialisations, target)

    @property
    def signatures(self) -> list[tuple[Any, ...]]:
        """The argument types of `overloads`."""
        return list(self.overloads)

    @property
    def py_func(self) -> types.FunctionType:
        """The Python function."""
        function: types.FunctionType = self.function
        return function

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Return how many VGPRs a work-item has."""
        return self._property("regs_per_thread", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Return the bytes of static LDS of a workgroup."""
        return self._property("shared_mem_per_block", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Return the bytes of constants that the code reads from memory."""
        return self._property("const_mem_size", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Return the bytes of scratch memory of a work-item."""
        return self._property("local_mem_per_thread", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """Return the most work-items that a workgroup may have."""
        return self._property("max_threads_per_block", signature)

    def inspect_types(self, signature: Any = None) -> Any:
        """Return the typed tree of each specialisation so far, by signature as text; of one
        signature as text."""
        return self._stage("typed_tree", signature)

    def inspect_llvm(self, signature: Any = None) -> Any:
        """Return the LLVM IR, before optimisation, of each specialisation so far, by signature as
        text; of one signature as text."""
        return self._stage("llvm", signature)

    def inspect_asm(self, signature: Any = None) -> Any:
        """Return the assembly of each specialisation so far, by signature as text; of one signature
        as text."""
        return self._stage("asm", signature)

    def inspect_sass(self, signature: Any = None) -> Any:
        """Return what `inspect_asm` does: it is the machine's own assembly language."""
        return self._stage("asm", signature)

    @property
    def extensions(self) -> Any:
        """Raise LaunchError: kernels have no argument handlers."""
        raise LaunchError(
            f"{self.__name__}.extensions: kernels have no handlers of arguments; pass arrays, or "
            "tuples and frozen dataclasses of them"
        )

    def _named(self, signature: Any) -> CompiledKernel:
        """Return the specialisation of a signature, compiled if it is not yet."""
        known = self.overloads
        wanted = explicit_signatures.parameter_types(self.__name__, signature)
        found = known.get(wanted)
        return found or self.compile(*wanted, target=current_device().target.id)

    def _property(self, name: str, signature: Any) -> Any:
        if signature is not None:
            return getattr(self._named(signature), name)
        known = self.overloads
        if self.specialized and len(known) == 1:
            return getattr(next(iter(known.values())), name)
        return {key: getattr(compiled, name) for key, compiled in known.items()}

    def _stage(self, name: str, signature: Any) -> Any:
        if signature is not None:
            return getattr(self._named(signature), name)
        stages = {each.signature: getattr(each, name) for each in self.specialisations}
        return Stages(self.overloads, stages)


class Overloads(Mapping[tuple[Any, ...], CompiledKernel]):
    """The specialisations of a kernel for one processor, by the types of their arguments.

    A key has a type for each parameter, without the further facts that launches know about arrays:
    `f32[::1]` is a C-contiguous array, `f32[:]` another one. Python's own integers and floats are
    i64 and f64, as Numba has them. A key may also be text, `"(f32[::1], i32)"`, or
    `void(f32[::1], i32)`.
    """

    def __init__(self, kernel: str, compiled: Mapping[tuple[Any, ...], CompiledKernel]) -> None:
        self._kernel = kernel
        self._compiled = compiled

    def __getitem__(self, key: Any) -> CompiledKernel:
        """Return the specialisation; KeyError if there is none for these types.

        `f32[:]` also stands for C-contiguous arrays if there is no other specialisation.
        """
        if isinstance(key, (str, CallSignature)):
            key = explicit_signatures.parameter_types(self._kernel, key)
        found = self._compiled.get(plain_types(key))
        return self._compiled[plain_types(map(_resolved, key))] if found is None else found

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._compiled)

    def __len__(self) -> int:
        return len(self._compiled)

    def __repr__(self) -> str:
        return f"<overloads of {self._kernel}: {explicit_signatures.type_list(self) or 'none'}>"


class Stages(dict[str, str]):
    """A stage of each specialisation by its signature as text; also found by its types, as keys of
    `overloads`."""

    def __init__(self, overloads: Overloads, stages: Mapping[str, str]) -> None:
        super().__init__(stages)
        self._overloads = overloads

    def __missing__(self, key: Any) -> str:
        """Return the stage of the specialisation of these types; KeyError if there is none."""
        return self[self._overloads[key].signature]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (isinstance(key, tuple) and key in self._overloads)


def overloads_of(kernel: str, compiled: Sequence[CompiledKernel], target: Target) -> Overloads:
    """Return the specialisations for a processor.

    Of several that differ only in facts about arrays, the first one is listed.
    """
    found: dict[tuple[Any, ...], CompiledKernel] = {}
    for each in compiled:
        if runs_on(each.target, target):
            found.setdefault(plain_types(each.arguments), each)
    return Overloads(kernel, found)


def plain_types(arguments: Iterable[Argument]) -> tuple[Any, ...]:
    """Return the types of arguments without the further facts about arrays."""
    return tuple(map(_plain, arguments))


def _resolved(argument: Any) -> Any:
    return argument.resolved() if isinstance(argument, Array) else argument


def _plain(argument: Any) -> Any:
    if isinstance(argument, Array):
        is_contiguous = argument.layout is Layout.CONTIGUOUS
        layout = Layout.CONTIGUOUS if is_contiguous else Layout.ANY
        return replace(argument, layout=layout, distinct=None, offset_bits=32)
    if isinstance(argument, CompileTime):
        return Known(argument.value)
    if isinstance(argument, Tuple):
        return Tuple(plain_types(argument.elements), argument.structure)
    if isinstance(argument, tuple):
        return Tuple(plain_types(argument))
    return {PYTHON_INT: i64, PYTHON_FLOAT: f64}.get(argument, argument)
