"""Measures how `amdjit.autotune` tunes a product with many forms: `python benchmarks/tuning.py`.

forms: the order in which the cycle model ranks the forms of `examples/tuned_gemm.py`, with
published throughput of gfx1201, and what the order depends on. search: one search with one worker
process and with two. killed: the same search while workers are killed, and one whose own process is
killed and started again. model: a search in which the model estimates every candidate.

Searches run in processes of their own. Those of "search" begin with empty caches of compiled code,
the others use what the search with two workers has compiled. The times are those of the search, not
of the GPU; their ratio is measured on one machine, whatever else that machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from measurement import HERE, ROOT, save, table
from product_forms import PUBLISHED, Estimate, estimated, rank_forms

from amdjit.cycles import model
from amdjit.examples.tuned_gemm import Configuration

PARTS = ("forms", "search", "killed", "model")
CODE = "code"  # the folder of what searches have compiled
L2_SHARES = (1, 0.9, 0.8, 0.7)


def forms(size: int, places: int) -> dict[str, Any]:
    """Print the order of the forms, and what it depends on."""
    found = rank_forms(size, places)
    head = ("operands", "form", "tile", "waves", "tera", "WMMA", "hot stall", "VGPRs", "LDS",
            "published")  # fmt: skip
    print(table(head, [form_row(each) for each in found]))
    print()
    return {"forms": [json_of(each) for each in found], "why": why(size, places)}


def form_row(found: Estimate) -> tuple[object, ...]:
    """Return a row of the table of forms."""
    c = found.configuration
    return (
        f"{found.kind} in {found.order}",
        c.form,
        f"{c.BM}x{c.BN}x{c.BK}",
        f"{c.rows}x{c.columns}",
        f"{found.middle:.0f} ({min(found.tera):.0f} to {max(found.tera):.0f})",
        f"{found.wmma_share:.0%}",
        found.stall,
        found.vgprs,
        found.lds,
        PUBLISHED.get((found.kind, c.form), ""),
    )


def json_of(found: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values."""
    values = {**asdict(found), "tera": found.middle, "published": ""}
    return {**values, "published": PUBLISHED.get((found.kind, found.configuration.form), "")}


def why(size: int, places: int) -> list[dict[str, Any]]:
    """Print estimates of fp8 in panels in which one thing differs."""
    one = Configuration(BK=64)
    two = replace(one, form="two buffers")
    straight = Configuration(BK=32, form="registers", pad=0)
    rows = []
    lds = 2 * 128 * (64 + 16)
    taken = estimated("fp8", one, size, True, places, extra_lds=lds)
    rows.append({"what": "one buffer that takes the LDS of two", "tera": round(taken.middle)})
    for share in L2_SHARES:
        with mock.patch.object(model, "chip_of", with_l2(share, model.chip_of)):
            for c in (one, two, straight):
                tera = estimated("fp8", c, size, True, places).middle
                what = f"{c.form}, {share:.0%} of the assumed L2 bandwidth"
                rows.append({"what": what, "tera": round(tera)})
    print(table(("fp8 in panels, 128x128, 2x2 waves", "tera"), [tuple(r.values()) for r in rows]))
    return rows


