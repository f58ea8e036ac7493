"""What all tests share: a cache of their own, numbers that no other test draws from, and no skipped
oracles in CI."""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Generator, Hashable, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from tests.lld_oracle import all_links_compared

# Reasons that stay reasons on a machine that has every tool: no GPU, no material beside the
# project, another platform.
_ALLOWED = re.compile(r"\bGPU|\.\./shared|\bWindows\b|\bPython 3\.|exhaustive", re.IGNORECASE)
# How long an example takes says how busy the machine is. What hangs, pytest-timeout ends. A change
# is judged by the same examples each time; `AMDJIT_FUZZ=1` draws new ones, and keeps what fails.
settings.register_profile("amdjit", deadline=None, derandomize="AMDJIT_FUZZ" not in os.environ)
settings.load_profile("amdjit")
_TESTS = Path(__file__).parent
# What `pytest -m quick` runs: modules and folders from every part that take seconds and fail for
# most mistakes. docs/ and the command line come last in a kernel's way, and last here.
_QUICK = (
    "golden",
    "tree",
    "frontend/test_constants.py",
    "lowering/test_operators_mean_what_python_means.py",
    "backend/test_llvm_stages.py",
    "code_object/test_kernel_descriptor.py",
    "emulator/checks/test_memory_check.py",
    "api/launching/test_launches.py",
    "api/launching/test_wrong_launches.py",
    "arrays/test_array_creation.py",
    "numba_cuda/test_dispatchers_of_numba.py",
    "docs/test_launching_page.py",
)
# What `pytest.param` returns.
_CASE = type(pytest.param())
_OWN_CACHE = pytest.StashKey[str]()
_LINKS = pytest.StashKey[list[int]]()
# Where a worker writes its stacks if it is killed, and what was found there.
_STACKS = pytest.StashKey[int]()
_CHANGES = pytest.StashKey[pytest.MonkeyPatch]()
# How often all of the heap had been searched for garbage when it was last set aside.
_SEARCHES = pytest.StashKey[int]()
_LAST_WORDS = pytest.StashKey[list[str]]()
_STACKS_FOLDER = "AMDJIT_TESTS_STACKS"
# pytest-timeout ends the whole worker after 300 seconds.
_SECONDS_BEFORE_STACKS = 280


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Load nothing but the quick modules for `pytest -m quick`: loading all takes longer than
    running these."""
    if config.getoption("markexpr") != "quick":
        return None
    chosen = [_TESTS / name for name in _QUICK]
    return not any(
        each.is_relative_to(collection_path) or collection_path.is_relative_to(each)
        for each in chosen
    )


def _leaves_out_exhaustive(config: pytest.Config) -> bool:
    expression = config.getoption("markexpr")
    return expression == "quick" or expression.startswith("not exhaustive")


def _is_exhaustive(marks: Iterable[pytest.Mark | pytest.MarkDecorator]) -> bool:
    return any(mark.name == "exhaustive" for mark in marks)


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, obj: object
) -> list[pytest.Item] | None:
    """Make no items of exhaustive tests that nobody asks for: they outnumber the others."""
    marks = getattr(obj, "pytestmark", None)
    if isinstance(marks, list) and _is_exhaustive(marks):
        return [] if _leaves_out_exhaustive(collector.config) else None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Make no items of exhaustive cases that nobody asks for, either, and of the combinations of
    parameters those that have each together with each other."""
    only_usual = _leaves_out_exhaustive(metafunc.config)
    if only_usual:
        marks = metafunc.definition.own_markers
        marks[:] = [
            _without_exhaustive(mark) if mark.name == "parametrize" else mark for mark in marks
        ]
    result = yield
    calls: list[Any] = metafunc._calls
    usual = [call for call in calls if not _is_exhaustive(call.marks)]
    covering = metafunc.definition.get_closest_marker("covering")
    sample = metafunc.definition.get_closest_marker("sample")
    # Not every test runs on every device: the cases of each are chosen alone.
    for device in {call.indices.get("device") for call in usual} if covering or sample else ():
        cases = [call for call in usual if call.indices.get("device") == device]
        chosen = set(range(len(cases)))
        if covering:
            chosen = _covering([call.indices for call in cases], covering.args[0])
        if sample:
            chosen = _sampled({number: cases[number] for number in chosen}, sample.args[0])
        for number, call in enumerate(cases):
            if number not in chosen:
                call.marks.append(pytest.mark.exhaustive.mark)
    usual = [call for call in usual if not _is_exhaustive(call.marks)]
    if only_usual:
        calls[:] = usual or calls[:1]
    return result


