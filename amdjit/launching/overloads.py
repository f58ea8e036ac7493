"""The specialisations of a kernel as Numba's dispatchers list them: by the types of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.frontend import CompileTime
from amdjit.language.call_signatures import CallSignature
from amdjit.language.launch_numbers import PYTHON_FLOAT, PYTHON_INT
from amdjit.launching.explicit_signatures import parameter_types, type_list
from amdjit.target import Target, runs_on
from amdjit.types import Array, Known, Layout, Tuple, f64, i64

__all__ = ["Overloads", "Stages", "overloads_of", "plain_types"]


class Overloads(Mapping[tuple[Any, ...], CompiledKernel]):
    """The specialisations of a kernel for one processor, by the types of their arguments.

    A key has a type for each parameter, without what a launch found out about arrays beside that:
    `f32[::1]` is a C-contiguous array, `f32[:]` another one. Python's own integers and floats are
    i64 and f64, as Numba has them. A key may also be text, `"(f32[::1], i32)"`, or
    `void(f32[::1], i32)`.
    """

    def __init__(self, kernel: str, compiled: Mapping[tuple[Any, ...], CompiledKernel]) -> None:
        self._kernel = kernel
        self._compiled = compiled

    def __getitem__(self, key: Any) -> CompiledKernel:
        """Return the specialisation; KeyError if there is none for these types.

        `f32[:]` stands for C-contiguous arrays, too, where there is no other specialisation.
        """
        if isinstance(key, (str, CallSignature)):
            key = parameter_types(self._kernel, key)
        found = self._compiled.get(plain_types(key))
        return self._compiled[plain_types(map(_resolved, key))] if found is None else found

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._compiled)

    def __len__(self) -> int:
        return len(self._compiled)

    def __repr__(self) -> str:
        return f"<overloads of {self._kernel}: {type_list(self) or 'none'}>"


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

    Of several that differ in facts about arrays only, the first one stands for all.
    """
    found: dict[tuple[Any, ...], CompiledKernel] = {}
    for each in compiled:
        if runs_on(each.target, target):
            found.setdefault(plain_types(each.arguments), each)
    return Overloads(kernel, found)


def plain_types(arguments: Iterable[Argument]) -> tuple[Any, ...]:
    """Return the types of arguments without what a launch found out about its arrays."""
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
