"""Random programs of nested loops, branches, breaks and returns, in which every lane goes its own
way."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from amdjit import static_range
from tests.api.control_flow.random_control_flow import functions
from tests.api.lanes import same_as_python

LANES = 32
DATA = np.random.default_rng(17).integers(-30, 30, LANES).astype(np.int32)


def check(source: str) -> None:
    """Run a program in both ways; its source has to be found under its file's name."""
    file = f"<random control flow {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"static_range": static_range}
    exec(compile(source, file, "exec"), names)
    try:
        same_as_python(names["function"], DATA, np.zeros(LANES, np.int32), lanes=LANES)
    except BaseException:
        print(source)
        raise
    finally:
        del linecache.cache[file]


# Shrinking compiles hundreds of programs: a failure shows the program that was found.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@given(functions())
@settings(max_examples=8, deadline=None, phases=PHASES, suppress_health_check=CHECKS)
def test_random_control_flow_is_pythons(source: str) -> None:
    check(source)


@pytest.mark.exhaustive
@given(functions())
@settings(max_examples=400, deadline=None, phases=PHASES, suppress_health_check=CHECKS)
def test_much_random_control_flow_is_pythons(source: str) -> None:
    check(source)


def test_what_a_condition_assigns_stays_where_there_is_no_round() -> None:
    """A condition that is known to be false has been computed all the same."""
    check(
        "def function(i, a, out):\n"
        "    x = a[i]\n"
        "    z = 77\n"
        "    while (x := (z ^ 7) % 101) % 3 == 1:\n"
        "        out[i] = 1\n"
        "    else:\n"
        "        z = a[i]\n"
        "    out[i] += x + z * 100\n"
    )


@pytest.mark.parametrize("leave", ["continue", "break"])
def test_the_else_of_a_loop_leaves_the_loop_around_it(leave: str) -> None:
    """Also where the condition takes statements to compute."""
    check(
        "def function(i, a, out):\n"
        "    x = a[i]\n"
        "    for y in range(4, i % 5, -1):\n"
        "        z = (i ^ -3) % 101\n"
        "        count = 0\n"
        "        while count < 5 and (x := (z ^ 7) % 101) % 3 == 1:\n"
        "            count += 1\n"
        "        else:\n"
        "            z = a[i]\n"
        "            if z < i:\n"
        f"                {leave}\n"
        "        out[i] = out[i] * 3 + y\n"
        "    out[i] += x\n"
    )
