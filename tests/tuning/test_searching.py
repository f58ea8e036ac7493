"""Searches on the emulator: what is chosen, what is left out and why, and what stays untouched.

Workers are threads here, which start at once; processes have their tests in test_workers.py.
"""

from __future__ import annotations

import dataclasses
import io
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit.diagnostics import LaunchError
from amdjit.options import OptionError
from amdjit.tuning.candidates import Candidate, State
from amdjit.tuning.configurations import Namespace
from amdjit.tuning.results import Tuning
from tests.tuning import tuned_kernels

N = 256
PER = {"per": [1, 2, 4]}


@pytest.fixture(autouse=True)
def emulator() -> Iterator[None]:
    with amdjit.use("emulator:gfx1201"):
        yield


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def tuned(kernel: Any, threads: Any, tmp_path: Path, **chosen: Any) -> Any:
    given: dict[str, Any] = {"space": PER, "key": ["n"], "executor": threads}
    given |= {"cache": tmp_path / "results.jsonl", **chosen}
    return amdjit.autotune(**given)(kernel)


def arrays() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.arange(N, dtype=np.float32), np.full(N, 7, np.float32)


def states(tuning: Tuning) -> dict[str, State]:
    return {str(each.configuration): each.state for each in tuning.candidates}


def candidate(tuning: Tuning, text: str) -> Candidate:
    return next(each for each in tuning.candidates if str(each.configuration) == text)


def test_the_quickest_by_the_model_is_chosen_and_launched_once(
    threads: Any, tmp_path: Path
) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path)
    x, out = arrays()
    tuning = kernel.tune(tuned_kernels.grid, launch=False)(x, out, N)
    assert (out == 7).all()
    assert kernel.tune(tuned_kernels.grid)(x, out, N).best_config == tuning.best_config
    assert (out == 2 * x).all()
    assert tuning.by == "model"
    assert tuning.complete
    assert [each.seconds for each in tuning.candidates] == sorted(
        each.seconds for each in tuning.candidates
    )
    assert kernel.best_config == tuning.candidates[0].configuration
    out[:] = 7
    kernel[tuned_kernels.grid](x, out, N)
    assert (out == 2 * x).all()
    # The model's estimate of the same launch is the same, wherever the arrays lie.
    timing = amdjit.bench(kernel[tuned_kernels.grid], x, out, N)
    assert timing.by == "model"
    assert timing.seconds == tuning.best.seconds
    others = amdjit.zeros(N), amdjit.to_device(x)
    timing = amdjit.bench(kernel[tuned_kernels.grid], *others[::-1], N)
    assert timing.seconds == tuning.best.seconds


def test_facts_are_those_of_the_compiled_kernel(threads: Any, tmp_path: Path) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path)
    tuning = kernel.tune(tuned_kernels.grid)(*arrays(), N)
    f32 = amdjit.f32
    for each in tuning.candidates:
        compiled = kernel.compile(f32[:], f32[:], int, config=each.configuration, target="gfx1201")
        assert each.facts.vgprs == compiled.resources.vgprs
        assert each.facts.code_bytes == compiled.resources.code_bytes
        assert each.facts.workgroups == tuned_kernels.grid(
            Namespace({"n": N, **each.configuration})
        )


def test_a_wrong_candidate_is_out_with_its_first_differing_element(
    threads: Any, tmp_path: Path
) -> None:
    kernel = tuned(tuned_kernels.mistaken, threads, tmp_path)
    tuning = kernel.tune(tuned_kernels.grid)(*arrays(), N)
    wrong = candidate(tuning, "per=4")
    assert wrong.state is State.WRONG
    assert wrong.reason == "out[1] is 3.0, not 2.0; 255 of 256 elements differ"
    assert str(kernel.best_config) != "per=4"


def test_a_reference_finds_the_first_candidate_wrong_too(threads: Any, tmp_path: Path) -> None:
    kernel = tuned(
        tuned_kernels.mistaken,
        threads,
        tmp_path,
        space={"per": [4, 1]},
        reference=lambda a: {"out": 2 * a.x},
    )
    tuning = kernel.tune(tuned_kernels.grid)(*arrays(), N)
    assert states(tuning) == {"per=4": State.WRONG, "per=1": State.FINE}
    # Without one, the first candidate decides, and the right one seems wrong.
    other = tuned(tuned_kernels.mistaken, threads, tmp_path, space={"per": [4, 1]})
    assert states(other.tune(tuned_kernels.grid, fresh=True)(*arrays(), N)) == {
        "per=4": State.FINE,
        "per=1": State.WRONG,
    }


