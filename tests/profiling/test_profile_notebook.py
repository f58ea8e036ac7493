"""What notebooks show of profiles."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

import amdjit


@amdjit.kernel
def halves(x):
    i = amdjit.grid(1)
    if i % 2 == 0:
        x[i] = x[i] + 1


def test_a_profile_shows_its_launches_with_totals_and_lines() -> None:
    x = np.zeros(256, np.float32)
    with amdjit.use("emulator:gfx1201"), amdjit.profile() as p:
        halves[4, 64](x)
        halves[2, 64](x)
    (launch, _) = p.launches
    found = list(ElementTree.fromstring(launch._repr_html_()).itertext())
    assert "halves" in found
    assert " grid 4 x 1 x 1, block 64 x 1 x 1, 8 waves" in "".join(found)
    assert f"{launch.totals.executions:,}" in found
    assert f"{launch.totals.bytes:,}" in found
    assert "x[i] = x[i] + 1" in found
    shares = [text for text in found if text.endswith(" %")]
    lines = sorted(launch.lines.values(), key=lambda line: -line.executions)
    assert shares == [
        f"{100 * counts.active_lanes / (32 * counts.executions):.1f} %"
        for counts in (launch.totals, *lines)
    ]
    assert "50.0 %" in shares
    whole = "".join(ElementTree.fromstring(p._repr_html_()).itertext())
    assert whole.startswith("amdjit.profile 2 launches")
    assert whole.count("x[i] = x[i] + 1") == 2


def test_an_empty_profile_says_so() -> None:
    with amdjit.profile() as p:
        pass
    assert "0 launches" in p._repr_html_()
