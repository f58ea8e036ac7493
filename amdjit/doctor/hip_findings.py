"""Questions about HIP: its library, its devices and their smoke runs, PyTorch's own. A child
process asks them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from amdjit.diagnostics.errors import LaunchError
from amdjit.doctor.child import Ended
from amdjit.doctor.driver import has_gpu, processors
from amdjit.doctor.finding import REPORT_IT, Finding, State
from amdjit.doctor.machine import Machine
from amdjit.runtime.hip import library
from amdjit.runtime.hip_errors import (
    FIRST_WITH_VERSION_6,
    INSTALL_HIP,
    UPDATE_ROCM,
    WITHOUT_VERSION_6,
)

__all__ = [
    "NO_SUCH_DEVICE",
    "default_device",
    "gpus",
    "hip_library",
    "pytorch",
    "smoke_findings",
    "usable",
]


_DRIVER_FAILED = (
    "Look for what the driver says in `sudo dmesg`, and try `rocminfo`; restart the machine if "
    "that fails, too."
)
_USE_ANOTHER = "Use the emulator, or a GPU with one of the processors in docs/reference/targets.md."
_HIDDEN = (
    "If another one is wanted, look at HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES, and whether "
    "you may open its render node."
)
_ONE_LIBRARY = (
    "Unset ROCM_PATH, or import torch before amdjit's first use of the GPU: the memory and "
    "streams of one HIP are unknown to the other."
)
_OF_TORCH = re.compile(r"^hip\b[^=\n]*= *'([^']+)'", re.MULTILINE)
_NO_DEVICE = 100  # hipErrorNoDevice


def hip_library(machine: Machine, survey: Ended) -> Iterator[Finding]:
    """Find which HIP library is used, where it was found, and why another one is not used."""
    places = _first(survey, "places")
    opened = _first(survey, "opened")
    failed = _first(survey, "failed")
    refused = [place["refused"] for place in places.get("places", ()) if place["refused"]]
    if opened:
        yield from _opened(machine, places, opened, refused)
    elif failed.get("remedy") == INSTALL_HIP and not _found(places) and not refused:
        state = State.PROBLEM if has_gpu(machine) else State.NOTE
        where = ", ".join(place["where"] for place in places["places"])
        found = machine.shown(f"there is none; looked in {where}")
        yield Finding("HIP library", state, found, failed["remedy"])
    elif failed:
        unsaid = [words for words in refused if words not in failed["what"]]
        words = "; ".join([failed["what"], *unsaid])
        remedy = failed["remedy"] or _DRIVER_FAILED
        yield Finding("HIP library", State.PROBLEM, machine.shown(words), remedy)
    elif survey.how:
        library_file = _found(places) or "HIP"
        found = f"{library_file}: the process that asked it {survey.how}. {survey.said}".strip()
        remedy = _DRIVER_FAILED if survey.is_started else NO_PROCESS
        yield Finding("HIP library", State.PROBLEM, machine.shown(found), remedy)


def gpus(machine: Machine, survey: Ended) -> Iterator[Finding]:
    """Find the devices that HIP reports, and why some cannot be used."""
    failed = _first(survey, "failed")
    devices = _all(survey, "device")
    for device in devices:
        yield _device(device)
    if not _first(survey, "opened"):
        return
    known = processors(machine)
    if not failed and not survey.how and len(devices) < len(known):
        found = f"HIP reports {len(devices)} of the {len(known)} GPUs that the driver sees"
        yield Finding("GPUs", State.NOTE, found, _HIDDEN)
    if failed:
        is_missed = failed["code"] != _NO_DEVICE or has_gpu(machine)
        state = State.PROBLEM if is_missed else State.NOTE
        remedy = failed["remedy"] or _DRIVER_FAILED
        yield Finding("GPUs", state, machine.shown(failed["what"]), remedy)
    elif survey.how:
        found = f"the process that asked HIP for its devices {survey.how}. {survey.said}"
        yield Finding("GPUs", State.PROBLEM, machine.shown(found.strip()), _DRIVER_FAILED)


def default_device(machine: Machine, survey: Ended) -> Iterator[Finding]:
    """Find which device kernels run on if the program chooses none."""
    default = _first(survey, "default")
    if default and not default["name"]:
        found = machine.shown(default["what"].partition(" (")[0])
        yield Finding("default", State.PROBLEM, found, default["remedy"] or NO_SUCH_DEVICE)
    elif default:
        found = f"kernels run on {default['name']} where the program chooses no device"
        yield Finding("default", State.OK, found, facts={"device": default["name"]})


def pytorch(machine: Machine, survey: Ended) -> Iterator[Finding]:
    """Find whether PyTorch is installed, with a HIP of its own, without importing it."""
    loaded = library.all_loaded()
    if len(loaded) > 1:
        found = f"this process has {len(loaded)} HIP libraries: {', '.join(loaded)}"
        yield Finding("PyTorch", State.PROBLEM, machine.shown(found), _ONE_LIBRARY)
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return
    own = _hip_of_torch()
    facts = dict(version=version, hip=own[0], library=own[1] and machine.shown(own[1]))
    taken = _found(_first(survey, "places"))
    if not own[0] and not own[1]:
        found = f"torch {version}, built without ROCm: its tensors are in the host's memory"
        yield Finding("PyTorch", State.OK, found, facts=facts)
    elif own[1] and taken and Path(taken).resolve() != Path(own[1]).resolve():
        found = f"torch {version} brings {own[1]}, but amdjit takes {taken}"
        yield Finding("PyTorch", State.NOTE, machine.shown(found), _ONE_LIBRARY, facts)
    else:
        brings = "with a HIP library of its own" if own[1] else "which uses the system's HIP"
        found = f"torch {version} for HIP {own[0] or '(unknown version)'}, {brings}"
        yield Finding("PyTorch", State.OK, found, facts=facts)


def usable(survey: Ended) -> list[str]:
    """Return the names of the GPUs that kernels can run on."""
    return [device["name"] for device in _all(survey, "device") if not device["why_not"]]


def _opened(
    machine: Machine, places: dict[str, Any], opened: dict[str, Any], refused: list[str]
) -> Iterator[Finding]:
    taken = (opened["loaded"] or [_found(places) or "a library"])[0]
    where = places["places"][-1]["where"] if _found(places) else "hip-python's own search"
    others = [file for file in places["files"] if Path(file).resolve() != Path(taken).resolve()]
    parts = [f"{taken}, HIP {opened['text']}, from {where}"]
    parts += [f"not taken, as this comes first: {', '.join(others)}"] if others else []
    parts += [f"cannot be loaded: {'; '.join(refused)}"] if refused else []
    found = machine.shown("; ".join(parts))
    facts = dict(
        file=machine.shown(taken),
        version=opened["text"],
        others=[machine.shown(other) for other in others],
    )
    if len(opened["loaded"]) > 1:
        found = f"{found}; the process has {len(opened['loaded'])} of them"
        yield Finding("HIP library", State.PROBLEM, found, _ONE_LIBRARY, facts)
    elif opened["version"] < FIRST_WITH_VERSION_6:
        found = f"{found}; {WITHOUT_VERSION_6}"
        yield Finding("HIP library", State.PROBLEM, found, UPDATE_ROCM, facts)
    elif refused:
        yield Finding(
            "HIP library", State.NOTE, found, f"Remove what is broken. {INSTALL_HIP}", facts
        )
    else:
        yield Finding("HIP library", State.OK, found, facts=facts)


def _device(device: dict[str, Any]) -> Finding:
    counted = "CUs" if device["architecture"].startswith("gfx9") else "WGPs"
    found = (
        f"{device['product']}, {device['architecture']}, {device['memory'] / 2**30:.1f} GiB, "
        f"waves of {device['wave_size']}, {device['multiprocessors']} {counted}, "
        f"{device['lds'] / 2**10:g} KiB of LDS"
    )
    facts = {key: device[key] for key in _FACTS}
    if not device["why_not"]:
        return Finding(device["name"], State.OK, found, facts=facts)
    if device["target"] is None:
        found = f"{found}; {device['why_not']}"
        return Finding(device["name"], State.NOTE, found, _USE_ANOTHER, facts)
    return Finding(
        device["name"], State.PROBLEM, f"{found}; {device['why_not']}", _DRIVER_FAILED, facts
    )


_FACTS = ("product", "architecture", "memory", "wave_size", "multiprocessors", "lds", "target")


def _hip_of_torch() -> tuple[str | None, str | None]:
    """Return the version of HIP that PyTorch was built for, and the file of the HIP that it brings;
    None for each if there is none."""
    try:
        spec = find_spec("torch")
    except ValueError:  # a module that was made, not found
        spec = None
    for root in (spec.submodule_search_locations if spec else None) or ():
        try:
            match = _OF_TORCH.search(Path(root, "version.py").read_text())
        except OSError:
            match = None
        files = sorted(Path(root, "lib").glob("libamdhip64*"))
        return match and match[1], str(files[0]) if files else None
    return None, None


def _found(places: dict[str, Any]) -> str | None:
    found: list[str] = [each["found"] for each in places.get("places", ()) if each["found"]]
    return found[0] if found else None


def _all(survey: Ended, stage: str) -> list[dict[str, Any]]:
    return [line for line in survey.lines if line.get("stage") == stage]


def _first(survey: Ended, stage: str) -> dict[str, Any]:
    return next(iter(_all(survey, stage)), {})


# Turns what the smoke run of a device reported into findings.


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