def test_a_racing_candidate_is_found_by_the_sanitizer_alone(threads: Any, tmp_path: Path) -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    plain = tuned(tuned_kernels.racing, threads, tmp_path)
    checked = tuned(tuned_kernels.racing, threads, tmp_path, sanitize=("race",))
    assert states(checked.tune(1)(x, out, 64))["per=2"] is State.FAULTED
    # per=2 leaves the barrier out; one wave after another hides that on the emulator.
    reason = candidate(checked.tune(1)(x, out, 64), "per=2").reason
    assert "race" in reason
    assert "tile" in reason
    assert State.FAULTED not in states(plain.tune(1, fresh=True)(x, out, 64)).values()


def test_limits_prune_with_their_reason(threads: Any, tmp_path: Path) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path, limits={"min_waves": 17})
    with pytest.raises(amdjit.TuningError, match="no candidate is left") as caught:
        kernel.tune(tuned_kernels.grid)(*arrays(), N)
    assert "a SIMD holds 16 waves" in str(caught.value)
    assert "3 pruned" in str(caught.value)


def test_where_and_prune_leave_configurations_out_before_they_are_compiled(
    threads: Any, tmp_path: Path
) -> None:
    kernel = tuned(
        tuned_kernels.double,
        threads,
        tmp_path,
        where=lambda c: c.per < c.n // 128 + 2,
        prune=lambda found, arguments: [each for each in found if each.per != 1],
    )
    tuning = kernel.tune(tuned_kernels.grid)(*arrays(), N)
    assert states(tuning) == {"per=2": State.FINE}


def test_only_the_first_ones_of_a_ranking_are_run(threads: Any, tmp_path: Path) -> None:
    def most_first(configuration: Any, facts: Any) -> float:
        assert facts.vgprs > 0
        return float(-configuration.per)

    kernel = tuned(tuned_kernels.double, threads, tmp_path, ranking=most_first, top=1)
    tuning = kernel.tune(tuned_kernels.grid)(*arrays(), N)
    assert states(tuning) == {
        "per=4": State.FINE,
        "per=1": State.DROPPED,
        "per=2": State.DROPPED,
    }
    assert tuning.by == "most_first"
    assert candidate(tuning, "per=1").reason.startswith("rank 3 by most_first")


def test_where_the_model_does_not_know_the_processor_the_static_score_ranks(
    threads: Any, tmp_path: Path
) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path)
    with amdjit.use("emulator:gfx1103"):
        tuning = kernel.tune(tuned_kernels.grid)(*arrays(), N)
        assert tuning.by == "static"
        assert tuning.best.seconds is None
        scores = [each.score for each in tuning.candidates]
        assert scores == sorted(scores)
        with pytest.raises(amdjit.TuningError, match="cycle model is of"):
            kernel.tune(tuned_kernels.grid, ranking="model", fresh=True)(*arrays(), N)
        with pytest.raises(amdjit.TuningError, match=r"no estimate.*emulator:gfx1201"):
            amdjit.bench(kernel[tuned_kernels.grid], *arrays(), N)


def test_names_are_parameters_options_or_read_by_grid_and_block(
    threads: Any, tmp_path: Path
) -> None:
    space = {"per": [1, 2], "unroll": [1, 4], "waves": [1]}
    kernel = tuned(tuned_kernels.double, threads, tmp_path, space=space)
    tuning = kernel.tune(tuned_kernels.grid, lambda c: 64 * c.waves)(*arrays(), N)
    assert len(tuning.candidates) == 4
    assert {State.FINE} == set(states(tuning).values())
    with pytest.raises(OptionError, match="'waves' is neither a parameter of double nor"):
        kernel.tune(tuned_kernels.grid)(*arrays(), N)
    typo = tuned(tuned_kernels.double, threads, tmp_path, space={"pre": [1]})
    with pytest.raises(OptionError, match="Did you mean 'per'"):
        typo.tune(4)(*arrays(), N, 1)


