"""What is refused: a record without one of its fields."""

from dataclasses import dataclass
from typing import Any

import amdjit
from amdjit import f32


@dataclass(frozen=True)
class Line:
    slope: f32
    start: f32
    noise: Any = None


@amdjit.kernel
def draw(out: f32[:]):
    i = amdjit.grid(1)
    out[i] = Line(0.5).slope


def run():
    draw.compile()