def _covering(cases: list[dict[str, int]], size: int) -> set[int]:
    """Return the places of cases that have all values of every so many parameters together: the
    next one is always the first of those that add most."""
    missing = [set(combinations(sorted(case.items()), size)) for case in cases]
    chosen = set()
    while any(missing):
        number = max(range(len(cases)), key=lambda place: len(missing[place]))
        chosen.add(number)
        added = missing[number].copy()
        for each in missing:
            each -= added
    return chosen


def _sampled(cases: dict[int, Any], size: int) -> set[int]:
    """Choose `size` cases that cover as many values of each parameter as possible; return their
    places.

    The name of a case decides which of two is taken: not its place, nor those beside it."""
    left = sorted(cases, key=lambda place: zlib.crc32(cases[place].id.encode()))
    chosen: set[int] = set()
    seen: set[tuple[str, object]] = set()
    while left and len(chosen) < size:
        place = max(left, key=lambda place: len(_values_of(cases[place]) - seen))
        seen |= _values_of(cases[place])
        left.remove(place)
        chosen.add(place)
    return chosen


def _values_of(case: Any) -> set[tuple[str, object]]:
    return {
        (name, value if isinstance(value, Hashable) else case.indices[name])
        for name, value in case.params.items()
    }


def _without_exhaustive(mark: pytest.Mark) -> pytest.Mark:
    """Return a parametrisation with the cases that always run; one without any stays."""
    if len(mark.args) != 2 or isinstance(mark.kwargs.get("ids"), Iterable):
        return mark
    names, cases = mark.args
    cases = list(cases)
    usual = [case for case in cases if not (isinstance(case, _CASE) and _is_exhaustive(case.marks))]
    return pytest.mark.parametrize(names, usual or cases, **mark.kwargs).mark


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the quick modules, but for those that are only run when asked for."""
    chosen = [_TESTS / name for name in _QUICK]
    quick = {
        path: any(path.is_relative_to(each) for each in chosen)
        for path in {item.path for item in items}
    }
    for item in items:
        is_slow = any(map(item.get_closest_marker, ("exhaustive", "foreign", "aarch64")))
        if not is_slow and quick[item.path]:
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """Leave what was collected out of the searches for garbage that tests cause, and let these wait
    until there is more of it: they took a twentieth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, *gc.get_threshold()[1:])


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites the expected texts in tests/golden; read the difference like
    code."""
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the expected texts in tests/golden"
    )
    parser.addoption(
        "--update-foreign", action="store_true", help="rewrite the table of docs/foreign.md"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep the user's cache out of the tests, and the tests out of the user's cache. Workers share
    one."""
    if "AMDJIT_CACHE_DIR" not in os.environ:
        config.stash[_OWN_CACHE] = tempfile.mkdtemp(prefix="amdjit-tests-")
        os.environ["AMDJIT_CACHE_DIR"] = config.stash[_OWN_CACHE]
    if not hasattr(config, "workerinput"):
        config.stash[_LAST_WORDS] = []
        os.environ[_STACKS_FOLDER] = tempfile.mkdtemp(prefix="amdjit-stacks-")
        config.stash[_CHANGES] = pytest.MonkeyPatch()
        # Else each process spins on every core after each product of matrices.
        config.stash[_CHANGES].setenv("OPENBLAS_NUM_THREADS", "1")
        _share_bytecode(config.stash[_CHANGES], _bytecode_folder(config))


def _bytecode_folder(config: pytest.Config) -> str:
    """Return a folder that stays, where pytest has one: the next run loads its tests sooner."""
    cache: pytest.Cache | None = getattr(config, "cache", None)
    return str(cache.mkdir("bytecode")) if cache else os.environ[_STACKS_FOLDER]


