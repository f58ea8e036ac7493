/* common.h for the host: work-items run one after the other. */
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned short u16;
typedef unsigned char u8;
typedef _Float16 f16;
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef short i16x2 __attribute__((ext_vector_type(2)));

u32 host_lane, host_block;
#define KERNEL void
#define GLOBAL
#define SHARED static
#define LANE host_lane
#define BLOCK host_block
#define INDEX (BLOCK * 256 + LANE)

static inline u32 permute_bytes(u32 x, u32 y, u32 selector) {
  u64 data = (u64)x << 32 | y;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    u32 choice = selector >> 8 * i & 255;
    u32 sign = choice == 8 ? 15 : choice == 9 ? 31 : choice == 10 ? 47 : 63;
    u32 byte = choice < 8 ? data >> 8 * choice & 255 : choice < 12 ? (data >> sign & 1) * 255 : choice == 12 ? 0 : 255;
    result |= byte << 8 * i;
  }
  return result;
}
#define __builtin_amdgcn_perm permute_bytes
#define __builtin_amdgcn_alignbyte(x, y, n) ((u32)(((u64)(x) << 32 | (y)) >> 8 * (n)))
#define __builtin_amdgcn_ubfe(x, offset, width) ((u32)(x) >> (offset) & ((1u << (width)) - 1))
#define __builtin_amdgcn_sbfe(x, offset, width) ((int)((u32)(x) << (32 - (offset) - (width))) >> (32 - (width)))
