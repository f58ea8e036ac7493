"""Make experiments on the GPU of the stand-in and print the measurements, as JSON:

    run_with_standin.py measured_on_standin.py '["rate v_rcp_f32", ...]' ['{"l2_bytes": ...}']

With STANDIN_HIP_CYCLES, time is the cycle model's. The names choose from all experiments; fields of
the chip may be given, for arrays of other sizes.
"""

from __future__ import annotations

import dataclasses
import json
import sys

import amdjit
from amdjit.cycles.chip import chip_of
from amdjit.probe.timing.batches import experiments, measurements
from amdjit.probe.timing.experiment import Effort

# Modelled time is exact: the fewest repetitions do, and samples are alike.
EFFORT = Effort(seconds=0, samples=2)


def main(names: list[str], fields: dict[str, int]) -> None:
    """Print the measurements."""
    target = amdjit.current_device().target
    chip = dataclasses.replace(chip_of(target), **fields)
    chosen = [each for each in experiments(target, chip) if each.name in names]
    assert len(chosen) == len(names), set(names) - {each.name for each in chosen}
    found = measurements("test", chosen, target, EFFORT)
    print(json.dumps([dataclasses.asdict(each) for each in found]))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]) if sys.argv[2:] else {})
