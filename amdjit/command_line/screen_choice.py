"""What the terminal of this process can show: width, colour, characters."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import TextIO

from amdjit.explorer.terminal.screen import Screen
from amdjit.options import read_environment

__all__ = ["add_colour", "choose_screen", "show"]

# What views draw with.
_DRAWN = "█▏│┃←…"


def add_colour(command: argparse.ArgumentParser) -> None:
    """Add `--color`."""
    command.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="auto: in a terminal, unless NO_COLOR is set; also elsewhere if FORCE_COLOR is",
    )


def choose_screen(colour: str, stream: TextIO | None = None) -> Screen:
    """Return what a stream can show, standard output unless given: text that is piped keeps its
    lines whole."""
    output = stream or sys.stdout
    is_terminal = output.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    return Screen(width, _has_colour(colour, is_terminal), _has_characters(output))


def _has_colour(choice: str, is_terminal: bool) -> bool:
    environment = read_environment(os.environ)
    if choice != "auto":
        return choice == "always"
    if environment.no_color:
        return False
    return environment.force_color or (is_terminal and environment.terminal != "dumb")


def _has_characters(output: TextIO) -> bool:
    try:
        _DRAWN.encode(output.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def show(text: str) -> None:
    """Print text; characters that the stream's encoding lacks, as sources may hold, become `?`."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))
