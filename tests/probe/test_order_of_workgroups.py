"""Trials of memory have the same results whichever workgroup runs first."""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit.emulator import EmulatorDevice
from amdjit.probe.case import bits_of
from amdjit.probe.corpus import instructions
from amdjit.target import read_target


def test_memory_trials_do_not_depend_on_the_order_of_workgroups() -> None:
    target = read_target("gfx1201")
    (batch,) = (b for b in instructions.batches(target) if b.name == "instructions/VGLOBAL 1")
    assert batch.cases is not None
    cases = list(batch.cases(target))
    found = []
    for threads in (1, 4):
        with amdjit.use(EmulatorDevice(target, threads)):
            found.append({case.name: [bits_of(r) for r in case.run()] for case in cases[::4]})
    one, several = found
    assert len(one) > 25
    different = [
        name
        for name, results in one.items()
        if not all(map(np.array_equal, results, several[name]))
    ]
    assert not different
