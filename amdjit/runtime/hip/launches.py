"""Code objects and launches on an AMD GPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import refuse_profiles
from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime.device_launches import Function
from amdjit.runtime.hip.calls import HipCalls, hip_library
from amdjit.runtime.hip.captures import ThreadCaptures
from amdjit.runtime.hip.handles import native_of
from amdjit.runtime.hip.modules import HipFunction, HipModule
from amdjit.runtime.hip.slots import HipSlot, shape_text, shape_words
from amdjit.runtime.hip_errors import HipError
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.checking.settings import Request


class HipLaunches(HipCalls):
    """Launches on an AMD GPU: `amdjit.runtime.device_launches.LaunchDevice`."""

    target: Target
    thread_captures: ThreadCaptures

    def load(self, code_object: bytes) -> HipModule:
        """Load a linked code object; HipError if it is for another processor."""
        # Not a method: the module is not to keep the device alive.
        return HipModule(code_object, self.here, partial(_unload, self.thread_captures))

    def launch(
        self,
        function: Function,
        shape: LaunchShape,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        """Start a kernel. HIP fills in the hidden arguments, and copies `kernarg` before this
        returns."""
        refuse_profiles(function.name, self.name, self.target.name)
        if shape.cooperative:
            self._launch_together(function, shape, kernarg, stream)
            return
        slot = self.slot(function, shape, len(kernarg), stream)
        slot.kernarg[slot.offset :] = kernarg
        code = slot.start()
        if code:
            slot.fail(code)

    def _launch_together(
        self, function: Function, shape: LaunchShape, kernarg: bytearray, stream: Any
    ) -> None:
        """Start a cooperative launch, for which HIP wants a pointer to each argument."""
        assert isinstance(function, HipFunction)
        launch = self.hip.hipModuleLaunchCooperativeKernel
        try:
            with function.lock:
                parameters = function.fill_parameters(kernarg)
                native = native_of(stream)
                words = shape_words(shape)
                self.here(function.doing, launch, function.native, *words, native, parameters)
        except HipError as error:
            raise error.with_detail(shape_text(shape)) from None

    def slot(
        self,
        function: Function,
        shape: LaunchShape,
        nbytes: int,
        stream: Any = None,
    ) -> HipSlot:
        """Make a launch that waits for its arguments."""
        assert isinstance(function, HipFunction)
        index = None if self.is_only_one else self.index
        return HipSlot(function, shape, nbytes, native_of(stream), index)

    def launch_sanitized(
        self,
        function: Function,
        shape: LaunchShape,
        kernarg: bytearray,
        request: Request,
        stream: Any = None,
    ) -> NoReturn:
        """Raise LaunchError: only the emulator checks launches."""
        checks = ", ".join(sorted(request.checks))
        raise LaunchError(
            f"{function.name}: {self.name} cannot check launches ({checks}); the emulator can: "
            "launch inside "
            f'`with amdjit.use("emulator:{self.target}"):`, or without `sanitize` and '
            "AMDJIT_SANITIZE"
        )


def _unload(captures: ThreadCaptures, native: Any) -> None:
    captures.free(partial(hip_library().hipModuleUnload, native))
