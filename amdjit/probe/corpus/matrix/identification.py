"""Which rule a chip follows: a row's results compared with those of the candidates, and with what
lies near the best of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.probe.case import bits_of
from amdjit.probe.corpus.matrix.base_rules import Rule, base_rule
from amdjit.probe.corpus.matrix.candidates import (
    AS_EMULATED,
    candidates_for,
    changes_of,
    described,
)
from amdjit.probe.corpus.matrix.dots import dots_of, sums_of_dot
from amdjit.probe.corpus.matrix.formats import Bits
from amdjit.probe.corpus.matrix.operands import experiments_of, operands_of, sums_of
from amdjit.probe.corpus.matrix.results import without_payloads
from amdjit.probe.corpus.matrix.rows import Row, row_of, rows_of
from amdjit.probe.corpus.matrix.sums import Sums, joined

__all__ = ["Evidence", "Finding", "findings", "identify", "identify_sums"]

# Sums of an experiment that take part, chosen by chance: in the first round, and at the end.
_FEW, _MOST = 256, 3072
_ROUNDS = 3  # of changes near the best candidate


@dataclass(frozen=True)
class Finding:
    """What a row's results say. name: the candidate that fits best; is_exact: whether all sums do;
    wrong, sums: how many do not, of how many; others: candidates that fit as well, which this row's
    results do not tell from it; by_experiment: how many sums of each do not fit."""

    name: str
    is_exact: bool
    wrong: int
    sums: int
    others: tuple[str, ...] = ()
    by_experiment: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.is_exact:
            return self.name
        where = ", ".join(f"{count} in {name}" for name, count in self.by_experiment.items())
        return f"nearest: {self.name}, but {self.wrong} of {self.sums} sums differ ({where})"


@dataclass(frozen=True)
class Evidence:
    """Sums of a row, and what a chip gave. experiments: their names; starts: where the sums of each
    begin."""

    sums: Sums
    given: Bits
    experiments: tuple[str, ...]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, sums: Mapping[str, Sums], given: Mapping[str, Bits]) -> Evidence:
        """Put the sums of experiments together, and what a chip gave for each."""
        sizes = [len(given[name]) for name in sums]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        whole = np.concatenate([given[name] for name in sums])
        return cls(joined(list(sums.values())), whole, tuple(sums), starts)

    def wrong(self, rule: Rule) -> Mapping[str, int]:
        """Return how many sums of each experiment a rule does not give; without those that fit."""
        differs = (rule(self.sums) != self.given).astype(np.int64)
        counts = np.add.reduceat(differs, self.starts)
        pairs = zip(self.experiments, counts, strict=True)
        return {name: int(count) for name, count in pairs if count}

    @property
    def size(self) -> int:
        """How many sums there are."""
        return len(self.given)

    def part(self, most: int) -> Evidence:
        """Return at most so many sums of each experiment."""
        ends = [*self.starts[1:], len(self.given)]
        chosen = [
            start + _chosen(int(end - start), most)
            for start, end in zip(self.starts, ends, strict=True)
        ]
        places = np.concatenate(chosen)
        starts = np.concatenate([[0], np.cumsum([len(each) for each in chosen])[:-1]])
        return Evidence(
            self.sums.some(places), self.given[places], self.experiments, starts.astype(np.int64)
        )


def identify(target: str, row: str, results: Mapping[str, NDArray[Any]]) -> Finding:
    """Return the rule among candidates that gives a chip's results for a row of floats.

    target: the chip's processor, such as "gfx1201"; row: a name of `rows_of` or `dots_of`; results:
    by experiment, D as the cases of that name return it. Raises ValueError for an unknown row, for
    one of integers, and for results of other shapes.
    """
    dot = next((each for each in dots_of(target) if each.name == row), None)
    if dot is not None:
        draw = partial(sums_of_dot, dot)
        if dot.has_any_nan:
            results = {name: without_payloads(each) for name, each in results.items()}
        return _identified(row, dot.base_rule, dot.experiments, draw, results)
    found = row_of(row, target)
    if found.instruction.is_integer:
        raise ValueError(f"{row} adds integers: their sums are exact, there is no rule to find")
    draw = partial(experiment_sums, found)
    return _identified(row, base_rule(found), experiments_of(found), draw, results)


def _identified(
    row: str, base: Rule, experiments: Sequence[str], draw: Callable[[str], Sums],
    results: Mapping[str, NDArray[Any]],
) -> Finding:  # fmt: skip
    sums: dict[str, Sums] = {}
    given: dict[str, Bits] = {}
    for name in experiments:
        if name in results:
            sums[name] = draw(name)
            given[name] = bits_of(results[name]).astype(np.uint64)
            if len(given[name]) != len(sums[name].c):
                counts = f"{len(given[name])} results, not {len(sums[name].c)}"
                raise ValueError(f"{row}, {name}: {counts}")
    if not sums:
        raise ValueError(f"{row}: give results of {', '.join(experiments)}")
    return identify_sums(base, Evidence.of(sums, given))


def findings(target: str, results: Mapping[str, NDArray[Any]]) -> Mapping[str, Finding]:
    """Return what each row of floats follows, by the names of rows. results: the first result of
    cases, by the names of the cases; others than those of matrix rows without modifiers and of dot
    products are left out."""
    rows = {row.name for row in rows_of(target) if not row.instruction.is_integer}
    rows |= {dot.name for dot in dots_of(target)}
    by_row: dict[str, dict[str, NDArray[Any]]] = {}
    for name, result in results.items():
        row, _, experiment = name.partition(": ")
        if row in rows:
            by_row.setdefault(row, {})[experiment] = result
    return {row: identify(target, row, each) for row, each in by_row.items()}


@cache
def experiment_sums(row: Row, experiment: str) -> Sums:
    """Return an experiment's sums."""
    return sums_of(row, operands_of(row, experiment))


def _chosen(count: int, most: int) -> NDArray[np.int64]:
    if count <= most:
        return np.arange(count)
    return np.random.default_rng(count).choice(count, most, replace=False)


def identify_sums(base: Rule, evidence: Evidence) -> Finding:
    """Return the rule that fits sums, looked for near `base`."""
    few, many = evidence.part(_FEW), evidence.part(_MOST)
    result = evidence.sums.kinds[2]
    candidates = candidates_for(base, result, evidence.sums.depth)
    scores = {name: few.wrong(rule) for name, rule in candidates.items()}
    exact = [name for name in scores if not scores[name] and not many.wrong(candidates[name])]
    if exact:
        return Finding(exact[0], True, 0, many.size, tuple(exact[1:]))
    best = min(scores, key=lambda name: sum(scores[name].values()))
    texts, rule = _refined(candidates[best], scores[best], few, result)
    wrong = many.wrong(rule)
    named = [] if best == AS_EMULATED else [best]
    shown = "; ".join([*named, *texts]) or AS_EMULATED
    return Finding(shown, not wrong, sum(wrong.values()), many.size, (), wrong)


def _refined(
    rule: Rule, wrong: Mapping[str, int], few: Evidence, result: str
) -> tuple[list[str], Rule]:
    """Change one field after the other as long as more sums fit; return the changes in words."""
    texts: list[str] = []
    for _ in range(_ROUNDS):
        before = sum(wrong.values())
        for change in (each for options in changes_of(rule, result).values() for each in options):
            other = replace(rule, **change)
            found = few.wrong(other) if other != rule else wrong
            if sum(found.values()) < sum(wrong.values()):
                rule, wrong = other, found
                texts.append(described(change))
        if not wrong or sum(wrong.values()) == before:
            break
    return texts, rule
