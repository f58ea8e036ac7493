"""`amdjit bench rocwmma`: the matrix products of rocWMMA's programs, checked, counted and timed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TextIO

from amdjit import rocwmma
from amdjit.command_line.commands import Commands
from amdjit.devices import current_device, use
from amdjit.rocwmma.cases import TYPES, Program, Size
from amdjit.rocwmma.report import plotter
from amdjit.runtime.device import Device

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    bench = commands.add_parser("bench", help="run a programme of benchmarks")
    programmes = bench.add_subparsers(required=True, metavar="programme")
    suites = {suite.name: suite for suite in rocwmma.SUITES}
    parser = programmes.add_parser(
        "rocwmma",
        help="matrix products of rocWMMA's grid: correctness, code, and speed or its estimate",
        description="Print rocWMMA's CSV columns, and further ones, for each case of a grid.",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--target", help="the emulator of a processor, such as gfx1100")
    where.add_argument("--device", help="such as hip:0 (default: see `amdjit devices`)")
    parser.add_argument(
        "--suite",
        choices=suites,
        help="; ".join(f"{each.name}: {each.help}" for each in rocwmma.SUITES)
        + " (default: bench on a GPU, smoke on an emulator)",
    )
    parser.add_argument(
        "--sizes", nargs="+", type=_size, metavar="N|MxNxK", help="instead of the suite's"
    )
    parser.add_argument(
        "--types",
        nargs="+",
        choices=[str(each) for each in TYPES],
        metavar="TI_TO_TC",
        help="some of " + " ".join(map(str, TYPES)),
    )
    parser.add_argument(
        "--programs",
        nargs="+",
        choices=[each.value for each in Program],
        metavar="PROGRAM",
        help="some of " + " ".join(each.value for each in Program),
    )
    parser.add_argument("--first", type=int, help="stop after this many cases")
    parser.add_argument("-o", "--output", type=Path, help="write the rows to a file")
    parser.add_argument("--plot", type=Path, help="draw the speeds; needs matplotlib")
    parser.set_defaults(run=_rocwmma)


def _size(text: str) -> Size:
    parts = text.lower().split("x")
    if len(parts) not in (1, 3) or not all(part.isdecimal() and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is neither N nor MxNxK")
    m, n, k = map(int, parts * 3 if len(parts) == 1 else parts)
    return m, n, k


def _rocwmma(options: argparse.Namespace) -> int:
    if options.plot is not None:
        plotter()  # a run of hours must not end with what is missing
    name = f"emulator:{options.target}" if options.target else options.device
    if name is None:
        return _run(options, current_device())
    with use(name) as device:
        return _run(options, device)


def _run(options: argparse.Namespace, device: Device) -> int:
    default = "bench" if device.name.startswith("hip") else "smoke"
    suite = next(s for s in rocwmma.SUITES if s.name == (options.suite or default))
    cases = (
        case
        for case in rocwmma.grid(suite, None if options.sizes is None else tuple(options.sizes))
        if (options.types is None or str(case.types) in options.types)
        and (options.programs is None or case.program.value in options.programs)
    )
    results = []
    with _opened(options.output) as file:
        print(rocwmma.header(), file=file, flush=True)
        for case in islice(cases, options.first):
            result = rocwmma.run(case, device)
            results.append(result)
            print(rocwmma.row(result), file=file, flush=True)
    counts = {
        outcome: sum(result.outcome is outcome for result in results) for outcome in rocwmma.Outcome
    }
    print(", ".join(f"{n} {each.value.lower()}" for each, n in counts.items()), file=sys.stderr)
    if options.plot is not None:
        rocwmma.draw(results, options.plot)
    ran = counts[rocwmma.Outcome.PASSED] + counts[rocwmma.Outcome.FAILED]
    return 0 if ran and not counts[rocwmma.Outcome.FAILED] else 1


@contextmanager
def _opened(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
    else:
        with path.open("w", encoding="utf-8") as file:
            yield file
