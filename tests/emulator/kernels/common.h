/* What the kernels share: C for amdgcn without any library. */
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned short u16;
typedef unsigned char u8;
typedef _Float16 f16;
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef f16 f16x8 __attribute__((ext_vector_type(8)));
typedef short i16x2 __attribute__((ext_vector_type(2)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x8 __attribute__((ext_vector_type(8)));

#define KERNEL __attribute__((amdgpu_kernel)) void
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3), loader_uninitialized))
#define LANE __builtin_amdgcn_workitem_id_x()
#define BLOCK __builtin_amdgcn_workgroup_id_x()
#define INDEX (BLOCK * 256 + LANE)

static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
