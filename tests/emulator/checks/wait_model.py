"""What a wave's loads in flight may be, found by walking all paths over llvm-objdump's text with
explicit queues.

Nothing here is shared with the analysis: text instead of decoded instructions, sets of whole states
instead of ages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_REGISTER = re.compile(
    r"(?<![\w.])([vs])(?:(\d+)(?:\.[lh])?|\[(\d+):(\d+)\])(?!\w)|\b(vcc_lo|vcc_hi|vcc)\b"
)
_VECTOR_LOAD = re.compile(r"(global|flat|scratch|buffer)_(load|atomic)")
_LDS_RESULT = re.compile(r"ds_(load|bpermute|permute|swizzle|\w+_rtn)")
_CONDITIONAL = re.compile(r"s_cbranch_")
_VCC = {"vcc_lo": ("vcc0",), "vcc_hi": ("vcc1",), "vcc": ("vcc0", "vcc1")}
COUNTERS = ("load", "ds", "km")


@dataclass(frozen=True)
class Entry:
    """An instruction in flight and the registers that it fills, "lds" for a write to LDS."""

    pc: int
    registers: frozenset[str] = frozenset()


Queues = tuple[tuple[Entry, ...], ...]


class NoModel(Exception):
    """The walk was given up: too many states, or calls."""


@dataclass(frozen=True)
class Step:
    """One line of a listing."""

    text: str
    size: int

    @property
    def name(self) -> str:
        return self.text.split(" ", 1)[0]


def registers_of(text: str) -> frozenset[str]:
    found: set[str] = set()
    for file, one, first, last, vcc in _REGISTER.findall(text):
        if vcc:
            found.update(_VCC[vcc])
        else:
            low, high = (int(first), int(last)) if first else (int(one), int(one))
            parts = (".l", ".h") if file == "v" else ("",)
            found.update(
                f"{file}{number}{part}" for number in range(low, high + 1) for part in parts
            )
    return frozenset(found)


def _half_moved(name: str) -> str:
    """Return the half of its data register that a load or store moves, "" for all of it."""
    if not re.match(r"(global|flat|scratch|t?buffer|ds)_", name) or re.search(
        r"d16_format_xy", name
    ):
        return ""
    if "d16_hi" in name:
        return ".h"
    return ".l" if "d16" in name or re.search(r"_store_b(8|16)\b", name) else ""


def _stored(step: Step) -> frozenset[str]:
    """Return what a store reads: of 8 and 16 bits, the half of its data that it takes."""
    operands = step.text[len(step.name) :].split(",")
    # Buffer instructions begin with the data, the others with the address.
    place = 0 if "buffer" in step.name else 1
    data = {
        register
        for register in registers_of(operands[place])
        if register.endswith(_half_moved(step.name))
    }
    return frozenset(data | registers_of(",".join(operands[:place] + operands[place + 1 :])))


def _counted(step: Step) -> tuple[str, ...]:
    name = step.name
    if name.startswith(("s_load", "s_buffer_load", "s_sendmsg_rtn", "s_prefetch")):
        return ("km",)
    if name.startswith("ds_"):
        return ("ds",)
    also = ("ds",) if name.startswith("flat_") else ()
    if name == "global_inv":
        return ("load",)
    if _VECTOR_LOAD.match(name) and ("_atomic_" not in name or "TH_ATOMIC_RETURN" in step.text):
        return ("load", *also)
    return also


def _filled(step: Step) -> frozenset[str]:
    """What a counted instruction fills."""
    name = step.name
    fills = name.startswith("s_") or _LDS_RESULT.match(name) or "load" in _counted(step)
    first = step.text[len(name) :].split(",")[0]
    result = registers_of(first) if fills and name != "global_inv" else frozenset()
    result = {register for register in result if register.endswith(_half_moved(name))}
    writes = name.startswith("ds_") and not re.match(r"ds_(load|bpermute|permute|swizzle)", name)
    return frozenset(result | {"lds"}) if writes else frozenset(result)


def _left(step: Step, queues: dict[str, tuple[Entry, ...]]) -> None:
    match = re.fullmatch(r"s_wait_(\w+?)cnt(_dscnt)? (0x[0-9a-f]+)", step.text)
    if not match:
        return
    first, second, count = match.group(1), match.group(2), int(match.group(3), 16)
    if second:
        _keep(queues, "ds", count & 63)
        count = count >> 8
    if first in queues:
        _keep(queues, first, count)


def _keep(queues: dict[str, tuple[Entry, ...]], counter: str, count: int) -> None:
    if counter != "km" or count == 0:
        queue = queues[counter]
        queues[counter] = queue[max(len(queue) - count, 0) :]


def _wrong(step: Step, queues: Mapping[str, tuple[Entry, ...]]) -> set[Entry]:
    """Return the entries that the instruction meets too early."""
    used = set(
        _stored(step) if "_store_" in step.name else registers_of(step.text[len(step.name) :])
    )
    if step.name in ("s_cbranch_vccz", "s_cbranch_vccnz"):
        used.add("vcc0")
    if step.name.startswith("s_barrier_signal"):
        used.add("lds")
    counted, filled = _counted(step), _filled(step) - {"lds"}
    early: set[Entry] = set()
    for counter, queue in queues.items():
        rest = step.text[len(step.name) :].partition(",")[2]
        in_order = counter != "km" and counted == (counter,) and filled
        needed = registers_of(rest) if in_order else used
        early.update(entry for entry in queue if entry.registers & needed)
    return early


def _reported(queue: tuple[Entry, ...], loads: set[int]) -> tuple[Entry, ...]:
    """Return a queue whose loads that are used too early fill nothing: the report's wait would have
    landed them.

    With a write to LDS it would have landed those before, too, since they land in order.
    """
    last = max(
        (place for place, e in enumerate(queue) if e.pc in loads and "lds" in e.registers),
        default=-1,
    )
    earlier = (Entry(e.pc, e.registers - {"lds"}) for e in queue[: last + 1])
    return tuple(Entry(e.pc) if e.pc in loads else e for e in (*earlier, *queue[last + 1 :]))


def early_uses(steps: Mapping[int, Step], entry: int, limit: int = 60_000) -> set[int]:
    """Return the addresses of the instructions that some path reaches before what they use has
    landed."""
    wrong: set[int] = set()
    seen: set[tuple[int, Queues]] = set()
    work: list[tuple[int, Queues]] = [(entry, ((),) * len(COUNTERS))]
    while work:
        pc, state = work.pop()
        step = steps[pc]
        queues = dict(zip(COUNTERS, state, strict=True))
        early = _wrong(step, queues)
        if early:
            wrong.add(pc)
            # A load that is used too early is reported there only: it still counts, but fills
            # nothing.
            loads = {entry.pc for entry in early}
            for counter, queue in queues.items():
                queues[counter] = _reported(queue, loads)
        _left(step, queues)
        for counter in _counted(step):
            # A result that is written over in order belongs to its last load only.
            filled = _filled(step)
            again = frozenset() if counter == "km" else filled - {"lds"}
            queue = tuple(Entry(e.pc, e.registers - again) for e in queues[counter])
            queues[counter] = (*queue, Entry(pc, filled))[-64:]
        after = tuple(queues[counter] for counter in COUNTERS)
        for target in _next(step, pc):
            if len(list(_next(step, pc))) > 1 or step.name == "s_branch":
                if (target, after) in seen:
                    continue
                seen.add((target, after))
                if len(seen) > limit:
                    raise NoModel
            work.append((target, after))
    return wrong


def _next(step: Step, pc: int) -> Iterable[int]:
    following = pc + step.size
    if step.name in ("s_swappc_b64", "s_setpc_b64", "s_call_b64"):
        raise NoModel
    if step.name == "s_endpgm":
        return ()
    if step.name == "s_branch" or _CONDITIONAL.match(step.name):
        distance = int(step.text.split()[1])
        target = pc + 4 + 4 * (distance - 0x10000 if distance & 0x8000 else distance)
        return (target,) if step.name == "s_branch" else (target, following)
    return (following,)
