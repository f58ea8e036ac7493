"""Native functions that look at memory's shadow byte by byte, and those that clear it."""

from __future__ import annotations

from amdjit.emulator.checks.init.kinds import InitKind
from amdjit.emulator.checks.init.layout import RANGE_ROW, TABLE_ROW, UNDEFINED, Shadows
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.scheduling.report_rows import REPORT_DECLARATION


def _field(name: str, member: int, type_name: str = "i64", base: str = "shadows") -> str:
    return (
        f"  %{name}.at = getelementptr i8, ptr %{base}, i64 {member * FIELD_BYTES}\n"
        f"  %{name} = load {type_name}, ptr %{name}.at, align 8"
    )


def _shadow_cached() -> str:
    """See whether the address lies in the site's range."""
    return f"""entry:
{_field("ranges", Shadows.RANGES, "ptr")}
  %site64 = zext i32 %site to i64
  %distance = mul i64 %site64, {RANGE_ROW * FIELD_BYTES}
  %range = getelementptr i8, ptr %ranges, i64 %distance
{_field("low", 0, base="range")}
{_field("span", 1, base="range")}
{_field("known", 2, base="range")}
  %off = sub i64 %address, %low
  %hit = icmp ult i64 %off, %span
  br i1 %hit, label %found, label %search
"""


def _shadow_search() -> str:
    """Search the table of allocations, and make the one that is found the site's range."""
    return f"""search:
{_field("table", Shadows.TABLE, "ptr")}
{_field("count", Shadows.TABLE_COUNT)}
  br label %next
next:
  %i = phi i64 [ 0, %search ], [ %more, %further ]
  %left = icmp ult i64 %i, %count
  br i1 %left, label %look, label %none
look:
  %rowdistance = mul i64 %i, {TABLE_ROW * FIELD_BYTES}
  %row = getelementptr i8, ptr %table, i64 %rowdistance
{_field("start", 0, base="row")}
{_field("end", 1, base="row")}
{_field("shadow", 2, base="row")}
  %size = sub i64 %end, %start
  %into = sub i64 %address, %start
  %here = icmp ult i64 %into, %size
  br i1 %here, label %keep, label %further
further:
  %more = add i64 %i, 1
  br label %next
keep:
  store i64 %start, ptr %low.at
  store i64 %size, ptr %span.at
  store i64 %shadow, ptr %known.at
  br label %found
"""


def _shadow_found() -> str:
    """Return the address of the dword's shadow."""
    return """found:
  %base = phi i64 [ %known, %entry ], [ %shadow, %keep ]
  %byte = phi i64 [ %off, %entry ], [ %into, %keep ]
  %nothing = icmp eq i64 %base, 0
  %dword = lshr i64 %byte, 2
  %place = add i64 %base, %dword
  %chosen = select i1 %nothing, i64 0, i64 %place
  %result = inttoptr i64 %chosen to ptr
  ret ptr %result
none:
  ret ptr null
"""


def shadow_of_text(attributes: str) -> str:
    """Return `aj_shadow_of(shadows, site, address)`: the shadow of an address's dword, null if it
    is all defined.

    The site's range becomes that of the address's allocation.
    """
    return f"""
define ptr @aj_shadow_of(ptr %shadows, i32 %site, i64 %address) noinline {attributes} {{
{_shadow_cached()}{_shadow_search()}{_shadow_found()}}}
"""


def _undefined_bytes() -> str:
    """Go over the bytes of the access, and mark the halves that have an undefined one."""
    return """entry:
  %nothing = icmp eq ptr %shadow, null
  br i1 %nothing, label %done, label %begin
begin:
  %first = and i64 %address, 3
  %size64 = zext i32 %size to i64
  %lane32 = trunc i64 %lane to i32
  %bit = shl i32 1, %lane32
  br label %next
next:
  %b = phi i64 [ 0, %begin ], [ %more, %latch ]
  %any = phi i1 [ false, %begin ], [ %anynext, %latch ]
  %at = add i64 %first, %b
  %dword = lshr i64 %at, 2
  %place = getelementptr i8, ptr %shadow, i64 %dword
  %bits = load i8, ptr %place
  %within = and i64 %at, 3
  %within8 = trunc i64 %within to i8
  %moved = lshr i8 %bits, %within8
  %one = trunc i8 %moved to i1
  br i1 %one, label %mark, label %latch
mark:
  %half = lshr i64 %b, 1
  %slot = getelementptr i32, ptr %masks, i64 %half
  %old = load i32, ptr %slot
  %new = or i32 %old, %bit
  store i32 %new, ptr %slot
  br label %latch
latch:
  %anynext = or i1 %any, %one
  %more = add i64 %b, 1
  %left = icmp ult i64 %more, %size64
  br i1 %left, label %next, label %end
"""


