; Work for the optimiser: a loop to unroll, one to leave, stores that SLP joins, a helper to inline.
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define internal float @scale(float %x, float %s) {
  %r = fmul float %x, %s
  ret float %r
}

define protected amdgpu_kernel void @loops(ptr addrspace(1) noalias %x, ptr addrspace(1) noalias %y, float %s, i32 %n) #0 {
entry:
  %sum = alloca float, align 4, addrspace(5)
  %i = alloca i32, align 4, addrspace(5)
  store float 0.0, ptr addrspace(5) %sum, align 4
  store i32 0, ptr addrspace(5) %i, align 4
  br label %head

head:
  %i0 = load i32, ptr addrspace(5) %i, align 4
  %more = icmp slt i32 %i0, %n
  br i1 %more, label %body, label %after

body:
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i32 %i0
  %v = load float, ptr addrspace(1) %p, align 4
  %w = call float @scale(float %v, float %s)
  %s0 = load float, ptr addrspace(5) %sum, align 4
  %s1 = fadd float %s0, %w
  store float %s1, ptr addrspace(5) %sum, align 4
  %i1 = add nsw i32 %i0, 1
  store i32 %i1, ptr addrspace(5) %i, align 4
  br label %head

after:
  store i32 0, ptr addrspace(5) %i, align 4
  br label %head2

head2:
  %j0 = load i32, ptr addrspace(5) %i, align 4
  %more2 = icmp slt i32 %j0, 4
  br i1 %more2, label %body2, label %done

body2:
  %q = getelementptr inbounds float, ptr addrspace(1) %x, i32 %j0
  %a = load float, ptr addrspace(1) %q, align 16
  %s2 = load float, ptr addrspace(5) %sum, align 4
  %b = fadd float %a, %s2
  %o = getelementptr inbounds float, ptr addrspace(1) %y, i32 %j0
  store float %b, ptr addrspace(1) %o, align 4
  %j1 = add nsw i32 %j0, 1
  store i32 %j1, ptr addrspace(5) %i, align 4
  br label %head2

done:
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="1,256" }
