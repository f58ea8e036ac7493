"""`amdjit build`: a kernel as files for programs without Python; nothing is launched."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amdjit.command_line.commands import Commands
from amdjit.command_line.inspected import is_object, with_example
from amdjit.command_line.kernel_files import load_kernel, split_name
from amdjit.command_line.signatures import parse_signature
from amdjit.diagnostics import LaunchError
from amdjit.late import late
from amdjit.options import OptionError

if TYPE_CHECKING:
    from amdjit import ahead_of_time
else:
    ahead_of_time = late("amdjit.ahead_of_time")

__all__ = ["add", "parse_options"]

# What has an argument of its own.
_OWN = {"target", "name", "embed", "debug_info"}


def add(commands: Commands) -> None:
    """Add the command."""
    build = commands.add_parser(
        "build", help="compile a kernel to a code object with a C header that launches it"
    )
    build.add_argument("kernel", metavar="FILE.py:KERNEL", help="the kernel")
    build.add_argument(
        "--signature",
        default="",
        help='the arguments\' types, such as "f32,f32[:],(i32, f32[:, ::1])"; tuples in '
        "parentheses, classes and NumPy types by their names in FILE.py",
    )
    build.add_argument(
        "--target",
        action="append",
        default=None,
        help="the processor, or target id such as gfx90a:xnack-; several, with commas between or "
        "given again, make a bundle (default: AMDJIT_TARGET, else gfx1201)",
    )
    build.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a compile option, such as asserts=False or block=32,8; may be given again",
    )
    build.add_argument("--name", default=None, help="what files and C names begin with")
    build.add_argument(
        "--embed", action="store_true", help="also write a C file that holds the code object"
    )
    build.add_argument(
        "--debug-info",
        action="store_true",
        help="keep source lines in the code, with files named from FILE.py's folder on",
    )
    build.add_argument(
        "--output", "-o", type=Path, default=Path(), metavar="DIR", help="the folder to write to"
    )
    build.set_defaults(run=_build)


def _build(options: argparse.Namespace) -> int:
    if is_object(options.kernel):
        raise LaunchError(f"{options.kernel} is built already: name a kernel, FILE.py:KERNEL")
    given: dict[str, Any] = parse_options(options.option)
    for name in _OWN & set(given):
        raise OptionError(f"--option {name}: write --{name.replace('_', '-')}")
    kernel = load_kernel(*split_name(options.kernel))
    types = parse_signature(options.signature, kernel.function.__globals__)
    targets = [each for text in options.target or () for each in text.split(",")]
    with with_example(kernel, options.kernel, types):
        built = ahead_of_time.build(
            kernel,
            *types,
            target=targets or None,
            name=options.name,
            embed=options.embed,
            debug_info=options.debug_info,
            **given,
        )
    written = built.write(options.output)
    for file in built.files:
        path = options.output / file
        if path in written:
            print(f"{path}: {path.stat().st_size} bytes")
        else:
            print(f"{path}: kept, as it has other contents; remove it to get the new example")
    print(f"{built.name} for {', '.join(target.id for target in built.targets)}")
    return 0


# Compile options on the command line: `NAME=VALUE` as text.

_WORDS = {"True": True, "False": False, "None": None}


def parse_options(texts: Sequence[str]) -> dict[str, object]:
    """Return options by name. OptionError for text that is none, and for an option given twice.

    A value is True, False, None, a number, several of them with commas between, or a word.
    """
    options: dict[str, object] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not separator or not name.isidentifier() or not value.strip():
            raise OptionError(f"--option {text}: write NAME=VALUE, such as asserts=False")
        if name in options:
            raise OptionError(f"--option {text}: {name} is given twice")
        options[name] = _fastmath(value) if name == "fastmath" else _value(value)
    return options


def _value(text: str) -> object:
    parts = [_part(part) for part in text.strip().strip("()").split(",") if part.strip()]
    return tuple(parts) if "," in text else parts[0] if parts else text


def _fastmath(text: str) -> object:
    value = _value(text)
    return value if isinstance(value, bool) else frozenset(text.replace(" ", "").split(","))


def _part(text: str) -> object:
    word = text.strip()
    if word in _WORDS:
        return _WORDS[word]
    try:
        return int(word)
    except ValueError:
        return word
