/* What the tuned products share: tiles of TILE by DEPTH elements in LDS, two in turn, that 128 lanes fill from buffers.
   Said before: `element`, `part` (16 bytes of them), DEPTH, and PITCH: elements from one row in LDS to the next. */
#define TILE 128
typedef __attribute__((address_space(3))) part lds_part;
SHARED element a_tiles[2 * TILE * PITCH], b_tiles[2 * TILE * PITCH];

static inline void load_parts(__amdgpu_buffer_rsrc_t matrix, u32 offset, u32 first, u32 pitch, part *parts) {
  for (u32 i = 0; i < 4; ++i) {
    u32x4 words = __builtin_amdgcn_raw_buffer_load_b128(matrix, offset, first + 32 * i * pitch, 0);
    parts[i] = __builtin_bit_cast(part, words);
  }
}

static inline void store_parts(SHARED_POINTER(element) tile, const part *parts) {
  for (u32 i = 0; i < 4; ++i)
    *(lds_part *)(tile + PITCH * 32 * i) = parts[i];
}
