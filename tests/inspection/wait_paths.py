"""Random programs of memory instructions and waits, and what their waits are for: found by walking
all paths with explicit queues.

Nothing here is shared with the analysis: a program's instructions say themselves what they count
on, load and use, and a state is a whole path's, not a set of ages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

COUNTERS = ("load", "ds", "store", "km")
Sets = dict[tuple[int, str], set[int]]
MOST_LEFT = 3
"""No wait of a random program leaves more in flight: older executions are all alike."""


@dataclass(frozen=True)
class Item:
    """An instruction. fills, reads, writes: registers; "lds" stands for writes to LDS. waits: how
    many may be left on counters. targets: the items that may follow."""

    text: str
    counts: tuple[str, ...] = ()
    fills: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    waits: tuple[tuple[str, int], ...] = ()
    targets: tuple[int, ...] = ()


@dataclass(frozen=True)
class Queue:
    """What is in flight on a counter. recent: the youngest, last ones last. older: (item, whether
    it was executed last then)."""

    recent: tuple[int, ...] = ()
    older: frozenset[tuple[int, bool]] = frozenset()

    def push(self, item: int) -> Queue:
        older = {(other, last and other != item) for other, last in self.older}
        recent = (*self.recent, item)
        if len(recent) > MOST_LEFT:
            older.add((recent[0], recent[0] not in recent[1:]))
            recent = recent[1:]
        return Queue(recent, frozenset(older))

    def wait(self, left: int) -> tuple[Queue, set[tuple[int, bool]]]:
        """Return what stays, and what has ended."""
        gone = self.recent[: max(len(self.recent) - left, 0)]
        kept = self.recent[len(gone) :]
        after = (self.recent[place + 1 :] for place in range(len(gone)))
        ended = {(item, item not in rest) for item, rest in zip(gone, after, strict=True)}
        return Queue(kept), ended | set(self.older)

    def last_ones(self) -> set[int]:
        return set(self.recent) | {item for item, last in self.older if last}


@dataclass(frozen=True)
class Place:
    """A state on a path, before an item. values: (item, registers that hold its value, waits that
    ended it)."""

    item: int
    queues: tuple[Queue, ...] = (Queue(),) * len(COUNTERS)
    values: frozenset[tuple[int, frozenset[str], frozenset[int]]] = frozenset()


@dataclass
class Found:
    """What all paths together show: by wait and counter, and what each instruction needs."""

    older: Sets = field(default_factory=lambda: defaultdict(set))
    last: Sets = field(default_factory=lambda: defaultdict(set))
    kept: Sets = field(default_factory=lambda: defaultdict(set))
    needs: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def waits_for(self, wait: int) -> set[int]:
        places = [(wait, counter) for counter in COUNTERS]
        return {
            item
            for place in places
            for item in self.older[place] | (self.last[place] - self.kept[place])
        }


class NotComparable(Exception):
    """There are too many paths, or a value is gone before it was there: overwritten, or told of by
    a barrier. What remains of it then depends on the path."""


def walk(program: list[Item], limit: int = 4000) -> Found:
    """Go every way, and note what each wait ends and what each instruction needs."""
    found = Found()
    work = [Place(0)]
    seen = set(work)
    while work:
        place = work.pop()
        for after in _after(program, place, found):
            if after not in seen:
                seen.add(after)
                work.append(after)
        if len(seen) > limit:
            raise NotComparable
    return found


def _after(program: list[Item], place: Place, found: Found) -> Iterator[Place]:
    item = program[place.item]
    place = _waited(item, place, found)
    used = item.reads | item.writes | item.fills - {"lds"}
    written = item.writes | item.fills - {"lds"}
    values = set()
    for source, registers, waits in place.values:
        if registers & used:
            found.needs[place.item] |= waits
        kept = registers - written - (item.reads & {"lds"})
        if kept != registers and not waits and not item.fills:
            raise NotComparable
        if kept and not (source == place.item and item.counts):
            values.add((source, kept, waits))
    queues = tuple(
        queue.push(place.item) if counter in item.counts else queue
        for counter, queue in zip(COUNTERS, place.queues, strict=True)
    )
    if item.fills:
        values.add((place.item, item.fills, frozenset()))
    for target in item.targets:
        yield Place(target, queues, frozenset(values))


def _waited(item: Item, place: Place, found: Found) -> Place:
    queues = list(place.queues)
    values = set(place.values)
    for counter, left in item.waits:
        if counter == "km" and left:
            continue
        number = COUNTERS.index(counter)
        queues[number], ended = queues[number].wait(left)
        for source, last in ended:
            (found.last if last else found.older)[place.item, counter].add(source)
            if last:
                values = {
                    (other, held, waits | {place.item} if other == source else waits)
                    for other, held, waits in values
                }
        found.kept[place.item, counter] |= queues[number].last_ones()
    return replace(place, queues=tuple(queues), values=frozenset(values))


def _v(*numbers: int) -> frozenset[str]:
    return frozenset(f"v{number}" for number in numbers)


def random_program(random: np.random.Generator) -> list[Item]:
    """Return a program of a few blocks that branch to each other; each load fills registers of its
    own, so that no load in flight is overwritten."""
    blocks = [
        [_item(random, 10 + 20 * block + 4 * n) for n in range(random.integers(1, 6))]
        for block in range(random.integers(1, 5))
    ]
    starts = np.cumsum([0, *(len(block) + 1 for block in blocks)]).tolist()
    program: list[Item] = []
    for number, block in enumerate(blocks):
        last = number == len(blocks) - 1
        program += block
        target = int(random.integers(0, len(blocks)))
        if (last and random.random() < 0.5) or random.random() < 0.3:
            program.append(Item(f"s_cbranch_scc1 .L{starts[target]}", targets=(starts[target],)))
        else:
            program.append(Item("s_nop 0"))
    program.append(Item("s_endpgm"))
    return [
        replace(item, targets=(*item.targets, place + 1)) if item.text != "s_endpgm" else item
        for place, item in enumerate(program)
    ]


def _item(random: np.random.Generator, free: int) -> Item:
    """Return an instruction. free: the first of four registers that no other instruction fills."""
    d, used = free, int(random.integers(10, 90))
    left = int(random.integers(0, MOST_LEFT + 1))
    make = [
        lambda: Item(f"global_load_b32 v{d}, v0, s[0:1]", ("load",), _v(d), _v(0)),
        lambda: Item(f"global_load_b64 v[{d}:{d + 1}], v0, s[0:1]", ("load",), _v(d, d + 1), _v(0)),
        lambda: Item(f"ds_load_b32 v{d}, v0", ("ds",), _v(d), _v(0)),
        lambda: Item(f"ds_store_b32 v0, v{used}", ("ds",), frozenset({"lds"}), _v(0, used)),
        lambda: Item(f"global_store_b32 v0, v{used}, s[0:1]", ("store",), reads=_v(0, used)),
        lambda: Item(f"flat_load_b32 v{d}, v[2:3]", ("load", "ds"), _v(d), _v(2, 3)),
        lambda: Item(f"s_load_b32 s{d}, s[0:1], 0x0", ("km",), frozenset({f"s{d}"})),
        lambda: Item(
            f"v_add_nc_u32 v{d}, v{used}, v{used + 1}", reads=_v(used, used + 1), writes=_v(d)
        ),
        lambda: Item(f"v_mov_b32 v{d}, s{used}", reads=frozenset({f"s{used}"}), writes=_v(d)),
        lambda: Item(f"v_mov_b32 v{used}, v9", reads=_v(9), writes=_v(used)),
        lambda: Item("s_barrier_signal -1", reads=frozenset({"lds"})),
    ]
    waits = [
        lambda: Item(f"s_wait_loadcnt {left}", waits=(("load", left),)),
        lambda: Item(f"s_wait_dscnt {left}", waits=(("ds", left),)),
        lambda: Item(f"s_wait_storecnt {left}", waits=(("store", left),)),
        lambda: Item(f"s_wait_kmcnt {left // 2}", waits=(("km", left // 2),)),
        lambda: Item(
            f"s_wait_loadcnt_dscnt {left << 8 | left // 2}",
            waits=(("load", left), ("ds", left // 2)),
        ),
    ]
    return random.choice(make if random.random() < 0.65 else waits)()


def source(program: list[Item]) -> str:
    """Return the program as the assembler takes it, without its end."""
    return "\n".join(f".L{place}:\n  {item.text}" for place, item in enumerate(program[:-1]))
