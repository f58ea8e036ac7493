; Two kernels that turn on what a kernel descriptor and its metadata can say: LDS, scratch, a call, recursion, a fixed
; workgroup, hidden arguments, workgroup ids and work-item ids of all dimensions, a constant table, float modes.
target triple = "amdgcn-amd-amdhsa"

@shared = internal addrspace(3) global [300 x float] poison, align 16
@table = protected addrspace(4) constant [16 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16], align 4
@pointers = protected addrspace(1) constant [1 x ptr addrspace(4)] [ptr addrspace(4) @table], align 8

declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare i64 @llvm.amdgcn.dispatch.id()
declare void @llvm.amdgcn.s.barrier()

define protected amdgpu_kernel void @reverse(ptr addrspace(1) %data, i32 %k, ptr addrspace(3) %dynamic, i8 %flag) #0 !reqd_work_group_size !2 {
  %private = alloca [40 x float], align 4, addrspace(5)
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %y = call i32 @llvm.amdgcn.workitem.id.y()
  %z = call i32 @llvm.amdgcn.workitem.id.z()
  %gx = call i32 @llvm.amdgcn.workgroup.id.x()
  %gy = call i32 @llvm.amdgcn.workgroup.id.y()
  %gz = call i32 @llvm.amdgcn.workgroup.id.z()
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %blocks = load i32, ptr addrspace(4) %implicit, align 4
  %dispatch = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %header = load i32, ptr addrspace(4) %dispatch, align 4
  %id = call i64 @llvm.amdgcn.dispatch.id()
  %low = trunc i64 %id to i32
  %entry = getelementptr [16 x i32], ptr addrspace(4) @table, i32 0, i32 %k
  %constant = load i32, ptr addrspace(4) %entry, align 4
  %s1 = add i32 %y, %z
  %s2 = add i32 %s1, %gx
  %s3 = add i32 %s2, %gy
  %s4 = add i32 %s3, %gz
  %s5 = add i32 %s4, %blocks
  %s6 = add i32 %s5, %header
  %s7 = add i32 %s6, %low
  %s8 = add i32 %s7, %constant
  %value = sitofp i32 %s8 to float
  %cell = getelementptr [300 x float], ptr addrspace(3) @shared, i32 0, i32 %x
  store float %value, ptr addrspace(3) %cell, align 4
  %spot = getelementptr [40 x float], ptr addrspace(5) %private, i32 0, i32 %k
  store volatile float %value, ptr addrspace(5) %spot, align 4
  call void @llvm.amdgcn.s.barrier()
  %mirror = sub i32 63, %x
  %other = getelementptr [300 x float], ptr addrspace(3) @shared, i32 0, i32 %mirror
  %read = load float, ptr addrspace(3) %other, align 4
  store float %read, ptr addrspace(3) %dynamic, align 4
  %out = getelementptr float, ptr addrspace(1) %data, i32 %x
  store float %read, ptr addrspace(1) %out, align 4
  ret void
}

define internal i32 @fibonacci(i32 %n) noinline {
  %last = icmp ult i32 %n, 2
  br i1 %last, label %done, label %again
again:
  %less = sub i32 %n, 1
  %lesser = sub i32 %n, 2
  %one = call i32 @fibonacci(i32 %less)
  %two = call i32 @fibonacci(i32 %lesser)
  %both = add i32 %one, %two
  ret i32 %both
done:
  ret i32 %n
}

define protected amdgpu_kernel void @recursive(ptr addrspace(1) %out, i32 %n) #1 {
  %all = call i32 @fibonacci(i32 %n)
  store i32 %all, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "denormal-fp-math-f32"="preserve-sign,preserve-sign" }
attributes #1 = { nounwind "amdgpu-flat-work-group-size"="1,1024" }

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!2 = !{i32 16, i32 2, i32 2}
