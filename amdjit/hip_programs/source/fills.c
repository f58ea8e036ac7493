/* Fills, and copies of rows. Part of amdhip64.c. */

/* ---- fills ---- */

static hipError_t fill_now(const Work *work) {
  uint64_t size = (uint64_t)work->kind, count = work->nbytes, row = size * count;
  char *between = malloc(row);
  for (uint64_t i = 0; i < count; i++) memcpy(between + i * size, &work->value, size);
  hipError_t code = hipSuccess;
  for (uint64_t i = 0; i < work->rows && !code; i++)
    code = emulator.to_device((uint64_t)work->destination + i * work->pitches[0], between, row);
  free(between);
  return code;
}
/* Rows of `count` values, each of `size` bytes. */
static hipError_t fill_rows(void *destination, uint64_t pitch, uint32_t value, uint64_t size, uint64_t count,
                            uint64_t rows, Stream *stream) {
  if (!STRICT && (!count || !rows)) return hipSuccess;
  uint64_t extent = extent_of(rows, pitch, size, count);
  bool is_there = find(destination, extent) || (!STRICT && find_pinned(destination, extent));
  if (!destination || (uint64_t)destination % size || !is_there) return hipErrorInvalidValue;
  Work *work = NULL;
  hipError_t code = submit(stream, FILL, &work);
  if (code) return code;
  work->destination = destination;
  work->value = value;
  work->kind = (int)size;
  work->nbytes = count;
  work->rows = rows;
  work->pitches[0] = pitch;
  return hipSuccess;
}
static hipError_t fill(void *destination, uint32_t value, uint64_t size, uint64_t count, Stream *stream) {
  return fill_rows(destination, 0, value, size, count, 1, stream);
}
HIP(hipMemset, (void *destination, int value, size_t count), (destination, value, count)) {
  return fill(destination, (unsigned char)value, 1, count, NULL);
}
HIP(hipMemsetAsync, (void *destination, int value, size_t count, Stream *stream), (destination, value, count, stream)) {
  return fill(destination, (unsigned char)value, 1, count, stream);
}
HIP(hipMemsetD8, (void *destination, unsigned char value, size_t count), (destination, value, count)) {
  return fill(destination, value, 1, count, NULL);
}
HIP(hipMemsetD16, (void *destination, unsigned short value, size_t count), (destination, value, count)) {
  return fill(destination, value, 2, count, NULL);
}
HIP(hipMemsetD32, (void *destination, int value, size_t count), (destination, value, count)) {
  return fill(destination, (uint32_t)value, 4, count, NULL);
}
HIP(hipMemset2D, (void *destination, size_t pitch, int value, size_t width, size_t height),
    (destination, pitch, value, width, height)) {
  return fill_rows(destination, pitch, (unsigned char)value, 1, width, height, NULL);
}
HIP(hipMemset2DAsync, (void *destination, size_t pitch, int value, size_t width, size_t height, Stream *stream),
    (destination, pitch, value, width, height, stream)) {
  return fill_rows(destination, pitch, (unsigned char)value, 1, width, height, stream);
}
HIP(hipMemsetD8Async, (void *destination, unsigned char value, size_t count, Stream *stream),
    (destination, value, count, stream)) {
  return fill(destination, value, 1, count, stream);
}
HIP(hipMemsetD16Async, (void *destination, unsigned short value, size_t count, Stream *stream),
    (destination, value, count, stream)) {
  return fill(destination, value, 2, count, stream);
}
HIP(hipMemsetD32Async, (void *destination, int value, size_t count, Stream *stream),
    (destination, value, count, stream)) {
  return fill(destination, (uint32_t)value, 4, count, stream);
}

/* ---- rows ---- */

