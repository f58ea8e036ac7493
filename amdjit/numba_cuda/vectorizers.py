"""What Numba looks for when its own `vectorize` and `guvectorize` are told `target="cuda"`."""

from __future__ import annotations

from typing import Any

from amdjit.numba_cuda.generalised import GeneralisedFunction, guvectorize
from amdjit.numba_cuda.vectorised import VectorizedFunction, vectorize

__all__ = ["CUDAGUFuncVectorize", "CUDAVectorize", "guvectorize", "vectorize"]


class _Builder:
    """Collects the signatures of a function, one after the other, as Numba's decorators give
    them."""

    def __init__(self) -> None:
        self._signatures: list[Any] = []

    def add(self, sig: Any) -> None:
        """Add a signature."""
        self._signatures.append(sig)

    def disable_compile(self) -> None:
        """Do nothing: only these signatures are compiled."""


class CUDAVectorize(_Builder):
    """Builds a function of numbers that takes arrays."""

    def __init__(
        self, func: Any, identity: Any = None, cache: bool = False, targetoptions: Any = None
    ) -> None:
        super().__init__()
        self._function, self._options = func, targetoptions or {}

    def build_ufunc(self) -> VectorizedFunction:
        """Return the function."""
        made: VectorizedFunction = vectorize(self._signatures, **self._options)(self._function)
        return made


class CUDAGUFuncVectorize(_Builder):
    """Builds a function of arrays that runs over additional axes."""

    def __init__(
        self,
        func: Any,
        signature: str,
        identity: Any = None,
        cache: bool = False,
        targetoptions: Any = None,
        writable_args: Any = (),
    ) -> None:
        super().__init__()
        self._function, self._layout, self._options = func, signature, targetoptions or {}

    def build_ufunc(self) -> GeneralisedFunction:
        """Return the function."""
        decorator = guvectorize(self._signatures, self._layout, **self._options)
        made: GeneralisedFunction = decorator(self._function)
        return made