def test_a_launch_that_cannot_be_is_refused_with_its_reason(threads: Any, tmp_path: Path) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path)
    tuning = kernel.tune(lambda c: 4 // c.per - 1)(*arrays(), N)
    assert candidate(tuning, "per=4").state is State.REFUSED
    assert "grid: 0" in candidate(tuning, "per=4").reason
    with pytest.raises(LaunchError, match="per= comes from the configuration"):
        kernel.tune(4)(*arrays(), N, per=2)
    with pytest.raises(LaunchError, match=r"takes \(x, out, n\), and per from"):
        kernel.tune(4)(*arrays(), N, 2)


def test_each_key_has_a_best_configuration_of_its_own(threads: Any, tmp_path: Path) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path, untuned="refuse")
    x, out = arrays()
    kernel.tune(tuned_kernels.grid)(x, out, N)
    kernel[tuned_kernels.grid](x, out, N)
    with pytest.raises(amdjit.TuningError, match=r"not tuned for these arguments \(n=255\)"):
        kernel[tuned_kernels.grid](x, out, N - 1)
    with pytest.raises(amdjit.TuningError, match="not tuned"):
        kernel[tuned_kernels.grid](x.astype(np.float64), out, N)
    chosen = kernel.configured(per=4)
    chosen[tuned_kernels.grid](x, out, N - 1)
    assert (out[:-1] == 2 * x[:-1]).all()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (["n"], "n=256"),
        (["x"], "x=(256,)"),
        (["x.shape[0]", "out.dtype"], "x.shape[0]=256"),
        (lambda a: a.n // 100, "2"),
    ],
)
def test_key_values_are_of_arguments_shapes_or_functions(
    threads: Any, tmp_path: Path, key: Any, text: str
) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path, key=key)
    call = kernel.call(4, None, 0, (*arrays(), N), {})
    assert kernel.key_of(call, amdjit.current_device()).values.startswith(text)


def test_an_unknown_key_is_refused(threads: Any, tmp_path: Path) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path, key=["m"])
    with pytest.raises(OptionError, match="'m' is not a parameter"):
        kernel[tuned_kernels.grid](*arrays(), N)


def test_an_untuned_launch_on_the_emulator_takes_the_first_that_is_allowed(
    threads: Any, tmp_path: Path
) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path, where=lambda c: c.per > 1)
    x, out = arrays()
    kernel[tuned_kernels.grid](x, out, N)
    assert (out == 2 * x).all()
    assert str(kernel.best_config) == "per=2"


def test_a_smaller_call_stands_for_the_whole_one(threads: Any, tmp_path: Path) -> None:
    x, out = np.arange(1 << 16, dtype=np.float32), np.zeros(1 << 16, np.float32)
    whole = tuned(tuned_kernels.double, threads, tmp_path, space={"per": [1, 8]})
    expected = whole.tune(tuned_kernels.grid)(x, out, 1 << 16)
    small = tuned(
        tuned_kernels.double,
        threads,
        tmp_path,
        space={"per": [1, 8]},
        small=lambda a: {"x": a.x[:8192], "out": a.out[:8192], "n": 8192},
    )
    out[:] = 7
    found = small.tune(tuned_kernels.grid)(x, out, 1 << 16)
    assert (out == 7).all()  # the whole call is too large to run here
    for text in ("per=1", "per=8"):
        one, other = candidate(found, text), candidate(expected, text)
        assert one.facts.workgroups == other.facts.workgroups
        assert one.seconds == pytest.approx(other.seconds, rel=0.2)
    with pytest.raises(OptionError, match="give it as a function"):
        small.tune(16, fresh=True)(x, out, 1 << 16)
    with pytest.raises(OptionError, match="give reference= as a function"):
        small.tune(tuned_kernels.grid, fresh=True, reference={"out": out})(x, out, 1 << 16)


def test_hooks_and_zeros_come_before_each_launch(threads: Any, tmp_path: Path) -> None:
    path = tmp_path / "seen"  # workers have copies of all else

    def note(text: object) -> None:
        with path.open("a") as file:
            print(text, file=file)

    kernel = tuned(
        tuned_kernels.accumulate,
        threads,
        tmp_path,
        reset_to_zero="total",
        pre_hook=lambda a: note("before"),
        post_hook=lambda a: note(a["total"].copy_to_host()[3]),
        reference=lambda a: {"total": a.x},
    )
    x, total = np.arange(N, dtype=np.float32), np.full(N, 5, np.float32)
    tuning = kernel.tune(tuned_kernels.grid)(x, total, N)
    assert {State.FINE} == set(states(tuning).values())
    assert sorted(path.read_text().split()) == ["3.0"] * 3 + ["before"] * 3
    assert (total == 5 + x).all()  # one launch of the user's, on what is there
    kernel[tuned_kernels.grid](x, total, N)
    assert (total == 5 + 2 * x).all()
    kernel.tune(tuned_kernels.grid, launch=False)(x, total, N)
    assert (total == 5 + 2 * x).all()