static hipError_t copy_rows_now(const Work *work) {
  hipError_t code = hipSuccess;
  for (uint64_t row = 0; row < work->rows && !code; row++)
    code = copy_now(work->kind, (char *)work->destination + row * work->pitches[0],
                    (const char *)work->source + row * work->pitches[1], work->nbytes);
  return code;
}
static hipError_t queue_rows(void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width,
                             size_t height, int kind, Stream *stream) {
  if (!width || !height) return hipSuccess;
  if (width > pitch || width > source_pitch || (STRICT && kind != hipMemcpyDeviceToDevice)) return hipErrorInvalidValue;
  hipError_t code = check_copy(destination, source, width, &kind);
  if (code) return code;
  bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (to_device && !find(destination, extent_of(height, pitch, 1, width))) return hipErrorInvalidValue;
  if (from_device && !find(source, extent_of(height, source_pitch, 1, width))) return hipErrorInvalidValue;
  Work *work = NULL;
  code = submit(stream, ROWS, &work);
  if (code) return code;
  work->kind = kind;
  work->destination = destination;
  work->source = source;
  work->nbytes = width;
  work->rows = height;
  work->pitches[0] = pitch;
  work->pitches[1] = source_pitch;
  return hipSuccess;
}
HIP(hipMemcpy2DAsync,
    (void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width, size_t height, int kind,
     Stream *stream),
    (destination, pitch, source, source_pitch, width, height, kind, stream)) {
  return queue_rows(destination, pitch, source, source_pitch, width, height, kind, stream);
}
HIP(hipMemcpy2D,
    (void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width, size_t height, int kind),
    (destination, pitch, source, source_pitch, width, height, kind)) {
  hipError_t code = queue_rows(destination, pitch, source, source_pitch, width, height, kind, NULL);
  return code ? code : wait_for(null_stream(current));
}
enum { PITCH = 256 };
static size_t pitch_of(size_t width) { return width / PITCH * PITCH + (width % PITCH ? PITCH : 0); }
HIP(hipMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height), (pointer, pitch, width, height)) {
  if (!pointer || !pitch) return hipErrorInvalidValue;
  *pitch = pitch_of(width);
  return new_allocation(pointer, extent_of(1, 0, *pitch, height), false);
}
typedef struct { void *pointer; size_t pitch, width, height; } Pitched;
typedef struct { size_t width, height, depth; } Box;
HIP(hipMalloc3D, (Pitched *made, Box extent), (made, extent)) {
  if (!made) return hipErrorInvalidValue;
  size_t pitch = pitch_of(extent.width), rows;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return hipErrorInvalidValue;
  *made = (Pitched){NULL, pitch, extent.width, extent.height};
  return new_allocation(&made->pointer, extent_of(1, 0, pitch, rows), false);
}
/* hip_runtime_api.h, hipMemcpy3DParms; positions and widths count bytes where there are no arrays. */
typedef struct {
  void *source_array;
  size_t source_at[3];
  Pitched source;
  void *destination_array;
  size_t destination_at[3];
  Pitched destination;
  Box extent;
  int kind;
} Copy3D;
_Static_assert(sizeof(Copy3D) == 160, "hipMemcpy3DParms has 160 bytes");
static char *row_of(const Pitched *memory, const size_t at[3], size_t plane) {
  return (char *)memory->pointer + ((at[2] + plane) * memory->height + at[1]) * memory->pitch + at[0];
}
static hipError_t queue_planes(const Copy3D *copy, Stream *stream) {
  if (!copy) return hipErrorInvalidValue;
  if (copy->source_array || copy->destination_array) return hipErrorNotSupported;
  const Box *extent = &copy->extent;
  hipError_t code = hipSuccess;
  for (size_t plane = 0; plane < extent->depth && !code; plane++)
    code = queue_rows(row_of(&copy->destination, copy->destination_at, plane), copy->destination.pitch,
                      row_of(&copy->source, copy->source_at, plane), copy->source.pitch, extent->width, extent->height,
                      copy->kind, stream);
  return code;
}
HIP(hipMemcpy3DAsync, (const Copy3D *copy, Stream *stream), (copy, stream)) { return queue_planes(copy, stream); }
HIP(hipMemcpy3D, (const Copy3D *copy), (copy)) {
  hipError_t code = queue_planes(copy, NULL);
  return code ? code : wait_for(null_stream(current));
}
static hipError_t fill_planes(Pitched memory, int value, Box extent, Stream *stream) {
  static const size_t start[3];
  hipError_t code = hipSuccess;
  for (size_t plane = 0; plane < extent.depth && !code; plane++)
    code = fill_rows(row_of(&memory, start, plane), memory.pitch, (unsigned char)value, 1, extent.width, extent.height,
                     stream);
  return code;
}
HIP(hipMemset3D, (Pitched memory, int value, Box extent), (memory, value, extent)) {
  return fill_planes(memory, value, extent, NULL);
}
HIP(hipMemset3DAsync, (Pitched memory, int value, Box extent, Stream *stream), (memory, value, extent, stream)) {
  return fill_planes(memory, value, extent, stream);
}
