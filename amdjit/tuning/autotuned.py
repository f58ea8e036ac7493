"""`amdjit.autotune`, and the kernel that it makes."""

from __future__ import annotations

import functools
import logging
import os
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amdjit.api import Kernel
from amdjit.compiled_kernel import CompiledKernel
from amdjit.devices import current_device
from amdjit.language.pickling import PickledByName
from amdjit.language.signature_texts import is_signature_text, parse_signature
from amdjit.launching.dropped_launchers import warn_if_dropped
from amdjit.options import OptionError, read_environment
from amdjit.runtime.device import Device
from amdjit.tuning.bench import is_measured
from amdjit.tuning.calls import Call, Names, bound, own_signature, sorted_names
from amdjit.tuning.configurations import Configuration, value_text
from amdjit.tuning.errors import TuningError
from amdjit.tuning.keys import TuningKey, key_values, quick_key, source_digest, type_texts
from amdjit.tuning.records import Records
from amdjit.tuning.results import Tuning
from amdjit.tuning.search import Search
from amdjit.tuning.settings import GivenSettings, Settings, made_settings, with_overrides
from amdjit.tuning.space import Space, read_space

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TunedKernel", "autotune"]

_LOGGER = logging.getLogger("amdjit")


def autotune(*, space: Any, **settings: Unpack[GivenSettings]) -> Callable[[Kernel], TunedKernel]:
    """Search for the best configuration of a kernel: `@amdjit.autotune(space=..., key=...)` above
    `@amdjit.kernel`.

    space: lists of values by name, all combinations of which are candidates; or a list of
    dictionaries. A name is a parameter of the kernel, a compile option, or one that only `where`,
    `grid` and `block` read. key: the values of the arguments for each of which another search is
    made. docs/tuning.md describes the other settings. OptionError for a wrong one.
    """
    made, chosen = read_space(space), made_settings({**settings})

    def decorate(kernel: Any) -> TunedKernel:
        if isinstance(kernel, types.FunctionType):
            raise OptionError(
                f"@amdjit.autotune stands above @amdjit.kernel: decorate {kernel.__name__} with "
                "both"
            )
        if not isinstance(kernel, Kernel):
            raise OptionError(f"@amdjit.autotune decorates a kernel, not {kernel!r}")
        return TunedKernel(kernel, made, chosen)

    return decorate


