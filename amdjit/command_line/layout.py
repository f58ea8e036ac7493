"""`amdjit layout`: which lane of a wave holds which element of a matrix."""

from __future__ import annotations

import argparse
import sys

from amdjit.command_line.commands import Commands
from amdjit.intrinsics import matrix
from amdjit.intrinsics.models.matrix_layouts import OPERANDS
from amdjit.intrinsics.models.mfma_layouts import FORMATS

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
        "--operand",
        choices=(*OPERANDS, "scale_a", "scale_b"),
        default="a",
        help="of D = A B + C, an index, or gfx950's scales (default: a)",
    )
    layout.add_argument(
        "--target", help="the processor, such as gfx1100 (default: gfx12's instruction)"
    )
    layout.add_argument(
        "--format", choices=FORMATS, help="of A or B of gfx950's scaled products (default: fp8)"
    )
    layout.set_defaults(run=_layout)


def _layout(options: argparse.Namespace) -> int:
    try:
        found = matrix.layout(options.instruction, options.operand, options.target, options.format)
        print(matrix.layout_map(found))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
