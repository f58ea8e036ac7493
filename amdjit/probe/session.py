"""The commands of the probe, as functions that print."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from amdjit.options import default_target, read_environment
from amdjit.probe import comparison, fitting
from amdjit.probe import record as records
from amdjit.probe.outcome import Facts, Record
from amdjit.probe.processes import Processes
from amdjit.probe.report import how_to_send, report
from amdjit.probe.running import ProbeError, Request, chosen, facts_of, run
from amdjit.target import read_target

__all__ = ["Request", "compare", "fit", "list_batches", "probe"]

_INTERRUPTED = 130
# An emulator may need minutes for what a GPU does in a second.
_EMULATOR_PATIENCE = 20.0


def list_batches(
    request: Request, processes: Processes | None = None, say: Callable[[str], None] = print
) -> int:
    """Print the batches that a request selects, with the seconds that they take on a GPU. Without a
    GPU, these are the batches for AMDJIT_TARGET, or else for gfx1201."""
    try:
        target = read_target(facts_of(request, processes or Processes()).target)
    except ProbeError:
        if request.device:
            raise
        target = default_target(read_environment(os.environ))
        say(f"there is no GPU here; these are the batches for {target}")
    selected = chosen(request, target)
    for batch in selected:
        print(f"{batch.expected:5.1f} s  {'quick' if batch.is_quick else '':5}  {batch.name}")
    print(f"{sum(batch.expected for batch in selected):5.1f} s on a GPU")
    return 0


def probe(
    request: Request,
    output: Path | None,
    processes: Processes | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Run the probe, write its file and print the report. Return the exit code: 0 for a complete
    run, whatever it found, 1 for an incomplete one, 130 after Ctrl-C."""
    children = processes or Processes()
    facts = facts_of(request, children)
    if facts.device.startswith("emulator:"):
        request = replace(request, patience=max(request.patience, _EMULATOR_PATIENCE))
    path = output or Path(_file_name(request, facts))
    say(f"{facts.device}: {facts.description}")
    record, partial = run(request, facts, path.with_name(f"{path.name}.part"), children, say)
    size = records.write(record, path)
    if record.is_complete:
        partial.remove()
    print(report(record))
    print()
    if record.stopped:
        print(_what_now(record, partial.path))
    print(how_to_send(path, size))
    if record.is_complete:
        return 0
    return _INTERRUPTED if record.stopped == "interrupted" else 1


def compare(
    path: Path,
    output: Path | None,
    jobs: int,
    say: Callable[[str], None] = print,
    processes: Processes | None = None,
) -> int:
    """Print what a file decides, or write it to `output`; RecordError if it is not a file of the
    probe."""
    found = comparison.compare(records.read(path), jobs, processes or Processes(), say)
    words = comparison.text(found)
    if output is None:
        print(words)
    else:
        output.write_text(f"{words}\n", encoding="utf-8")
    return 0


def fit(path: Path, output: Path | None) -> int:
    """Print what a file's measurements say about the cycle model's parameters, and write these to
    `output`, by default beside the file. RecordError if it is not a file of the probe or has no
    measurements, NoEstimate for a processor that the model does not know."""
    record = records.read(path)
    if not record.measurements():
        raise records.RecordError(
            f"{path} has no measurements ({record.selection}): run `amdjit probe` without --quick "
            "and --only, or with `--only timing`"
        )
    found = fitting.fit(record)
    parameters = output or path.with_suffix(".cycles.json")
    found.write(parameters)
    print(found.text())
    print(f"\nAMDJIT_CYCLE_PARAMETERS={parameters} lets the cycle model use these parameters.")
    return 0


def _file_name(request: Request, facts: Facts) -> str:
    kind = "-quick" if request.is_quick else ""
    return f"probe-{facts.target.replace(':', '-')}{kind}.probe"


def _what_now(record: Record, partial: Path) -> str:
    """Say what to do after an incomplete run."""
    again = f"The same command continues after what is in {partial}."
    if "seems hung" not in record.stopped:
        return again
    reset = {
        "Linux": "save your work, then reset it with `sudo rocm-smi --gpureset -d 0` (or `sudo "
        "amd-smi reset -g 0`); if that fails, log out and in again, or reboot",
        "Windows": "save your work and press Win+Ctrl+Shift+B, which restarts the driver; if that "
        "does not help, reboot",
    }
    remedy = reset.get(record.facts.system, "save your work and reboot")
    index = record.facts.device.partition(":")[2]
    if index.isdecimal():
        remedy = remedy.replace("-d 0", f"-d {index}").replace("-g 0", f"-g {index}")
    return f"The GPU {record.facts.device} seems hung. What to do: {remedy}. {again}"
