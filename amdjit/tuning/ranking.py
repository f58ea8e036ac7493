"""The static score: a rough order of candidates from their machine code alone.

The score is cycles that the launch keeps its busiest units occupied, if each loop ran a fixed
number of times, divided among the chip's SIMDs and weighed by how well a SIMD hides waits:

    waves x sum(issue cycles x 16^loop depth) / SIMDs / hiding

hiding is min(1, waves of a SIMD / 4): with fewer than four waves a SIMD has less to do while others
wait. A part of a round counts as a whole one, as workgroups do not divide. It knows neither how
often loops really run, nor caches; where the cycle model knows the processor, that is better.
"""

from __future__ import annotations

from amdjit.abi.launch_shape import LaunchShape
from amdjit.compiled_kernel import CompiledKernel
from amdjit.tuning.candidates import Facts

__all__ = ["static_score"]

_ROUNDS = 16
_DEEPEST = 4
_WAVES_THAT_HIDE = 4
# Of instructions whose rate is not known.
_USUAL_CYCLES = 1


def static_score(compiled: CompiledKernel, shape: LaunchShape, facts: Facts) -> float:
    """Return the score of a launch; less is better."""
    inspection, target = compiled.inspect(), compiled.target
    issue = sum(
        (each.issue_cycles or _USUAL_CYCLES) * _ROUNDS ** min(each.loop_depth, _DEEPEST)
        for each in inspection.instructions
    )
    waves = shape.workgroups * -(-shape.items // inspection.wave_size)
    simds = max(1, target.multiprocessors * target.simds_per_workgroup_processor)
    rounds = -(-waves // simds)
    hiding = min(1.0, max(1, facts.waves_per_simd) / _WAVES_THAT_HIDE)
    return float(issue * rounds / hiding)
