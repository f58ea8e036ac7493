"""What a program without Python cannot launch, refused with what to write instead."""

from __future__ import annotations

from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import LaunchError
from amdjit.frontend import OutsideArray
from amdjit.language.launch_numbers import LaunchUse
from amdjit.options import OptionError

__all__ = ["check", "check_options"]


def check_options(options: dict[str, object]) -> None:
    """Refuse options that say what is built by other means; OptionError."""
    if options.get("debug_variables"):
        raise OptionError(
            "debug_variables=True: what is built describes no variables; leave the option out, "
            "and look at them with `amdjit inspect --variables`"
        )


def check(compiled: CompiledKernel) -> None:
    """Refuse a kernel that needs Python at its launch; LaunchError names the place and a remedy."""
    for use in compiled.launch_uses:
        if isinstance(use, OutsideArray):
            raise LaunchError(
                f"{compiled.name}: it uses the array {use.name}, which is none of its parameters, "
                "and which the launch finds in Python: pass it as an argument"
            )
        if isinstance(use, LaunchUse) and use.number.compute is not None:
            names = " and ".join(sorted(use.number.parameters))
            raise LaunchError(
                f"{compiled.name}: `{use.number.text}` in line {use.span.line} is computed by "
                f"Python at each launch, from {names} without a type: give {names} a type in the "
                "signature, such as i32 instead of int, or f32 instead of float"
            )
