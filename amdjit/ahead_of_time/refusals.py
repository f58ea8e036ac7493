"""What a program without Python cannot launch, refused with what to write instead."""

from __future__ import annotations

from amdjit.abi.reports import ReportTable
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
    if compiled.reports is not None:
        reason = _reporting(compiled.reports, compiled.options.asserts)
        raise LaunchError(f"{compiled.name}: {reason}")
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
                f"Python at each launch, because {names} has no type of its own: give {names} a "
                "type in the signature, such as i32 instead of int, or f32 instead of float"
            )


def _reporting(reports: ReportTable, asserts: bool) -> str:
    """Say what the kernel tells the host, and how to build it without."""
    if reports.meets:
        return (
            "its workgroups wait for each other with a record that Python prepares for each "
            "launch: split the kernel where they wait, and build the parts"
        )
    if reports.prints:
        shown = "".join(part if isinstance(part, str) else "{}" for part in reports.prints[0].parts)
        return (
            f"it prints {shown.strip()!r}, and only Python reads what kernels print: remove the "
            "call of print"
        )
    site = reports.faults[0]
    if site.kind == "index":
        return (
            f"the index of {site.array} in line {site.line} is checked, and only Python reads "
            "which check has failed: build with `--option bounds_check=False`, or build(..., "
            "bounds_check=False)"
        )
    if not asserts:
        return f"line {site.line} may raise an exception, which only Python reads: remove it"
    return (
        f"the `{site.kind}` in line {site.line} reports to Python: build with `--option "
        "asserts=False`, or build(..., asserts=False), which leaves out every assert and raise"
    )