def test_a_budget_ends_a_search_with_the_best_so_far(threads: Any, tmp_path: Path) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path)
    stopped = kernel.tune(tuned_kernels.grid, max_configs=2)(*arrays(), N)
    assert len(stopped.candidates) == 2
    # With nothing left of the budget, what is known already is the result.
    again = kernel.tune(tuned_kernels.grid, budget=0)(*arrays(), N)
    assert "budget" in again.stopped
    assert not again.complete
    assert again.best_config == stopped.best_config
    with pytest.raises(amdjit.TuningError, match="no candidate is left"):
        kernel.tune(tuned_kernels.grid, budget=0, fresh=True)(*arrays(), N)


def test_ctrl_c_keeps_what_is_done(
    threads: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tuned(tuned_kernels.double, threads, tmp_path)
    added = amdjit.tuning.progress.Progress.add

    def interrupted(self: Any, seconds: float | None = None) -> None:
        added(self, seconds)
        if self.done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(amdjit.tuning.progress.Progress, "add", interrupted)
    tuning = kernel.tune(tuned_kernels.grid)(*arrays(), N)
    assert tuning.stopped == "interrupted"
    assert len(tuning.candidates) == 2
    monkeypatch.undo()
    assert kernel.tune(tuned_kernels.grid)(*arrays(), N).complete


def test_progress_goes_to_standard_error_if_it_is_asked_for(
    threads: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    kernel = tuned(tuned_kernels.double, threads, tmp_path)
    kernel.tune(tuned_kernels.grid)(*arrays(), N)
    assert shown.getvalue() == ""
    kernel.tune(tuned_kernels.grid, progress=True, fresh=True)(*arrays(), N)
    assert "double: compiling [########################] 3/3" in shown.getvalue()
    monkeypatch.setattr(shown, "isatty", lambda: True, raising=False)
    kernel.tune(tuned_kernels.grid, fresh=True)(*arrays(), N)
    assert "\r" in shown.getvalue()


@settings(max_examples=5)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True))
def test_every_configuration_ends_in_one_state(per: list[int]) -> None:
    with amdjit.use("emulator:gfx1201"), ThreadPoolExecutor(2) as threads:
        kernel = amdjit.autotune(
            space={"per": per}, executor=threads, ranking="static", check=False,
            untuned="refuse",
        )(tuned_kernels.double)  # fmt: skip
        tuning = kernel.tune(tuned_kernels.grid, fresh=True)(*arrays(), N)
        assert sorted(c.configuration.per for c in tuning.candidates) == sorted(per)
        best = min(tuning.candidates, key=lambda each: each.score)
        assert tuning.best.score == best.score


def test_arrays_arrive_with_their_strides_alignment_and_identity(threads: Any) -> None:
    base = amdjit.to_device(np.arange(512, dtype=np.float32))
    x, out = base[3:259], amdjit.zeros(N)
    sent = amdjit.tuning.sending.sent({"x": x, "y": x, "s": base[::-2], "o": (out, 3)})
    device = amdjit.current_device()
    placed = amdjit.tuning.sending.on_device(sent, device)
    assert placed["x"] is placed["y"]
    assert placed["x"].address % 256 == x.address % 256
    assert placed["s"].strides == (-8,)
    assert (placed["s"].copy_to_host() == np.arange(511, -1, -2)).all()
    assert placed["o"][1] == 3
    record = dataclasses.make_dataclass("R", ["a", "b"], frozen=True)(x, 1)
    assert amdjit.tuning.sending.on_host({"r": record})["r"].a.shape == (256,)


def test_decorators_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(OptionError, match=r"stands above @amdjit\.kernel"):
        amdjit.autotune(space=PER)(lambda x: None)
    with pytest.raises(OptionError, match="decorates a kernel"):
        amdjit.autotune(space=PER)(3)
