"""A process of the probe that computes nothing: it writes what its script says, and ends, dies or
sleeps as it says.

    python scripted_child.py SCRIPT TASK FILE ...

SCRIPT is a JSON file: for each batch its cases, [name, what happens]: a digest, or "die", "sleep",
"fail". "asleep": a file whose existence keeps the device from answering; a case "sleep for good"
makes it. "log": a file to which each task is appended.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import msgpack


def main(script: dict[str, Any], task: str, file: str, *others: str) -> int:
    """Do a task as the script says."""
    with Path(script["log"]).open("a") as log:
        log.write(f"{' '.join([task, *others])}\n")
    if task == "answer":
        if Path(script["asleep"]).exists():
            time.sleep(3600)
        return 0
    if task == "run":
        _device, batch, first = others
        with Path(file).open("ab") as stream:
            for name, event in script["batches"][batch][int(first) :]:
                _case(script, stream, name, event)
            stream.write(msgpack.packb({"kind": "finished"}))
    return 0


def _case(script: dict[str, Any], stream: Any, name: str, event: str) -> None:
    values = {"name": name, "subject": name, "rule": "documented", "keeps": False}
    stream.write(msgpack.packb({"kind": "begin", **values}))
    stream.flush()
    if event == "die":
        print(f"dying in {Path.home() / 'secret' / 'driver.so'}", file=sys.stderr, flush=True)
        stream.write(msgpack.packb({"kind": "ended", "digest": "x" * 99})[:20])
        stream.flush()
        os.abort()
    if event.startswith("sleep"):
        if event == "sleep for good":
            Path(script["asleep"]).touch()
        time.sleep(3600)
    if event == "fail":
        stream.write(msgpack.packb({"kind": "failed", "note": "it failed"}))
    else:
        stream.write(msgpack.packb({"kind": "ended", "digest": event, "arrays": []}))


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text()), *sys.argv[2:]))
