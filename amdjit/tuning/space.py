"""The space of a kernel's configurations: a product or a list, and the part of it to search."""

from __future__ import annotations

import difflib
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amdjit.options import OptionError
from amdjit.tuning.configurations import Configuration, Namespace

__all__ = ["Space", "read_space", "refuse_unread"]

Where = Callable[[Any], object]
# A subset of a product larger than this is drawn by number, without making a list of all.
_LISTED = 1_000_000


@dataclass(frozen=True)
class Space:
    """Configurations in a fixed order: in a product, the last name changes fastest."""

    names: tuple[str, ...]
    """The names of each configuration."""
    choices: tuple[tuple[Any, ...], ...] = ()
    """The values of each name of a product; empty for a list."""
    listed: tuple[Configuration, ...] = ()
    """The configurations of a list."""

    @property
    def size(self) -> int:
        """The number of configurations before `where`."""
        return math.prod(map(len, self.choices)) if self.choices else len(self.listed)

    def __iter__(self) -> Iterator[Configuration]:
        if not self.choices:
            yield from self.listed
            return
        for values in itertools.product(*self.choices):
            yield self._configuration(values)

    def __getitem__(self, number: int) -> Configuration:
        """Return the configuration of a number below `size`."""
        if not self.choices:
            return self.listed[number]
        values = []
        for choices in reversed(self.choices):
            number, place = divmod(number, len(choices))
            values.append(choices[place])
        return self._configuration(tuple(reversed(values)))

    def _configuration(self, values: Sequence[Any]) -> Configuration:
        return Configuration(dict(zip(self.names, values, strict=True)))

    def first(self, where: Where | None, context: Mapping[str, Any]) -> Configuration | None:
        """Return the first configuration that `where` allows, None if there is none."""
        return next((each for each in self if _allowed(each, where, context, set())), None)

    def allowed(
        self,
        where: Where | None,
        context: Mapping[str, Any],
        read: set[str],
        most: int | None = None,
        seed: int = 0,
    ) -> list[Configuration]:
        """Return the configurations that `where` allows, in order.

        context: the call's arguments, which `where` sees, too. read: the names that it reads are
        added to this set. most: if there are more than this many, so many are drawn at random, the
        same ones for the same seed.
        """
        if most is None or self.size <= _LISTED:
            found = [each for each in self if _allowed(each, where, context, read)]
            if most is None or len(found) <= most:
                return found
            kept = sorted(random.Random(seed).sample(range(len(found)), most))
            return [found[number] for number in kept]
        return self._drawn(where, context, read, most, seed)

    def _drawn(
        self, where: Where | None, context: Mapping[str, Any], read: set[str], most: int, seed: int
    ) -> list[Configuration]:
        """Draw configurations without listing the space. It gives up if `where` allows almost
        nothing."""
        drawing, seen, kept = random.Random(seed), set[int](), list[int]()
        for _ in range(min(self.size, max(100 * most, _LISTED))):
            number = drawing.randrange(self.size)
            if number in seen:
                continue
            seen.add(number)
            if _allowed(self[number], where, context, read):
                kept.append(number)
                if len(kept) == most:
                    break
        return [self[number] for number in sorted(kept)]


def _allowed(
    configuration: Configuration, where: Where | None, context: Mapping[str, Any], read: set[str]
) -> bool:
    return where is None or bool(where(Namespace({**context, **configuration}, read)))


def read_space(given: Any) -> Space:
    """Return the space of what `autotune` was given: a dictionary of lists, or a list of
    dictionaries. OptionError for anything else, and for configurations that are there twice."""
    space = _product(given) if isinstance(given, Mapping) else _listed(given)
    if not space.size:
        raise OptionError("space=: it has no configuration; give at least one value for each name")
    return space


def _product(given: Mapping[Any, Any]) -> Space:
    _check_names(given)
    choices = []
    for name, values in given.items():
        if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
            raise OptionError(f"space=: {name}={values!r}: give a list of values")
        listed = tuple(values)
        texts = [str(Configuration({name: value})) for value in listed]
        twice = sorted({text for text in texts if texts.count(text) > 1})
        if twice:
            raise OptionError(f"space=: {twice[0]} is there twice")
        choices.append(listed)
    return Space(tuple(given), tuple(choices))


def _listed(given: Any) -> Space:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise OptionError(
            f"space={given!r}: give a dictionary of lists, or a list of dictionaries, one for each "
            "configuration"
        )
    found: list[Configuration] = []
    for each in given:
        if not isinstance(each, Mapping):
            raise OptionError(f"space=: {each!r} is not a dictionary of values by name")
        _check_names(each)
        if found and set(each) != set(found[0]):
            raise OptionError(
                f"space=: one configuration has {', '.join(found[0])}, another "
                f"{', '.join(each)}: name the same in all of them"
            )
        made = Configuration({name: each[name] for name in (found[0] if found else each)})
        if made in found:
            raise OptionError(f"space=: {made} is there twice")
        found.append(made)
    return Space(tuple(found[0]) if found else (), (), tuple(found))


def _check_names(given: Mapping[Any, Any]) -> None:
    for name in given:
        if not isinstance(name, str) or not name.isidentifier():
            raise OptionError(f"space=: {name!r} is not a name")
    if not given:
        raise OptionError("space=: it has no names; give at least one")


def refuse_unread(
    free: Sequence[str], read: set[str], parameters: Sequence[str], kernel: str
) -> None:
    """Raise OptionError for a name that is neither a parameter nor an option, and that nothing has
    read."""
    for name in free:
        if name not in read:
            near = difflib.get_close_matches(name, parameters, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise OptionError(
                f"space=: {name!r} is neither a parameter of {kernel} nor a compile option, and "
                f"none of where, grid, block and dynamic_lds reads it: remove it.{hint}"
            )
