"""Replay recorded cycle traces with the cycle model.

    python benchmarks/cycle_model.py [FILE.json ...] [--reference] [--instructions] [--json OUT]

For each trace: predicted and measured cycles, and the error by what is measured (`trace_errors`).
Without files, all traces of the repository. What the model is told and does not predict stands in
`trace_files`. The product's model is host code; `--reference` runs the one in plain Python.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from measurement import ROOT
from trace_errors import KINDS, Errors, Predicted, Sample, errors_of, samples_of
from trace_files import read_trace
from trace_replays import replay_in_host_code
from traced_runs import Trace, TracedWave

from amdjit.cycles.families import family_of

sys.path.insert(0, str(ROOT / "tests" / "cycles" / "reference"))

from program_steps import instructions_of
from simulation import simulate as simulate_in_python
from waves import WaveRun as ReferenceRun

__all__ = ["TRACES", "Replay", "main", "replay", "replay_in_host_code", "replay_in_python"]

TRACES = ROOT / "tests" / "hardware" / "traces"
_DISTRIBUTION = (0, 1, 2, 5, 10, 50)
# No parameter was chosen by these: kernels, and second runs of kernels of which the first was used.
_HELD_OUT = (
    "custom_lds_sync__gfx1100__c06520",
    "E_32_32_4__gfx11",
    "E_3__gfx11",
    "r_8_4_8_16_4_4_64_4__gfx1200",
    "r_256_16_16__gfx1200__f3dc3c__01",
    "r_32_32_16_2__gfx1100__266345__01",
    "r_2_8_16_4_4_16_4__gfx1100__ad19c5__01",
    "discover_ops__gfx1100__1bcf3e__01",
    "discover_ops__gfx1100__b4d66e__01",
    "discover_ops__gfx1100__c137c7__01",
)


@dataclass(frozen=True)
class Replay:
    """A trace and what the model says of it. seconds: of the simulation."""

    trace: Trace
    predicted: tuple[Predicted, ...]
    samples: tuple[Sample, ...]
    seconds: float

    @property
    def errors(self) -> dict[str, Errors]:
        """Errors by kind."""
        return errors_of(self.samples)


def replay(path: Path, predict: Callable[[Trace], list[Predicted]]) -> Replay:
    """Return a trace with its prediction; ValueError if the file is no trace."""
    trace = read_trace(path)
    begin = perf_counter()
    predicted = predict(trace) if trace.waves else []
    seconds = perf_counter() - begin
    samples = tuple(samples_of(trace, predicted))
    return Replay(trace, tuple(predicted), samples, seconds)


def replay_in_python(trace: Trace) -> list[Predicted]:
    """Return what the reference model says."""
    runs = [
        ReferenceRun(wave.simd, wave.workgroup, wave.start, wave.path)
        for wave in (*trace.waves, *trace.neighbours)
    ]
    found = simulate_in_python(instructions_of(trace.table), runs, trace.given, trace.values)
    return [
        {issue.step: (issue.cycle, issue.cause) for issue in issues}
        for issues in found[: len(trace.waves)]
    ]


def replays(
    paths: Sequence[Path], predict: Callable[[Trace], list[Predicted]]
) -> tuple[list[Replay], list[str]]:
    """Return the replays of files, and what is wrong with those that cannot be replayed."""
    found, wrong = [], []
    for path in paths:
        try:
            found.append(replay(path, predict))
        except (OSError, ValueError, KeyError, TypeError) as error:
            wrong.append(f"{path}: {type(error).__name__}: {error}")
    return found, wrong


def print_replay(found: Replay, instructions: bool) -> None:
    """Print a trace's errors."""
    trace = found.trace
    waves = f"{len(trace.waves)} wave{'s' if len(trace.waves) != 1 else ''}"
    print(f"\n{trace.name}  ({trace.kernel}, {trace.target}, {waves})")
    for sentence in trace.missing:
        print(f"  {sentence}")
    for cause, cycles in trace.given.cycles.items():
        print(f"  given: {cycles:,} cycles of waves ({cause})")
    for kind, errors in found.errors.items():
        print(
            f"  {kind:8} {errors.count:6,} x  predicted {errors.predicted:9,}"
            f"  measured {errors.measured:9,}  {errors.relative:+7.2%}"
            f"  median {errors.median:g}, within 1 cycle {errors.within(1):.0%}"
        )
    if instructions:
        for number, wave in enumerate(trace.waves):
            _print_instructions(trace, number, wave, found.predicted[number])


