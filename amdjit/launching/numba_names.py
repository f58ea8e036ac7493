"""What Numba's dispatchers offer, under its names."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amdjit.compiled_kernel import CompiledKernel
from amdjit.devices import current_device
from amdjit.diagnostics import LaunchError
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.launching import explicit_signatures, overloads
else:
    explicit_signatures = late("amdjit.launching.explicit_signatures")
    overloads = late("amdjit.launching.overloads")

__all__ = ["NumbaNames"]


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
        """What this kernel was compiled to so far."""
        raise NotImplementedError

    @property
    def specialized(self) -> bool:
        """Whether the kernel was decorated with exactly one signature."""
        raise NotImplementedError

    @property
    def overloads(self) -> overloads.Overloads:
        """The specialisations so far for the current device's processor, by argument types."""
        target = current_device().target
        return overloads.overloads_of(self.__name__, self.specialisations, target)

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
        return overloads.Stages(self.overloads, stages)
