"""The backend's own passes over optimised IR: what each one writes into it."""

import amdjit
from amdjit import f16, f32, i32, shared, threadIdx, u64
from amdjit.intrinsics import wave


@amdjit.kernel
def phi_inputs(b: i32[:], out: u64[:], s: u64, n: i32):
    """A value that LLVM would move out of a block reached in two ways is annotated there, twice."""
    t = threadIdx.x
    out[t] = s if t < n or (b[t] > 0 and b[t ^ 3] > 0) else u64(t)
    # CHECK: false:
    # CHECK-NEXT: %side = zext nneg i32 %? to i64
    # CHECK-NEXT: %? = call i64 @llvm.annotation.i64.p0(i64 %side, ptr null, ptr null, i32 0)
    # CHECK-NEXT: %? = call i64 @llvm.annotation.i64.p0(i64 %?, ptr null, ptr null, i32 0)
    # CHECK: phi i64 [ %?, %false ], [ %s, %? ], [ %s, %? ]


@amdjit.kernel
def signs_of_zeros(a: f32[:], out: f32[:]):
    """0.0 - x passes through a canonical form: instruction selection would take it for -x."""
    i = threadIdx.x
    out[i] = (0.0 - a[i]) * a[i + 1]
    # CHECK: fsub float 0.000000e+00, %?
    # CHECK-NEXT: %difference = call float @llvm.canonicalize.f32(float %?)
    # CHECK: fmul float %difference, %?


@amdjit.kernel
def product_rounded_to_half(a: f32[:], out: f16[:]):
    """A product that is rounded to f16 has -0.0 added: the instruction for both would add 0.0."""
    i = threadIdx.x
    out[i] = f16(a[i] * a[i + 1])
    # CHECK: %product = call float @llvm.fma.f32(float %?, float %?, float -0.000000e+00)
    # CHECK-NEXT: fptrunc float %product to half


@amdjit.kernel
def narrow_scalar_load(a: i32[:]):
    """The 16 bits of a block's size promise no alignment of 4, and are loaded as 16 bits."""
    a[amdjit.grid(1)] = 1
    # CHECK: load i16, ptr addrspace(4) %?, align 2


@amdjit.kernel
def places_of_lds_arrays(a: f32[:]):
    """Every LDS array has an address, by which reports name its elements."""
    t = threadIdx.x
    one, two = shared.array(64, f32), shared.array(10, i32)
    one[t], two[0] = a[t], t
    a[t] = one[t ^ 1] + f32(two[t & 1])
    # CHECK: absolute_symbol
    # CHECK: "amdgpu-lds-size"="296"


@amdjit.kernel
def long_block(a: i32[:]):
    """A scheduling barrier, which is no machine code, ends a region of 1024 instructions."""
    x = a[0]
    for k in amdjit.static_range(600):
        x = x * 3 ^ k
    a[0] = x
    # CHECK: call void @llvm.amdgcn.sched.barrier(i32 0)
    # CHECK-NEXT: {{(mul|xor) i32}} %?
    # CHECK-NOT: sched.barrier(i32 0)
    # CHECK: ret void


@amdjit.kernel
def moved_constant(a: i32[:], out: i32[:]):
    """A fence keeps a moved constant apart: in a sum of three, it would trade places with `a`."""
    t = threadIdx.x
    out[t] = wave.quad_perm(i32(7), 3, 3, 3, 3) + a[t] + a[t + 32]
    # CHECK: %? = tail call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 7, i32 255,
    # CHECK-NEXT: %? = bitcast i32 %? to float
    # CHECK-NEXT: %? = call float @llvm.arithmetic.fence.f32(float %?)
    # CHECK-NEXT: %moved = bitcast float %? to i32
    # CHECK: add i32 %?, %moved


@amdjit.kernel(exact_lines=True)
def atomic_marks(a: i32[:], out: i32[:]):
    """Atomic accesses have discriminators, and fences of checked code an s_nop before each."""
    amdjit.atomic.store(out, 0, a[0], scope="workgroup")
    amdjit.intrinsics.sync.threadfence()
    amdjit.atomic.add(out, 1, 1, order="release")
    # CHECK: call void @llvm.amdgcn.s.nop(i16 20480)
    # CHECK: store atomic i32 %?, ptr addrspace(1) %out syncscope("workgroup") monotonic, align 4
    # CHECK: call void @llvm.amdgcn.s.nop(i16 21248)
    # CHECK-NEXT: fence syncscope("agent") acq_rel
    # CHECK: call void @llvm.amdgcn.s.nop(i16 21248)
    # CHECK-NEXT: atomicrmw add ptr addrspace(1) %?, i32 1 syncscope("agent") release, align 4
