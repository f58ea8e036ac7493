"""A course of puzzles, kernels with a hole, for the terminal (`amdjit learn`) and for notebooks.

`course/` holds the puzzles, a page of Markdown each, a folder for each chapter; a new puzzle is a
new page. `pages` reads them, `checking` judges a kernel, `pictures` draws what its launch did,
`notebooks` writes the chapters as notebooks. Start reading at a page, then at `checking.check`,
which users call in notebooks. The room is at the top: it may import every other but the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amdjit.late import late_names

# Who only lists or reads puzzles loads neither the emulator nor the inspection.
if TYPE_CHECKING:
    from amdjit.learning.checking import Verdict as Verdict
    from amdjit.learning.checking import check as check
else:
    _CHECKING = "amdjit.learning.checking"
    __getattr__ = late_names(__name__, {"Verdict": _CHECKING, "check": _CHECKING})

__all__ = ["Verdict", "check"]
