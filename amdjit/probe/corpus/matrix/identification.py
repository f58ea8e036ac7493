"""Which rule a chip follows: a row's results compared with those of the candidates, and with what
lies near the best of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
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
from amdjit.probe.corpus.matrix.results import is_nan, without_payloads
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
    results do not tell from it; by_experiment: how many sums of each do not fit; is_nan_only:
    whether these are NaN of other bits."""

    name: str
    is_exact: bool
    wrong: int
    sums: int
    others: tuple[str, ...] = ()
    by_experiment: Mapping[str, int] = field(default_factory=dict)
    is_nan_only: bool = False

    def __str__(self) -> str:
        if self.is_exact:
            return self.name
        if self.is_nan_only:
            return f"{self.name}; {self.wrong} of {self.sums} sums are NaN of other bits"
        where = ", ".join(f"{count} in {name}" for name, count in self.by_experiment.items())
        return f"nearest: {self.name}, but {self.wrong} of {self.sums} sums differ ({where})"


@dataclass(frozen=True)
class Evidence:
    """Sums of a row, and what a chip gave. experiments: their names; starts: where the sums of each
    begin. any_nan: whether one NaN fits as well as another."""

    sums: Sums
    given: Bits
    experiments: tuple[str, ...]
    starts: NDArray[np.int64]
    any_nan: bool = False

    @classmethod
    def of(cls, sums: Mapping[str, Sums], given: Mapping[str, Bits]) -> Evidence:
        """Put the sums of experiments together, and what a chip gave for each."""
        sizes = [len(given[name]) for name in sums]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        whole = np.concatenate([given[name] for name in sums])
        return cls(joined(list(sums.values())), whole, tuple(sums), starts)

    def wrong(self, rule: Rule) -> Mapping[str, int]:
        """Return how many sums of each experiment a rule does not give; without those that fit."""
        found = rule(self.sums)
        differs = found != self.given
        if self.any_nan:
            kind = self.sums.kinds[2]
            differs &= ~(is_nan(found, kind) & is_nan(self.given, kind))
        counts = np.add.reduceat(differs.astype(np.int64), self.starts)
        pairs = zip(self.experiments, counts, strict=True)
        return {name: int(count) for name, count in pairs if count}

    @property
    def size(self) -> int:
        """How many sums there are."""
        return len(self.given)

    def part(self, most: int) -> Evidence:
        """Return at most `most` sums of each experiment."""
        ends = [*self.starts[1:], len(self.given)]
        chosen = [
            start + _chosen(int(end - start), most)
            for start, end in zip(self.starts, ends, strict=True)
        ]
        places = np.concatenate(chosen)
        starts = np.concatenate([[0], np.cumsum([len(each) for each in chosen])[:-1]])
        return replace(
            self, sums=self.sums.some(places), given=self.given[places],
            starts=starts.astype(np.int64),
        )  # fmt: skip


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
    """Return the rule that fits sums, looked for near `base`: best with the bits of NaN, then
    without them."""
    result, depth = evidence.sums.kinds[2], evidence.sums.depth
    candidates = candidates_for(base, result, depth)
    many = evidence.part(_MOST)
    for part in (many, replace(many, any_nan=True)):
        few = part.part(_FEW)
        exact = [
            name
            for name, rule in candidates.items()
            if not few.wrong(rule) and not part.wrong(rule)
        ]
        if exact:
            wrong = many.wrong(candidates[exact[0]])
            return _finding(exact[0], wrong, many, tuple(exact[1:]), part.any_nan)
    few = replace(many, any_nan=True).part(_FEW)
    scores = {name: few.wrong(rule) for name, rule in candidates.items()}
    best = min(scores, key=lambda name: sum(scores[name].values()))
    changes, rule = _refined(candidates[best], scores[best], few, result)
    named = [] if best == AS_EMULATED else [best]
    shown = "; ".join([*named, *changes]) or AS_EMULATED
    is_nan_only = not replace(many, any_nan=True).wrong(rule)
    return _finding(shown, many.wrong(rule), many, (), is_nan_only)


def _finding(
    name: str, wrong: Mapping[str, int], many: Evidence, others: tuple[str, ...], is_nan_only: bool
) -> Finding:
    return Finding(
        name, not wrong, sum(wrong.values()), many.size, others, wrong, bool(wrong) and is_nan_only
    )


def _refined(
    rule: Rule, wrong: Mapping[str, int], few: Evidence, result: str
) -> tuple[list[str], Rule]:
    """Change one field after the other as long as more sums fit; return the changes in words."""
    start = rule
    for _ in range(_ROUNDS):
        before = sum(wrong.values())
        for change in (each for options in changes_of(rule, result).values() for each in options):
            other = replace(rule, **change)
            found = few.wrong(other) if other != rule else wrong
            if sum(found.values()) < sum(wrong.values()):
                rule, wrong = other, found
        if not wrong or sum(wrong.values()) == before:
            break
    changed = {
        each.name: getattr(rule, each.name)
        for each in fields(rule)
        if getattr(rule, each.name) != getattr(start, each.name)
    }
    return [described({name: value}) for name, value in changed.items()], rule
