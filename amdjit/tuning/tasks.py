"""The work of a worker on one candidate: compile, check the limits, run, compare.

What is sent to a worker and what it returns can be pickled. A worker is a process of the default
pool, or whatever the user's executor runs functions in.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import platform
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.api import Kernel
from amdjit.backend.prestart import code_cache
from amdjit.checking.sanitizing import sanitize
from amdjit.code_object import CodeObject
from amdjit.code_object.resources import (
    demand_of_launch,
    waves_of_workgroups,
    workgroups_by_limit,
)
from amdjit.compiled_kernel import CompiledKernel
from amdjit.cycles import model
from amdjit.cycles.errors import NoEstimate
from amdjit.devices import use
from amdjit.diagnostics import AmdjitError, KernelFault
from amdjit.launching.prepared import PreparedLaunch
from amdjit.options import OptionError
from amdjit.profiling.launch_profile import LaunchProfile
from amdjit.profiling.profile import profile
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.tuning.candidates import Facts, State
from amdjit.tuning.comparing import Tolerance, difference
from amdjit.tuning.keys import source_digest
from amdjit.tuning.sending import on_device
from amdjit.tuning.settings import Limits

__all__ = ["Code", "Outcome", "Payload", "Work", "do", "launched_facts", "reset", "store_of"]

_RECORDED = 8_000_000


@dataclass(frozen=True, eq=False)
class Payload:
    """What all candidates of a search share. It is pickled once."""

    kernel: Any
    """The tuned kernel, or the kernel that it contains."""
    arguments: Mapping[str, Any]
    """The arguments by name, as `sending.sent` returns them."""
    reset_to_zero: tuple[str, ...] = ()
    """Arrays that are filled with zeros before each launch."""
    pre_hook: Any = None
    """Called before each launch with the arguments by name."""
    post_hook: Any = None
    """Called after each launch with the arguments by name."""


@dataclass(frozen=True, eq=False)
class Work:
    """What to do for one candidate."""

    payload: bytes | Path
    """The pickled `Payload`, or the file that holds it."""
    values: Mapping[str, Any]
    """The values of the configuration's parameters."""
    options: Mapping[str, Any]
    """Compile options."""
    order: tuple[str, ...]
    shape: LaunchShape
    digest: str
    """The digest of the kernel's source. The worker must have the same."""
    device: str
    """The emulator to run on."""
    limits: Limits
    runs: bool
    """Whether to launch."""
    scores: bool
    """Whether to compute the static score."""
    estimates: bool = True
    returns_results: bool = True
    whole: LaunchShape | None = None
    """The shape of the whole launch, if a smaller one runs."""
    growth: float = 1.0
    """The ratio of the bytes of the whole launch's arguments to those of this one, if a smaller one
    runs."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    expected: bytes | Path | None = None
    """The pickled results to compare with, or the file that holds them; None if there are none."""
    sanitize: tuple[str, ...] = ()
    store: str = ""
    """The code cache of the process that asks. The code is not returned if it is this process's
    cache, too."""


@dataclass(frozen=True, eq=False)
class Code:
    """Compiled code for the cache of another machine."""

    llvm: str
    optimized: str
    code_object: bytes


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a candidate's work."""

    state: State
    reason: str = ""
    facts: Facts | None = None
    score: float | None = None
    cycles: int | None = None
    seconds: float | None = None
    compile_seconds: float | None = None
    worker: str = ""
    results: Mapping[str, NDArray[Any]] | None = field(default=None, repr=False)
    """The contents of the arrays afterwards, if they have not been compared yet."""
    code: Code | None = field(default=None, repr=False)


def do(work: Work) -> Outcome:
    """Do the work. If something is wrong with the candidate, the outcome has the reason."""
    payload = _payload(work.payload)
    outcome = Outcome(State.BUILT, worker=f"{platform.node()}:{os.getpid()}")
    base: Kernel = getattr(payload.kernel, "kernel", payload.kernel)
    if source_digest(base) != work.digest:
        return replace(
            outcome,
            state=State.LOST,
            reason="the worker has another version of the kernel's source: start the executor anew",
        )
    begin = time.perf_counter()
    with warnings.catch_warnings(), use(work.device) as device:
        warnings.simplefilter("ignore")
        try:
            kernel = base.with_options(**work.options)
            arguments = _arguments(payload, work, device)
            prepared = kernel.prepare(*(arguments[name] for name in work.order))
            outcome = _built(work, outcome, prepared, time.perf_counter() - begin)
            if outcome.state is State.BUILT and work.runs:
                outcome = _ran(work, payload, outcome, kernel, device)
        except KernelFault as fault:
            return replace(outcome, state=State.FAULTED, reason=_first(fault))
        except Exception as error:  # functions of the user's may run at compile time
            return replace(outcome, state=_state_of(error), reason=_first(error))
    return outcome


