"""From the record that native code writes to the exception that users see."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from amdjit.abi.launch_shape import Extent, LaunchShape
from amdjit.diagnostics.errors import Allocation, KernelFault
from amdjit.diagnostics.notebooks import shown_file
from amdjit.emulator.launch.host_services import Assertion, HostCalls
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.layout import BarrierMisuse, BufferRefusal, Fault, FaultKind
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.tiers.compilation import UNSUPPORTED, HostKernel
from amdjit.isa.errors import UndecodableInstruction
from amdjit.late_methods import dataclass

# The messages of faults at barriers: a misuse, or where each of the waves or workgroups is that
# would wait forever.


# Of an instruction that waits or sleeps.
WAIT_BYTES = 4
_Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class StoppedWave:
    """Where a wave was when its launch was stopped.

    resume: the id from which it would resume, None if it has ended. named: whether it waits for the
    named barrier that it has joined (`joined`, None for none). signalled: whether it has signalled
    the workgroup's barrier, which has not completed since. end_site: where it has ended.
    """

    resume: int | None
    named: bool
    joined: int | None
    signalled: bool
    end_site: int


@dataclass(frozen=True, slots=True)
class StoppedGroup:
    """The waves of a workgroup, and the signals and members of each barrier; barrier 0 is the
    workgroup's."""

    waves: tuple[StoppedWave, ...]
    barriers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class GroupOfGrid:
    """A workgroup of a cooperative launch. resume: the id from which its first wave that is at no
    barrier would resume, None if the workgroup has ended. end_site: where its first wave has
    ended."""

    block: _Extent
    resume: int | None
    end_site: int


NO_GROUP = StoppedGroup((), ())

_UNDEFINED = "which LLVM's document on barriers leaves undefined"
_MISUSES = {
    BarrierMisuse.NO_SUCH: "there is no barrier {name}: named barriers are 1 to 16",
    BarrierMisuse.NOT_INITIALISED: "barrier {name} is used before s_barrier_init has initialised "
    "it, " + _UNDEFINED,
    BarrierMisuse.NO_COUNT: "barrier {name} is initialised with a count that is not 1 to 127, "
    "and what that does is not documented",
    BarrierMisuse.COUNT_REACHED: "barrier {name} has as many signals as the new count of members "
    "already, " + _UNDEFINED,
    BarrierMisuse.NO_MEMBERS: "barrier {name} has no members left, " + _UNDEFINED,
    BarrierMisuse.WAIT_NOT_JOINED: "a wave waits for a named barrier and has joined none, "
    + _UNDEFINED,
    BarrierMisuse.LEAVE_NOT_JOINED: "a wave leaves a named barrier and has joined none, "
    + _UNDEFINED,
    BarrierMisuse.LEAVE_SIGNALLED: "a wave leaves barrier {name}, which it has signalled and "
    "which has not completed, " + _UNDEFINED,
    BarrierMisuse.WAIT_FOR_NULL: "a wave that has joined barrier {name} waits for barrier 0, "
    "and whether that waits is not documented",
    BarrierMisuse.ENDED_SIGNALLED: "a wave ends that has signalled the workgroup's barrier, which "
    "has not completed, " + _UNDEFINED,
    BarrierMisuse.NO_STATE: "the state of barrier {name} in a workgroup of this size is not "
    "documented",
}


def misuse_message(address: int, number: int) -> str:
    """Return what is wrong. The fault's address is a `BarrierMisuse`, its size the number of the
    barrier."""
    return _MISUSES[BarrierMisuse(address)].format(name=number - (number >> 31 << 32))


def deadlock_message(group: StoppedGroup, function: EmulatedFunction, compiled: HostKernel) -> str:
    """Return one line for each run of waves at the same place."""
    lines = [_where(wave, group, function, compiled) for wave in group.waves]
    numbers = itertools.count()
    runs = [(line, [next(numbers) for _ in run]) for line, run in itertools.groupby(lines)]
    return "".join(f"\n  {_waves(which)} {line}" for line, which in runs)


def standstill_message(
    grid: Sequence[GroupOfGrid], function: EmulatedFunction, compiled: HostKernel
) -> str:
    """Return one line for the workgroups at each place, those that have ended first."""
    places: dict[str, list[_Extent]] = {}
    for group in sorted(grid, key=lambda each: (each.resume is not None, each.block[::-1])):
        if group.resume is None:
            where = f"ended at {_code_place(function, compiled.site_pcs[group.end_site])}"
        else:
            pc = compiled.resume_pcs[group.resume] - WAIT_BYTES
            where = f"wait at {_code_place(function, pc)}"
        places.setdefault(where, []).append(group.block)
    return "".join(
        f"\n  {len(blocks)} of {len(grid)} workgroups {where}: block {blocks[0]}"
        f"{' and others' * (len(blocks) > 1)}"
        for where, blocks in places.items()
    )