def _undefined_note() -> str:
    """Note where undefined bytes were loaded."""
    return f"""end:
  br i1 %anynext, label %note, label %done
note:
  call void @aj_report(ptr %context, i32 {InitKind.LOADED:d}, i32 %site, i64 %lane, i64 %address, i32 %size, ptr null)
  br label %done
done:
  ret void
"""


def undefined_lane_text(attributes: str) -> str:
    """Return `aj_undefined_lane(context, site, address, shadow, lane, size, masks)`: one lane's
    part of a load.

    Adds the lane to the masks of the halves that have a byte that was never written, and notes
    where that was.
    """
    return f"""
{REPORT_DECLARATION}
define void @aj_undefined_lane(ptr %context, i32 %site, i64 %address, ptr %shadow, i64 %lane, i32 %size, ptr %masks)
  noinline {attributes} {{
{_undefined_bytes()}{_undefined_note()}}}
"""


def define_lane_text(attributes: str) -> str:
    """Return `aj_define_lane(context, site, address, shadow, lane, size, masks)`: one lane's part
    of a store.

    Other threads may write other bytes of a dword at the same time: the shadow's bits change one by
    one.
    """
    return f"""
define void @aj_define_lane(ptr %context, i32 %site, i64 %address, ptr %shadow, i64 %lane, i32 %size, ptr %masks)
  noinline {attributes} {{
entry:
  %nothing = icmp eq ptr %shadow, null
  br i1 %nothing, label %done, label %begin
begin:
  %first = and i64 %address, 3
  %size64 = zext i32 %size to i64
  %lane32 = trunc i64 %lane to i32
  br label %next
next:
  %b = phi i64 [ 0, %begin ], [ %more, %latch ]
  %half = lshr i64 %b, 1
  %slot = getelementptr i32, ptr %masks, i64 %half
  %mask = load i32, ptr %slot
  %shifted = lshr i32 %mask, %lane32
  %undefined = trunc i32 %shifted to i1
  %at = add i64 %first, %b
  %dword = lshr i64 %at, 2
  %place = getelementptr i8, ptr %shadow, i64 %dword
  %within = and i64 %at, 3
  %within8 = trunc i64 %within to i8
  %bit = shl i8 1, %within8
  br i1 %undefined, label %set, label %clear
set:
  %ignored = atomicrmw or ptr %place, i8 %bit monotonic
  br label %latch
clear:
  %others = xor i8 %bit, -1
  %also = atomicrmw and ptr %place, i8 %others monotonic
  br label %latch
latch:
  %more = add i64 %b, 1
  %left = icmp ult i64 %more, %size64
  br i1 %left, label %next, label %done
done:
  ret void
}}
"""


def scalar_text(attributes: str) -> str:
    """Return `aj_undefined_scalar(context, shadows, site, address, size)`: which dwords of a scalar
    load are undefined.

    Bit n is dword n; a load of less than a dword has bit 0.
    """
    return f"""
declare ptr @aj_shadow_of(ptr, i32, i64)
declare void @aj_undefined_lane(ptr, i32, i64, ptr, i64, i32, ptr)
define i32 @aj_undefined_scalar(ptr %context, ptr %shadows, i32 %site, i64 %address, i32 %size)
  noinline {attributes} {{
entry:
  %masks = alloca [2 x i32], align 8
  %seen = getelementptr i8, ptr %shadows, i64 {Shadows.SEEN * FIELD_BYTES}
  store i64 1, ptr %seen
  %small = icmp ult i32 %size, 4
  %step = select i1 %small, i32 %size, i32 4
  br label %next
next:
  %at = phi i32 [ 0, %entry ], [ %more, %next ]
  %found = phi i32 [ 0, %entry ], [ %all, %next ]
  %at64 = zext i32 %at to i64
  %place = add i64 %address, %at64
  %shadow = call ptr @aj_shadow_of(ptr %shadows, i32 %site, i64 %place)
  store i64 0, ptr %masks, align 8
  call void @aj_undefined_lane(ptr %context, i32 %site, i64 %place, ptr %shadow, i64 0, i32 %step, ptr %masks)
  %both = load i64, ptr %masks, align 8
  %any = icmp ne i64 %both, 0
  %bit = zext i1 %any to i32
  %dword = lshr i32 %at, 2
  %moved = shl i32 %bit, %dword
  %all = or i32 %found, %moved
  %more = add i32 %at, %step
  %left = icmp ult i32 %more, %size
  br i1 %left, label %next, label %done
done:
  ret i32 %all
}}
"""


