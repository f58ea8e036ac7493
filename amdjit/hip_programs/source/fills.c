/* Fills, and copies of rows. Part of amdhip64.c. */

/* ---- fills ---- */

static hipError_t fill_now(const Work *work) {
  uint64_t size = (uint64_t)work->kind, row = size * work->nbytes;
  char *between = malloc(row);
  memcpy(between, &work->value, size);
  for (uint64_t done = size; done < row; done *= 2) memcpy(between + done, between, done < row - done ? done : row - done);
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

typedef struct { void *pointer; size_t pitch, width, height; } Pitched;
typedef struct { size_t width, height, depth; } Box;
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

static hipError_t copy_rows_now(const Work *work) {
  hipError_t code = hipSuccess;
  for (uint64_t plane = 0; plane < work->planes; plane++)
    for (uint64_t row = 0; row < work->rows && !code; row++)
      code = copy_now(work->kind,
                      (char *)work->destination + plane * work->plane_pitches[0] + row * work->pitches[0],
                      (const char *)work->source + plane * work->plane_pitches[1] + row * work->pitches[1], work->nbytes);
  return code;
}
static size_t product(size_t a, size_t b) {
  size_t found;
  return __builtin_mul_overflow(a, b, &found) ? SIZE_MAX : found;
}
static char *row_of(const Pitched *memory, const size_t at[3], size_t plane) {
  return (char *)memory->pointer + ((at[2] + plane) * memory->height + at[1]) * memory->pitch + at[0];
}
static bool has_planes(const void *start, const Box *box, size_t pitch, size_t plane_pitch) {
  return find(start, extent_of(box->depth, plane_pitch, 1, extent_of(box->height, pitch, 1, box->width)));
}
/* What a copy of planes does: a mark, if there is nothing to copy. */
static hipError_t set_planes(Work *work, const Copy3D *copy) {
  if (!copy) return hipErrorInvalidValue;
  if (copy->source_array || copy->destination_array) return hipErrorNotSupported;
  const Box *box = &copy->extent;
  const Pitched *to = &copy->destination, *from = &copy->source;
  *work = (Work){.what = MARK};
  if (!box->width || !box->height || !box->depth) return hipSuccess;
  if (box->width > to->pitch || box->width > from->pitch || (STRICT && copy->kind != hipMemcpyDeviceToDevice))
    return hipErrorInvalidValue;
  *work = (Work){.what = ROWS, .kind = copy->kind, .destination = row_of(to, copy->destination_at, 0),
                 .source = row_of(from, copy->source_at, 0), .nbytes = box->width, .rows = box->height,
                 .planes = box->depth, .pitches = {to->pitch, from->pitch},
                 .plane_pitches = {product(to->pitch, to->height), product(from->pitch, from->height)}};
  hipError_t code = check_copy(work->destination, work->source, work->nbytes, &work->kind);
  if (code) return code;
  bool to_device = work->kind == hipMemcpyHostToDevice || work->kind == hipMemcpyDeviceToDevice;
  bool from_device = work->kind == hipMemcpyDeviceToHost || work->kind == hipMemcpyDeviceToDevice;
  bool is_there = (!to_device || has_planes(work->destination, box, work->pitches[0], work->plane_pitches[0])) &&
                  (!from_device || has_planes(work->source, box, work->pitches[1], work->plane_pitches[1]));
  return is_there ? hipSuccess : hipErrorInvalidValue;
}
static hipError_t queue_planes(const Copy3D *copy, Stream *stream) {
  Work planes, *work = NULL;
  hipError_t code = set_planes(&planes, copy);
  if (code || planes.what == MARK) return code;
  code = submit(stream, ROWS, &work);
  if (!code) set_work(work, &planes);
  return code;
}
static hipError_t queue_rows(void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width,
                             size_t height, int kind, Stream *stream) {
  const Copy3D copy = {.source = {(void *)source, source_pitch, width, height}, .extent = {width, height, 1},
                       .destination = {destination, pitch, width, height}, .kind = kind};
  return queue_planes(&copy, stream);
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
HIP(hipMemAllocPitch, (void **pointer, size_t *pitch, size_t width, size_t height, unsigned size),
    (pointer, pitch, width, height, size)) {
  return size == 4 || size == 8 || size == 16 ? do_hipMallocPitch(pointer, pitch, width, height) : hipErrorInvalidValue;
}
HIP(hipMalloc3D, (Pitched *made, Box extent), (made, extent)) {
  if (!made) return hipErrorInvalidValue;
  size_t pitch = pitch_of(extent.width), rows;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return hipErrorInvalidValue;
  *made = (Pitched){NULL, pitch, extent.width, extent.height};
  return new_allocation(&made->pointer, extent_of(1, 0, pitch, rows), false);
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