def _waves(numbers: Sequence[int]) -> str:
    return (
        f"wave {numbers[0]}"
        if len(numbers) == 1
        else f"each of waves {numbers[0]} to {numbers[-1]}"
    )


def _where(
    wave: StoppedWave, group: StoppedGroup, function: EmulatedFunction, compiled: HostKernel
) -> str:
    if wave.resume is None:
        member = (
            f", and has not left barrier {wave.joined}, which it had joined" if wave.joined else ""
        )
        return f"has ended at {_code_place(function, compiled.site_pcs[wave.end_site])}{member}"
    place = _code_place(function, compiled.resume_pcs[wave.resume] - WAIT_BYTES)
    if wave.named:
        return f"waits at {place} for named barrier {wave.joined}{_counts(group, wave.joined or 0)}"
    own = "" if wave.signalled else "; this wave has not signalled it"
    return f"waits at {place} for the workgroup's barrier{_counts(group, 0)}{own}"


def _counts(group: StoppedGroup, index: int) -> str:
    signals, members = group.barriers[index]
    return f", which has {signals} of {members} signals"


def _code_place(function: EmulatedFunction, pc: int) -> str:
    line = function.module.code_object.line_of(pc)
    return f"{shown_file(line[0])}:{line[1]}" if line else f"pc {pc:#x}"


_KINDS = {
    FaultKind.GLOBAL_LOAD: "out-of-bounds",
    FaultKind.GLOBAL_STORE: "out-of-bounds",
    FaultKind.LDS: "out-of-bounds",
    FaultKind.SCRATCH: "out-of-bounds",
    FaultKind.SCALAR_LOAD: "out-of-bounds",
    FaultKind.TRAP: "trap",
    FaultKind.TIME_LIMIT: "time-limit",
    FaultKind.WILD_BRANCH: "wild-branch",
    FaultKind.MISALIGNED: "misaligned",
    FaultKind.BUFFER: "buffer",
    FaultKind.MODE: "mode",
    FaultKind.BARRIER_MISUSE: "barrier",
    FaultKind.DEADLOCK: "barrier",
    FaultKind.PARTIAL_WAVE: "partial-wave",
    FaultKind.STANDSTILL: "barrier",
    FaultKind.UNSUPPORTED: UNSUPPORTED,
    FaultKind.NO_HOST: UNSUPPORTED,
    FaultKind.HOST_REFUSED: UNSUPPORTED,
}


@dataclass(frozen=True, slots=True)
class _Place:
    block: Extent
    thread: Extent | None
    lane: int | None


def fault_from_record(
    record: Sequence[int],
    function: EmulatedFunction,
    compiled: HostKernel,
    geometry: LaunchShape,
    memory: DeviceMemory,
    group: StoppedGroup = NO_GROUP,
    grid: Sequence[GroupOfGrid] = (),
    calls: HostCalls | None = None,
) -> KernelFault:
    """Return the exception for a record (`layout.Fault`).

    group: the waves of its workgroup. grid: all workgroups, where those of a cooperative launch
    wait for each other. calls: what the host did for the launch.
    """
    kind = FaultKind(record[Fault.KIND])
    # The site of these is an id to resume from, after a wait or a sleep.
    waits = kind in (FaultKind.DEADLOCK, FaultKind.STANDSTILL)
    pcs = compiled.resume_pcs if waits else compiled.site_pcs
    pc = pcs[record[Fault.SITE]] - (WAIT_BYTES if waits else 0)
    wave_size = function.kernel.descriptor.wave_size
    place = _place(record, geometry, wave_size)
    if kind is FaultKind.TRAP and calls is not None and calls.assertion is not None:
        return _assertion(calls.assertion, function, geometry)
    if kind is FaultKind.UNSUPPORTED:
        return _unsupported(pc, place, function, compiled)
    address = record[Fault.ADDRESS] & (1 << 64) - 1 if _KINDS[kind] == "out-of-bounds" else None
    is_global = kind in (FaultKind.GLOBAL_LOAD, FaultKind.GLOBAL_STORE, FaultKind.SCALAR_LOAD)
    base = function.module.register_base(pc, record[Fault.BASE] & (1 << 64) - 1, wave_size)
    nearest = memory.nearest(_signed(address, base)) if is_global and address is not None else None
    line = function.module.code_object.line_of(pc)
    text = function.module.instruction_at(pc, wave_size)
    message = f"{function.name}: {_message(kind, record, text, place, nearest)}"
    message += _details(kind, function, compiled=compiled, group=group, grid=grid, calls=calls)
    where = f"\n  at {shown_file(line[0])}:{line[1]}" if line else ""
    return KernelFault(
        _KINDS[kind],
        f"{message}{where}\n  instruction: {text}",
        kernel=function.name,
        source_file=line[0] if line else None,
        source_line=line[1] if line else None,
        block=place.block,
        thread=place.thread,
        lane=place.lane,
        address=address,
        nearest_allocation=nearest,
        instruction=text,
        offset_base=base,
    )


