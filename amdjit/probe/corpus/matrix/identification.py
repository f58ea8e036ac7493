"""Finds which rule a chip follows, by comparing the results of a row with those of candidates and
of rules that differ little from the best of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.sums_of_products import order_of
from amdjit.isa.matrix_rounding import GridRule, RoundedRule, Rule
from amdjit.probe.case import bits_of
from amdjit.probe.corpus.matrix.dots import dots_of, sums_of_dot
from amdjit.probe.corpus.matrix.operands import experiments_of, operands_of, sums_of
from amdjit.probe.corpus.matrix.results import Bits, Sums, is_nan, joined, without_payloads
from amdjit.probe.corpus.matrix.rows import Row, row_of, rows_of

__all__ = [
    "AS_EMULATED",
    "Evidence",
    "Finding",
    "candidates_of",
    "findings",
    "identify",
    "identify_sums",
]

# How many sums of an experiment are compared, chosen at random: in the first round, and at the end.
_FEW, _MOST = 256, 3072
_ROUNDS = 3  # of changes near the best candidate


@dataclass(frozen=True)
class Finding:
    """What the results of a row say."""

    name: str
    """The candidate that fits best."""
    is_exact: bool
    """Whether all sums agree with it."""
    wrong: int
    """How many sums do not agree with it."""
    sums: int
    """How many sums were compared."""
    others: tuple[str, ...] = ()
    """Candidates that fit equally well: the results of this row do not tell them apart."""
    by_experiment: Mapping[str, int] = field(default_factory=dict)
    """How many sums of each experiment do not agree."""
    is_nan_only: bool = False
    """Whether those that do not agree are NaNs with other bits."""

    def __str__(self) -> str:
        if self.is_exact:
            return self.name
        if self.is_nan_only:
            return f"{self.name}; {self.wrong} of {self.sums} sums are NaN of other bits"
        where = ", ".join(f"{count} in {name}" for name, count in self.by_experiment.items())
        return f"nearest: {self.name}, but {self.wrong} of {self.sums} sums differ ({where})"


@dataclass(frozen=True)
class Evidence:
    """The sums of a row, and what a chip returned for them."""

    sums: Sums
    given: Bits
    """The bits that the chip returned."""
    experiments: tuple[str, ...]
    """The names of the experiments."""
    starts: NDArray[np.int64]
    """Where the sums of each experiment begin."""
    any_nan: bool = False
    """Whether any NaN counts as equal to any other."""

    @classmethod
    def of(cls, sums: Mapping[str, Sums], given: Mapping[str, Bits]) -> Evidence:
        """Join the sums of experiments, and what a chip returned for each."""
        sizes = [len(given[name]) for name in sums]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        whole = np.concatenate([given[name] for name in sums])
        return cls(joined(list(sums.values())), whole, tuple(sums), starts)

    def wrong(self, rule: Rule) -> Mapping[str, int]:
        """Return for each experiment how many sums a rule gets wrong, without those where it gets
        none wrong."""
        found = self.sums.by(rule)
        differs = found != self.given
        if self.any_nan:
            kind = self.sums.kinds[2]
            differs &= ~(is_nan(found, kind) & is_nan(self.given, kind))
        counts = np.add.reduceat(differs.astype(np.int64), self.starts)
        pairs = zip(self.experiments, counts, strict=True)
        return {name: int(count) for name, count in pairs if count}

    @property
    def size(self) -> int:
        """The number of sums."""
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
    """Return the candidate rule that gives a chip's results for a row of floats.

    target: the chip's processor, such as "gfx1201"; row: a name of `rows_of` or `dots_of`; results:
    for each experiment, D as the case of that name returns it. Raises ValueError for an unknown
    row, for one of integers, and for results of other shapes.
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
    return _identified(row, found.base_rule, experiments_of(found), draw, results)


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
    """Return which rule each row of floats follows, by the name of the row. results: the first
    result of each case, by the name of the case. Cases other than those of dot products and of
    matrix rows without modifiers are ignored."""
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
    """Return the rule that fits the sums, searched near `base`: first with the exact bits of NaNs,
    then without."""
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
        name,
        not wrong,
        wrong=sum(wrong.values()),
        sums=many.size,
        others=others,
        by_experiment=wrong,
        is_nan_only=bool(wrong) and is_nan_only,
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


# Named rules that a row of floats might follow instead of the emulator's. The corpus distinguishes
# each from the others.

AS_EMULATED = "as emulated"
_ALL = 1 << 10  # products of a group that is the whole step

