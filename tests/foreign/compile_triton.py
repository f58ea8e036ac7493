"""Compile one kernel of `triton_kernels.py` for gfx1201, without a GPU: the request is JSON on
standard input.

Writes the code object to the file that the first argument names, and what a launch must know to
standard output.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.foreign import triton_kernels

TARGET = GPUTarget("hip", "gfx1201", 32)


def main() -> None:
    """Compile what standard input asks for."""
    request = json.load(sys.stdin)
    constants = {
        name: getattr(triton.language, value[3:]) if str(value).startswith("tl.") else value
        for name, value in request["constants"].items()
    }
    signature = request["signature"] | dict.fromkeys(constants, "constexpr")
    facts = {
        (place,): [list(fact) for fact in facts]
        for place, facts in enumerate(request["facts"])
        if facts
    }
    source = ASTSource(getattr(triton_kernels, request["kernel"]), signature, constants, facts)
    compiled = triton.compile(source, target=TARGET, options=request["options"])
    Path(sys.argv[1]).write_bytes(compiled.asm["hsaco"])
    metadata = compiled.metadata
    json.dump(
        {
            "version": triton.__version__,
            "symbol": metadata.name,
            "lds": metadata.shared,
            "work_items": metadata.num_warps * metadata.warp_size,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
