"""What costs a launch time: where its waves spend their cycles, by line, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from amdjit.cycles.estimate import Cycles
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.inspection.causes import Cause, causes_in_code, occupancy_note
from amdjit.inspection.facts import InstructionFacts, KernelFacts, SourcePlace
from amdjit.profiling.counts import InstructionCounts
from amdjit.profiling.peaks import Peaks
from amdjit.target import find_target

__all__ = ["launch_causes", "used_share"]

# Shares of the waves' cycles below which nothing is said.
_LEAST_SHARE = 0.05
# Of what a request touches, the share below which it is called spread.
_SPREAD = 0.5
# Of a wave's lanes, the share of active ones below which they are called inactive.
_FEW_LANES = 0.5
_LANE_UNITS = ("VALU", "transcendental", "vector memory", "LDS")


def launch_causes(
    facts: KernelFacts,
    counts: Sequence[InstructionCounts],
    cycles: Cycles | None,
    workgroups: int,
    peaks: Peaks | None,
) -> tuple[Cause, ...]:
    """Return what costs a launch time, what costs most first.

    With an estimate of cycles, each cause is a line and a reason, with their share of the cycles of
    all waves; without one, the code's own causes stand in their place. A launch that leaves
    workgroup processors empty begins with the cause "small launch": its shares hold for its own
    waves, and say nothing of larger launches. peaks: of the chip, None if they are not known.
    """
    small = list(_small(facts, workgroups, peaks))
    if cycles is None:
        return (*small, *causes_in_code(facts))
    return (*small, *_estimated(facts, {each.address: each for each in counts}, cycles))


def _small(facts: KernelFacts, workgroups: int, peaks: Peaks | None) -> Iterator[Cause]:
    if peaks is None or not peaks.leaves_empty(workgroups):
        return
    target = find_target(facts.target)
    whole = target is not None and target.has_workgroup_processors
    yield Cause(
        "small launch",
        "the launch is too small to tell what limits the kernel: "
        f"{workgroups} workgroup{'s' * (workgroups != 1)} on {peaks.workgroup_processors} "
        f"{'workgroup processors' if whole else 'compute units'} of the {peaks.product}",
        "counts",
    )


@dataclass(slots=True)
class _Group:
    """The cycles that waves spend for one reason at one line."""

    kind: str
    place: SourcePlace | None
    cycles: int = 0
    parts: Counter[str] = field(default_factory=Counter)
    """Cycles by the model's name of the stall, or "issue"."""
    at: dict[int, InstructionFacts] = field(default_factory=dict)
    """The instructions that are the reason, by address."""


def _estimated(
    facts: KernelFacts, counts: Mapping[int, InstructionCounts], cycles: Cycles
) -> Iterator[Cause]:
    groups, total = _groups(facts, counts, cycles)
    for group in sorted(groups, key=lambda each: -each.cycles):
        share = group.cycles / total if total else 0.0
        if share < _LEAST_SHARE:
            return
        seen = [counts[address] for address in group.at if address in counts]
        sentence = _SENTENCES[group.kind](group, seen, facts)
        sentence += f" ({100 * share:.0f} % of the waves' cycles)"
        file, line = group.place or (None, None)
        addresses = tuple(sorted(group.at))
        yield Cause(
            group.kind, sentence, "model", file=file, line=line, addresses=addresses, share=share
        )


@dataclass(frozen=True, slots=True)
class _Code:
    """What is known of the instructions, by address. spaces: of memory instructions."""

    facts: Mapping[int, InstructionFacts]
    counts: Mapping[int, InstructionCounts]
    spaces: Mapping[int, str]
    wave_size: int


def _groups(
    facts: KernelFacts, counts: Mapping[int, InstructionCounts], cycles: Cycles
) -> tuple[list[_Group], int]:
    """Return the groups, and the cycles of all waves together."""
    code = _Code(
        {each.address: each for each in facts.instructions},
        counts,
        {each.address: each.space for each in facts.accesses},
        facts.wave_size,
    )
    groups: dict[tuple[str, SourcePlace | None], _Group] = {}
    total = 0
    for address, spent in cycles.by_instruction.items():
        for what, number in {"issue": spent.issue, **spent.stalls}.items():
            if what == "idle" or not number:
                continue
            total += number
            kind, reason = _reason(what, code.facts[address], code)
            group = groups.setdefault((kind, reason.place), _Group(kind, reason.place))
            group.cycles += number
            group.parts[what] += number
            group.at[reason.address] = reason
    return list(groups.values()), total


# The kind of cause for each thing that a wave does or waits for.
_KINDS = {
    "issue": "instructions",
    "unit busy": "instructions",
    "other wave issues": "instructions",
    "barrier": "barrier",
    "branch": "branches",
    "instruction fetch": "instruction fetch",
    "wait loadcnt": "memory latency",
    "wait storecnt": "memory latency",
    "wait kmcnt": "scalar memory latency",
    "wait dscnt": "LDS latency",
    "memory queue full": "memory throughput",
}


