"""Kernels as operators of PyTorch, which `torch.compile`, `torch.export` and autograd know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amdjit.late import late
from amdjit.operators import Operator, Size, operator_of
from amdjit.options import OptionError
from amdjit.tuning.configurations import Namespace

# PyTorch is loaded by `custom_op`: this module can be imported without it.
_library = late("torch.library")

__all__ = ["custom_op"]

# PyTorch's names of the types of numbers in schemas.
_NUMBERS = {float: "float", int: "SymInt", bool: "bool"}


def custom_op(
    kernel: Any,
    *,
    outputs: Mapping[str, Callable[[Namespace], Any]],
    n: Size = None,
    grid: Size = None,
    block: Size = None,
    dynamic_lds: Size = 0,
    numbers: Mapping[str, type] | None = None,
    mutates: Sequence[str] = (),
    name: str | None = None,
    backward: Callable[..., Mapping[str, Any]] | None = None,
) -> Any:
    """Return an operator of PyTorch that launches a kernel.

    It takes the kernel's parameters but those that are results, in their order, and returns the
    result, or a tuple of them. Tensors on the CPU run on the current device, the emulator where
    there is no GPU; tensors on an AMD GPU run there. `torch.compile` and `torch.export` keep it as
    one node of their graphs.

    outputs: for each parameter that is a result, a function that makes its tensor from the
    arguments, `{"out": lambda a: torch.empty_like(a.x)}`. It is called with fake tensors, too.
    n: the number of work-items, as `kernel.forall(n)`; or grid, block: as `kernel[grid, block]`;
    dynamic_lds: in bytes. Each is a value or a function of the arguments and results.
    numbers: the types of parameters that are no tensors: float, int or bool.
    mutates: names of tensors that the kernel changes in place.
    name: "namespace::name" of the operator, "amdjit::" and the kernel's name by default.
    backward: a function of the arguments by name and the gradient of each result, which returns the
    gradients of arguments by name. `torch.compile` traces it, so the kernels that it launches must
    be operators themselves.

    OptionError for what does not fit the kernel.
    """
    operator = operator_of(kernel, outputs, n=n, grid=grid, block=block, dynamic_lds=dynamic_lds)
    numbers = dict(numbers or {})
    _check(operator, numbers, mutates)
    made = _library.custom_op(
        name or f"amdjit::{kernel.__name__}",
        _launching(operator),
        mutates_args=tuple(mutates),
        schema=_schema(operator, numbers, mutates),
    )
    made.register_fake(lambda *values: _as_result(operator.results(operator.arguments(values))))
    if backward is not None:
        _differentiate(made, operator, numbers, backward)
    return made


def _check(operator: Operator, numbers: Mapping[str, type], mutates: Sequence[str]) -> None:
    kernel = operator.kernel.__name__
    for name in (*numbers, *mutates):
        if name not in operator.inputs:
            raise OptionError(f"{kernel} has no argument {name!r}: ({', '.join(operator.inputs)})")
    for name, kind in numbers.items():
        if kind not in _NUMBERS:
            raise OptionError(f"numbers={{{name!r}: {kind!r}}}: give float, int or bool")
        if name in mutates:
            raise OptionError(f"{name!r} is a number, which a kernel cannot change")
    if not operator.outputs and not mutates:
        raise OptionError(f"{kernel}: name the results, outputs=, or what it changes, mutates=")


def _schema(operator: Operator, numbers: Mapping[str, type], mutates: Sequence[str]) -> str:
    def parameter(name: str) -> str:
        if name in numbers:
            return f"{_NUMBERS[numbers[name]]} {name}"
        alias = f"(a{operator.inputs.index(name)}!)" if name in mutates else ""
        return f"Tensor{alias} {name}"

    count = len(operator.outputs)
    result = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    return f"({', '.join(map(parameter, operator.inputs))}) -> {result}"


def _launching(operator: Operator) -> Callable[..., Any]:
    def launch(*values: Any) -> Any:
        arguments = operator.arguments(values)
        results = operator.results(arguments)
        operator.launch(arguments, results)
        return _as_result(results)

    return launch


def _as_result(results: Mapping[str, Any]) -> Any:
    """Return what an operator returns: nothing, one result, or a tuple."""
    values = tuple(results.values())
    return (values or (None,))[0] if len(values) < 2 else values


def _differentiate(
    made: Any,
    operator: Operator,
    numbers: Mapping[str, type],
    backward: Callable[..., Mapping[str, Any]],
) -> None:
    tensors = tuple(name for name in operator.inputs if name not in numbers)

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        arguments = operator.arguments(inputs)
        ctx.save_for_backward(*(arguments[name] for name in tensors))
        ctx.numbers = {name: arguments[name] for name in numbers}

    def gradients(context: Any, *given: Any) -> tuple[Any, ...]:
        saved = dict(zip(tensors, context.saved_tensors, strict=True))
        found = backward(Namespace({**saved, **context.numbers}), *given)
        unknown = sorted(set(found) - set(operator.inputs))
        if unknown:
            raise OptionError(f"backward= returned a gradient of {unknown[0]!r}, no argument")
        return tuple(found.get(name) for name in operator.inputs)

    made.register_autograd(gradients, setup_context=keep)
