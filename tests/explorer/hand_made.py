"""Values made by hand: a kernel with a loop, waits, LDS, a matrix product and inlined lines, and
what a launch of it counted. The page shows values; it does not check that they fit a real kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from amdjit.cycles.estimate import Cycles, InstructionCycles, Segment, WaveTimeline
from amdjit.inspection.causes import Cause
from amdjit.inspection.facts import (
    AccessFacts,
    BlockFacts,
    Call,
    InstructionFacts,
    LiveValue,
    LoopFacts,
    Occupancy,
    OccupancyStep,
    Peak,
    RegisterBanks,
)
from amdjit.inspection.inspection import Companion, Inspection
from amdjit.profiling.counts import InstructionCounts, Roofline, Totals

__all__ = ["HOSTILE", "Launch", "Profile", "hostile", "inspection", "launch", "long_kernel"]

FILE = "/project/tile.py"
LIBRARY = "/project/library.py"
SOURCE = '''"""A kernel."""
import amdjit

@amdjit.kernel
def tile(a, out):
    """Multiply."""
    i = threadIdx.x
    for k in range(4):  # four steps
        part = load(a, i + k)
        total = mma(part, total)
    out[i] = total
'''
LIBRARY_SOURCE = "def load(a, i):\n    staged = lds(a)\n    return staged[i]\n"
_MMA = "v_wmma_f32_16x16x16_f16 v[8:15], v[0:3], v[4:7], v[8:15]"
# Address, text, unit, line, line in the library, block, live VGPRs.
_CODE = (
    (0x1000, "s_load_b64 s[0:1], s[0:1], 0x0", "scalar memory", 7, None, 0, 1),
    (0x1008, "v_mov_b32 v8, 0", "VALU", 8, None, 0, 2),
    (0x1010, "s_wait_kmcnt 0x0", "wait", 9, None, 0, 9),
    (0x1014, "global_load_b128 v[0:3], v16, s[0:1]", "vector memory", 9, 2, 1, 10),
    (0x1020, "s_wait_loadcnt 0x0", "wait", 9, 2, 1, 13),
    (0x1024, "ds_store_b128 v17, v[0:3]", "LDS", 9, 2, 1, 14),
    (0x102C, "ds_load_b128 v[4:7], v17 offset:64", "LDS", 9, 3, 1, 14),
    (0x1034, "s_wait_dscnt 0x0", "wait", 10, None, 1, 18),
    (0x1038, _MMA, "WMMA", 10, None, 1, 18),
    (0x1040, "s_cbranch_scc1 65525", "branch", 8, None, 1, 9),
    (0x1044, "global_store_b32 v16, v8, s[2:3]", "vector memory", 11, None, 2, 2),
    (0x1050, "s_endpgm", "branch", None, None, 2, 0),
)
_WAITS = {0x1010: (0x1000,), 0x1020: (0x1014,), 0x1034: (0x1024, 0x102C)}


def _instruction(row: tuple[int, str, str, int | None, int | None, int, int]) -> InstructionFacts:
    address, text, unit, line, inner, block, live = row
    return InstructionFacts(
        address=address,
        size=4,
        text=text,
        mnemonic=text.split()[0],
        unit=unit,
        issue_cycles=16 if unit == "WMMA" else 1,
        file=None if line is None else LIBRARY if inner else FILE,
        line=inner or line,
        inlined_from=(Call("load", FILE, line),) if inner and line else (),
        block=block,
        loop_depth=1 if block == 1 else 0,
        live_vgprs=frozenset(range(live)),
        live_sgprs=frozenset({0, 1}),
        waits_for=_WAITS.get(address, ()),
        waited_by=tuple(wait for wait, sources in _WAITS.items() if address in sources),
        needs=(0x1034,) if unit == "WMMA" else (),
    )


def _access(address: int, space: str, kind: str, width: int, conflicts: int | None) -> AccessFacts:
    return AccessFacts(address, space, kind, width, space == "scalar", 4, "", conflicts, FILE, 9)


def _block(number: int, first: int, end: int, *successors: int) -> BlockFacts:
    loop = 0 if number == 1 else None
    return BlockFacts(number, first, end, loop, successors, (), {}, 18, 2)


def inspection() -> Inspection:
    """Return the facts of the kernel."""
    return Inspection(
        kernel="tile",
        target="gfx1201",
        wave_size=32,
        wgp_mode=True,
        producer="a compiler 1.0",
        vgprs=24,
        sgprs=8,
        vgpr_spills=0,
        sgpr_spills=0,
        lds_bytes=8192,
        scratch_bytes=0,
        code_bytes=84,
        workgroup_size=256,
        instructions=tuple(_instruction(row) for row in _CODE),
        blocks=(
            _block(0, 0x1000, 0x1014, 1),
            _block(1, 0x1014, 0x1044, 2, 1),
            _block(2, 0x1044, 0x1054),
        ),
        loops=(LoopFacts(0, 1, (1,), None, 1),),
        lines={},
        peak=Peak(0x1038, 18, 2, (LiveValue("total", "f32x8", "v[8:15]"),)),
        occupancy=Occupancy(
            12,
            "lds",
            {"vgprs": 16, "lds": 12},
            (OccupancyStep(14, 20, 7168, "1024 bytes fewer: 14 waves"),),
        ),
        accesses=(
            _access(0x1000, "scalar", "load", 8, None),
            _access(0x1014, "global", "load", 16, None),
            _access(0x1024, "LDS", "store", 16, 6),
            _access(0x102C, "LDS", "load", 16, 0),
            _access(0x1044, "global", "store", 4, None),
        ),
        missing=("no variables: the debug information names none",),
        register_banks=(RegisterBanks("WMMA", 1, (0x1038,), 0, "a trace"),),
        companion=Companion(
            sources={FILE: SOURCE, LIBRARY: LIBRARY_SOURCE},
            typed_tree=f"# {FILE}\n7 | i: i32 = threadIdx.x()\n10 | part = load(a, i)\n"
            "10 | total = mma(part, total)\n",
            optimized_llvm=(
                "define void @tile() !dbg !1 {\n  %1 = call i32 @x(), !dbg !3\n  ret void\n}\n"
                '!0 = !DIFile(filename: "tile.py", directory: "/project")\n'
                '!1 = distinct !DISubprogram(name: "tile", scope: !0, file: !0, line: 5)\n'
                "!3 = !DILocation(line: 10, column: 9, scope: !1)\n"
            ),
        ),
    )


@dataclass(frozen=True)
class Launch:
    """A launch, as the page reads it."""

    kernel: str
    code_object: bytes
    inspection: Inspection
    instructions: tuple[InstructionCounts, ...]
    totals: Totals
    roofline: Roofline | None
    cycles: Cycles | None
    causes: tuple[Cause, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    grid: tuple[int, int, int] = (2, 1, 1)
    block: tuple[int, int, int] = (64, 2, 1)
    waves: int = 8
    missing: tuple[str, ...] = ("one workgroup is not recorded",)
    no_cycles: str | None = None


@dataclass(frozen=True)
class Profile:
    """A profile, as the page reads it."""

    launches: tuple[Launch, ...]


def launch(facts: Inspection | None = None) -> Launch:
    """Return counts and cycles of a launch of the kernel: its loop is run four times."""
    facts = facts or inspection()
    counts = tuple(
        InstructionCounts(
            executions=4 if each.loop_depth else 1,
            active_lanes=96 if each.loop_depth else 32,
            requests=4 if "b128" in each.text else 0,
            bytes=2048 if "global" in each.text else 0,
            cache_lines=16 if "global" in each.text else 0,
            lds_cycles=32 if each.unit == "LDS" else 0,
            lds_conflict_cycles=24 if "ds_store" in each.text else 0,
            address=each.address,
            text=each.text,
            unit=each.unit,
        )
        for each in facts.instructions
    )
    totals = Totals(
        executions=36, bytes=4096, units={"VALU": 1, "WMMA": 4}, operations={"f16": 32768}
    )
    roof = Roofline("f16", 32768, 4096, 8.0, 1.9e14, 6.4e11, "memory", 6.4e-9, "AMD's data sheet")
    causes = (
        Cause("small launch", "too small to tell what limits it", "counts"),
        Cause(
            "memory latency", "waves wait for loads (83 % of ...)", "model", LIBRARY, 2, (), 0.83
        ),
        Cause("bank conflicts", "75 % of the LDS cycles", "model", FILE, 9, (0x1024,), 0.12),
        Cause("dependency", "each needs the one before", "model", FILE, 10, (), 0.04),
        Cause("barrier", "this is the fourth", "model", FILE, 11, (), 0.01),
    )
    return Launch(
        facts.kernel, facts.code_object, facts, counts, totals, roof, _cycles(facts), causes
    )


def _cycles(facts: Inspection) -> Cycles:
    stalls = {"wait loadcnt": 400, "wait dscnt": 60, "WMMA dependency": 20}
    by_instruction = {
        each.address: InstructionCycles(
            each.address, 4, 4, {"wait loadcnt": 400} if "loadcnt" in each.text else {}
        )
        for each in facts.instructions
    }
    segments = (
        Segment(10, 20, "issue"),
        Segment(20, 420, "wait loadcnt"),
        Segment(420, 500, "issue"),
    )
    waves = tuple(WaveTimeline(simd, 0, 0, simd, 10, 500, segments) for simd in range(4))
    assumed = ("Caches are warm: no trace covers that.",)
    return Cycles(5321, 500, 2.1e-6, 0.31, 0.02, 4, stalls, by_instruction, {}, waves, assumed)


HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    "\u202e&amp;{script}"
)


def hostile() -> Inspection:
    """Return a kernel whose every text tries to become HTML."""
    facts = inspection()
    file = f"/{HOSTILE}.py"
    instructions = tuple(
        replace(
            each,
            text=f"{each.mnemonic} {HOSTILE}",
            mnemonic=HOSTILE if each.unit == "WMMA" else each.mnemonic,
            file=file,
            line=1,
            inlined_from=(Call(HOSTILE, file, 2),),
        )
        for each in facts.instructions
    )
    return replace(
        facts,
        kernel=HOSTILE,
        producer=HOSTILE,
        instructions=instructions,
        peak=Peak(0x1038, 18, 2, (LiveValue(HOSTILE, HOSTILE, HOSTILE),)),
        accesses=tuple(replace(access, policy=HOSTILE) for access in facts.accesses),
        missing=(HOSTILE, "\udcff"),
        companion=Companion(
            sources={file: f"# {HOSTILE}\n'''{HOSTILE}\n"},
            typed_tree=f"# {file}\n1 | {HOSTILE}\n",
            optimized_llvm=f"{HOSTILE}\n",
        ),
    )


def long_kernel(instructions: int) -> Inspection:
    """Return a kernel of `instructions` instructions in one block: the hand-made ones, repeated."""
    facts = inspection()
    several = tuple(
        replace(
            facts.instructions[n % 9],
            address=0x1000 + 8 * n,
            block=0,
            waits_for=(),
            live_vgprs=frozenset(range(n % 200)),
        )
        for n in range(instructions)
    )
    block = BlockFacts(0, 0x1000, 0x1000 + 8 * instructions, None, (), (), {}, 200, 2)
    return replace(facts, instructions=several, blocks=(block,), loops=(), accesses=())
