target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()

define protected amdgpu_kernel void @saxpy(float %a, ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) noalias align 4 %y, i32 %n) #0 !dbg !5 {
entry:
  %group = call i32 @llvm.amdgcn.workgroup.id.x(), !dbg !8
  %item = call range(i32 0, 256) i32 @llvm.amdgcn.workitem.id.x(), !dbg !8
  %first = shl i32 %group, 8, !dbg !8
  %i = or disjoint i32 %first, %item, !dbg !8
  %inside = icmp ult i32 %i, %n, !dbg !9
  br i1 %inside, label %body, label %exit, !dbg !9

body:
  %offset = zext i32 %i to i64, !dbg !10
  %px = getelementptr inbounds float, ptr addrspace(1) %x, i64 %offset, !dbg !10
  %py = getelementptr inbounds float, ptr addrspace(1) %y, i64 %offset, !dbg !10
  %vx = load float, ptr addrspace(1) %px, align 4, !dbg !10
  %vy = load float, ptr addrspace(1) %py, align 4, !dbg !10
  %product = fmul contract float %a, %vx, !dbg !10
  %sum = fadd contract float %product, %vy, !dbg !10
  store float %sum, ptr addrspace(1) %py, align 4, !dbg !11
  br label %exit, !dbg !11

exit:
  ret void, !dbg !12
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="1,256" "uniform-work-group-size"="true" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4}

!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "amdjit", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "saxpy.py", directory: "/kernels")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!5 = distinct !DISubprogram(name: "saxpy", scope: !1, file: !1, line: 3, type: !6, scopeLine: 3, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
!8 = !DILocation(line: 4, column: 9, scope: !5)
!9 = !DILocation(line: 5, column: 8, scope: !5)
!10 = !DILocation(line: 6, column: 18, scope: !5)
!11 = !DILocation(line: 6, column: 9, scope: !5)
!12 = !DILocation(line: 7, column: 1, scope: !5)
