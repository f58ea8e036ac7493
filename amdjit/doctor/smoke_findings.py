"""Turns what the smoke run of a device reported into findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amdjit.diagnostics.errors import LaunchError
from amdjit.doctor.child import Ended
from amdjit.doctor.finding import REPORT_IT, Finding, State
from amdjit.doctor.machine import Machine

__all__ = ["NO_PROCESS", "NO_SUCH_DEVICE", "smoke_findings"]

NO_SUCH_DEVICE = "Correct AMDJIT_DEVICE (`amdjit devices` lists the names), or unset it."
NO_PROCESS = "Free memory for a process, and space in the folder of temporary files (TMPDIR)."

_HUNG = (
    "Restart the machine if the GPU hangs (`sudo dmesg` says so), and update the driver. A slow "
    "machine needs `amdjit doctor --seconds 600`."
)
_CRASHED = "Update ROCm and the driver; if that does not help, report it with these words."
_WRONG = (
    "Do not trust this device. Check it with `amdjit probe`, which says what it computes "
    "otherwise, and report that."
)
# Remedies to give instead of HIP's own, which are meant for the author of a kernel.
_REMEDIES_HERE = {
    2: "Other processes have the GPU's memory: see `rocm-smi --showpids`, and end them.",
    700: _CRASHED,
    719: _CRASHED,
}


def smoke_findings(machine: Machine, name: str, run: Ended) -> Iterator[Finding]:
    """Yield what a device's smoke run found: a problem for each cause, or that all is well."""
    problems = [*_failures(run), *_wrong_results(name, run), *_bad_ends(run)]
    for found, remedy in problems:
        yield Finding("kernels", State.PROBLEM, machine.shown(f"{name}: {found}"), remedy)
    right = [line["trial"] for line in run.lines if line["stage"] == "ended" and not line["wrong"]]
    if problems or not right:
        return
    made = next(line for line in run.lines if line["stage"] == "made")
    against = "NumPy" if made["reference"] is None else f"NumPy and {made['reference']}"
    facts = dict(device=name, kernels=right, compared_with=against)
    found = f"{name}: {', '.join(right)} are right, compared with {against}"
    yield Finding("kernels", State.OK, found, facts=facts)


def _failures(run: Ended) -> Iterator[tuple[str, str]]:
    """Yield errors with their remedies; errors of the same kind are combined."""
    failed: dict[Any, list[dict[str, Any]]] = {}
    for line in run.lines:
        if line["stage"] == "failed":
            kind = line["error"], line["code"], line["remedy"]
            failed.setdefault(kind, []).append(line)
    for (error, code, remedy), lines in failed.items():
        trials = ", ".join(filter(None, (line["trial"] for line in lines)))
        what = lines[0]["what"]
        found = f"{trials} fail{'s' * (len(lines) == 1)}: {what}" if trials else what
        known = NO_SUCH_DEVICE if error == LaunchError.__name__ and not trials else remedy
        yield found, _REMEDIES_HERE.get(code) or known or REPORT_IT


def _wrong_results(name: str, run: Ended) -> Iterator[tuple[str, str]]:
    for line in run.lines:
        if line["stage"] == "ended" and line["wrong"]:
            remedy = REPORT_IT if name.startswith("emulator:") else _WRONG
            yield f"{line['trial']} is wrong: {line['wrong']}", remedy


def _bad_ends(run: Ended) -> Iterator[tuple[str, str]]:
    if run.how:
        said = f": {' '.join(run.said.split())}" if run.said else ""
        last = _last_begun(run)
        crashed = _CRASHED if run.is_started else NO_PROCESS
        yield (
            f"{f'during {last} ' * bool(last)}the process {run.how}{said}",
            _HUNG if run.is_hung else crashed,
        )


def _last_begun(run: Ended) -> str:
    """Return the kernel that was running when the process ended."""
    begun: list[dict[str, Any]] = [line for line in run.lines if line["stage"] == "begun"]
    over = {line["trial"] for line in run.lines if line["stage"] in ("ended", "failed")}
    return begun[-1]["trial"] if begun and begun[-1]["trial"] not in over else ""