def _new_serial() -> str:
    """Give the workgroup of slot %slot another serial."""
    return f"""
{_field("last", Shadows.NEXT_SERIAL)}
  %serial = add i64 %last, 1
  store i64 %serial, ptr %last.at
{_field("serials", Shadows.SERIALS, "ptr")}
  %serial.mine = getelementptr i64, ptr %serials, i64 %slot
  store i64 %serial, ptr %serial.mine
"""


def harm_text(attributes: str) -> str:
    """Return `aj_lds_harmed(shadows, slot)`: something undefined is stored; what was known of LDS
    is not any more."""
    return f"""
define void @aj_lds_harmed(ptr %shadows, i64 %slot) noinline {attributes} {{
entry:
{_field("clean", Shadows.CLEAN, "ptr")}
  %clean.mine = getelementptr i64, ptr %clean, i64 %slot
  store i64 0, ptr %clean.mine
{_new_serial()}
  ret void
}}
"""


def begin_wave_text(attributes: str) -> str:
    """Return `aj_begin_shadows(shadows, wave, slot)`: nothing in a wave's private memory is written
    yet, and for the group's first wave, nothing in LDS. slot: of the group on its host thread. What
    is not stored of the registers' shadows is never asked for (`ShadowRegisters.flush`)."""
    return f"""
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @aj_begin_shadows(ptr %shadows, i64 %wave, i64 %slot) noinline {attributes} {{
entry:
{_field("waves", Shadows.WAVES)}
  %waves.before = mul i64 %slot, %waves
  %number = add i64 %waves.before, %wave
{_field("scratch", Shadows.SCRATCH, "ptr")}
{_field("bytes", Shadows.SCRATCH_BYTES)}
  %before = mul i64 %number, %bytes
  %private = getelementptr i8, ptr %scratch, i64 %before
  call void @llvm.memset.p0.i64(ptr %private, i8 {UNDEFINED}, i64 %bytes, i1 false)
  %first = icmp eq i64 %wave, 0
  br i1 %first, label %group, label %done
group:
{_field("lds", Shadows.LDS, "ptr")}
{_field("ldsbytes", Shadows.LDS_BYTES)}
{_field("stride", Shadows.LDS_STRIDE)}
{_field("clean", Shadows.CLEAN, "ptr")}
  %clean.mine = getelementptr i64, ptr %clean, i64 %slot
  store i64 0, ptr %clean.mine
{_new_serial()}
  %lds.before = mul i64 %slot, %stride
  %lds.mine = getelementptr i8, ptr %lds, i64 %lds.before
  call void @llvm.memset.p0.i64(ptr %lds.mine, i8 {UNDEFINED}, i64 %ldsbytes, i1 false)
  br label %done
done:
  ret void
}}
"""


# One of so many loads from LDS looks whether all of it is written by now.
_LOOKS = 16


def look_text(attributes: str) -> str:
    """Return `aj_lds_is_clean(shadows, slot)`: 1 if all of a workgroup's LDS is written; that is
    remembered."""
    return f"""
define i1 @aj_lds_is_clean(ptr %shadows, i64 %slot) noinline {attributes} {{
entry:
{_field("looks", Shadows.LOOKS)}
  %count = add i64 %looks, 1
  store i64 %count, ptr %looks.at
  %turn = and i64 %count, {_LOOKS - 1}
  %now = icmp eq i64 %turn, 0
  br i1 %now, label %begin, label %no
begin:
{_field("lds", Shadows.LDS, "ptr")}
{_field("bytes", Shadows.LDS_BYTES)}
{_field("stride", Shadows.LDS_STRIDE)}
  %before = mul i64 %slot, %stride
  %mine = getelementptr i8, ptr %lds, i64 %before
  br label %next
next:
  %at = phi i64 [ 0, %begin ], [ %more, %further ]
  %left = icmp ult i64 %at, %bytes
  br i1 %left, label %further, label %clean
further:
  %place = getelementptr i8, ptr %mine, i64 %at
  %some = load i128, ptr %place, align 1
  %zero = icmp eq i128 %some, 0
  %more = add i64 %at, 16
  br i1 %zero, label %next, label %no
clean:
{_field("flags", Shadows.CLEAN, "ptr")}
  %flag = getelementptr i64, ptr %flags, i64 %slot
  store i64 1, ptr %flag
  ret i1 true
no:
  ret i1 false
}}
"""
