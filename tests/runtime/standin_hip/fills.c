/* Fills, and copies of rows. Part of amdhip64.c. */

/* ---- fills ---- */

static hipError_t fill_now(const Work *work) {
  uint64_t size = (uint64_t)work->kind, count = work->nbytes;
  if (is_emulated) {
    char *between = malloc(size * count);
    for (uint64_t i = 0; i < count; i++) memcpy(between + i * size, &work->value, size);
    hipError_t code = emulator.to_device((uint64_t)work->destination, between, size * count);
    free(between);
    return code;
  }
  for (uint64_t i = 0; i < count; i++) memcpy((char *)work->destination + i * size, &work->value, size);
  return hipSuccess;
}
static hipError_t fill(void *destination, uint32_t value, uint64_t size, uint64_t count, Stream *stream) {
  if (!destination || (uint64_t)destination % size || !find(destination, size * count)) return hipErrorInvalidValue;
  Work *work = NULL;
  hipError_t code = submit(stream, FILL, &work);
  if (code) return code;
  work->destination = destination;
  work->value = value;
  work->kind = (int)size;
  work->nbytes = count;
  return hipSuccess;
}
hipError_t hipMemsetD8Async(void *destination, unsigned char value, size_t count, Stream *stream) {
  ENTER;
  return fill(destination, value, 1, count, stream);
}
hipError_t hipMemsetD16Async(void *destination, unsigned short value, size_t count, Stream *stream) {
  ENTER;
  return fill(destination, value, 2, count, stream);
}
hipError_t hipMemsetD32Async(void *destination, int value, size_t count, Stream *stream) {
  ENTER;
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
hipError_t hipMemcpy2DAsync(void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width,
                            size_t height, int kind, Stream *stream) {
  ENTER;
  if (!width || !height) return hipSuccess;
  if (width > pitch || width > source_pitch || kind != hipMemcpyDeviceToDevice) return hipErrorInvalidValue;
  if (!find(destination, (height - 1) * pitch + width) || !find(source, (height - 1) * source_pitch + width))
    return hipErrorInvalidValue;
  Work *work = NULL;
  hipError_t code = submit(stream, ROWS, &work);
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
