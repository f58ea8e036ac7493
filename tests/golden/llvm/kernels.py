"""What a kernel's options and arguments become."""

import amdjit
from amdjit import blockDim, boolean, f16x4, i32, threadIdx


@amdjit.kernel(block=(32, 8))
def fixed_block(a: i32[:]):
    """A block that is known makes its sizes constants and bounds the code's registers."""
    a[amdjit.grid(1)] = blockDim.x
    # CHECK: "amdgpu-flat-work-group-size"="256,256"
    # CHECK-NOT: implicitarg
    # CHECK: store i32 32
    # CHECK: mul nuw nsw i32 %?, 32
    # CHECK: = !{ i32 32, i32 8, i32 1 }


@amdjit.kernel
def any_block(a: i32[:]):
    """A block's size that is not known comes from the implicit arguments, at byte 12."""
    a[0] = blockDim.x
    # CHECK: "amdgpu-flat-work-group-size"="1,1024"
    # CHECK: %hidden = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
    # CHECK-NEXT: %place = getelementptr inbounds nuw i8, ptr addrspace(4) %hidden, i64 12
    # CHECK-NEXT: load i16, ptr addrspace(4) %place, align 2, !invariant.load


@amdjit.kernel(block=256, waves_per_eu=4)
def bounds_of_the_launch(a: i32[:]):
    """The largest block and the waves wanted are attributes; a kernel may wait forever."""
    a[threadIdx.x] = 1
    # CHECK-NOT: mustprogress
    # CHECK: "amdgpu-flat-work-group-size"="1,256" {{.*}}"amdgpu-waves-per-eu"="4"


@amdjit.kernel(wave_size=64)
def wave64(a: i32[:]):
    """The wave's size is a feature of the target and a constant of the code."""
    a[threadIdx.x] = amdjit.wavefront_size
    # CHECK: "target-features"="+wavefrontsize64"
    # CHECK: store i32 64


@amdjit.kernel
def arguments(flag: boolean, v: f16x4, a: i32[:]):
    """Addresses come first; a boolean is a byte, and true if it is not 0."""
    if flag:
        a[0] = i32(v[0])
    # CHECK: @arguments(ptr addrspace(1) noundef noalias %a, i8 noundef %flag, <4 x half> noundef %v, i32 noundef %a.extent0)
    # CHECK: icmp ne i8 %flag, 0


@amdjit.kernel
def failed_assertion(a: i32[:]):
    """A lane whose assertion fails claims the report if it is the first, and ends the wave."""
    assert a[0] > 0, "positive"
    # CHECK: align 16 %amdjit.record
    # CHECK: br i1 %?, label %then, label %endif
    # CHECK: atomicrmw xchg ptr addrspace(1) %amdjit.record, i32 1 syncscope("agent") monotonic
    # CHECK: br i1 %?, label %claim, label %end
    # CHECK: %site = getelementptr inbounds nuw i8, ptr addrspace(1) %amdjit.record, i64 4
    # CHECK-NEXT: store i32 0, ptr addrspace(1) %site
    # CHECK: asm sideeffect "s_endpgm"


@amdjit.kernel(asserts=False)
def no_assertions(a: i32[:]):
    """`asserts=False` leaves no trace of an assertion, and no argument for reports."""
    assert a[0] > 0, "positive"
    a[1] = a[0]
    # CHECK-NOT: amdjit.record
    # CHECK-NOT: icmp


@amdjit.kernel
def printing(a: i32[:]):
    """One lane of a wave takes room for the records of all its active lanes."""
    print("value", a[0])
    # CHECK: %lanes = call i32 @llvm.amdgcn.ballot.i32(i1 true)
    # CHECK-NEXT: %own = call i32 @llvm.amdgcn.mbcnt.lo(i32 %lanes, i32 0)
    # CHECK-NEXT: %count = call i32 @llvm.ctpop.i32(i32 %lanes)
    # CHECK-NEXT: %bytes = mul i32 %count, 24
    # CHECK: %is_first = icmp eq i32 %own, 0
    # CHECK-NEXT: br i1 %is_first, label %first, label %taken
    # CHECK: atomicrmw add ptr addrspace(1) %?, i64 %?
    # CHECK: call i64 @llvm.amdgcn.readfirstlane.i64


@amdjit.kernel
def version_of_the_code_object(a: i32[:]):
    """Code objects have the version that clang writes by default."""
    a[0] = 1
    # CHECK: = !{ i32 1, !"amdhsa_code_object_version", i32 600 }


@amdjit.kernel(debug_info=False)
def no_debug_information(a: i32[:]):
    """`debug_info=False` leaves nothing that LLVM would take for debug information."""
    a[0] = 1
    # CHECK-NOT: DWARF
    # CHECK-NOT: Debug Info Version
    # CHECK-NOT: llvm.dbg
