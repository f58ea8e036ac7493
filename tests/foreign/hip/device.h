// The part of HIP's language that the programs of this folder need, over clang's builtins: no header of ROCm.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define EXPORTED extern "C" __global__

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long;
using half = _Float16;

template <typename T, int N> using Vector = T __attribute__((ext_vector_type(N)));

inline __device__ u32 work_item() { return __builtin_amdgcn_workitem_id_x(); }
inline __device__ u32 block_x() { return __builtin_amdgcn_workgroup_id_x(); }
inline __device__ u32 block_y() { return __builtin_amdgcn_workgroup_id_y(); }
inline __device__ u32 lane() { return __builtin_amdgcn_mbcnt_lo(~0u, 0); }

inline __device__ void syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

inline __device__ int shuffle_down(int value, u32 distance) {
  u32 source = lane() + distance;
  return __builtin_amdgcn_ds_bpermute(4 * (source < 32 ? source : lane()), value);
}
inline __device__ float shuffle_down(float value, u32 distance) {
  return __builtin_bit_cast(float, shuffle_down(__builtin_bit_cast(int, value), distance));
}

template <typename T> __device__ T atomic_add(T *place, T value) {
  return __scoped_atomic_fetch_add(place, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