def _print_instructions(trace: Trace, number: int, wave: TracedWave, predicted: Predicted) -> None:
    print(f"  wave {number} in slot {wave.slot}")
    print("   predicted   measured  error  (gaps)       instruction  [why not earlier]")
    before: tuple[int, int] | None = None
    for step, (index, measured) in enumerate(zip(wave.path, wave.measured, strict=True)):
        if measured is None or step not in predicted:
            continue
        cycle, cause = predicted[step]
        text = trace.texts[index] if index < len(trace.texts) else "(no lane is active)"
        gaps = f"+{cycle - before[0]} / +{measured - before[1]}" if before else ""
        print(f"  {cycle:10} {measured:10} {cycle - measured:6}  {gaps:12} {text}  [{cause}]")
        before = cycle, measured


def print_totals(found: Sequence[Replay]) -> None:
    """Print the errors of all traces together, their distribution and the worst cases."""
    errors = errors_of([sample for one in found for sample in one.samples])
    print(f"\nAll {len(found)} traces")
    head = "  ".join(f"<={limit}" for limit in _DISTRIBUTION)
    print(f"  kind     samples   error of the sum   absolute error in cycles: {head}")
    for kind, each in errors.items():
        parts = "  ".join(f"{each.within(limit):.0%}" for limit in _DISTRIBUTION)
        print(
            f"  {kind:8} {each.count:7,}   {each.relative:+7.2%}   median {each.median:g};  {parts}"
        )
    print("  worst cases")
    for kind, cases in _worst(found).items():
        for case in cases:
            print(
                f"    {kind:8} predicted {case['predicted']}, measured {case['measured']}: "
                f"{case['trace']}, wave {case['wave']}, {case['text']}"
            )
    steps = sum(len(wave.path) for one in found for wave in one.trace.waves)
    seconds = sum(one.seconds for one in found)
    print(f"  {steps:,} wave instructions in {seconds:.3f} s")


def as_json(found: Sequence[Replay], wrong: Sequence[str]) -> dict[str, Any]:
    """Return the errors as JSON. first, others: the first run of each program and the others."""
    seen: set[tuple[str, ...]] = set()
    first, others = [], []
    for one in found:
        (others if one.trace.texts in seen else first).append(one)
        seen.add(one.trace.texts)
    return {
        "kinds": KINDS,
        "traces": [
            {
                "name": one.trace.name,
                "kernel": one.trace.kernel,
                "target": one.trace.target.name,
                "family": family_of(one.trace.target).name,
                "held_out": one.trace.name.startswith(_HELD_OUT),
                "waves": len(one.trace.waves),
                "given": dict(one.trace.given.cycles),
                "missing": list(one.trace.missing),
                "errors": _rows([one]),
            }
            for one in found
        ],
        "first": _rows(first),
        "others": _rows(others),
        "all": _rows(found),
        "worst": _worst(found),
        "wrong": list(wrong),
    }


def _rows(found: Sequence[Replay]) -> dict[str, Any]:
    samples = [sample for one in found for sample in one.samples]
    return {
        kind: {
            "samples": each.count,
            "predicted": each.predicted,
            "measured": each.measured,
            "relative": round(each.relative, 6),
            "median": each.median,
            "within": {str(limit): round(each.within(limit), 4) for limit in _DISTRIBUTION},
        }
        for kind, each in errors_of(samples).items()
    }


def _worst(found: Sequence[Replay], count: int = 3) -> dict[str, list[dict[str, Any]]]:
    """Return the worst samples of each kind, one for each instruction of a kernel."""
    cases: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    pairs = [(sample, one.trace) for one in found for sample in one.samples if sample.error]
    seen: set[tuple[str, str, int]] = set()
    for sample, trace in sorted(pairs, key=lambda pair: -abs(pair[0].error)):
        index = trace.waves[sample.wave].path[sample.step]
        key = sample.kind, trace.kernel, index
        if key in seen or len(cases[sample.kind]) == count:
            continue
        seen.add(key)
        text = trace.texts[index] if index < len(trace.texts) else "(no lane is active)"
        cases[sample.kind].append(
            {
                "trace": trace.name,
                "wave": sample.wave,
                "text": text if sample.kind != "kernel" else "(all)",
                "predicted": sample.predicted,
                "measured": sample.measured,
            }
        )
    return cases


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; the result is 1 if a file could not be replayed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.json")
    parser.add_argument("--reference", action="store_true", help="the model in plain Python")
    parser.add_argument("--instructions", action="store_true", help="print each instruction")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the errors as JSON")
    chosen = parser.parse_args(arguments)
    files = chosen.files or sorted(TRACES.glob("*__*.json"))
    predict = replay_in_python if chosen.reference else replay_in_host_code
    found, wrong = replays(files, predict)
    for one in found:
        print_replay(one, chosen.instructions)
    if found:
        print_totals(found)
    for sentence in wrong:
        print(f"cannot be replayed: {sentence}", file=sys.stderr)
    if chosen.json:
        chosen.json.write_text(json.dumps(as_json(found, wrong), indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