def _reason(what: str, each: InstructionFacts, code: _Code) -> tuple[str, InstructionFacts]:
    """Return the kind of cause, and the instruction that is the reason: of a wait the memory
    instruction that it is for, of several the one that touches most."""
    kind = _KINDS.get(what, "dependency")
    if kind == "barrier":
        # The model charges the instruction after it.
        before = (address for address in code.facts if address <= each.address)
        barriers = [address for address in before if code.facts[address].unit == "barrier"]
        return kind, code.facts[max(barriers, default=each.address)]
    waited = [code.facts[source] for source in each.waits_for if source in code.facts]
    if what.startswith("wait") and waited:
        each = max(waited, key=lambda source: _touched(code.counts.get(source.address)))
    return _refined(kind, each.address, code), each


def _refined(kind: str, address: int, code: _Code) -> str:
    """Return the kind of cause as far as the instruction and its counts say more."""
    seen, is_memory = code.counts.get(address), kind in ("memory latency", "memory throughput")
    if is_memory and code.spaces.get(address) == "private":
        return "scratch memory"
    if seen is None:
        return kind
    if is_memory and seen.contention:
        return "contended atomics"
    if is_memory and used_share(seen) < _SPREAD:
        return "spread accesses"
    lanes = _FEW_LANES * code.wave_size * seen.executions
    if kind in ("instructions", "dependency") and seen.unit in _LANE_UNITS:
        return "inactive lanes" if seen.active_lanes < lanes else kind
    return "bank conflicts" if kind == "LDS latency" and seen.lds_conflict_cycles else kind


def _touched(seen: InstructionCounts | None) -> int:
    return 0 if seen is None else seen.cache_lines + seen.lds_cycles


def used_share(seen: InstructionCounts) -> float:
    """Return the share of the bytes of the touched lines that were asked for; 1 if nothing was."""
    return seen.bytes / (seen.cache_lines * LINE_BYTES) if seen.cache_lines else 1.0


# The sentences, of the instructions that are the reason, as far as they were counted.


def _memory(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    widths = {access.width for access in facts.accesses if access.address in group.at}
    width = f" of {min(widths)} bytes a lane" if widths else ""
    note = occupancy_note(facts)
    return f"waves wait for {_accesses(group)} of memory{width}" + (f"; {note}" if note else "")


def _accesses(group: _Group) -> str:
    """Return how the instructions are called together: "loads", "stores", "atomics"."""
    texts = [each.mnemonic for each in group.at.values()]
    kinds = [kind for kind in ("load", "store", "atomic") if any(kind in text for text in texts)]
    return " and ".join(f"{kind}s" for kind in kinds) or "accesses"


def _spread(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    lines, requests = (
        sum(getattr(each, name) for each in seen) for name in ("cache_lines", "requests")
    )
    used = sum(each.bytes for each in seen) / (lines * LINE_BYTES)
    return (
        f"{_accesses(group)} touch {lines / requests:.3g} cache lines a request and use "
        f"{100 * used:.0f} % of their bytes"
    )


def _scratch(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    requests = sum(each.requests for each in seen)
    why = f", which holds {facts.vgpr_spills} spilled VGPRs" if facts.vgpr_spills else ""
    return f"waves wait for {requests:,} accesses to scratch memory{why}"


def _contention(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    lanes = sum(each.contention for each in seen) / max(1, sum(each.requests for each in seen))
    return f"atomics of {lanes:.3g} lanes more a request go to an address that another lane has"


def _conflicts(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    conflicts, cycles = (
        sum(getattr(each, name) for each in seen) for name in ("lds_conflict_cycles", "lds_cycles")
    )
    return f"bank conflicts are {100 * conflicts / cycles:.0f} % of the {cycles:,} LDS cycles"


def _lds(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    return f"waves wait for {_accesses(group)} of LDS without bank conflicts"


def _scalar(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    return "waves wait for scalar loads, such as those of the kernel's arguments"


def _dependency(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    [(what, _)] = group.parts.most_common(1)
    return f"each instruction needs the result of one just before it: {what}"


def _instructions(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    executions = sum(each.executions for each in seen)
    units = Counter[str]()
    for each in seen:
        units[each.unit] += each.executions
    most = ", ".join(
        f"{unit} {100 * count / executions:.0f} %" for unit, count in units.most_common(2)
    )
    return f"{executions:,} instructions to issue, {most}"


def _inactive(group: _Group, seen: list[InstructionCounts], facts: KernelFacts) -> str:
    executions = sum(each.executions for each in seen)
    lanes = sum(each.active_lanes for each in seen) / executions
    return f"{executions:,} instructions run with {lanes:.3g} of {facts.wave_size} lanes active"


def _plain(text: str) -> Callable[[_Group, list[InstructionCounts], KernelFacts], str]:
    return lambda group, seen, facts: text


_SENTENCES: Mapping[str, Callable[[_Group, list[InstructionCounts], KernelFacts], str]] = {
    "instructions": _instructions,
    "barrier": _plain("waves wait at the barrier for the slowest of their workgroup"),
    "branches": _plain("waves wait for branches"),
    "instruction fetch": _plain(
        "waves wait for instructions: the code leaves the instruction cache"
    ),
    "memory latency": _memory,
    "scalar memory latency": _scalar,
    "LDS latency": _lds,
    "memory throughput": _plain("more accesses are under way than the memory unit's queue holds"),
    "dependency": _dependency,
    "inactive lanes": _inactive,
    "scratch memory": _scratch,
    "spread accesses": _spread,
    "contended atomics": _contention,
    "bank conflicts": _conflicts,
}
