/* Allocations and copies. Part of amdhip64.c. */

/* ---- memory ---- */

/* Without the sum of both, which a program's mistake, such as -1 bytes, would make small. */
static bool holds(const Allocation *a, uint64_t address, uint64_t nbytes) {
  return a->address <= address && nbytes <= a->nbytes && address - a->address <= a->nbytes - nbytes;
}
static Allocation *find(const void *pointer, uint64_t nbytes) {
  for (Allocation *a = allocations; a; a = a->next)
    if (holds(a, (uint64_t)pointer, nbytes)) return a;
  return NULL;
}
/* How far rows extend, the largest number if 64 bits do not have it: no allocation is as long. */
static uint64_t extent_of(uint64_t rows, uint64_t pitch, uint64_t size, uint64_t count) {
  uint64_t before, last, extent;
  if (__builtin_mul_overflow(rows - 1, pitch, &before) || __builtin_mul_overflow(size, count, &last)) return UINT64_MAX;
  return __builtin_add_overflow(before, last, &extent) ? UINT64_MAX : extent;
}

static hipError_t copy_now(int kind, void *destination, const void *source, uint64_t nbytes) {
  if (kind == hipMemcpyHostToHost) {
    memmove(destination, source, nbytes);
    return hipSuccess;
  }
  if (kind == hipMemcpyHostToDevice) return emulator.to_device((uint64_t)destination, source, nbytes);
  if (kind == hipMemcpyDeviceToHost) return emulator.to_host(destination, (uint64_t)source, nbytes);
  void *between = malloc(nbytes);
  hipError_t code = emulator.to_host(between, (uint64_t)source, nbytes);
  if (!code) code = emulator.to_device((uint64_t)destination, between, nbytes);
  free(between);
  return code;
}

static hipError_t launch_now(Work *work) {
  launches++;
  hipError_t code = emulator.launch(work->kernel->module->emulated, work->kernel->name, work->grid_and_block,
                                    work->dynamic_lds, work->source, work->nbytes, work->is_cooperative);
  stop_first(work->kernel);
  return code;
}

