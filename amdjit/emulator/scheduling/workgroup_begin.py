"""How a workgroup begins in its slot of a host thread: the first values of its waves' registers and
of its barriers."""

from __future__ import annotations

from amdjit.emulator.layout import (
    BARRIER_ROW,
    EXEC_LO,
    FIELD_BYTES,
    HALF_VGPRS,
    NAMED_BARRIERS,
    SCALAR_BYTES,
    SLOT_ROW,
    TTMP7,
    TTMP8,
    TTMP9,
    VGPR_BYTES,
    Context,
    Launch,
    SlotField,
)

_BARRIER_BYTES = (1 + NAMED_BARRIERS) * BARRIER_ROW * FIELD_BYTES


def field(base: str, name: str, index: int, type_name: str = "i64") -> str:
    """Load field number `index` of what a pointer leads to as %name."""
    return (
        f"  %{name}.at = getelementptr i8, ptr %{base}, i64 {index * FIELD_BYTES}\n"
        f"  %{name} = load {type_name}, ptr %{name}.at"
    )


def put(base: str, name: str, index: int, value: str, type_name: str = "i64") -> str:
    """Store a value into field number `index` of what a pointer leads to."""
    return (
        f"  %{name}.put = getelementptr i8, ptr %{base}, i64 {index * FIELD_BYTES}\n"
        f"  store {type_name} {value}, ptr %{name}.put"
    )


def part(name: str, base: str, stride: str) -> str:
    """Point to the part of a buffer that belongs to slot %slot."""
    return (
        f"  %{name}.offset = mul i64 %slot, {stride}\n  %{name} = getelementptr i8, ptr "
        f"%{base}, i64 %{name}.offset"
    )


def _first_lanes(half: int) -> str:
    """Give a half of a wave its EXEC and its v0."""
    return f"""
  %exec{half}.number = add i64 %execs.first, {half}
  %exec{half}.at = getelementptr i32, ptr %execs, i64 %exec{half}.number
  %exec{half} = load i32, ptr %exec{half}.at
  %slotexec{half} = getelementptr i8, ptr %state, i64 {(EXEC_LO + half) * 4}
  store i32 %exec{half}, ptr %slotexec{half}
  %ids{half}.offset = mul i64 %exec{half}.number, {VGPR_BYTES}
  %ids{half} = getelementptr i8, ptr %itemids, i64 %ids{half}.offset
  %v0half{half} = getelementptr i8, ptr %state, i64 {SCALAR_BYTES + half * HALF_VGPRS * VGPR_BYTES}
  call void @llvm.memcpy.p0.p0.i64(ptr %v0half{half}, ptr %ids{half}, i64 {VGPR_BYTES}, i1 false)"""


def _begin_wave(halves: int) -> str:
    # RDNA 4 ISA, 3.5 "Initial wave state": TTMP9 = workgroup x, TTMP7 = y | z << 16, TTMP8[29:25] =
    # wave in group.
    def scalar(slot: int, value: str) -> str:
        offset = f"  %slot{slot} = getelementptr i8, ptr %state, i64 {slot * 4}"
        return f"{offset}\n  store i32 {value}, ptr %slot{slot}"

    return f"""
  %wavestate.offset = mul i64 %w, %statebytes
  %state = getelementptr i8, ptr %states, i64 %wavestate.offset
  call void @llvm.memcpy.p0.p0.i64(ptr %state, ptr %scalars, i64 {SCALAR_BYTES}, i1 false)
  %wave32 = trunc i64 %w to i32
  %waveid = shl i32 %wave32, 25
{scalar(TTMP8, "%waveid")}
{scalar(TTMP9, "%gx32")}
{scalar(TTMP7, "%gyz")}
  %execs.first = mul i64 %w, {halves}
{"".join(_first_lanes(half) for half in range(halves))}
  %resume.at = getelementptr i32, ptr %resumes, i64 %w
  store i32 0, ptr %resume.at
"""


def begin_text(halves: int, attributes: str) -> str:
    """Return `aj_begin_group(context, slot, group)`: set up all waves of a workgroup."""
    return f"""
define internal void @aj_begin_group(ptr %context, i64 %slot, i64 %group) {attributes} {{
entry:
{slot_text()}
{field("launch", "gridx", Launch.GRID_X)}
{field("launch", "gridy", Launch.GRID_Y)}
{field("launch", "scalars", Launch.SCALARS, "ptr")}
{field("launch", "execs", Launch.EXECS, "ptr")}
{field("launch", "itemids", Launch.ITEM_IDS, "ptr")}
  %gx = urem i64 %group, %gridx
  %gq = udiv i64 %group, %gridx
  %gy = urem i64 %gq, %gridy
  %gz = udiv i64 %gq, %gridy
{put("row", "gx", SlotField.GROUP_X, "%gx")}
{put("row", "gy", SlotField.GROUP_Y, "%gy")}
{put("row", "gz", SlotField.GROUP_Z, "%gz")}
{new_epoch()}
{_new_barriers()}
  %gx32 = trunc i64 %gx to i32
  %gy32 = trunc i64 %gy to i32
  %gz32 = trunc i64 %gz to i32
  %gzhigh = shl i32 %gz32, 16
  %gyz = or i32 %gy32, %gzhigh
  br label %begin
begin:
  %w = phi i64 [ 0, %entry ], [ %wnext, %begin ]
{_begin_wave(halves)}
  %wnext = add i64 %w, 1
  %morewaves = icmp ult i64 %wnext, %waves
  br i1 %morewaves, label %begin, label %done
done:
  ret void
}}
"""


def new_epoch(prefix: str = "") -> str:
    """Begin another epoch: the part of a workgroup between two barriers (`Context.EPOCH`)."""
    new = f"%{prefix}epoch.new"
    return f"""
{field("context", f"{prefix}epochs", Context.EPOCHS)}
  {new} = add i64 %{prefix}epochs, 1
{put("context", f"{prefix}epoch.new", Context.EPOCHS, new)}
{put("context", f"{prefix}epoch", Context.EPOCH, new)}
{put("row", f"{prefix}epoch.row", SlotField.EPOCH, new)}
"""


def _new_barriers() -> str:
    """All are as new; the workgroup's own waits for all waves."""
    return f"""
  %barriers = getelementptr i8, ptr %row, i64 {SlotField.BARRIERS * FIELD_BYTES}
  call void @llvm.memset.p0.i64(ptr %barriers, i8 0, i64 {_BARRIER_BYTES}, i1 false)
{put("barriers", "members", 1, "%waves")}
{put("barriers", "initialised", 2, "1")}
"""


def slot_text() -> str:
    """Find what belongs to slot %slot: its row, the states and the resume ids of its waves."""
    return f"""
{field("context", "launch", Context.LAUNCH, "ptr")}
{field("context", "allstates", Context.STATES, "ptr")}
{field("context", "allresumes", Context.RESUMES, "ptr")}
{field("context", "rows", Context.SLOTS, "ptr")}
{field("launch", "waves", Launch.WAVES)}
{field("launch", "statebytes", Launch.STATE_BYTES)}
  %groupbytes = mul i64 %waves, %statebytes
  %resumebytes = mul i64 %waves, 4
{part("states", "allstates", "%groupbytes")}
{part("resumes", "allresumes", "%resumebytes")}
{part("row", "rows", str(SLOT_ROW * FIELD_BYTES))}
"""
