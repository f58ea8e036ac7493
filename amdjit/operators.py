"""Kernels as operators of other libraries: which parameters are results, and the launch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amdjit.api import Kernel
from amdjit.options import OptionError
from amdjit.tuning.configurations import Namespace

__all__ = ["Operator", "operator_of"]

Size = Any
"""A number, a tuple of up to three, or a function that returns one for the arguments by name."""


@dataclass(frozen=True)
class Operator:
    """A kernel of which some parameters are results. inputs: the names of the others."""

    kernel: Kernel
    inputs: tuple[str, ...]
    outputs: Mapping[str, Callable[[Namespace], Any]]
    n: Size
    grid: Size
    block: Size
    dynamic_lds: Size

    def arguments(self, values: tuple[Any, ...]) -> Namespace:
        """Return the inputs by name."""
        return Namespace(dict(zip(self.inputs, values, strict=True)))

    def results(self, arguments: Namespace) -> dict[str, Any]:
        """Return what `outputs` says for the arguments, by name."""
        return {name: make(arguments) for name, make in self.outputs.items()}

    def launch(self, arguments: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """Launch the kernel."""
        whole = Namespace({**arguments, **results})
        values = [whole[name] for name in self.kernel.parameter_names]
        if self.n is not None:
            self.kernel.forall(_size(self.n, whole), None, _size(self.dynamic_lds, whole))(*values)
            return
        grid, block = _size(self.grid, whole), _size(self.block, whole)
        self.kernel.launch(grid, block, dynamic_lds=_size(self.dynamic_lds, whole))(*values)


def operator_of(
    kernel: Any,
    outputs: Mapping[str, Callable[[Namespace], Any]],
    *,
    n: Size,
    grid: Size,
    block: Size,
    dynamic_lds: Size,
) -> Operator:
    """Return a kernel as an operator; OptionError for what does not fit the kernel."""
    if not isinstance(kernel, Kernel):
        raise OptionError(f"{kernel!r} is no kernel: decorate it with @amdjit.kernel")
    names = kernel.parameter_names
    unknown = [name for name in outputs if name not in names]
    if unknown:
        raise OptionError(
            f"{kernel.__name__} has no parameter {unknown[0]!r} for a result; it has "
            f"({', '.join(names)})"
        )
    if (n is None) == (grid is None) or (grid is None) != (block is None):
        raise OptionError(
            f"{kernel.__name__}: give n=, the number of work-items, or both grid= and block="
        )
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    if variadic & {each.kind for each in inspect.signature(kernel.function).parameters.values()}:
        raise OptionError(f"{kernel.__name__}: an operator has a fixed number of parameters")
    inputs = tuple(name for name in names if name not in outputs)
    return Operator(
        kernel, inputs, dict(outputs), n, grid=grid, block=block, dynamic_lds=dynamic_lds
    )


def _size(given: Size, arguments: Namespace) -> Any:
    return given(arguments) if callable(given) else given