/* Memory of the device, noted with the calls that asked for it. */
static uint64_t allocated(uint64_t nbytes, bool for_host) {
  void *frames[16];
  int count = backtrace(frames, 16);
  return emulator.allocate(nbytes, for_host, frames, (uint64_t)count);
}
static hipError_t given_back(uint64_t address) {
  void *frames[16];
  int count = backtrace(frames, 16);
  return emulator.release(address, frames, (uint64_t)count);
}
static void note(Allocation **list, Allocation given) {
  given.next = *list;
  *list = malloc(sizeof given);
  **list = given;
}
static hipError_t make_allocation(void **pointer, size_t nbytes, bool is_managed) {
  *pointer = NULL;
  if (!nbytes) return hipSuccess;
  if (nbytes > total_memory() - used_memory) return hipErrorOutOfMemory;
  uint64_t address = allocated(nbytes, is_managed);
  if (!address) return hipErrorOutOfMemory;
  note(&allocations, (Allocation){.address = address, .nbytes = nbytes, .device = current, .is_managed = is_managed});
  used_memory += nbytes;
  *pointer = (void *)address;
  return hipSuccess;
}
static hipError_t new_allocation(void **pointer, size_t nbytes, bool is_managed) {
  REFUSE(refused_in_thread());
  return make_allocation(pointer, nbytes, is_managed);
}
HIP(hipMalloc, (void **pointer, size_t nbytes), (pointer, nbytes)) {
  return pointer ? new_allocation(pointer, nbytes, false) : hipErrorInvalidValue;
}
static hipError_t release(uint64_t address) {
  for (Allocation **link = &allocations; *link; link = &(*link)->next) {
    Allocation *allocation = *link;
    if (allocation->address != address || allocation->is_symbol) continue;
    *link = allocation->next;
    used_memory -= allocation->nbytes;
    given_back(address);
    free(allocation);
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}
static hipError_t free_pinned(void *pointer);
static void forget_block(uint64_t address);
HIP(hipFree, (void *pointer), (pointer)) {
  REFUSE(refused_in_thread());
  if (!pointer) return hipSuccess;
  if (running) { /* by Python's collector inside of an emulated launch: after the work that may use the memory */
    if (!find(pointer, 1)) return hipErrorInvalidValue;
    freed_late = realloc(freed_late, (freed_late_count + 1) * sizeof *freed_late);
    freed_late[freed_late_count++] = (uint64_t)pointer;
    return hipSuccess;
  }
  finish();
  for (GraphMemory *memory = graph_memories; memory; memory = memory->next)
    if (memory->address == (uint64_t)pointer) memory->address = 0;
  forget_block((uint64_t)pointer);
  if (release((uint64_t)pointer) == hipSuccess) return hipSuccess;
  return free_pinned(pointer); /* ROCm's hipFree takes pinned memory, too */
}
/* hip_runtime_api.h, hipPointerAttribute_t; hipMemoryTypeDevice is 2, since HIP 6; before, host is 0 and device 1. */
typedef struct {
  int type, device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
} PointerAttributes;
static Allocation *find_pinned(const void *pointer, uint64_t nbytes);
HIP(hipPointerGetAttributes, (PointerAttributes *attributes, const void *pointer), (attributes, pointer)) {
  Allocation *allocation = find(pointer, 1), *pinned = find_pinned(pointer, 1);
  if (!allocation && !pinned) return hipErrorInvalidValue;
  int oldest = major_version() < 6;
  *attributes = (PointerAttributes){.type = (allocation ? 2 : 1) - oldest, .device_pointer = (void *)pointer};
  if (allocation) attributes->device = allocation->device;
  if (pinned || allocation->is_managed) attributes->host_pointer = (void *)pointer;
  if (allocation && allocation->is_managed) {
    attributes->is_managed = 1;
    if (!oldest) attributes->type = 3;
  }
  return hipSuccess;
}
HIP(hipMemGetAddressRange, (void **base, size_t *nbytes, void *pointer), (base, nbytes, pointer)) {
  Allocation *allocation = find(pointer, 1);
  if (!allocation) allocation = find_pinned(pointer, 1);
  if (!allocation) return hipErrorNotFound;
  if (base) *base = (void *)allocation->address;
  if (nbytes) *nbytes = allocation->nbytes;
  return hipSuccess;
}
HIP(hipMemPtrGetInfo, (void *pointer, size_t *nbytes), (pointer, nbytes)) {
  return nbytes ? do_hipMemGetAddressRange(NULL, nbytes, pointer) : hipErrorInvalidValue;
}
/* Flags ask for kinds of memory that are all the same here: fine-grained, uncached, for signals. */
HIP(hipExtMallocWithFlags, (void **pointer, size_t nbytes, unsigned flags), (pointer, nbytes, flags)) {
  (void)flags;
  return do_hipMalloc(pointer, nbytes);
}
HIP(hipMemGetInfo, (size_t *available, size_t *total), (available, total)) {
  *total = total_memory();
  *available = *total - used_memory;
  return hipSuccess;
}

/* Which way a copy goes: as its pointers say, where HIP is told a direction that they contradict, too (HIP's clr,
 * hip_memory.cpp). STRICT takes nothing but what is meant. */
static hipError_t check_copy(void *destination, const void *source, size_t nbytes, int *kind) {
  if (*kind < hipMemcpyHostToHost || *kind > hipMemcpyDefault) return hipErrorInvalidMemcpyDirection;
  bool to_device = *kind == hipMemcpyHostToDevice || *kind == hipMemcpyDeviceToDevice;
  bool from_device = *kind == hipMemcpyDeviceToHost || *kind == hipMemcpyDeviceToDevice;
  if (!destination || !source) return hipErrorInvalidValue;
  if (STRICT && !(to_device || from_device)) return hipErrorInvalidValue;
  if (!STRICT) {
    if (to_device && !find(destination, 1) && !find_pinned(destination, 1)) return hipErrorInvalidValue;
    if (from_device && !find(source, 1) && !find_pinned(source, 1)) return hipErrorInvalidValue;
    to_device = find(destination, 1);
    from_device = find(source, 1);
    *kind = to_device ? from_device ? hipMemcpyDeviceToDevice : hipMemcpyHostToDevice
                      : from_device ? hipMemcpyDeviceToHost : hipMemcpyHostToHost;
  }
  if (to_device && !find(destination, nbytes)) return hipErrorInvalidValue;
  if (from_device && !find(source, nbytes)) return hipErrorInvalidValue;
  return hipSuccess;
}
static hipError_t copy_and_wait(void *destination, const void *source, size_t nbytes, int kind, Stream *stream) {
  REFUSE(refused_anywhere(hipErrorStreamCaptureImplicit));
  if (!nbytes && !STRICT) return hipSuccess;
  hipError_t code = check_copy(destination, source, nbytes, &kind);
  if (!code) code = wait_for(stream);
  return code ? code : copy_now(kind, destination, source, nbytes);
}
static hipError_t queue_copy(void *destination, const void *source, size_t nbytes, int kind, Stream *stream) {
  if (!nbytes && !STRICT) return hipSuccess;
  hipError_t code = check_copy(destination, source, nbytes, &kind);
  Work *work = NULL;
  if (!code) code = submit(stream, COPY, &work);
  if (code) return code;
  work->kind = kind;
  work->destination = destination;
  work->source = source;
  work->nbytes = nbytes;
  return hipSuccess;
}
HIP(hipMemcpy, (void *destination, const void *source, size_t nbytes, int kind), (destination, source, nbytes, kind)) {
  return copy_and_wait(destination, source, nbytes, kind, null_stream(current));
}
HIP(hipMemcpyAsync, (void *destination, const void *source, size_t nbytes, int kind, Stream *stream),
    (destination, source, nbytes, kind, stream)) {
  return queue_copy(destination, source, nbytes, kind, stream);
}
HIP(hipMemcpyWithStream, (void *destination, const void *source, size_t nbytes, int kind, Stream *handle),
    (destination, source, nbytes, kind, handle)) {
  return copy_and_wait(destination, source, nbytes, kind, stream_of(handle));
}
HIP(hipMemcpyHtoD, (void *destination, const void *source, size_t nbytes), (destination, source, nbytes)) {
  return copy_and_wait(destination, source, nbytes, hipMemcpyHostToDevice, null_stream(current));
}
HIP(hipMemcpyDtoH, (void *destination, const void *source, size_t nbytes), (destination, source, nbytes)) {
  return copy_and_wait(destination, source, nbytes, hipMemcpyDeviceToHost, null_stream(current));
}
HIP(hipMemcpyDtoD, (void *destination, const void *source, size_t nbytes), (destination, source, nbytes)) {
  return copy_and_wait(destination, source, nbytes, hipMemcpyDeviceToDevice, null_stream(current));
}
HIP(hipMemcpyHtoDAsync, (void *destination, const void *source, size_t nbytes, Stream *stream),
    (destination, source, nbytes, stream)) {
  return queue_copy(destination, source, nbytes, hipMemcpyHostToDevice, stream);
}
HIP(hipMemcpyDtoHAsync, (void *destination, const void *source, size_t nbytes, Stream *stream),
    (destination, source, nbytes, stream)) {
  return queue_copy(destination, source, nbytes, hipMemcpyDeviceToHost, stream);
}
HIP(hipMemcpyDtoDAsync, (void *destination, const void *source, size_t nbytes, Stream *stream),
    (destination, source, nbytes, stream)) {
  return queue_copy(destination, source, nbytes, hipMemcpyDeviceToDevice, stream);
}
HIP(hipMemcpyPeer, (void *destination, int to, const void *source, int from, size_t nbytes),
    (destination, to, source, from, nbytes)) {
  if (to < 0 || to >= device_count() || from < 0 || from >= device_count()) return hipErrorInvalidDevice;
  return copy_and_wait(destination, source, nbytes, hipMemcpyDeviceToDevice, null_stream(current));
}
HIP(hipMemcpyPeerAsync,
    (void *destination, int to, const void *source, int from, size_t nbytes, Stream *stream),
    (destination, to, source, from, nbytes, stream)) {
  if (to < 0 || to >= device_count() || from < 0 || from >= device_count()) return hipErrorInvalidDevice;
  if (!nbytes) return hipSuccess;
  Allocation *there = find(destination, nbytes), *here = find(source, nbytes);
  if (!there || !here || there->device != to || here->device != from) return hipErrorInvalidValue;
  Work *work = NULL;
  hipError_t code = submit(stream, COPY, &work);
  if (code) return code;
  work->kind = hipMemcpyDeviceToDevice;
  work->destination = destination;
  work->source = source;
  work->nbytes = nbytes;
  return hipSuccess;
}