_ORDERS = {
    "k descending": "descending", "k of both halves in turn": "halves by 1",
    "k of both halves in turn by twos": "halves by 2",
    "k of both halves in turn by fours": "halves by 4", "even k before odd k": "even, odd",
}  # fmt: skip
# Variants of a grid rule that differ in one field each.
_GRID_CHANGES: Mapping[str, tuple[dict[str, Any], ...]] = {
    "step": ({"step": 1}, {"step": 2}, {"step": 4}, {"step": 8}, {"step": 16}, {"step": 32}),
    "group": (
        {"group": 1}, {"group": 2}, {"group": 4}, {"group": _ALL},
        {"groups": "neighbours", "groups_meet": False},
        {"groups": "even and odd", "groups_meet": True},
        {"groups": "even and odd", "groups_meet": False},
    ),
    "order": tuple({"order": each} for each in ("ascending", *_ORDERS.values())),
    "cut": ({"cut": "floor"}, {"cut": "truncation"}, {"cut": "nearest"}),
    "c_cut": ({"c_cut": "floor"}, {"c_cut": "truncation"}, {"c_cut": "nearest"}),
    "product_bits": tuple({"product_bits": each} for each in (22, 23, 24)),
    "c_sum_bits": tuple({"c_sum_bits": each} for each in (23, 24, 25, 26, 27, 28)),
    "sum_bits": tuple({"sum_bits": each} for each in (22, 23, 24, 25, 26)),
    "kept": ({"kept": None}, {"kept": 23}, {"kept": 24}, {"kept": 26}, {"kept": 31}),
    "c_drops": ({"c_drops": None}, {"c_drops": 24}, {"c_drops": 25}, {"c_drops": 26}),
    "c_exception": ({"c_exception": True}, {"c_exception": False}),
    "exponents": ({"exponents": "encoded"}, {"exponents": "leading"}),
    "relative": ({"relative": True, "group": 1}, {"relative": False}),
    "flushes_factors": ({"flushes_factors": True}, {"flushes_factors": False}),
    "flushes_c": ({"flushes_c": True}, {"flushes_c": False}),
    "flushes_result": ({"flushes_result": True}, {"flushes_result": False}),
    "rounding": tuple(
        {"rounding": each} for each in ("nearest even", "nearest away", "truncation", "floor")
    ),
    "narrowing": ({"narrowing": "truncation"}, {"narrowing": "nearest"}),
    "final_only": ({"final_only": True}, {"final_only": False}),
    "negative_zero": ({"negative_zero": True}, {"negative_zero": False}),
    "vanishing_sign": ({"vanishing_sign": True}, {"vanishing_sign": False}),
}  # fmt: skip
_ROUNDED_CHANGES: Mapping[str, tuple[dict[str, Any], ...]] = {
    "how": tuple({"how": each} for each in ("fused", "unfused", "pairs", "exact")),
    "step": tuple({"step": each} for each in (1, 2, 4, 8, 16)),
    "order": tuple({"order": each} for each in ("ascending", *_ORDERS.values())),
    **{
        name: ({name: True}, {name: False})
        for name in ("flushes_factors", "flushes_c", "flushes_products", "flushes_result")
    },
    "nan": tuple({"nan": each} for each in (0x7FC00000, 0x7FFFFFFF, 0xFFC00000)),
}
_SPECIAL_CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a NaN of C wins over one of the factors", {"first": "c"}),
    ("a NaN of C wins over an invalid product", {"invalid_first": False}),
    ("a signalling NaN of C stays signalling", {"quiets": False}),
    ("every NaN is 0x7fc00000", {"canonical": 0x7FC00000}),
    ("every NaN is 0x7fffffff", {"canonical": 0x7FFFFFFF}),
    ("every NaN keeps C's or the factors' bits", {"canonical": None}),
    ("the NaN of factors is 0xffc00000", {"factor_nan": 0xFFC00000}),
    ("the NaN of invalid products is 0xffc00a3d", {"invalid": 0xFFC00A3D}),
    ("the NaN of invalid products is 0xffc00000", {"invalid": 0xFFC00000}),
    ("products of 2**128 or more are infinite", {"overflow": True}),
    ("products of 2**128 or more are added as they are", {"overflow": False}),
)
# The words for a field in a candidate's name.
_WORDS: Mapping[str, str] = {
    "step": "steps of {} products", "group": "groups of {} products", "groups": "groups of {}",
    "groups_meet": "groups cut to one grid first: {}", "cut": "products cut by {}",
    "c_cut": "C cut by {}", "product_bits": "products kept to {} bits",
    "c_sum_bits": "the grid {} bits below C", "sum_bits": "the grid {} bits below the products",
    "kept": "{} bits reach the rounding", "c_drops": "C drops out {} bits below",
    "c_exception": "a negative C that vanishes is 0: {}", "exponents": "{} exponents of products",
    "relative": "in C's sign with one's complements: {}",
    "flushes_factors": "subnormal factors are 0: {}", "flushes_c": "a subnormal C is 0: {}",
    "flushes_result": "subnormal results are 0: {}",
    "flushes_products": "subnormal products are 0: {}", "rounding": "rounded by {}",
    "narrowing": "bf16 by {}", "final_only": "rounded to 16 bits at the end only: {}",
    "negative_zero": "zero sums have C's sign: {}", "how": "sums: {}", "nan": "NaN is {:#x}",
    "vanishing_sign": "sums that round to 0 keep their sign: {}",
}  # fmt: skip


