"""A process of the probe, `python -m amdjit.probe.child TASK FILE ...`: whatever happens to it, the
parent continues.

    facts FILE DEVICE                    what the device is
    answer FILE DEVICE                   whether the device still computes
    run FILE DEVICE BATCH FIRST          the batch's cases or measurements, from the case FIRST on
    compare FILE TARGET BATCH CHIP EMULATOR    what differs between the files of two runs

It writes results to FILE (`record.py`) and messages to standard error.
"""

from __future__ import annotations

import itertools
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import amdjit
from amdjit.devices import find_device, hip_status
from amdjit.diagnostics import AmdjitError
from amdjit.probe.case import Batch, Case
from amdjit.probe.corpus import batches
from amdjit.probe.corpus.basics import tiny
from amdjit.probe.differences import differences_of, kinds_of
from amdjit.probe.outcome import CaseOutcome, CaseStatus, Facts, plain
from amdjit.probe.record import Writer, digest_of, read_values, results_of, stored
from amdjit.runtime.device import Device
from amdjit.target import Target, read_target

__all__ = ["LOST", "main"]

LOST = 3
"""The exit code after which the device has to be asked whether it still works."""

_DRIVER = Path("/sys/module/amdgpu/version")
_KERNEL = Path("/proc/sys/kernel/osrelease")
_MOST_NOTE = 600


def main(arguments: list[str]) -> int:
    """Do one task and return the exit code."""
    task, file, *others = arguments
    writer = Writer(Path(file))
    if task == "facts":
        return _facts(writer, *others)
    if task == "answer":
        with amdjit.use(*others):
            return 0 if tiny() else 1
    if task == "compare":
        return _compare(writer, *others)
    return _run(writer, *others)


def _facts(writer: Writer, name: str) -> int:
    """Write what is known about a device, by default about the default GPU."""
    try:
        device = find_device(name or "hip")
    except AmdjitError as error:
        writer.write(kind="refused", why=str(error))
        return 0
    writer.write(kind="facts", facts=plain(_facts_of(device)), status=hip_status())
    return 0


def _facts_of(device: Device) -> Facts:
    is_gpu = device.name.startswith("hip:")
    return Facts(
        device=device.name,
        target=device.target.id,
        description=getattr(device, "description", ""),
        multiprocessors=device.multiprocessor_count,
        driver=_driver() if is_gpu else "",
        system=platform.system(),
        python=platform.python_version(),
    )


def _driver() -> str:
    """Return the version of Linux's driver: its own, or that of the kernel that it comes with. The
    text after the numbers is left out: it may name who built the kernel."""
    for prefix, path in (("amdgpu ", _DRIVER), ("Linux ", _KERNEL)):
        if path.exists():
            numbers = re.match(r"[0-9.]+[0-9]", path.read_text())
            return prefix + numbers[0] if numbers else ""
    return ""


def find_batch(target: Target, name: str) -> Batch:
    """Return a batch of the corpus by its name."""
    return next(batch for batch in batches(target) if batch.name == name)


def _run(writer: Writer, device_name: str, batch_name: str, first: str) -> int:
    with amdjit.use(device_name) as device:
        batch = find_batch(device.target, batch_name)
        if batch.measurements is not None:
            for each in batch.measurements(device.target):
                writer.write(kind="measurement", measurement=plain(each))
        if batch.cases is not None:
            cases = itertools.islice(batch.cases(device.target), int(first), None)
            if not _run_cases(writer, cases, device):
                return LOST
    writer.write(kind="finished")
    return 0


def _run_cases(writer: Writer, cases: Iterable[Case], device: Device) -> bool:
    """Run the cases; return False if one failed and the device computes nothing any more."""
    for case in cases:
        writer.begin(case)
        try:
            arrays = stored(case.run())
        except Exception as error:  # a case that fails is a finding, whatever it raises
            writer.write(kind="failed", note=_note(error))
            if not _still_computes(device):
                return False
            continue
        writer.write(kind="ended", digest=digest_of(arrays), arrays=plain(arrays))
    return True


def _note(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_MOST_NOTE]


def _still_computes(device: Device) -> bool:
    if device.name.startswith("emulator:"):
        return True
    try:
        return tiny()
    except AmdjitError:
        return False


def _compare(writer: Writer, target: str, batch_name: str, chip: str, emulator: str) -> int:
    """Write an outcome for each case that both files have with different results."""
    there, here = (_ended(Path(file)) for file in (chip, emulator))
    row = read_target(target)
    batch = find_batch(row, batch_name)
    for case in batch.cases(row) if batch.cases is not None else ():
        if case.name in there and case.name in here:
            outcome = _compared(case, there[case.name], here[case.name])
            if outcome is not None:
                writer.write(kind="outcome", outcome=plain(outcome))
    writer.write(kind="finished")
    return 0


def _compared(case: Case, there: Mapping[str, Any], here: Mapping[str, Any]) -> CaseOutcome | None:
    if there["digest"] == here["digest"]:
        return None
    chip, emulator = results_of(there["arrays"]), results_of(here["arrays"])
    shapes = [[(array.dtype.name, array.shape) for array in each] for each in (chip, emulator)]
    elements = sum(int(array.size) for array in chip)
    known = {"chip": there["digest"], "emulator": here["digest"], "elements": elements}
    if shapes[0] != shapes[1]:
        note = f"other shapes: {shapes[0]} on the chip, {shapes[1]} in the emulator"
        return CaseOutcome(
            case.name, case.subject, case.rule, CaseStatus.DIFFERS, note=note, **known
        )
    count, found = differences_of(chip, emulator, case.inputs)
    kinds = kinds_of(chip, emulator)
    return CaseOutcome(
        case.name,
        case.subject,
        case.rule,
        CaseStatus.DIFFERS,
        differing=count,
        kinds=kinds,
        differences=found,
        **known,
    )


def _ended(path: Path) -> dict[str, Mapping[str, Any]]:
    found, name = {}, ""
    for value in read_values(path):
        if value["kind"] == "begin":
            name = value["name"]
        elif value["kind"] == "ended":
            found[name] = value
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