def _details(
    kind: FaultKind,
    function: EmulatedFunction,
    compiled: HostKernel,
    group: StoppedGroup,
    grid: Sequence[GroupOfGrid],
    calls: HostCalls | None,
) -> str:
    """Return what the host refused, or which waves or workgroups wait for each other, and where."""
    if kind is FaultKind.HOST_REFUSED and calls is not None:
        return f": {calls.refused}"
    if kind is FaultKind.DEADLOCK:
        return deadlock_message(group, function, compiled)
    if kind is FaultKind.STANDSTILL:
        return standstill_message(grid, function, compiled)
    return ""


def _assertion(failed: Assertion, function: EmulatedFunction, geometry: LaunchShape) -> KernelFault:
    """Return the fault of an assertion of HIP, which prints it and traps."""
    item = failed.wave * function.kernel.descriptor.wave_size + failed.lane
    x, y, _ = geometry.block
    thread = item % x, item // x % y, item // (x * y)
    where = f"(block {failed.group}, thread {thread})"
    place = f"{shown_file(failed.file)}:{failed.line}"
    fault = KernelFault(
        "assert",
        f"{function.name}: {failed.message} {where}\n  at {place}",
        kernel=function.name,
        source_file=failed.file,
        source_line=failed.line,
        block=failed.group,
        thread=thread,
        lane=failed.lane,
        detail=failed.text,
    )
    return fault.raised(AssertionError, [failed.text], {})


def _unsupported(
    pc: int, place: _Place, function: EmulatedFunction, compiled: HostKernel
) -> KernelFault:
    kind, reason = compiled.refused[pc]
    try:
        text = function.module.instruction_at(pc, function.kernel.descriptor.wave_size)
    except UndecodableInstruction:
        text = f"pc {pc:#x}"
    line = function.module.code_object.line_of(pc)
    where = f" ({shown_file(line[0])}:{line[1]})" if line else ""
    return KernelFault(
        kind,
        f"{function.name}: {text}{where}: {reason} (block {place.block})",
        kernel=function.name,
        source_file=line[0] if line else None,
        source_line=line[1] if line else None,
        block=place.block,
        instruction=text,
    )


def _signed(address: int, base: int) -> int:
    """Take an offset as signed: machine code has 32 unsigned bits, in which a negative index
    becomes large."""
    return address - (1 << 32) if base and 1 << 31 <= address - base < 1 << 32 else address