def changes_of(rule: Rule, result: str) -> Mapping[str, tuple[dict[str, Any], ...]]:
    """Return the changes that make sense in a rule, for a type of results, by the field that they
    change. Fields that the rule does not use are left out."""
    every = _GRID_CHANGES if isinstance(rule, GridRule) else _ROUNDED_CHANGES
    unused = _unused(rule) | ({"narrowing", "final_only"} if result in ("f32", "f64") else set())
    unused |= {"narrowing"} if result == "f16" else {"nan"} if result == "f64" else set()
    return {name: options for name, options in every.items() if name not in unused}


def _unused(rule: Rule) -> set[str]:
    if isinstance(rule, RoundedRule):
        return {"step", "flushes_products"} if rule.how == "fused" else set()
    if rule.relative:
        return {"group", "cut", "c_cut", "product_bits", "c_exception", "c_drops"}
    found = {"c_drops"} if rule.c_exception else set()
    return found | ({"c_sum_bits"} if rule.c_bits is not None else {"kept"})


def candidates_of(row: Row) -> Mapping[str, Rule]:
    """Return the candidate rules by name, the emulator's first. For some rows, several of them mean
    the same."""
    return candidates_for(row.base_rule, row.kinds[2], row.shape[2])


def candidates_for(base: Rule, result: str, depth: int) -> Mapping[str, Rule]:
    """Return a rule and its alternatives. result: the type of the results; depth: products of a
    sum."""
    found: dict[str, Rule] = {AS_EMULATED: base}
    seen = {_meaning(base, depth)}
    for name, rule in _all(base, result):
        meaning = _meaning(rule, depth)
        if meaning not in seen:
            seen.add(meaning)
            found.setdefault(name, rule)
    return found


def _meaning(rule: Rule, depth: int) -> tuple[Rule, tuple[int, ...]]:
    """Return a key that is equal for rules that round sums of `depth` products in the same way: a
    step has at most all of them, and a group at most a whole step."""
    step = min(rule.step, depth)
    plain = replace(rule, step=step, order="ascending")
    order = tuple(order_of(rule.order, depth).tolist())
    if isinstance(plain, RoundedRule):
        return plain, order if plain.how != "exact" or step < depth else ()
    group = 0 if plain.relative else min(plain.group, step)
    is_one_sum = step == depth and (plain.relative or group == step)
    has_order = not is_one_sum or plain.groups != "neighbours"
    return replace(plain, group=group), order if has_order else ()


def _all(base: Rule, result: str) -> Iterator[tuple[str, Rule]]:
    yield from _chains(base, result)
    for options in changes_of(base, result).values():
        for change in options:
            yield described(change), replace(base, **change)
    if isinstance(base, GridRule):
        for name, change in _SPECIAL_CHANGES:
            if base.specials.canonical is None or "canonical" in change or "overflow" in change:
                yield name, replace(base, specials=replace(base.specials, **change))
        yield from _grids(base)


def described(change: dict[str, Any]) -> str:
    """Return a change of fields in words."""
    names = {value: key for key, value in _ORDERS.items()} | {"ascending": "k ascending"}
    texts = []
    for name, value in change.items():
        if name == "order":
            texts.append(names[value])
        elif isinstance(value, bool):
            texts.append(_WORDS[name].format("yes" if value else "no"))
        else:
            texts.append(_WORDS[name].format("all" if value == _ALL else value))
    return ", ".join(texts)


def _chains(base: Rule, result: str) -> Iterator[tuple[str, Rule]]:
    nan = base.nan or 0x7FC00000
    for final in (True, False) if result in ("f16", "bf16") else (True,):
        end = "" if final else ", rounded in each step"
        yield f"a chain of fused products{end}", RoundedRule(nan=nan, final_only=final)
        yield f"a chain of rounded products{end}", RoundedRule("unfused", nan=nan, final_only=final)
        for step in (2, 4, 8, 16):
            yield (
                f"exact sums of C and {step} products{end}",
                RoundedRule("exact", step, nan=nan, final_only=final),
            )
            yield (
                f"rounded sums of {step} products in pairs{end}",
                RoundedRule("pairs", step, nan=nan, final_only=final),
            )


def _grids(base: GridRule) -> Iterator[tuple[str, Rule]]:
    """Return grid rules with other steps and groups, and with each order of the products."""
    for step in (2, 4, 8, 16):
        # A group as large as the step is the whole step.
        sizes = [each for each in (1, 2, 4) if each < step] + [_ALL]
        for group in [{}] if base.relative else [{"group": each} for each in sizes]:
            for order in ("ascending", *_ORDERS.values()):
                change: dict[str, Any] = {"step": step, **group, "order": order}
                yield described(change), replace(base, **change)
