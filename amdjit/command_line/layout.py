"""`amdjit layout`: which lane of a wave holds which element of a matrix."""

from __future__ import annotations

import argparse
import sys

from amdjit.command_line.commands import Commands
from amdjit.intrinsics import matrix
from amdjit.intrinsics.models.matrix_layouts import OPERANDS

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    layout = commands.add_parser(
        "layout", help="show which lane of a wave holds which element of a matrix"
    )
    layout.add_argument(
        "instruction", help="such as wmma_f32_16x16x16_f16_w32_gfx12; `_w32_gfx12` may be left out"
    )
    layout.add_argument(
        "--operand", choices=OPERANDS, default="a", help="of D = A B + C, or index (default: a)"
    )
    layout.add_argument(
        "--target", help="the processor, such as gfx1100 (default: gfx12's instruction)"
    )
    layout.set_defaults(run=_layout)


def _layout(options: argparse.Namespace) -> int:
    try:
        print(
            matrix.layout_map(matrix.layout(options.instruction, options.operand, options.target))
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