def _place(record: Sequence[int], geometry: LaunchShape, wave_size: int) -> _Place:
    block = (record[Fault.GROUP_X], record[Fault.GROUP_Y], record[Fault.GROUP_Z])
    lane = record[Fault.LANE]
    if lane < 0:
        return _Place(block, None, None)
    item = record[Fault.WAVE] * wave_size + lane
    x, y, _ = geometry.block
    return _Place(block, (item % x, item // x % y, item // (x * y)), lane)


def global_verb(instruction: str, writes: bool) -> str:
    """Return in words what an instruction does to global memory."""
    if "_atomic_" in instruction:
        return "atomic operation"
    return "store" if writes else "load"


def _message(
    kind: FaultKind,
    record: Sequence[int],
    instruction: str,
    place: _Place,
    nearest: Allocation | None,
) -> str:
    who = f"block {place.block}" + (f", thread {place.thread}" if place.thread else "")
    size = record[Fault.SIZE]
    address = record[Fault.ADDRESS] & (1 << 64) - 1
    if kind is FaultKind.LDS:
        return (
            f"access of {size} bytes at LDS byte {address:#x} is outside of the workgroup's "
            f"LDS ({who})"
        )
    if kind is FaultKind.SCRATCH:
        return (
            f"access of {size} bytes at private byte {address:#x} is outside of the private "
            f"memory ({who})"
        )
    if _KINDS[kind] == "out-of-bounds":
        verb = global_verb(instruction, kind is FaultKind.GLOBAL_STORE)
        what = f"{verb} of {size} byte{'s' * (size > 1)} at {address:#x} is not allowed ({who})"
        return f"{what}{_describe(nearest)}"
    if kind is FaultKind.BUFFER:
        return f"{_BUFFERS[BufferRefusal(record[Fault.ADDRESS])]} ({who})"
    if kind is FaultKind.BARRIER_MISUSE:
        return f"{misuse_message(address, size)} ({who}, wave {record[Fault.WAVE]})"
    return f"{_OTHER[kind]} ({who})"


_OTHER = {
    FaultKind.TRAP: "the kernel executed a trap",
    FaultKind.TIME_LIMIT: "the time limit has passed; the launch was stopped here",
    FaultKind.DEADLOCK: "no wave of a workgroup can go on: all wait for barriers that cannot "
    "complete",
    FaultKind.STANDSTILL: "the workgroups of a cooperative launch wait for each other, and none "
    "can go on",
    FaultKind.WILD_BRANCH: "an indirect branch goes to an address that is not known to be code",
    FaultKind.MISALIGNED: "the address is not aligned",
    FaultKind.PARTIAL_WAVE: "a matrix product or transposing load needs all lanes of its wave, "
    "and some are inactive: let whole waves come here, in workgroups of whole waves",
    FaultKind.NO_HOST: "the kernel interrupts the host, as printf, assert and malloc of HIP do, "
    "but its code object has no argument hidden_hostcall_buffer to say what for",
    FaultKind.HOST_REFUSED: "the emulator does not do what the kernel asks the host for",
    FaultKind.MODE: "a bit is set in MODE or TRAP_CTRL that the emulator does not support: traps "
    "on float exceptions, or a reserved one",
}
# What RDNA 4 ISA, 9.3 to 9.6, forbids or leaves open.
_BUFFERS = {
    BufferRefusal.TYPE: "these four registers hold no buffer resource: bits 127:126 are not 0",
    BufferRefusal.UNBOUND: "the buffer resource has the format INVALID (bits 113:108, "
    "or 114:111 on gfx9, are 0): it is not bound",
    BufferRefusal.SWIZZLE: "the buffer resource's swizzle (bits 63:62) is 2, which is reserved",
    BufferRefusal.ELEMENT: "the access does not fit into an element of this swizzled buffer",
    BufferRefusal.STRIDE: "the stride of this swizzled buffer is not a multiple of its "
    "element's size",
    BufferRefusal.RAW_INDEX: "a raw buffer (OOB_SELECT 3) with a stride has an index: the ISA "
    "document ignores the stride in one place and adds it in another; use OOB_SELECT 0",
    BufferRefusal.SWIZZLED_OFFSET: "a swizzled buffer with OOB_SELECT 3 has a scalar offset: the "
    "ISA document does not say how that shortens it; use OOB_SELECT 0",
    BufferRefusal.COMPRESSED: "the buffer resource asks for access to compressed data or metadata "
    "(bits 123:122)",
    BufferRefusal.SELECT: "the buffer resource's channel selection (bits 107:96) names what is "
    "reserved or not in the format, or reorders the channels of a store",
    BufferRefusal.VALUE: "a value does not fit the format without rounding or clamping, which the "
    "ISA document "
    "leaves open",
    BufferRefusal.PRIVATE: "the private segment buffer has an index, or its base and the scalar "
    "offset point between the dwords of a wave's lanes",
    BufferRefusal.FLAT_SCRATCH: "FLAT_SCRATCH is set to another address than that of the wave's "
    "scratch memory, which flat instructions use whatever it is",
    BufferRefusal.SWIZZLED_RECORDS: "the buffer resource is swizzled (bit 63) and does not add the "
    "number of the lane (bit 119): what that means on gfx9 is not certain",
    BufferRefusal.SCALED: "the ISA document does not say how a store rounds to a USCALED or "
    "SSCALED format",
}


def _describe(nearest: Allocation | None) -> str:
    if nearest is None:
        return "\n  there are no allocations"
    label = f" ({nearest.label})" if nearest.label else ""
    if nearest.distance >= 0:
        where = f"{nearest.distance} bytes past the end of"
    elif nearest.address <= nearest.address + nearest.distance:
        where = "inside of"
    else:
        where = f"{-nearest.distance} bytes before"
    return f"\n  {where} the allocation of {nearest.nbytes} bytes at {nearest.address:#x}{label}"
