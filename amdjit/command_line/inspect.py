"""`amdjit inspect`: what a kernel became, in a view or stage; nothing is launched."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.command_line.inspected import Inspected, add_target, compile_bundle, find
from amdjit.command_line.kernel_files import write_file
from amdjit.command_line.screen_choice import add_colour, choose_screen, show
from amdjit.diagnostics import BackendError, LaunchError
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.explorer import page
    from amdjit.explorer.terminal import views
else:
    page = late("amdjit.explorer.page")
    views = late("amdjit.explorer.terminal.views")

__all__ = ["add"]

# Views of an inspection, then the stages of a compilation.
_VIEWS = ("lines", "pressure", "memory", "waits", "occupancy", "meanings")
_STAGES = {
    "tree": "typed_tree",
    "llvm": "llvm",
    "optimized": "optimized_llvm",
    "asm": "asm",
}
_EMITS = (*_STAGES, "resources", "object")


def add(commands: Commands) -> None:
    """Add the command."""
    inspect = commands.add_parser(
        "inspect", help="compile a kernel, or read one, and print a view or stage of it"
    )
    add_target(inspect)
    shown = inspect.add_mutually_exclusive_group()
    shown.add_argument(
        "--view", choices=(*_VIEWS, *_EMITS[:-1]), help="what to print (default: asm)"
    )
    shown.add_argument("--emit", choices=_EMITS, help="the stage to print, or to write: object")
    shown.add_argument("--json", action="store_true", help="print all facts as JSON")
    shown.add_argument("--html", type=Path, default=None, metavar="FILE", help="write the page")
    inspect.add_argument(
        "--output", "-o", type=Path, default=None, help="the object's file (default: KERNEL.hsaco)"
    )
    add_colour(inspect)
    inspect.set_defaults(run=_inspect)


def _inspect(options: argparse.Namespace) -> int:
    wanted = options.view or options.emit or "asm"
    if options.output is not None and wanted != "object":
        raise LaunchError(f"--output is for --emit object; --emit {wanted} prints")
    if "," in (options.target or ""):
        return _write_bundle(options, wanted)
    found = find(options)
    if options.json:
        show(found.inspection.to_json())
    elif options.html is not None:
        write_file(options.html, lambda file: page.write_inspection_page(found.inspection, file))
    elif wanted == "object":
        _write_object(found, options.output or Path(f"{found.name}.hsaco"))
    elif wanted in _VIEWS or (wanted == "asm" and found.compiled is None):
        show(views.view(found.inspection, wanted, choose_screen(options.color)))
    else:
        show(_stage(found, wanted))
    return 0


def _write_bundle(options: argparse.Namespace, wanted: str) -> int:
    """Write the code for several targets to one file."""
    if wanted != "object" or options.json or options.html:
        raise LaunchError(
            f"--target {options.target}: several targets are for --emit object, which writes a "
            "bundle; show one at a time"
        )
    made = compile_bundle(
        options.kernel, options.signature, options.target.split(","), options.variables
    )
    _write(options.output or Path(f"{made.name}.hipfb"), made.bytes, ", ".join(made.targets))
    return 0


def _write_object(found: Inspected, output: Path) -> None:
    _write(output, found.data, found.inspection.target)


def _write(output: Path, data: bytes, target: str) -> None:
    try:
        output.write_bytes(data)
    except OSError as error:
        raise BackendError(f"{output} cannot be written: {error.strerror}") from error
    print(f"{output}: {len(data)} bytes for {target}")


def _stage(found: Inspected, name: str) -> str:
    if found.compiled is None:
        raise LaunchError(f"a code object has no {name}; there are {', '.join(_VIEWS)} and asm")
    if name == "resources":
        resources = found.compiled.resources
        return "\n".join(
            f"{field:16} {getattr(resources, field)}" for field in resources.__dataclass_fields__
        )
    return str(getattr(found.compiled, _STAGES[name]))
