/* Cooperative launches. Part of amdhip64.c.
 *
 * hipModuleLaunchCooperativeKernel has no `extra`: the arguments are one pointer each, and how long they are and where
 * they go stands in the code object's metadata (LLVM AMDGPU guide, "Code Object V3 Metadata"), which is msgpack.
 */

/* ---- metadata ---- */

static uint64_t big_endian(const uint8_t *at, int nbytes) {
  uint64_t value = 0;
  while (nbytes--) value = value << 8 | *at++;
  return value;
}
/* The number of entries of a map or array or of the characters of a text; `*at` goes on behind the head. */
static uint64_t take_count(const uint8_t **at) {
  uint8_t head = *(*at)++;
  if (head >= 0x80 && head < 0xa0) return head & 15;
  if (head >= 0xa0 && head < 0xc0) return head & 31;
  int nbytes = head == 0xd9 ? 1 : head == 0xda || head == 0xdc || head == 0xde ? 2 : 4;
  *at += nbytes;
  return big_endian(*at - nbytes, nbytes);
}
static uint64_t take_number(const uint8_t **at) {
  uint8_t head = *(*at)++;
  if (head < 0x80) return head;
  int nbytes = 1 << (head - 0xcc);
  *at += nbytes;
  return big_endian(*at - nbytes, nbytes);
}
static const uint8_t *after(const uint8_t *at) {
  uint8_t head = *at;
  bool is_map = (head & 0xf0) == 0x80 || head == 0xde || head == 0xdf;
  bool is_array = (head & 0xf0) == 0x90 || head == 0xdc || head == 0xdd;
  bool is_text = (head & 0xe0) == 0xa0 || (head >= 0xd9 && head <= 0xdb);
  if (is_text) {
    uint64_t length = take_count(&at);
    return at + length;
  }
  if (is_map || is_array) {
    for (uint64_t left = take_count(&at) * (is_map ? 2 : 1); left; left--) at = after(at);
    return at;
  }
  if (head == 0xc0 || head == 0xc2 || head == 0xc3) return at + 1;
  take_number(&at);
  return at;
}
static bool is_text(const uint8_t *at, const char *text) {
  uint64_t length = take_count(&at);
  return length == strlen(text) && !memcmp(at, text, length);
}
/* The value of a key of the map at `map`, or NULL. */
static const uint8_t *value_of(const uint8_t *map, const char *key) {
  for (uint64_t left = take_count(&map); left; left--) {
    const uint8_t *value = after(map);
    if (is_text(map, key)) return value;
    map = after(value);
  }
  return NULL;
}
static const uint8_t *metadata(const char *image) {
  const Elf64_Ehdr *header = (const void *)image;
  const Elf64_Phdr *segments = (const void *)(image + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type != PT_NOTE) continue;
    const Elf64_Nhdr *note = (const void *)(image + segments[i].p_offset);
    if (note->n_type == 32) return (const uint8_t *)(note + 1) + ((note->n_namesz + 3) & ~3u);
  }
  return NULL;
}
static const uint8_t *kernel_metadata(const Kernel *kernel) {
  char symbol[260];
  snprintf(symbol, sizeof symbol, "%s.kd", kernel->name);
  const uint8_t *each = value_of(metadata(kernel->module->image), "amdhsa.kernels");
  for (uint64_t left = take_count(&each); left; left--, each = after(each))
    if (is_text(value_of(each, ".symbol"), symbol)) return each;
  return NULL;
}
static uint64_t number_of(const uint8_t *map, const char *key) {
  const uint8_t *value = value_of(map, key);
  return value ? take_number(&value) : 0;
}

/* ---- launches ---- */

/* Copy the explicit arguments to where the kernel reads them; return how many bytes they take. */
static uint64_t gather(const Kernel *kernel, void **parameters, char *kernarg) {
  const uint8_t *argument = value_of(kernel_metadata(kernel), ".args");
  uint64_t end = 0;
  if (!argument) return 0;
  for (uint64_t left = take_count(&argument); left; left--, argument = after(argument)) {
    const uint8_t *kind = value_of(argument, ".value_kind");
    uint64_t length = take_count(&kind), offset = number_of(argument, ".offset"), size = number_of(argument, ".size");
    if (length > 7 && !memcmp(kind, "hidden_", 7)) continue;
    memcpy(kernarg + offset, *parameters++, size);
    if (offset + size > end) end = offset + size;
  }
  return end;
}
/* HIP's own limit counts work-items and the static and dynamic LDS here, no registers. */
static uint64_t most_workgroups(const Kernel *kernel, unsigned work_items, unsigned dynamic_lds) {
  uint64_t lds = number_of(kernel_metadata(kernel), ".group_segment_fixed_size") + dynamic_lds;
  uint64_t by_items = 2048 / work_items, by_lds = lds ? (128 << 10) / lds : by_items;
  return number("STANDIN_HIP_MULTIPROCESSORS", 32) * (by_items < by_lds ? by_items : by_lds);
}
hipError_t hipModuleLaunchCooperativeKernel(Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned dynamic_lds, Stream *stream,
                                            void **parameters) {
  if (launch_delay) usleep(launch_delay);
  ENTER;
  if (!kernel || !kernel->module->image) return hipErrorInvalidHandle;
  if (kernel->module->device != current) return hipErrorInvalidValue;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024) return hipErrorInvalidConfiguration;
  if ((uint64_t)gx * gy * gz > most_workgroups(kernel, bx * by * bz, dynamic_lds))
    return hipErrorCooperativeLaunchTooLarge;
  uint64_t size = number_of(kernel_metadata(kernel), ".kernarg_segment_size");
  if (size && !parameters) return hipErrorInvalidValue;
  /* Not documented: refused, so that nobody relies on it. */
  if (stream_of(stream)->capture) return hipErrorStreamCaptureUnsupported;
  Work *work = NULL;
  hipError_t code = submit(stream, LAUNCH, &work);
  if (code) return code;
  char *kernarg = calloc(1, size ? size : 1);
  work->nbytes = gather(kernel, parameters, kernarg);
  work->source = kernarg;
  work->kernel = kernel;
  work->is_cooperative = true;
  uint32_t shape[6] = {gx, gy, gz, bx, by, bz};
  memcpy(work->grid_and_block, shape, sizeof shape);
  work->dynamic_lds = dynamic_lds;
  return hipSuccess;
}
