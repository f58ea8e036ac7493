"""Decides which results are right, although candidates end in any order.

Without a reference, the right results are those of the first candidate in the order of the space
that runs at all. Candidates that end before these are known wait here.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.options import OptionError
from amdjit.tuning.candidates import State
from amdjit.tuning.comparing import Tolerance, difference
from amdjit.tuning.configurations import Namespace
from amdjit.tuning.sending import on_host
from amdjit.tuning.tasks import Outcome

__all__ = ["Checker", "reference_results"]

Results = Mapping[str, NDArray[Any]]


class Checker:
    """Compares what candidates wrote with the right results, once those are known.

    order: the numbers of the candidates whose results may be the right ones, in order. expected:
    the right results if they are known. keep: takes their pickle and returns the form in which
    workers get it.
    """

    def __init__(
        self,
        order: Sequence[int],
        tolerance: Tolerance,
        expected: Results | None,
        keep: Callable[[bytes], bytes | Path],
    ) -> None:
        self._waiting = list(order)
        self._held: dict[int, Outcome] = {}
        self._tolerance, self._keep = tolerance, keep
        self._expected: Results | None = None
        self.sent: bytes | Path | None = None
        self.decided_by: int | None = None
        if expected is not None:
            self._decide(expected)

    def _decide(self, expected: Results) -> None:
        self._expected = expected
        self.sent = self._keep(pickle.dumps(dict(expected)))

    def offer(self, number: int, outcome: Outcome) -> list[tuple[int, Outcome]]:
        """Take the outcome of a candidate; return all outcomes that are final now."""
        if outcome.results is None:
            if number in self._waiting:
                self._waiting.remove(number)
            return [(number, outcome), *self._settle()]
        self._held[number] = outcome
        return self._settle()

    def finish(self) -> list[tuple[int, Outcome]]:
        """Return the outcomes that still wait, compared with the first one of them."""
        self._waiting = sorted(self._held)
        return self._settle()

    def _settle(self) -> list[tuple[int, Outcome]]:
        if self._expected is None and self._waiting and self._waiting[0] in self._held:
            self.decided_by = self._waiting[0]
            results = self._held[self.decided_by].results
            assert results is not None
            self._decide(results)
        if self._expected is None:
            return []
        held, self._held = self._held, {}
        return [(number, self._compared(each)) for number, each in held.items()]

    def _compared(self, outcome: Outcome) -> Outcome:
        assert outcome.results is not None
        assert self._expected is not None
        text = difference(outcome.results, self._expected, self._tolerance)
        return replace(
            outcome, state=State.WRONG if text else State.FINE, reason=text or outcome.reason,
            results=None,
        )  # fmt: skip


def reference_results(reference: Any, arguments: Mapping[str, Any]) -> Results | None:
    """Return the right results from `reference=`: arrays by name, or a function that gets the
    arguments by name, with NumPy arrays, and returns them. A single array belongs to the only array
    argument of its shape and type. OptionError for anything else."""
    if reference is None:
        return None
    host = on_host(arguments)
    found = reference(Namespace(host)) if callable(reference) else reference
    if isinstance(found, Mapping):
        unknown = sorted(set(found) - set(host))
        if unknown:
            raise OptionError(f"reference=: {unknown[0]!r} is not an argument of the call")
        return {name: np.asarray(value) for name, value in found.items()}
    array = np.asarray(found)
    fitting = [
        name
        for name, value in host.items()
        if getattr(value, "shape", None) == array.shape
        and getattr(value, "dtype", None) == array.dtype
    ]
    if len(fitting) != 1:
        raise OptionError(
            f"reference=: an array of shape {array.shape} and type {array.dtype} may be "
            f"{' or '.join(fitting) or 'no argument'}: return a dictionary, {{name: array}}"
        )
    return {fitting[0]: array}
