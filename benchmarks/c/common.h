/* What the kernels share: C for amdgcn, without any library. */
typedef unsigned int u32;
typedef _Float16 f16;
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef f16 f16x8 __attribute__((ext_vector_type(8)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));

#define BLOCK(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define KERNEL __attribute__((amdgpu_kernel)) void
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3), loader_uninitialized))
#define SHARED_POINTER(type) __attribute__((address_space(3))) type *
/* Bytes, of which there is a number: RDNA4 ISA, "Buffer Resource Descriptor". */
#define BUFFER(array, bytes) __builtin_amdgcn_make_buffer_rsrc((void *)(array), 0, bytes, 0x31004000)
#define LANE __builtin_amdgcn_workitem_id_x()
#define GRID (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + LANE)

static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

static inline void lds_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}
