"""Views of damaged code objects: what cannot be read is refused, what can be is shown."""

from __future__ import annotations

import random

import amdjit
from amdjit import f32
from amdjit.diagnostics import AmdjitError
from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.views import VIEWS, view


@amdjit.kernel
def sums(x):
    total = f32(0)
    for i in range(x.shape[0]):
        total += x[i]
    x[0] = total


def test_every_view_shows_what_is_left_of_a_damaged_code_object() -> None:
    compiled = sums.compile(f32[:], target="gfx1201")
    kernel = compiled.linked.kernels["sums"]
    code = compiled.linked.code(kernel)
    start = compiled.code_object.index(code)
    generator, shown = random.Random(11), 0
    for _ in range(120):
        damaged = bytearray(compiled.code_object)
        for _ in range(generator.randrange(1, 6)):
            in_code = start + generator.randrange(len(code))
            place = generator.choice((in_code, generator.randrange(len(damaged))))
            damaged[place] = generator.randrange(256)
        try:
            inspection = amdjit.inspect_object(bytes(damaged))
        except AmdjitError:
            continue
        for name in VIEWS:
            assert view(inspection, name, Screen(80))
        assert inspection._repr_html_().startswith("<div")
        shown += 1
    assert shown > 30