def _state_of(error: BaseException) -> State:
    return State.LOST if isinstance(error, MemoryError) else State.REFUSED


def _first(error: BaseException) -> str:
    """Return an error's text as one paragraph of at most a few lines."""
    if isinstance(error, MemoryError):
        return "out of memory"
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    kind = "" if isinstance(error, (AmdjitError, OptionError)) else f"{type(error).__name__}: "
    return kind + ("\n".join(lines[:6]) or "no message")


@functools.lru_cache(maxsize=2)
def _payload(sent: bytes | Path) -> Payload:
    return _unpickled(sent)  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=2)
def _expected(sent: bytes | Path) -> Mapping[str, NDArray[Any]]:
    return _unpickled(sent)  # type: ignore[no-any-return]


def _unpickled(sent: bytes | Path) -> Any:
    return pickle.loads(sent.read_bytes() if isinstance(sent, Path) else sent)


def _arguments(payload: Payload, work: Work, device: Device) -> dict[str, Any]:
    return {**on_device(payload.arguments, device), **work.values}


def reset(arguments: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Fill arrays with zeros before a launch."""
    for name in names:
        array = arguments.get(name)
        if not isinstance(array, DeviceArray):
            raise OptionError(f"reset_to_zero=: {name!r} is not an array of the call")
        array.copy_from_host(np.zeros(array.shape, array.dtype))


def _built(work: Work, outcome: Outcome, prepared: PreparedLaunch, seconds: float) -> Outcome:
    compiled = prepared.loaded.compiled
    shape = work.whole or work.shape
    prepared.loaded.check(*work.shape[:3], compiled.target)
    facts = launched_facts(compiled, shape)
    too_much = _over_limits(facts, work.limits)
    own = code_cache(prepared.environment)
    code = None
    if work.store and work.store != store_of(own.directory, own.version):
        code = Code(compiled.llvm, compiled.optimized_llvm, compiled.code_object)
    return replace(
        outcome,
        state=State.PRUNED if too_much else State.BUILT,
        reason=too_much,
        facts=facts,
        score=static_score(compiled, shape, facts) if work.scores else None,
        compile_seconds=round(seconds, 4),
        code=code,
    )


def store_of(directory: Path | None, version: str) -> str:
    """Return a name for a cache on disk, from this machine and this version of the compiler."""
    return f"{platform.node()} {directory} {version}"


def launched_facts(compiled: CompiledKernel, shape: LaunchShape) -> Facts:
    """Return what a launch of this size needs."""
    resources = compiled.resources
    kernel = compiled.linked.kernels[compiled.name]
    demand = demand_of_launch(kernel, shape.items, shape.dynamic_lds)
    limits = {
        name: waves_of_workgroups(count, demand, compiled.target)
        for name, count in workgroups_by_limit(demand, compiled.target).items()
    }
    limiter = min(limits, key=lambda name: limits[name])
    return Facts(
        resources.vgprs,
        resources.sgprs,
        vgpr_spills=resources.vgpr_spills,
        sgpr_spills=resources.sgpr_spills,
        lds_bytes=demand.lds_bytes,
        scratch_bytes=resources.scratch_bytes,
        waves_per_simd=limits[limiter],
        limiter=limiter,
        code_bytes=resources.code_bytes,
        instructions=resources.instructions,
        block=shape.items,
        workgroups=shape.workgroups,
    )


def _over_limits(facts: Facts, limits: Limits) -> str:
    """Return why a candidate is pruned, "" if it is not."""
    spills = facts.vgpr_spills + facts.sgpr_spills
    if limits.spills is not None and spills > limits.spills:
        return (
            f"spills {facts.vgpr_spills} VGPRs and {facts.sgpr_spills} SGPRs "
            f"(limits: {limits.spills})"
        )
    if limits.scratch is not None and facts.scratch_bytes > limits.scratch:
        return f"{facts.scratch_bytes} bytes of scratch memory (limits: {limits.scratch})"
    if facts.waves_per_simd < limits.min_waves:
        return (
            f"a SIMD holds {facts.waves_per_simd} waves, limited by {facts.limiter} "
            f"({facts.vgprs} VGPRs, {facts.lds_bytes} bytes of LDS; limits: {limits.min_waves})"
        )
    return ""


def _ran(work: Work, payload: Payload, outcome: Outcome, kernel: Kernel, device: Device) -> Outcome:
    """Launch the kernel: first with the sanitizers if they are wanted, then with counts for the
    model."""
    if work.sanitize:
        with sanitize(*work.sanitize, raises=True):
            _launch(work, payload, kernel, device)
    if not work.estimates:
        results = _launch(work, payload, kernel, device)
        return _compared(work, outcome, results)
    with profile(instructions=_RECORDED) as counted:
        results = _launch(work, payload, kernel, device)
    return _compared(work, _estimated(work, outcome, counted.launches[-1]), results)


def _launch(
    work: Work, payload: Payload, kernel: Kernel, device: Device
) -> Mapping[str, NDArray[Any]]:
    """Launch with new arguments; return the contents of all arrays afterwards."""
    arguments = _arguments(payload, work, device)
    reset(arguments, payload.reset_to_zero)
    if payload.pre_hook is not None:
        payload.pre_hook(arguments)
    prepared = kernel.prepare(*(arguments[name] for name in work.order))
    prepared.launch(prepared.loaded.check(*work.shape[:3], device.target))
    device.synchronize()
    if payload.post_hook is not None:
        payload.post_hook(arguments)
    return array_contents(prepared)


def array_contents(prepared: PreparedLaunch) -> dict[str, NDArray[Any]]:
    """Return copies of a launch's arrays by name, including those that it only reads, because
    another candidate may write to them by mistake."""
    parts = zip(prepared.leaves.names, prepared.staging.arguments, strict=True)
    return {name: each.copy_to_host() for name, each in parts if isinstance(each, DeviceArray)}


def _estimated(work: Work, outcome: Outcome, launch: LaunchProfile) -> Outcome:
    """Return the outcome with the model's estimate of the whole launch."""
    whole = work.whole or work.shape
    lines = round(launch.distinct_lines * work.growth)
    size = model.Launch(whole.workgroups, whole.items, whole.dynamic_lds, lines)
    if launch.recording is None:
        return replace(outcome, reason="no workgroup was recorded")
    try:
        cycles = model.estimate(
            CodeObject.read(launch.code_object), launch.kernel, size, launch.recording
        )
    except NoEstimate as problem:
        return replace(outcome, reason=f"no estimate: {problem}")
    return replace(outcome, cycles=cycles.kernel, seconds=cycles.seconds)


def _compared(work: Work, outcome: Outcome, results: Mapping[str, NDArray[Any]]) -> Outcome:
    if work.expected is None:
        return replace(outcome, state=State.FINE, results=results if work.returns_results else None)
    text = difference(results, _expected(work.expected), work.tolerance)
    return replace(outcome, state=State.WRONG if text else State.FINE, reason=text)


def digest_of(contents: bytes) -> str:
    """Return a short name for some contents."""
    return hashlib.sha256(contents).hexdigest()[:16]


# The static score: a rough order of candidates from their machine code alone.
#
# The score is the number of cycles for which the launch occupies its busiest units if each loop
# runs a fixed number of times, divided among the chip's SIMDs and weighted by how well a SIMD hides
# waits:
#
#     waves x sum(issue cycles x 16^loop depth) / SIMDs / hiding
#
# hiding is min(1, waves of a SIMD / 4): with fewer than four waves, a SIMD has less to do while
# some wait. A partial round counts as a whole one, because workgroups are not divided. The score
# knows neither how often loops really run nor the caches; the cycle model is better if it knows the
# processor.

# Assumed iterations of a loop, and the deepest nesting for which they are multiplied.
_ROUNDS = 16
_DEEPEST = 4
_WAVES_THAT_HIDE = 4
# The cycles of instructions whose rate is not known.
_USUAL_CYCLES = 1


def static_score(compiled: CompiledKernel, shape: LaunchShape, facts: Facts) -> float:
    """Return the score of a launch; lower is better."""
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
