"""How launches come to the debugger: `amdjit.debug`, and programs whose launches are debugged as
they happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amdjit.api import Kernel
from amdjit.checking.open_blocks import OpenBlock
from amdjit.checking.profiling import DEBUGGERS, Calling
from amdjit.debugging.debugger import Debugger
from amdjit.devices import use
from amdjit.diagnostics import LaunchError

if TYPE_CHECKING:
    from amdjit.launching.launchers import ForAll, Launcher

__all__ = ["debug", "debug_launches", "debugger_of"]


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
    compiled for it; at 0 every variable can be read and lines come one after the other, None keeps
    the kernel's own level. schedule: "in-order", in which waves run as they do on the emulator
    otherwise; "backwards", the last wave of a workgroup first; or an int, a seed for an order that
    interrupts waves anywhere. LaunchError as a launch raises it, and if the current device is no
    emulator.
    """
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
    return Debugger(launch, schedule=schedule, arguments=_scalars(call.arguments))


def _scalars(arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if not getattr(value, "shape", ())}


class debug_launches(OpenBlock):  # noqa: N801
    """Give each launch of amdjit's kernels in a `with` block to a function before it starts.

    kernel: only launches of kernels with this name, all if it is "".
    """

    enclosing = DEBUGGERS

    def __init__(self, look: Callable[[Calling], None], kernel: str = "") -> None:
        super().__init__()
        self._look, self._kernel = look, kernel

    def calling(self, call: Calling) -> None:
        """Take a launch that is about to start."""
        if self._kernel in ("", call.function.__name__):
            self._look(call)
