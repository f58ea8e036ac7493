"""Errors as IPython and Jupyter show them: cells by their numbers, the user's frames only, colour.

IPython compiles a cell under the name of a file that does not exist, and asks exceptions for their
own text (`_render_traceback_`).
"""

from __future__ import annotations

import re
import sys
import traceback
from pathlib import Path
from typing import Any

__all__ = ["render_traceback", "shown_file"]

_OWN = str(Path(__file__).parents[1])
_ROOMS = tuple(str(Path(_OWN).parent / room) for room in ("intrinsics", "lowering"))
_RESET = "\x1b[0m"
# Parts of a rendered error, with the colours that compilers give them in terminals.
_COLOURED = (
    (re.compile(r"^(error\[\w+\]:)", re.MULTILINE), "\x1b[1;31m"),
    (re.compile(r"^( *-->)", re.MULTILINE), "\x1b[34m"),
    (re.compile(r"^( *\d* \|)", re.MULTILINE), "\x1b[34m"),
    (re.compile(r"(?<=\| )( *\^+.*)$", re.MULTILINE), "\x1b[31m"),
    (re.compile(r"^(  = help:)", re.MULTILINE), "\x1b[32m"),
)


def _shell() -> Any:
    """Return IPython's shell, None outside of it."""
    ipython = sys.modules.get("IPython")
    found = getattr(ipython, "get_ipython", None)
    return found() if found is not None else None


def shown_file(name: str) -> str:
    """Return a file's name for messages: that of a notebook's cell is `Cell In[3]`."""
    compiler = getattr(_shell(), "compile", None)
    label = getattr(compiler, "format_code_name", lambda _: None)(name)
    return name if label is None else " ".join(label)


def render_traceback(error: BaseException) -> list[str]:
    """Return the user's frames, innermost last, and the error's text."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not _is_machinery(frame.filename)
    ]
    lines = [_frame_text(frame) for frame in frames]
    text = f"{type(error).__name__}: {error}"
    if "\n" in str(error):
        text = f"{type(error).__name__}\n{error}"
    colours = str(getattr(_shell(), "colors", "nocolor")).lower()
    return [*lines, text if colours == "nocolor" else _coloured(text)]


def _is_machinery(file: str) -> bool:
    path = Path(file).resolve() if Path(file).exists() else Path(file)
    rooms = (_OWN, *_ROOMS)
    return any(path.is_relative_to(room) for room in rooms) or "IPython" in path.parts


def _frame_text(frame: traceback.FrameSummary) -> str:
    place = f"{shown_file(frame.filename)}:{frame.lineno}, in {frame.name}"
    return f"{place}\n    {frame.line}" if frame.line else place


def _coloured(text: str) -> str:
    for pattern, colour in _COLOURED:
        text = pattern.sub(rf"{colour}\1{_RESET}", text)
    return text
