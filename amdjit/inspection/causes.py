"""What costs a kernel time, as far as its code alone shows it: registers in scratch memory, bank
conflicts, accesses that spread over cache lines, few waves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from amdjit.inspection.facts import AccessFacts, KernelFacts, SourcePlace

__all__ = ["Cause", "causes_in_code", "occupancy_note"]

# How often a loop is taken to run, for the order of causes in different loops.
_ROUNDS = 10
# Cycles of an access to scratch memory, of which at least a round trip to a cache is waited for.
_SCRATCH_CYCLES = 100
_LINE_BYTES = 128
# Of the wave slots of a SIMD: with more than this share filled, occupancy is not mentioned.
_FEW_WAVES = 0.5


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that costs a kernel or a launch time.

    kind: what it is, such as "bank conflicts". sentence: the same with its figures, without the
    place. basis: "code" if the code object alone shows it, "counts" if those of the launch do,
    "model" if it is a share of the cycles that the cycle model estimates. file, line: where it is,
    None if no line has it. addresses: of the instructions. share: of the cycles of all waves, None
    if that is not known.
    """

    kind: str
    sentence: str
    basis: str
    file: str | None = None
    line: int | None = None
    addresses: tuple[int, ...] = ()
    share: float | None = None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{PurePath(self.file).name}:{self.line}: "
        return place + self.sentence


def causes_in_code(facts: KernelFacts) -> tuple[Cause, ...]:
    """Return what the code alone shows to cost time, what probably costs most first: an instruction
    in a loop counts ten times as often as one before it."""
    found = [*_scratch(facts), *_conflicts(facts), *_spread(facts)]
    ordered = [cause for _, cause in sorted(found, key=lambda item: -item[0])]
    note = occupancy_note(facts)
    if note is None:
        return tuple(ordered)
    origins = [origin.place for origin in facts.peak.origins if origin.place is not None]
    file, line = origins[0] if origins and facts.occupancy.limited_by == "vgprs" else (None, None)
    return (*ordered, Cause("few waves", note, "code", file, line))


def occupancy_note(facts: KernelFacts) -> str | None:
    """Return how many waves fit on a SIMD, what limits them and what more need, if few do."""
    occupancy = facts.occupancy
    names = {"vgprs": f"{facts.vgprs} VGPRs", "lds": f"{facts.lds_bytes:,} bytes of LDS"}
    slots = max(occupancy.limits.values(), default=0)
    if occupancy.limited_by not in names or occupancy.waves_per_simd > _FEW_WAVES * slots:
        return None
    step = f"; {occupancy.steps[0].text}" if occupancy.steps else ""
    return (
        f"{names[occupancy.limited_by]} limit a SIMD to {occupancy.waves_per_simd} of {slots} "
        f"waves{step}"
    )


_Weighed = tuple[float, Cause]


def _by_line(
    facts: KernelFacts, accesses: Iterator[tuple[AccessFacts, float]]
) -> Iterator[tuple[SourcePlace | None, float, list[AccessFacts]]]:
    """Yield lines with the accesses there and their cycles, weighed by the loops around them."""
    depths = {each.address: each.loop_depth for each in facts.instructions}
    weights: dict[SourcePlace | None, float] = defaultdict(float)
    lines: dict[SourcePlace | None, list[AccessFacts]] = defaultdict(list)
    for access, cycles in accesses:
        place = (
            (access.file, access.line)
            if access.file is not None and access.line is not None
            else None
        )
        weights[place] += cycles * _ROUNDS ** depths.get(access.address, 0)
        lines[place].append(access)
    return ((place, weights[place], lines[place]) for place in lines)


def _cause(
    kind: str, sentence: str, place: SourcePlace | None, accesses: list[AccessFacts]
) -> Cause:
    file, line = place or (None, None)
    addresses = tuple(each.address for each in accesses)
    return Cause(kind, sentence, "code", file=file, line=line, addresses=addresses)


def _scratch(facts: KernelFacts) -> Iterator[_Weighed]:
    """Find the line with most accesses to scratch memory, of which the kernel has one reason."""
    if not facts.scratch_bytes:
        return
    private = ((each, _SCRATCH_CYCLES) for each in facts.accesses if each.space == "private")
    lines = sorted(_by_line(facts, private), key=lambda item: -item[1])
    place, weight, accesses = lines[0] if lines else (None, float(_SCRATCH_CYCLES), [])
    total = sum(len(each) for _, _, each in lines)
    kind = "spills" if facts.vgpr_spills else "scratch memory"
    what = (
        f"the kernel needs more registers than it has and spills {facts.vgpr_spills} VGPRs"
        if facts.vgpr_spills
        else f"{facts.scratch_bytes} bytes of each lane lie in scratch memory, not in registers"
    )
    share = f": {len(accesses)} of {total} accesses to them are here" if total else ""
    yield weight, _cause(kind, what + share, place, accesses)


def _conflicts(facts: KernelFacts) -> Iterator[_Weighed]:
    found = ((each, each.bank_conflicts) for each in facts.accesses if each.bank_conflicts)
    for place, weight, accesses in _by_line(facts, found):
        most = max(accesses, key=lambda each: each.bank_conflicts or 0)
        stride = most.lane_stride
        lanes = f"; neighbouring lanes are {abs(stride)} bytes apart" if stride else ""
        sentence = (
            f"bank conflicts add {most.bank_conflicts} cycles to each {most.kind} of LDS{lanes}"
        )
        yield weight, _cause("bank conflicts", sentence, place, accesses)


def _spread(facts: KernelFacts) -> Iterator[_Weighed]:
    """Find accesses of which less than half of what they touch is used."""
    found = (
        (each, _lines_touched(each, facts.wave_size))
        for each in facts.accesses
        if each.space == "global" and abs(each.lane_stride or 0) > 2 * each.width
    )
    for place, weight, accesses in _by_line(facts, found):
        most = max(accesses, key=lambda each: abs(each.lane_stride or 0))
        sentence = (
            f"neighbouring lanes access memory {abs(most.lane_stride or 0):,} bytes apart, and "
            f"each uses {most.width} of them"
        )
        yield weight, _cause("spread accesses", sentence, place, accesses)


def _lines_touched(access: AccessFacts, wave_size: int) -> float:
    assert access.lane_stride is not None
    return wave_size * min(1.0, abs(access.lane_stride) / _LINE_BYTES)
