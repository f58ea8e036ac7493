"""The debugger as an extension of VS Code: a manifest, and the script that it starts.

Source: code.visualstudio.com/api, "Debugger Extension" and the contribution point `debuggers`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["write_extension"]

_SCRIPT = """\
from amdjit.debugging.adapter import serve

serve()
"""
_ATTRIBUTES: dict[str, Any] = {
    "program": {"type": "string", "description": "FILE.py, or a recorded launch"},
    "kernel": {"type": "string", "description": "stop at launches of this kernel only"},
    "launch": {"type": "integer", "description": "which launch of it, from 1 on"},
    "args": {"type": "array", "description": "arguments of the program"},
    "schedule": {
        "type": ["string", "integer"],
        "description": '"in-order", "backwards", or a seed for an order that interrupts waves',
    },
    "optLevel": {
        "type": ["integer", "null"],
        "description": "0, at which most variables can be read, to 3; null for the kernel's own",
    },
    "device": {"type": "string", "description": "the processor to emulate, such as gfx1201"},
    "stopOnEntry": {"type": "boolean", "description": "stop before the first instruction"},
}
_CONFIGURATION = {
    "type": "amdjit",
    "request": "launch",
    "name": "amdjit: debug a kernel",
    "program": "${file}",
}


def write_extension(folder: Path, version: str) -> Path:
    """Write the extension to `folder/amdjit-debug`, and return that folder. It starts this
    process's own Python. OSError if it cannot be written."""
    own = folder / "amdjit-debug"
    own.mkdir(parents=True, exist_ok=True)
    debugger = {
        "type": "amdjit",
        "label": "amdjit",
        "languages": ["python"],
        "runtime": sys.executable,
        "program": "./adapter.py",
        "configurationAttributes": {"launch": {"required": ["program"], "properties": _ATTRIBUTES}},
        "initialConfigurations": [_CONFIGURATION],
    }
    manifest = {
        "name": "amdjit-debug",
        "displayName": "amdjit",
        "description": "Steps through kernels of AMD GPUs, forwards and backwards",
        "publisher": "amdjit",
        "version": version,
        "engines": {"vscode": "^1.60.0"},
        "categories": ["Debuggers"],
        "contributes": {"breakpoints": [{"language": "python"}], "debuggers": [debugger]},
    }
    (own / "package.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    (own / "adapter.py").write_text(_SCRIPT, encoding="utf-8")
    return own
