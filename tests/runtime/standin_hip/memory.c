/* Allocations and copies. Part of amdhip64.c. */

/* ---- memory ---- */

static Allocation *find(const void *pointer, uint64_t nbytes) {
  uint64_t address = (uint64_t)pointer;
  for (Allocation *a = allocations; a; a = a->next)
    if (a->address <= address && address + nbytes <= a->address + a->nbytes) return a;
  return NULL;
}

static bool spoils_next_copy;
static hipError_t copy_spoiled(void *destination, uint64_t source, uint64_t nbytes) {
  hipError_t code = emulator.to_host(destination, source, nbytes);
  *(unsigned char *)destination ^= 1;
  spoils_next_copy = false;
  return code;
}

static hipError_t copy_now(int kind, void *destination, const void *source, uint64_t nbytes) {
  if (!is_emulated) {
    memmove(destination, source, nbytes);
    return hipSuccess;
  }
  if (kind == hipMemcpyHostToDevice) return emulator.to_device((uint64_t)destination, source, nbytes);
  if (kind == hipMemcpyDeviceToHost && spoils_next_copy) return copy_spoiled(destination, (uint64_t)source, nbytes);
  if (kind == hipMemcpyDeviceToHost) return emulator.to_host(destination, (uint64_t)source, nbytes);
  void *between = malloc(nbytes);
  hipError_t code = emulator.to_host(between, (uint64_t)source, nbytes);
  if (!code) code = emulator.to_device((uint64_t)destination, between, nbytes);
  free(between);
  return code;
}

static hipError_t launch_now(Work *work) {
  launches++;
  if (is_listed(miscomputed, work->kernel->name)) spoils_next_copy = true;
  if (is_emulated)
    return (work->is_cooperative ? emulator.launch_cooperative : emulator.launch)(
        work->kernel->module->emulated, work->kernel->name, work->grid_and_block, work->dynamic_lds, work->source,
        work->nbytes);
  uint64_t target;
  memcpy(&target, work->source, 8);
  if (!find((void *)target, 28 + work->nbytes)) return hipErrorLaunchFailure;
  memcpy((char *)target, work->grid_and_block, 24);
  memcpy((char *)target + 24, &work->dynamic_lds, 4);
  memcpy((char *)target + 28, work->source, work->nbytes);
  return hipSuccess;
}

hipError_t hipMalloc(void **pointer, size_t nbytes) {
  ENTER;
  REFUSE(refused_in_thread());
  *pointer = NULL;
  if (!nbytes) return hipSuccess;
  if (nbytes > total_memory() - used_memory) return hipErrorOutOfMemory;
  uint64_t address = is_emulated ? emulator.allocate(nbytes) : (uint64_t)aligned_alloc(4096, (nbytes + 4095) & ~4095ull);
  if (!address) return hipErrorOutOfMemory;
  Allocation *allocation = malloc(sizeof *allocation);
  *allocation = (Allocation){address, nbytes, current, allocations};
  allocations = allocation;
  used_memory += nbytes;
  *pointer = (void *)address;
  return hipSuccess;
}
static hipError_t release(uint64_t address) {
  for (Allocation **link = &allocations; *link; link = &(*link)->next) {
    Allocation *allocation = *link;
    if (allocation->address != address) continue;
    *link = allocation->next;
    used_memory -= allocation->nbytes;
    if (is_emulated) emulator.release(address);
    else free((void *)address);
    free(allocation);
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}
hipError_t hipFree(void *pointer) {
  ENTER;
  REFUSE(refused_in_thread());
  if (!pointer) return hipSuccess;
  if (running) { /* by Python's collector inside of an emulated launch: after the work that may use the memory */
    if (!find(pointer, 1)) return hipErrorInvalidValue;
    freed_late = realloc(freed_late, (freed_late_count + 1) * sizeof *freed_late);
    freed_late[freed_late_count++] = (uint64_t)pointer;
    return hipSuccess;
  }
  finish();
  return release((uint64_t)pointer);
}
/* hip_runtime_api.h, hipPointerAttribute_t; hipMemoryTypeDevice is 2. */
typedef struct {
  int type, device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
} PointerAttributes;
hipError_t hipPointerGetAttributes(PointerAttributes *attributes, const void *pointer) {
  ENTER;
  Allocation *allocation = find(pointer, 1);
  if (!allocation) return hipErrorInvalidValue;
  *attributes = (PointerAttributes){.type = 2, .device = allocation->device, .device_pointer = (void *)pointer};
  return hipSuccess;
}
hipError_t hipMemGetInfo(size_t *available, size_t *total) {
  ENTER;
  *total = total_memory();
  *available = *total - used_memory;
  return hipSuccess;
}

static hipError_t check_copy(void *destination, const void *source, size_t nbytes, int kind) {
  bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (!destination || !source || !(to_device || from_device)) return hipErrorInvalidValue;
  if (to_device && !find(destination, nbytes)) return hipErrorInvalidValue;
  if (from_device && !find(source, nbytes)) return hipErrorInvalidValue;
  return hipSuccess;
}
hipError_t hipMemcpy(void *destination, const void *source, size_t nbytes, int kind) {
  ENTER;
  REFUSE(refused_anywhere(hipErrorStreamCaptureImplicit));
  hipError_t code = check_copy(destination, source, nbytes, kind);
  if (!code) code = wait_for(null_stream(current));
  return code ? code : copy_now(kind, destination, source, nbytes);
}
hipError_t hipMemcpyPeerAsync(void *destination, int to, const void *source, int from, size_t nbytes, Stream *stream) {
  ENTER;
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
hipError_t hipMemcpyAsync(void *destination, const void *source, size_t nbytes, int kind, Stream *stream) {
  ENTER;
  hipError_t code = check_copy(destination, source, nbytes, kind);
  Work *work = NULL;
  if (!code) code = submit(stream, COPY, &work);
  if (code) return code;
  work->kind = kind;
  work->destination = destination;
  work->source = source;
  work->nbytes = nbytes;
  return hipSuccess;
}
