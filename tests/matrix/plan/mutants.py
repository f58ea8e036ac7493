"""Wrong fragments: each mutant replaces one function of the fragment layer while a kernel is
compiled.

Nothing in amdjit knows of them: kernels look functions up in the modules that use them, and there
they are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from amdjit.declarations import device_function
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.matrix import fragments
from amdjit.intrinsics.matrix.transfers import blocks
from amdjit.intrinsics.matrix.transfers.memory import static_range
from amdjit.intrinsics.matrix.views import cooperation
from amdjit.language.compile_time import CompileTimeFunction, compile_time
from tests.matrix.plan import plan_kernels
from tests.matrix.plan.plan_kernels import A, B, C

_ACCESS_OF, _PRODUCT_OF = fragments.access_of, fragments.product_of
_FIRST_ALONG, _PLACE_OF = blocks.first_along, blocks.place_of
_EDGES_OF, _LOAD_BLOCKS = blocks.edges_of, blocks.load_blocks


@dataclass(frozen=True)
class Mutant:
    """A replacement of `module.name`; `wrong` is what takes its place. is_layout: whether it only
    moves elements."""

    says: str
    module: Any
    name: str
    wrong: Any
    is_layout: bool = True

    def __str__(self) -> str:
        return self.says.replace(" ", "-")


@contextmanager
def mutated(mutant: Mutant | None) -> Iterator[None]:
    """Compile kernels with a mutant, and forget them afterwards."""
    kernels = (plan_kernels.copy_kernel, plan_kernels.shared_copy_kernel,
        plan_kernels.product_kernel,
               plan_kernels.lds_product_kernel)  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        if mutant is not None:
            patch.setattr(mutant.module, mutant.name, mutant.wrong)
        for kernel in kernels:
            kernel.cache_clear()
        try:
            yield
        finally:
            for kernel in kernels:
                kernel.cache_clear()


def access(use: Any, function: str) -> CompileTimeFunction:
    """Return an `access_of` that takes one operand for one of the other layout."""

    def wrong(compilation: Any, called: str, kind: Any, *rest: Any) -> Any:
        found = _ACCESS_OF.function(compilation, called, kind, *rest)
        is_meant = kind.use is use and called == function
        return replace(found, is_wide=not found.is_wide) if is_meant else found

    return compile_time(wrong)


def product(change: Callable[[Any], dict[str, Any]]) -> CompileTimeFunction:
    """Return a `product_of` that chooses something else."""

    def wrong(compilation: Any, *kinds: Any) -> Any:
        found = _PRODUCT_OF.function(compilation, *kinds)
        return replace(found, **change(found))

    return compile_time(wrong)


def other_halves(use: Any) -> Any:
    """Return a `first_along` that exchanges what lanes 0 to 15 and 16 to 31 hold."""

    @device_function
    def wrong(held, lane):
        first = _FIRST_ALONG(held, lane)
        return held.held - first if held.use is use else first

    return wrong


def neighbours_exchanged_in_a(found: Any) -> dict[str, Any]:
    """Return an instruction that takes pairs of A's elements the other way round."""
    right = found.builtin

    @device_function
    def wrong(left, other, total):
        exchanged = type(left)()
        for e in static_range(len(left)):
            exchanged[e] = left[e ^ 1]
        return right(exchanged, other, total)

    return {"builtin": wrong}


@device_function
def shorter_lines(access, index, ld):
    place, pitch = _PLACE_OF(access, index, ld)
    return place, pitch - 1


@device_function
def next_element(access, index, ld):
    place, pitch = _PLACE_OF(access, index, ld)
    return place + 1, pitch


@compile_time
def blocks_in_other_order(compilation: Any, held: Any, number: int, step: int) -> tuple[int, int]:
    block = number * step
    return 16 * (block % held.count_across), held.depth * (block // held.count_across)


@device_function
def last_wave_does_the_firsts_part(fragment, access, array, index, ld, clip, turn):
    first = 0 if turn[0] == turn[1] - 1 else turn[0]
    _LOAD_BLOCKS(fragment, access, array, index, ld, clip, (first, turn[1], turn[2]))


def edges(across: int, along: int) -> Any:
    """Return an `edges_of` that is off by the given amounts."""

    @device_function
    def wrong(kind, access, array, place, clip):
        found = _EDGES_OF(kind, access, array, place, clip)
        return found[0] + across, found[1] + along, found[2], found[3]

    return wrong


PRODUCT_MUTANTS = (
    Mutant("A is read transposed", fragments, "access_of", access(A, "load_matrix_sync")),
    Mutant("B is read transposed", fragments, "access_of", access(B, "load_matrix_sync")),
    Mutant("C is read transposed", fragments, "access_of", access(C, "load_matrix_sync")),
    Mutant("D is stored transposed", fragments, "access_of", access(C, "store_matrix_sync")),
    Mutant("A has another order of k than B", blocks, "first_along", other_halves(A)),
    Mutant("B has another order of k than A", blocks, "first_along", other_halves(B)),
    Mutant("rows of C and D are in other lanes", blocks, "first_along", other_halves(C)),
    Mutant("neighbours of k are exchanged in A", fragments, "product_of",
        product(neighbours_exchanged_in_a)),
    Mutant("blocks stand in another order", blocks, "distance", blocks_in_other_order),
    Mutant("the leading dimension is one too small", blocks, "place_of", shorter_lines, False),
    Mutant("the first element is one too far", blocks, "place_of", next_element, False),
    Mutant("the last step of k is left out", fragments, "product_of",
           product(lambda found: {"steps": found.steps - 1}), False),
    Mutant("rows and columns of blocks are exchanged", fragments, "product_of",
           product(lambda found: {"rows": found.rows // 2}), False),
)  # fmt: skip
SIGN_MUTANTS = tuple(
    Mutant(f"{side} is read without its sign", fragments, "product_of",
           product(lambda found, side=side: {f"{side.lower()}_signed": False}), False)
    for side in "AB"
)  # fmt: skip
FP8_MUTANT = Mutant("A and B have each other's type", fragments, "product_of",
                    product(lambda _: {"builtin": amdgcn.wmma_f32_16x16x16_bf8_fp8_w32_gfx12}),
                    False)  # fmt: skip
SHARING_MUTANTS = (Mutant("the last wave loads what the first does", cooperation, "load_blocks",
                          last_wave_does_the_firsts_part, False),)  # fmt: skip
CLIP_MUTANTS = tuple(
    Mutant(f"the edge is {says}", blocks, "edges_of", edges(*off), False)
    for says, off in {
        "a column too far": (1, 0), "a row too far": (0, 1), "a column too near": (-1, 0),
        "a row too near": (0, -1),
    }.items()
)  # fmt: skip


@device_function
def own_word(word, bit):
    """Return the lane's own word instead of another's."""
    return word
