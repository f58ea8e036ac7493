; A quotient of f64 reads a mask (v_div_fmas_f64); behind a branch, the address of a table is computed in its SGPRs.
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@table = external dso_local addrspace(4) constant [144 x i8]

define amdgpu_kernel void @run(ptr addrspace(1) %out, i32 %u, double %value, i64 %offset, i1 %chosen) {
entry:
  %item = tail call i32 @llvm.amdgcn.workitem.id.x()
  %wide = zext i32 %item to i64
  %numbers = getelementptr i8, ptr addrspace(1) null, i64 %wide
  %number = load double, ptr addrspace(1) %numbers, align 8
  %left = frem double %number, 0.000000e+00
  store double %value, ptr addrspace(1) null, align 8
  %row = getelementptr i8, ptr addrspace(1) %out, i64 %offset
  %cell = getelementptr i8, ptr addrspace(1) %row, i64 %wide
  store double 0.000000e+00, ptr addrspace(1) %cell, align 8
  br i1 %chosen, label %looked_up, label %plain

plain:                                           ; preds = %entry
  %next = getelementptr i8, ptr addrspace(1) %numbers, i64 24
  br label %joined

looked_up:                                           ; preds = %entry
  %byte = shl nuw i32 %u, 1
  %place = zext i32 %byte to i64
  %entry.address = getelementptr i8, ptr addrspace(4) @table, i64 %place
  %entry.value = load float, ptr addrspace(4) %entry.address, align 4
  br label %joined

joined:                                  ; preds = %looked_up, %plain
  %from = phi ptr addrspace(1) [ %next, %plain ], [ null, %looked_up ]
  %single = phi float [ 0.000000e+00, %plain ], [ %entry.value, %looked_up ]
  %word = load i64, ptr addrspace(1) %from, align 8
  store i64 %word, ptr addrspace(1) null, align 8
  store float %single, ptr addrspace(1) null, align 4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x() #0

attributes #0 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