class TunedKernel(PickledByName):
    """A kernel with a space of configurations.

    `kernel.tune(grid, block)(*arguments)` searches, and launches once; `kernel[grid,
    block](*arguments)` launches with the best configuration for these arguments. The arguments are
    those that no configuration gives. kernel: the kernel itself. best_config: the configuration
    that the last search found or the last launch used.
    """

    is_amdjit_kernel = True
    __name__: str
    __qualname__: str

    def __init__(self, kernel: Kernel, space: Space, settings: Settings) -> None:
        functools.update_wrapper(self, kernel.function)
        self.function = kernel.function
        self.kernel, self.space, self.settings = kernel, space, settings
        self.names: Names = sorted_names(kernel, space)
        self.best_config: Configuration | None = None
        self._best_options: Mapping[str, Any] = {}
        self._chosen: dict[TuningKey, Configuration] = {}
        self._quick: dict[tuple[Any, ...], Configuration] = {}
        self._variants: dict[str, Kernel] = {}
        self._signature = own_signature(kernel, self.names)
        self._digest: str | None = None

    def tune(
        self,
        grid: Any,
        block: Any = None,
        *,
        dynamic_lds: Any = 0,
        fresh: bool = False,
        launch: bool | None = None,
        **settings: Unpack[GivenSettings],
    ) -> Callable[..., Tuning]:
        """Return a launcher that searches for a call's best configuration and launches once with
        it: `kernel.tune(grid, block)(*arguments)`.

        grid, block, dynamic_lds: as for a launch, or functions of the arguments and the
        configuration, `lambda c: (c.n // c.BN, c.m // c.BM)`. block None: the block that the kernel
        is compiled for. fresh: ignore what the file of results has. launch: False only searches and
        leaves the arguments unchanged; None does so if `small=` says that the whole call is too
        large to run here. settings: those of `autotune`, for this search. TuningError if no
        candidate is left.
        """
        chosen = with_overrides(self.settings, {**settings})
        launches = chosen.small is None if launch is None else launch

        def search(*arguments: Any, **keywords: Any) -> Tuning:
            call = self.call(grid, block, dynamic_lds, arguments, keywords)
            found = self._search(call, chosen, fresh)
            if launches:
                assert found.best_config is not None
                launcher, values = self.launcher(call, found.best_config)
                launcher(*values)
            return found

        return search

    def launcher(
        self, call: Call, configuration: Configuration, stream: Any = None
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return a launcher for a call with a configuration, and the arguments for it."""
        shape, options = call.shape(configuration), call.options(configuration)
        self.best_config, self._best_options = configuration, options
        parts: tuple[Any, ...] = shape.grid, shape.block
        if stream is not None or shape.dynamic_lds:
            parts += stream, shape.dynamic_lds
        return self.variant(options)[parts], call.values(configuration)

    def _search(self, call: Call, settings: Settings, fresh: bool = False) -> Tuning:
        device = current_device()
        key = self.key_of(call, device)
        records = Records.open(self._file(settings))
        found = Search(
            self,
            self.space,
            call=call,
            settings=settings,
            device=device,
            key=key,
            records=records,
            is_measured=is_measured(device),
            fresh=fresh,
        ).run()
        assert found.best is not None
        self._chosen[key] = self.best_config = found.best.configuration
        self._best_options = call.options(found.best.configuration)
        self._quick.clear()
        return found

    def call(
        self,
        grid: Any,
        block: Any,
        dynamic_lds: Any,
        arguments: tuple[Any, ...],
        keywords: Mapping[str, Any],
    ) -> Call:
        """Return a call's arguments by name."""
        own = bound(self.kernel, self.names, self._signature, arguments, keywords)
        return Call(
            self.kernel, self.names, arguments=own, grid=grid, block=block, dynamic_lds=dynamic_lds
        )

    def key_of(self, call: Call, device: Device, measured: bool | None = None) -> TuningKey:
        """Return the key under which the call's best configuration is stored."""
        is_own = is_measured(device) if measured is None else measured
        # The description continues with memory and driver, on which results do not depend.
        product = device.description.partition(" (")[0]
        name = f"{device.target} {product}" if is_own else str(device.target)
        if self._digest is None:
            self._digest = source_digest(self.kernel)
        options = self.kernel.options_given
        return TuningKey(
            name,
            self.__qualname__,
            source=self._digest,
            options=", ".join(
                f"{option}={value_text(options[option])}" for option in sorted(options)
            ),
            types=type_texts(call.arguments),
            values=key_values(self.settings.key, call.arguments),
        )

    def _file(self, settings: Settings) -> Path | None:
        """Return the file of results; None if there is no folder for files."""
        if settings.cache is not None:
            return settings.cache
        folder = read_environment(os.environ).cache_dir
        return None if folder is None else folder / "tuning" / f"{self.__name__}.jsonl"

    def best_for(self, call: Call) -> Configuration:
        """Return the configuration to launch a call with: the stored one, or else what `untuned=`
        says."""
        device = current_device()
        quick = device, *quick_key(self.settings.key, call.arguments)
        known = self._quick.get(quick)
        if known is None:
            key = self.key_of(call, device)
            known = self._chosen.get(key)
            if known is None:
                known = self._stored(call, device, key) or self._untuned(call, device)
            self._chosen[key] = self._quick[quick] = known
        return known

    def _stored(self, call: Call, device: Device, key: TuningKey) -> Configuration | None:
        """Return what the file of results has: a configuration that was measured here, or else one
        that was estimated for the processor."""
        records = Records.open(self._file(self.settings))
        for each in (key, self.key_of(call, device, measured=False)):
            known = records.find(each)
            if known is not None and known.best is not None:
                text = known.best.text
                found = next((c for c in self.space if str(c) == text), None)
                if found is not None:
                    return found
        return None

    def _untuned(self, call: Call, device: Device) -> Configuration:
        rule = self.settings.untuned or ("tune" if is_measured(device) else "first")
        if rule == "tune":
            found = self._search(call, self.settings).best_config
            assert found is not None
            return found
        if rule == "refuse":
            raise TuningError(
                f"{self.__name__} is not tuned for these arguments "
                f"({key_values(self.settings.key, call.arguments)}) on {device.name}: call "
                f"{self.__name__}.tune(grid, block)(...) before, or choose a configuration, "
                f"{self.__name__}.configured(...)"
            )
        first = self.space.first(self.settings.where, call.arguments)
        if first is None:
            raise TuningError(f"{self.__name__}: where= leaves no configuration")
        _LOGGER.info("%s is not tuned for these arguments: it runs with %s, the first "
                     "configuration", self.__name__, first)  # fmt: skip
        return first

    def __getitem__(self, launch: Any) -> TunedLauncher:
        """Configure a launch: `kernel[grid, block]`, `kernel[grid, block, stream, dynamic_lds]`;
        grid, block and dynamic_lds may be functions as in `tune`."""
        parts = launch if isinstance(launch, tuple) else (launch,)
        if not 1 <= len(parts) <= 4:
            raise OptionError(f"{self.__name__}[grid, block, stream, dynamic_lds], not {launch!r}")
        warn_if_dropped(self.__name__)
        return self.launch(*parts)

    def launch(
        self, grid: Any, block: Any = None, stream: Any = None, dynamic_lds: Any = 0
    ) -> TunedLauncher:
        """Configure a launch by keywords."""
        return TunedLauncher(self, grid, block, stream, dynamic_lds)

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Raise LaunchError: a kernel is launched with a grid."""
        self.kernel(*arguments, **keywords)

    def configured(self, configuration: Mapping[str, Any] | None = None, /, **values: Any) -> Any:
        """Return the kernel with the configuration that the user gives: a TunedKernel whose space
        has no other."""
        chosen = Configuration({**(configuration or self.best_config or {}), **values})
        if set(chosen) != set(self.space.names):
            raise OptionError(
                f"{self.__name__}.configured: give all of {', '.join(self.space.names)}"
            )
        ordered = Configuration({name: chosen[name] for name in self.space.names})
        single = made_settings({"untuned": "first", "key": self.settings.key})
        made = TunedKernel(self.kernel, Space(self.space.names, (), (ordered,)), single)
        made.best_config = ordered
        made._variants = self._variants
        return made

    def variant(self, options: Mapping[str, Any]) -> Kernel:
        """Return the kernel with the compile options of a configuration."""
        if not options:
            return self.kernel
        text = str(Configuration(options))
        if text not in self._variants:
            self._variants[text] = self.kernel.with_options(**options)
        return self._variants[text]

    def compile(
        self,
        *arguments: Any,
        target: str | None = None,
        config: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> CompiledKernel:
        """Compile as `Kernel.compile` does, with a configuration: by default that of the last
        search or launch, with its options. arguments: the types of those that no configuration
        gives."""
        chosen = config if config is not None else self.best_config
        if chosen is None:
            raise TuningError(
                f"{self.__name__} has no best configuration yet: tune it, or give one, "
                f"compile(..., config={{{', '.join(f'{n!r}: ...' for n in self.space.names)}}})"
            )
        if len(arguments) == 1 and is_signature_text(arguments[0]):
            arguments = parse_signature(arguments[0]).args
        given = iter(arguments)
        own = {name: chosen[name] for name in self.names.parameters}
        whole = [
            own[name] if name in own else next(given, None) for name in self.kernel.parameter_names
        ]
        known = self._best_options if Configuration(chosen) == self.best_config else {}
        variant = self.variant({**known, **{name: chosen[name] for name in self.names.options}})
        return variant.compile(*whole, target=target, **options)

    @property
    def specialisations(self) -> tuple[CompiledKernel, ...]:
        """The specialisations that launches in this process were compiled to."""
        kernels = (self.kernel, *self._variants.values())
        return tuple(each for kernel in kernels for each in kernel.specialisations)

    def pickled_parts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what makes this kernel in a process that does not find it by its name. The
        executor is not sent."""
        return _made, (self.function, self.kernel.options_given, self.space)

    def __repr__(self) -> str:
        return f"<amdjit tuned kernel {self.__qualname__}, {self.space.size} configurations>"


def _made(function: types.FunctionType, options: dict[str, Any], space: Space) -> TunedKernel:
    return TunedKernel(Kernel(function, options), space, Settings())


class TunedLauncher:
    """A tuned kernel with a grid and a block: call it with the arguments."""

    __slots__ = ("_block", "_dynamic_lds", "_grid", "_stream", "_tuned")

    def __init__(
        self, tuned: TunedKernel, grid: Any, block: Any, stream: Any, dynamic_lds: Any
    ) -> None:
        self._tuned, self._stream = tuned, stream
        self._grid, self._block, self._dynamic_lds = grid, block, dynamic_lds

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Launch the kernel with the best configuration for these arguments, once."""
        launcher, values = self._chosen(arguments, keywords)
        launcher(*values)

    def __repr__(self) -> str:
        return f"<launch of {self._tuned.__name__}, to be called with its arguments>"

    def bind(self, *arguments: Any, **keywords: Any) -> Any:
        """Fix the arguments and the configuration, too."""
        launcher, values = self._chosen(arguments, keywords)
        return launcher.bind(*values)

    def _chosen(
        self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        tuned = self._tuned
        call = tuned.call(self._grid, self._block, self._dynamic_lds, arguments, keywords)
        return tuned.launcher(call, tuned.best_for(call), self._stream)
