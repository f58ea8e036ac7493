"""rocWMMA's benchmark of matrix products: its grid of cases, run, checked and reported.

`cases.py` has the grid, `kernels.py` the products, `running.py` runs a case on rocWMMA's matrices
and checks it by rocWMMA's rule, `report.py` shows and plots the results. The package may import
everything below the command line, and only the command line imports it.
"""

from __future__ import annotations

from amdjit.rocwmma.cases import SUITES, Case, Suite, grid
from amdjit.rocwmma.report import draw, header, row
from amdjit.rocwmma.running import Outcome, Result, run

__all__ = ["SUITES", "Case", "Outcome", "Result", "Suite", "draw", "grid", "header", "row", "run"]
