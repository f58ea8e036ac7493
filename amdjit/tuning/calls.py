"""A call to tune: its arguments by name, and the launch that follows from each configuration."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amdjit.abi.launch_shape import Extent, LaunchShape
from amdjit.api import Kernel
from amdjit.diagnostics import LaunchError
from amdjit.launching.kernel_options import UnknownOptionError, checked_options
from amdjit.options import OptionError
from amdjit.tuning.configurations import Configuration, Namespace
from amdjit.tuning.space import Space

__all__ = ["Call", "Names", "bound", "own_signature", "sorted_names"]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a space, by what they are."""

    parameters: tuple[str, ...]
    """Names of parameters of the kernel."""
    options: tuple[str, ...]
    """Names of compile options."""
    free: tuple[str, ...]
    """Names that only where, grid, block and dynamic_lds read."""


def sorted_names(kernel: Kernel, space: Space) -> Names:
    """Return what the names of a space are. A name of both a parameter and an option is the
    parameter."""
    own = [name for name in space.names if name in kernel.parameter_names]
    rest = [name for name in space.names if name not in own]
    options = [name for name in rest if _is_option(name)]
    free = tuple(name for name in rest if name not in options)
    return Names(tuple(own), tuple(options), free)


def _is_option(name: str) -> bool:
    try:
        checked_options({name: None})
    except UnknownOptionError:
        return False
    except OptionError:  # the option exists, but not this value
        return True
    return True


def own_signature(kernel: Kernel, names: Names) -> inspect.Signature:
    """Return the parameters of a kernel that no configuration gives."""
    whole = inspect.signature(kernel.function, follow_wrapped=False)
    given = [each for name, each in whole.parameters.items() if name not in names.parameters]
    return whole.replace(parameters=given)


def bound(
    kernel: Kernel,
    names: Names,
    signature: inspect.Signature,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a call's arguments by name, without those that a configuration gives. signature: as
    `own_signature` returns it. LaunchError if they do not fit."""
    if not keywords and len(arguments) == len(signature.parameters):
        return dict(zip(signature.parameters, arguments, strict=True))
    chosen = sorted(set(keywords) & set(names.parameters))
    if chosen:
        raise LaunchError(
            f"{kernel.__name__}: {chosen[0]}= comes from the configuration; to choose one, write "
            f"{kernel.__name__}.configured({chosen[0]}=...)[grid, block](...)"
        )
    try:
        found = signature.bind(*arguments, **keywords)
    except TypeError as problem:
        raise LaunchError(
            f"{kernel.__name__} takes ({', '.join(signature.parameters)}), and "
            f"{', '.join(names.parameters) or 'nothing'} from the configuration: {problem}"
        ) from None
    found.apply_defaults()
    return dict(found.arguments)


@dataclass(frozen=True)
class Call:
    """Arguments, and a launch that may depend on the configuration."""

    kernel: Kernel
    names: Names
    arguments: Mapping[str, Any]
    """The arguments by name, without those that a configuration gives."""
    grid: Any
    """A value, or a function of a namespace with the arguments and the configuration."""
    block: Any = None
    """A value or a function, likewise; None for the block that the kernel is compiled for."""
    dynamic_lds: Any = 0
    """A value or a function, likewise, in bytes."""
    read: set[str] = dataclasses.field(default_factory=set, compare=False)

    def with_arguments(self, arguments: Mapping[str, Any]) -> Call:
        """Return the call with other arguments; LaunchError for names that it does not have."""
        unknown = sorted(set(arguments) - set(self.arguments))
        if unknown:
            raise LaunchError(f"{self.kernel.__name__}: small= gives {unknown[0]!r}, no argument")
        return dataclasses.replace(self, arguments={**self.arguments, **arguments})

    def view(self, configuration: Configuration) -> Namespace:
        """Return the arguments and the configuration by name."""
        return Namespace({**self.arguments, **configuration}, self.read)

    def values(self, configuration: Configuration) -> tuple[Any, ...]:
        """Return the arguments of the kernel, in the order of its parameters."""
        whole = {**self.arguments, **{n: configuration[n] for n in self.names.parameters}}
        return tuple([whole[name] for name in self.kernel.parameter_names])

    def options(self, configuration: Configuration) -> dict[str, Any]:
        """Return the compile options of a configuration. Unless something says otherwise, the
        kernel is compiled for the block of the launch, because LLVM bounds the registers by the
        largest block."""
        own = {name: configuration[name] for name in self.names.options}
        if self._block_option(configuration) is None:
            own["block"] = self.shape(configuration).block
        return own

    def shape(self, configuration: Configuration) -> LaunchShape:
        """Return the size of the launch; LaunchError if it is not valid."""
        view = self.view(configuration)
        grid = _extents(self._asked(self.grid, view), "grid")
        block = self._asked(self.block, view)
        if block is None:
            block = self._compiled_block(configuration)
        dynamic_lds = self._asked(self.dynamic_lds, view)
        return LaunchShape(grid, _extents(block, "block"), int(dynamic_lds))

    def _asked(self, given: Any, view: Namespace) -> Any:
        return given(view) if callable(given) else given

    def _block_option(self, configuration: Configuration) -> Any:
        own = {name: configuration[name] for name in self.names.options}
        given = {**self.kernel.options_given, **checked_options(own)}
        return given.get("block")

    def _compiled_block(self, configuration: Configuration) -> Any:
        block = self._block_option(configuration)
        if block is None:
            raise LaunchError(
                f"{self.kernel.__name__}: there is no block: give tune(grid, block), or block= as "
                "an option of the kernel or a name of the space"
            )
        return block


def _extents(given: Any, what: str) -> Extent:
    listed = given if isinstance(given, (tuple, list)) else (given,)
    try:
        extents = tuple(int(each) for each in listed)
    except (TypeError, ValueError):
        extents = ()
    if not 1 <= len(extents) <= 3 or any(extent < 1 for extent in extents):
        raise LaunchError(f"{what}: {given!r} is not one to three numbers from 1")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z