def _share_bytecode(changes: pytest.MonkeyPatch, folder: str) -> None:
    """Where no bytecode may be written beside the sources, write it to a folder of tests. Else
    each worker and each of the hundreds of processes that they start compiles all of amdjit."""
    if sys.dont_write_bytecode and not sys.pycache_prefix:
        changes.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        changes.setenv("PYTHONPYCACHEPREFIX", folder)
        changes.setattr(sys, "dont_write_bytecode", False)
        changes.setattr(sys, "pycache_prefix", folder)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let a worker that a signal ends leave its stacks in a file: its standard error is lost."""
    worker = getattr(session.config, "workerinput", {}).get("workerid")
    if worker is not None:
        stacks = os.open(Path(os.environ[_STACKS_FOLDER], worker), os.O_WRONLY | os.O_CREAT)
        session.config.stash[_STACKS] = stacks
        faulthandler.enable(stacks)
        is_whole = not session.config.getoption("file_or_dir")
        if is_whole and session.config.getoption("markexpr") != "quick":
            _load_own_share(session.config.workerinput)  # type: ignore[attr-defined]


def _load_own_share(worker: Mapping[str, Any]) -> None:
    """Load other modules first than the other workers do: without bytecode that takes longer than
    all else of the collection, and each then finds the bytecode of the others. What cannot be
    loaded says why where it is collected."""
    files = sorted(_TESTS.rglob("test_*.py"))
    for file in files[int(worker["workerid"][2:]) :: worker["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(file.relative_to(_TESTS.parent).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Leave the stacks of a test, too, that is about to be ended for the time it takes."""
    stacks = item.config.stash.get(_STACKS, None)
    if stacks is not None and "exhaustive" not in item.keywords:
        faulthandler.dump_traceback_later(_SECONDS_BEFORE_STACKS, file=stacks)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        if nextitem is not None and nextitem.path != item.path:
            _set_aside_what_stays(item.config.stash)


def _set_aside_what_stays(stash: pytest.Stash) -> None:
    """After a module, leave what it holds for ever out of later searches for garbage, as in
    `pytest_collection_finish`: at the end of a whole run each took more than a second."""
    searches = gc.get_stats()[-1]["collections"]
    if searches > stash.get(_SEARCHES, 0):
        gc.collect()
        gc.freeze()
        stash[_SEARCHES] = searches + 1


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the cache that these tests made."""
    if _LAST_WORDS in config.stash:
        config.stash[_CHANGES].undo()
        shutil.rmtree(os.environ.pop(_STACKS_FOLDER), ignore_errors=True)
    folder = config.stash.get(_OWN_CACHE, None)
    if folder is not None:
        os.environ.pop("AMDJIT_CACHE_DIR", None)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def links_compared_with_lld(request: pytest.FixtureRequest) -> Generator[None]:
    """Compare objects that amdjit links in any test with what lld makes of them."""
    count = request.config.stash.setdefault(_LINKS, [0])
    with all_links_compared(count):
        yield
    if hasattr(request.config, "workeroutput"):
        request.config.workeroutput["links"] = count[0]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add what a worker of pytest-xdist compared, and keep the stacks of one that was killed."""
    node.config.stash.setdefault(_LINKS, [0])[0] += getattr(node, "workeroutput", {}).get(
        "links", 0
    )
    stacks = Path(os.environ[_STACKS_FOLDER], node.gateway.id)
    if error and stacks.exists():
        node.config.stash[_LAST_WORDS].append(f"{node.gateway.id}: {error}\n{stacks.read_text()}")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many links were compared, and what workers that were killed were doing."""
    for words in config.stash.get(_LAST_WORDS, []):
        terminalreporter.section("a worker's last words")
        terminalreporter.write_line(words)
    count = config.stash.get(_LINKS, [0])[0]
    if count:
        terminalreporter.write_line(f"{count} links compared with lld's")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin the random numbers of a module anew for each test: those before it, or not run, change
    nothing."""
    if not isinstance(item, pytest.Function):
        return
    for value in vars(item.module).values():
        if isinstance(value, np.random.Generator):
            seed = zlib.crc32(item.nodeid.encode())
            value.bit_generator.state = np.random.default_rng(seed).bit_generator.state


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips for a missing tool, where tools are required."""
    return _refuse_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for whole modules."""
    return _refuse_skips((yield))


def _refuse_skips(report: Any) -> Any:
    if (
        report.skipped
        and not hasattr(report, "wasxfail")
        and os.environ.get("AMDJIT_REQUIRE_ORACLES")
    ):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not _ALLOWED.search(reason):
            report.outcome = "failed"
            report.longrepr = f"AMDJIT_REQUIRE_ORACLES is set, but this was skipped. {reason}"
    return report
