"""Elements of arrays: where they lie, and what LLVM is told of their addresses."""

import amdjit
from amdjit import f16, f32, f32x3, f32x4, i32, shared, threadIdx
from amdjit.types import Array, Layout

STRIDED = Array(f32, 2, Layout.STRIDED)
LARGE = Array(f32, 1, Layout.CONTIGUOUS, offset_bits=64)
VECTORS = Array(f32x4, 1, Layout.CONTIGUOUS)


@amdjit.kernel
def contiguous_matrix(a: f32[:, :], out: f32[:]):
    """The offset in bytes is unsigned and has 32 bits, which suits the hardware's addresses."""
    out[0] = a[threadIdx.y, threadIdx.x]
    # CHECK: ptr addrspace(1) noundef noalias readonly %a
    # CHECK: %row = call i32 @llvm.amdgcn.workitem.id.y()
    # CHECK: %column = call i32 @llvm.amdgcn.workitem.id.x()
    # CHECK: %start = mul nuw nsw i32 %row, %a.extent1
    # CHECK-NEXT: %place = add nuw nsw i32 %start, %column
    # CHECK-NEXT: %offset = shl nuw nsw i32 %place, 2
    # CHECK-NEXT: %wide = zext i32 %offset to i64
    # CHECK-NEXT: %address = getelementptr inbounds nuw i8, ptr addrspace(1) %a, i64 %wide
    # CHECK-NEXT: load float, ptr addrspace(1) %address, align 4


@amdjit.kernel
def strided_matrix(a: STRIDED, out: f32[:]):
    """Strides may be negative: their offsets are signed."""
    out[0] = a[threadIdx.y, threadIdx.x]
    # CHECK: %down = mul nsw i32 %?, %a.stride0
    # CHECK-NEXT: %along = mul nsw i32 %?, %a.stride1
    # CHECK-NEXT: %place = add nsw i32 %down, %along
    # CHECK-NEXT: %offset = shl nsw i32 %place, 2
    # CHECK-NEXT: %wide = sext i32 %offset to i64
    # CHECK-NEXT: getelementptr inbounds i8, ptr addrspace(1) %a, i64 %wide


@amdjit.kernel
def large_array(a: LARGE, out: f32[:]):
    """An array of 4 GiB and more has 64-bit offsets and extents."""
    out[0] = a[threadIdx.x]
    # CHECK: i64 noundef %a.extent0
    # CHECK: %index = sext i32 %? to i64
    # CHECK-NEXT: getelementptr inbounds nuw float, ptr addrspace(1) %a, i64 %index


@amdjit.kernel
def index_from_the_end(a: f32[:], out: f32[:]):
    """A negative constant index counts from the end."""
    out[0] = a[-1]
    # CHECK: add nsw i32 %a.extent0, -1


@amdjit.kernel
def wide_load(a: f16[:], out: f16[:]):
    """A load of several elements is one load of a vector, aligned as one element is."""
    out.store(0, a.load(4 * threadIdx.x, 4))
    # CHECK: load <4 x half>, ptr addrspace(1) %?, align 2
    # CHECK: store <4 x half> %?, ptr addrspace(1) %?, align 2


@amdjit.kernel
def array_of_vectors(a: VECTORS, out: VECTORS):
    """Vectors are added element by element in one instruction."""
    out[0] = a[0] + a[1]
    # CHECK: load <4 x float>, ptr addrspace(1) %?, align 16
    # CHECK: fadd <4 x float> %?, %?


@amdjit.kernel
def shared_matrix(out: f32[:]):
    """An LDS array is a global of address space 3, with 32-bit addresses and constant extents."""
    tile = shared.array((32, 33), f32)
    tile[threadIdx.y, threadIdx.x] = 1.0
    out[0] = tile[0, 1]
    # CHECK: %start = mul nuw nsw i32 %?, 33
    # CHECK-NEXT: %place = add nuw nsw i32 %start, %?
    # CHECK-NEXT: %at = getelementptr inbounds nuw float, ptr addrspace(3) @shared_matrix.shared, i32 %place
    # CHECK: store float {{.*}}, ptr addrspace(3) %at, align 4
    # CHECK: @shared_matrix.shared = internal addrspace(3) global [1056 x float] undef, align 16


@amdjit.kernel
def shared_array_of_a_loop(out: f32[:]):
    """An LDS array is one, however often its line runs."""
    for k in range(out.shape[0]):
        tile = shared.array(8, f32)
        tile[k] = 1.0
    # CHECK: = internal addrspace(3) global [8 x float]
    # CHECK-NOT: internal addrspace(3) global


@amdjit.kernel
def shared_triples(out: f32[:]):
    """Vectors of three elements lie in LDS without gaps, as arrays of their elements."""
    tile = shared.array(5, f32x3)
    tile[threadIdx.x] = f32x3(1.0)
    out[0] = tile[1][0]
    # CHECK: store <3 x float> {{.*}}, align 4
    # CHECK: = internal addrspace(3) global [15 x float]


@amdjit.kernel
def wide_load_of_lds(out: f16[:]):
    """A wide access of LDS stands at a multiple of its size."""
    tile = shared.array(64, f16)
    out.store(0, tile.load(8, 8))
    # CHECK: load <8 x half>, ptr addrspace(3) %?, align 16


@amdjit.kernel
def dynamic_shared(out: f32[:]):
    """Dynamic LDS has the extent that the launch gave, which the implicit arguments hold in bytes."""
    tile = shared.dynamic(f32)
    tile[threadIdx.x] = 1.0
    out[0] = f32(tile.shape[0])
    # CHECK: %bytes = getelementptr inbounds nuw i8, ptr addrspace(4) %?, i64 120
    # CHECK-NEXT: %size = load i32, ptr addrspace(4) %bytes
    # CHECK-NEXT: %extent = udiv i32 %size, 4
    # CHECK: getelementptr inbounds nuw float, ptr addrspace(3) @amdjit.dynamic_lds
    # CHECK: sitofp i32 %extent to float
    # CHECK: @amdjit.dynamic_lds = external addrspace(3) global [0 x i8], align 16


@amdjit.kernel
def local_array(out: i32[:], n: i32):
    """A work-item's own array is an `alloca` of address space 5."""
    own = amdjit.local.array(4, i32)
    own[n] = 5
    out[0] = own[0]
    # CHECK: %own = alloca [4 x i32], {{.*}}addrspace(5)
    # CHECK: %place = getelementptr inbounds nuw i32, ptr addrspace(5) %own, i32 %n
    # CHECK: store i32 5, ptr addrspace(5) %place


@amdjit.kernel(bounds_check=True)
def checked_index(a: i32[:], i: i32):
    """A bounds check is one unsigned comparison; the first lane outside claims the report."""
    a[i] = 1
    # CHECK: %is_inside = icmp ult i32 %i, %a.extent0
    # CHECK-NEXT: br i1 %is_inside, label %inside, label %outside, !prof
    # CHECK-NEXT: outside:
    # CHECK-NEXT: %before = atomicrmw xchg ptr addrspace(1) %amdjit.record, i32 1 syncscope("agent") monotonic
    # CHECK-NEXT: %is_first = icmp eq i32 %before, 0
    # CHECK-NEXT: br i1 %is_first, label %claim, label %end
    # CHECK: store i32 %i, ptr addrspace(1) %?
    # CHECK: store i32 %a.extent0, ptr addrspace(1) %?
    # CHECK: end:
    # CHECK-NEXT: asm sideeffect "s_endpgm"