def with_l2(share: float, chip_of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that returns chips with a share of their L2 bandwidth."""

    def other(target: Any) -> Any:
        chip = chip_of(target)
        return replace(chip, l2_bandwidth=share * chip.l2_bandwidth)

    return other


@dataclass
class Running:
    """A search in a process of its own."""

    process: subprocess.Popen[str]
    folder: Path
    """The folder of its results."""

    @classmethod
    def start(cls, folder: Path, cache: Path, *arguments: str) -> Running:
        """Start a search on the results of a folder. cache: the folder of compiled code."""
        script = HERE / "product_search.py"
        command = [sys.executable, str(script), str(folder / "results.jsonl"), *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "AMDJIT_CACHE_DIR": str(cache)}
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, env=environment, text=True, **output)  # type: ignore[call-overload]
        return cls(process, folder)

    @property
    def is_running(self) -> bool:
        """Whether the search has not ended."""
        return self.process.poll() is None

    def workers(self) -> list[int]:
        """Return the processes of the search's workers (Linux)."""
        found = []
        with suppress(OSError):
            for each in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
                for text in each.read_text().split():
                    if b"amdjit.tuning.pool" in Path(f"/proc/{text}/cmdline").read_bytes():
                        found.append(int(text))
        return found

    def lines(self) -> list[dict[str, Any]]:
        """Return the candidates in the file of results, from complete lines only."""
        path = self.folder / "results.jsonl"
        found = []
        for line in path.read_text().splitlines() if path.exists() else ():
            with suppress(ValueError):
                found.append(json.loads(line))
        return [each for each in found if each.get("kind") == "candidate"]

    def result(self) -> dict[str, Any]:
        """Return what the search prints, when it has ended."""
        output, errors = self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError(f"the search failed:\n{errors}")
        return json.loads(output)  # type: ignore[no-any-return]


def searched(root: Path, name: str, cache: str, *arguments: str) -> dict[str, Any]:
    """Search without disturbing the search, in a new folder."""
    begin = time.monotonic()
    found = Running.start(made(root, name), made(root, cache), *arguments).result()
    return {**found, "whole_seconds": time.monotonic() - begin}


def made(root: Path, name: str) -> Path:
    """Return a folder, which is made if it does not exist."""
    folder = root / name
    folder.mkdir(exist_ok=True)
    return folder


def search(root: Path, count: int) -> dict[str, Any]:
    """Print what searches with one worker and with two need."""
    one = searched(root, "one", "code-of-one", "--count", str(count), "--workers", "1")
    two = searched(root, "two", CODE, "--count", str(count), "--workers", "2")
    ratio = one["seconds"] / two["seconds"]
    rows = [(number, len(each["candidates"]), f"{each['seconds']:.0f}", each["best"])
            for number, each in ((1, one), (2, two))]  # fmt: skip
    print(table(("workers", "candidates", "seconds", "best by the static score"), rows))
    print(f"{ratio:.2f} times as quick; of {one['space']} configurations that fit")
    print(table(("reason", "candidates"), sorted(two["reasons"].items(), key=lambda r: -r[1])))
    same = differences(one, two)
    print(f"the two differ in {len(same)} candidates\n")
    return {"one": one, "two": two, "ratio": ratio, "differences": same}


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the candidates for which two searches found different things."""
    first, second = one["candidates"], other["candidates"]
    return sorted(text for text in first.keys() | second.keys()
                  if first.get(text) != second.get(text))  # fmt: skip


def killed(root: Path, count: int, kills: int, undisturbed: dict[str, Any]) -> dict[str, Any]:
    """Print how much killed workers and a killed search cost."""
    workers = killed_workers(root, count, kills)
    parent = killed_parent(root, count)
    for what, each in (("workers", workers), ("the search", parent)):
        each["differences"] = differences(undisturbed, each)
        each["lost"] = each["states"].get("lost", 0)
        print(
            f"killed {what}: {each['killed']}; lost {each['lost']} candidates, "
            f"{len(each['differences'])} differ from the undisturbed search, the best is "
            f"{'the same' if each['best'] == undisturbed['best'] else each['best']}"
        )
    print(
        f"when the search was killed, {parent['done']} candidates were done; "
        f"{parent['done_again']} of them were done again, {parent['left']} processes were left"
    )
    return {"workers": workers, "parent": parent}


def killed_workers(root: Path, count: int, kills: int) -> dict[str, Any]:
    """Search, and kill a worker from time to time."""
    running = Running.start(made(root, "workers"), made(root, CODE), "--count", str(count))
    chance, done = random.Random(1), 0
    while running.is_running and done < kills:
        wanted = count * (done + 1) // (kills + 1)
        if len(running.lines()) >= wanted and (found := running.workers()):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(found), signal.SIGKILL)
                done += 1
        time.sleep(0.05)
    return {**running.result(), "killed": f"{done} processes"}


def killed_parent(root: Path, count: int) -> dict[str, Any]:
    """Search, kill the search when two fifths of it are done, and start it again."""
    folder, cache = made(root, "parent"), made(root, CODE)
    running = Running.start(folder, cache, "--count", str(count))
    while running.is_running and len(running.lines()) < 2 * count // 5:
        time.sleep(0.05)
    workers = running.workers()
    running.process.kill()
    running.process.communicate()
    time.sleep(2)
    left = sum(Path(f"/proc/{each}").exists() for each in workers)
    before = running.lines()
    found = Running.start(folder, cache, "--count", str(count))
    result = found.result()
    compiled = {each["text"] for each in before}
    again = Counter(each["text"] for each in found.lines()[len(before) :] if is_compilation(each))
    return {
        **result,
        "killed": "once",
        "done": len(compiled),
        "done_again": len(compiled & again.keys()),
        "left": left,
    }


def is_compilation(line: dict[str, Any]) -> bool:
    """Whether a line of the results is about a candidate that was just compiled, and not about one
    that is run or dropped later."""
    return line["state"] in ("built", "pruned", "refused", "lost")


def by_model(root: Path, count: int, kind: str, order: str) -> dict[str, Any]:
    """Print the best candidates of a search by the model, of each form."""
    chosen = ("--count", str(count), "--ranking", "model", "--kind", kind, "--order", order)
    found = searched(root, f"model-{kind}-{order}", CODE, *chosen)
    fine = {text: each for text, each in found["candidates"].items() if each["seconds"]}
    rows = []
    for form in sorted({each["form"] for each in fine.values()}):
        mine = [text for text in fine if fine[text]["form"] == form]
        best = min(mine, key=lambda text: fine[text]["seconds"])
        rows.append((form, len(mine), f"{fine[best]['seconds'] * 1e6:.0f}", best))
    print(f"{kind} in {order}: {found['seconds']:.0f} s")
    print(table(("form", "candidates", "best, us by the model", "configuration"), rows))
    return found


def agreement(static: dict[str, Any], by_model: dict[str, Any]) -> float:
    """Return the rank correlation (Spearman) of static scores and the model's seconds, over the
    candidates that have both."""
    scores, seconds = (each["candidates"] for each in (static, by_model))
    both = [text for text in scores.keys() & seconds.keys()
            if scores[text]["score"] and seconds[text]["seconds"]]  # fmt: skip
    pairs = np.array([(scores[text]["score"], seconds[text]["seconds"]) for text in both])
    ranks = pairs.argsort(axis=0).argsort(axis=0)
    return float(np.corrcoef(ranks.T)[0, 1])


def main() -> None:
    """Print and save."""
    os.environ.setdefault("AMDJIT_DEVICE", "emulator:gfx1201")
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--places", type=int, default=3)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--kills", type=int, default=6)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if "forms" in options.parts:
            results["forms"] = forms(options.size, options.places)
        if "search" in options.parts:
            results["search"] = search(root, options.count)
        if "killed" in options.parts:
            known = results.get("search", {}).get("two")
            undisturbed = known or searched(root, "two", CODE, "--count", str(options.count))
            results["killed"] = killed(root, options.count, options.kills, undisturbed)
        if "model" in options.parts:
            results["model"] = {
                order: by_model(root, options.count, "fp8", order) for order in ("rows", "panels")
            }
        if "search" in results and "model" in results:
            same = agreement(results["search"]["two"], results["model"]["rows"])
            results["agreement"] = same
            print(f"rank correlation of the static score with the model: {same:.2f}")
    save("tuning", results)


if __name__ == "__main__":
    main()
