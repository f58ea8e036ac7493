"""Kernels as functions of JAX, which `jax.jit` keeps in its programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from amdjit.late import late
from amdjit.operators import Size, operator_of
from amdjit.options import OptionError
from amdjit.tuning.configurations import Namespace

# JAX is loaded by the first call: this module can be imported without it.
_jax = late("jax")

__all__ = ["custom_call"]


def custom_call(
    kernel: Any,
    *,
    outputs: Mapping[str, Callable[[Namespace], Any]],
    n: Size = None,
    grid: Size = None,
    block: Size = None,
    dynamic_lds: Size = 0,
) -> Callable[..., Any]:
    """Return a function of JAX arrays that launches a kernel.

    It takes the kernel's parameters but those that are results, in their order, and returns the
    result, or a tuple of them. It is a callback to the host (`jax.pure_callback`): arrays are
    copied to the current device and back. `jax.jit` and `jax.vmap` (an element after the other)
    work; gradients are for `jax.custom_vjp`. Python's numbers are fixed in a compiled program.

    outputs: for each parameter that is a result, a function that says its shape and type,
    `{"out": lambda a: jax.ShapeDtypeStruct(a.x.shape, a.x.dtype)}`. n, grid, block, dynamic_lds: as
    in `amdjit.torch.custom_op`. OptionError for what does not fit the kernel.
    """
    operator = operator_of(kernel, outputs, n=n, grid=grid, block=block, dynamic_lds=dynamic_lds)
    if not outputs:
        raise OptionError(
            f"{kernel.__name__}: name the results, outputs=: JAX's arrays are constant"
        )

    def call(*values: Any) -> Any:
        arguments = operator.arguments(values)
        fixed = {name: each for name, each in arguments.items() if _is_fixed(each)}
        arrays = {name: each for name, each in arguments.items() if name not in fixed}
        shapes = operator.results(arguments)

        def launch(*given: Any) -> tuple[Any, ...]:
            passed = dict(zip(arrays, map(_host_value, given), strict=True))
            made = {name: np.empty(each.shape, each.dtype) for name, each in shapes.items()}
            operator.launch({**fixed, **passed}, made)
            return tuple(made.values())

        found = _jax.pure_callback(
            launch, tuple(shapes.values()), *arrays.values(), vmap_method="sequential"
        )
        return found if len(found) > 1 else found[0]

    return call


def _is_fixed(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic))


def _host_value(value: Any) -> Any:
    """Return an array of the host, or a NumPy number for one without axes."""
    array = np.asarray(value)
    return array if array.shape else array[()]
