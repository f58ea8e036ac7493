"""How launches come to the debugger: `amdjit.debug`, and programs whose launches are debugged as
they happen."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

from amdjit.api import Kernel
from amdjit.checking.profiling import DEBUGGERS, RECORDERS, Calling
from amdjit.debugging.debugger import Debugger
from amdjit.devices import use
from amdjit.diagnostics import LaunchError
from amdjit.runtime.recording import describe

if TYPE_CHECKING:
    from amdjit.launching.launchers import ForAll, Launcher

__all__ = ["Opener", "debug", "debug_launches", "debugger_of"]


class Opener(Protocol):
    """Opens a debugger of one launch."""

    def __call__(self, opt_level: int | None = 0, schedule: str | int = "in-order") -> Debugger:
        """Return the debugger, which the caller closes."""
        ...


def debug(
    launcher: Launcher | ForAll,
    /,
    *arguments: Any,
    opt_level: int | None = 0,
    schedule: str | int = "in-order",
    **keywords: Any,
) -> Debugger:
    """Begin a launch under the debugger: `amdjit.debug(kernel[grid, block], x, y)`.

    The launch runs on the emulator, on copies of its arguments. opt_level: how the kernel is
    compiled for it; at 0 most variables can be read and lines come one after the other, None keeps
    the kernel's own level. schedule: "in-order", in which waves run as they do on the emulator
    otherwise; "backwards", the last wave of a workgroup first; or an int, a seed for an order that
    interrupts waves anywhere. LaunchError as a launch raises it, and if the current device is no
    emulator.
    """
    if not hasattr(launcher, "calling"):
        raise LaunchError(
            f"amdjit.debug takes a launch, kernel[grid, block], and its arguments, not {launcher!r}"
        )
    return debugger_of(launcher.calling(*arguments, **keywords), opt_level, schedule)


def debugger_of(
    call: Calling, opt_level: int | None = 0, schedule: str | int = "in-order"
) -> Debugger:
    """Return a debugger of a launch that is about to start."""
    options = {**call.options, "debug_variables": True}
    if opt_level is not None:
        options["opt_level"] = opt_level
    kernel = Kernel(call.function, options)
    if not call.device.name.startswith("emulator"):
        raise LaunchError(
            f"{call.device.name} is no emulator: debug the launch inside `with "
            f'amdjit.use("emulator:{call.device.target}"):`, or record it with amdjit.record and '
            "debug the file"
        )
    with use(call.device):
        prepared = kernel.prepare(*call.arguments.values())
        grid, block, dynamic_lds, cooperative = call.shape
        device = call.device.target
        shape = prepared.loaded.check(grid, block, dynamic_lds, device, cooperative)
        launch = prepared.recorded(shape)
    return Debugger(
        launch,
        schedule=schedule,
        arguments=_scalars(call.arguments),
        assigned=_assigned(call.function),
        environment=call.device.environment,
    )


def _assigned(function: FunctionType) -> set[str]:
    """Return the parameters that a function assigns."""
    stores = (each for each in dis.get_instructions(function) if "STORE_FAST" in each.opname)
    # Since Python 3.13 an instruction may store two.
    names = {
        name
        for each in stores
        for name in (each.argval if isinstance(each.argval, tuple) else (each.argval,))
    }
    return names.intersection(function.__code__.co_varnames[: function.__code__.co_argcount])


def _scalars(arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if not getattr(value, "shape", ())}


@contextmanager
def debug_launches(look: Callable[[Opener], None], kernel: str = "") -> Iterator[None]:
    """Let a function look at each launch of a block before it starts: it is given what opens a
    debugger of the launch, with `opt_level` and `schedule` as `debug` has them.

    kernel: only launches of kernels with this name, all if it is "". Triton's kernels on the
    emulator are launches, too; their code is as Triton compiled it.
    """
    watch = _Watch(look, kernel)
    debuggers = DEBUGGERS.set((*DEBUGGERS.get(), watch))
    recorders = RECORDERS.set((*RECORDERS.get(), watch))
    try:
        yield
    finally:
        DEBUGGERS.reset(debuggers)
        RECORDERS.reset(recorders)


class _Watch:
    """Is told of launches: of amdjit's kernels by `calling`, then of all by `launching`."""

    def __init__(self, look: Callable[[Opener], None], kernel: str) -> None:
        self._look, self._kernel = look, kernel
        self._is_known = False

    def calling(self, call: Calling) -> None:
        """Take a launch of one of amdjit's kernels."""
        self._is_known = True
        if self._kernel in ("", call.function.__name__):
            self._look(partial(debugger_of, call))

    def launching(self, kernel: str, *parts: Any, **facts: Any) -> None:
        """Take any launch, unless `calling` has had it."""
        is_known, self._is_known = self._is_known, False
        if is_known or self._kernel not in ("", kernel):
            return
        launch = describe(kernel, *parts, **facts)

        def opened(opt_level: int | None = None, schedule: str | int = "in-order") -> Debugger:
            return Debugger(launch, schedule=schedule)

        self._look(opened)
