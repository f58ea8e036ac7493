"""What learners may write into the holes: other solutions, and mistakes with what they are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amdjit.api import Kernel
from amdjit.command_line.kernel_files import load_kernel
from amdjit.learning.checking import Verdict, judge
from amdjit.learning.pages import Puzzle, puzzle

__all__ = ["MISTAKES", "OTHER_SOLUTIONS", "kernel_of", "verdict_on", "with_lines"]

# By puzzle, written from its text and those before it, without a look at its solution.
OTHER_SOLUTIONS = {
    4: """
column = amdjit.blockIdx.x * amdjit.blockDim.x + amdjit.threadIdx.x
row = amdjit.blockIdx.y * amdjit.blockDim.y + amdjit.threadIdx.y
if column < out.shape[1]:
    if row < out.shape[0]:
        out[row, column] = amdjit.f32(a[row]) + b[column]
""",
    7: """
if i < x.shape[0]:
    tile[t] = x[i]
if t < 15 and i + 64 < x.shape[0]:
    tile[t + 64] = x[i + 64]
amdjit.syncthreads()
if i < out.shape[0]:
    total = 0.0
    for k in range(16):
        total += tile[t + k]
    out[i] = total
""",
    8: """
for k in range(32):
    column = t + k
    if column >= 32:
        column = column - 32
    total = total + tile[t, column]
""",
    13: """
keeps = own > 0
votes = wave.ballot(keeps)
below = votes & ((1 << lane) - 1)
place = below.bit_count()
if keeps:
    out[place] = own
if lane == 31:
    count[0] = votes.bit_count()
""",
    14: """
distance = 1
for step in amdjit.static_range(5):
    other = wave.shuffle_up(total, distance)
    if lane >= distance:
        total = total + other
    distance = distance * 2
out[i] = total
""",
    16: """
bins[t] = 0
amdjit.syncthreads()
first = 512 * amdjit.blockIdx.x
for k in range(8):
    value = x[first + 64 * k + t]
    amdjit.atomic.add(bins, value, 1)
amdjit.syncthreads()
if bins[t] > 0:
    amdjit.atomic.add(counts, t, bins[t])
""",
    18: """
for k in range(32):
    value = x[row, lane + 32 * k]
    if value > peak:
        total = total * math.exp(peak - value)
        peak = value
    total += math.exp(value - peak)
top = wave.reduce_max(peak)
whole = wave.reduce_add(total * math.exp(peak - top))
for k in range(32):
    column = lane + 32 * k
    out[row, column] = math.exp(x[row, column] - top) / whole
""",
    22: """
matrix.fill_fragment(total, 0)
for step in range(4):
    k = 16 * step
    line, first = t // 8, 2 * (t % 8)
    tile[line, first] = b[k + line, first]
    tile[line, first + 1] = b[k + line, first + 1]
    matrix.load_matrix_sync(left, a, (row, k))
    amdjit.syncthreads()
    matrix.load_matrix_sync(right, tile, (0, 0))
    amdjit.syncthreads()
    matrix.mma_sync(total, left, right, total)
""",
    26: """
i = 4 * amdjit.grid(1)
if i < x.shape[0] and i < y.shape[0] and i < out.shape[0]:
    out.store(i, 2.0 * x.load(i, 4) + y.load(i, 4))
""",
    27: """
mean = amdjit.f32(0)
for row in range(96):
    mean += x[row, column]
mean = mean / 96
for row in range(96):
    out[row, column] = x[row, column] - mean
""",
    28: """
tile[0, t] = x[0, t]
for step in range(16):
    amdjit.syncthreads()
    after = x[min(step + 1, 15), t]
    current, other = step % 2, (step + 1) % 2
    for k in range(32):
        distance = tile[current, k] - own
        total = total + abs(distance)
    if step < 15:
        tile[other, t] = after
""",
}

# A puzzle, a part of its solution, what a learner writes instead, and what the verdict says.
MISTAKES = (
    (1, "x[i] + 1", "x[i] + i", "out[0] is 0.0, and should be 1.0; 31 of 32 elements are wrong."),
    (2, "if i < x.shape[0]:", "if i < 101:", "store of 4 bytes at out[100], outside of out"),
    (3, "x[row, column] * ", "2 * ", "out[0, 1] is 2.0, and should be 1.0; 3"),
    (5, "math.sqrt(x[i])", "x[j]", "`j` is not defined"),
    (6, "amdjit.syncthreads()\n", "pass\n", "error[race/lds]"),
    (7, "tile[t + 64] = x[i + 64]", "amdjit.syncthreads()", "error[sync/divergent-barrier]"),
    (16, "bins[t] = 0", "pass", "error[init/"),
    (16, "amdjit.atomic.add(bins, x[i], 1)", "bins[x[i]] += 1", "use `amdjit.atomic.add(bins,"),
    (21, "16, 16, 16, f32)", "16, 16, 16, bf16)", "elements are wrong"),
    (22, "total)\n        amdjit.syncthreads()", "total)", "error[race/lds]"),
    (22, "total)\n        amdjit.syncthreads()", "total)", "at the end of the loop's body, too"),
    (23, "f32(total.x[i]) * scale[column + place]", "f32(total.x[i])", "d[0, 0] is "),
    (24, "abs(x[row, column])", "x[row, column]", "scale[0, 1] is 0.0, and should be "),
    (29, "peak[matrix.column_of(scores, i)]", "peak[i]", "for f32[1], an array that each lane has"),
    (30, "total.x[i] * correction", "total.x[i] * 1", "elements are wrong"),
)


def with_lines(one: Puzzle, lines: str) -> str:
    """Return a puzzle's program with lines in place of its hole."""
    from_start, hole, rest = one.start.partition("    ...\n")
    assert hole
    return from_start + "".join(f"    {line}\n" for line in lines.strip().splitlines()) + rest


def kernel_of(one: Puzzle, program: str, folder: Path) -> Kernel:
    """Return the kernel of a learner's file."""
    file = folder / one.file_name
    file.write_text(program, encoding="utf-8")
    return load_kernel(file, one.kernel_name)


def verdict_on(number: int, program: str, folder: Path, limits: str | None = None) -> Verdict:
    """Return the verdict on a program. limits: instead of the puzzle's."""
    one = puzzle(number)
    judged = one if limits is None else replace(one, limits=limits)
    return judge(judged, kernel_of(one, program, folder))
