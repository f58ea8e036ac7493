/* Pinned, mapped and managed host memory. Part of amdhip64.c.
 *
 * Kernels reach all pinned memory, as on a real GPU. With STRICT they reach what was asked for with hipHostMallocMapped
 * only, and managed memory. */

enum { hipHostMallocPortable = 1, hipHostMallocMapped = 2, hipMemAttachGlobal = 1 };

static Allocation *host_allocations;

static bool is_mapped(const Allocation *allocation) { return !STRICT || allocation->flags & hipHostMallocMapped; }
static Allocation *find_pinned(const void *pointer, uint64_t nbytes) {
  for (Allocation *a = host_allocations; a; a = a->next)
    if (holds(a, (uint64_t)pointer, nbytes) && is_mapped(a)) return a;
  return NULL;
}
HIP(hipHostMalloc, (void **pointer, size_t nbytes, unsigned flags), (pointer, nbytes, flags)) {
  REFUSE(refused_in_thread());
  *pointer = NULL;
  if (STRICT && flags & ~(unsigned)(hipHostMallocPortable | hipHostMallocMapped)) return hipErrorInvalidValue;
  if (!nbytes) return hipSuccess;
  Allocation pinned = {.nbytes = nbytes, .flags = flags};
  pinned.address = is_mapped(&pinned) ? allocated(nbytes, true) : (uint64_t)malloc(nbytes);
  if (!pinned.address) return hipErrorOutOfMemory;
  note(&host_allocations, pinned);
  *pointer = (void *)pinned.address;
  return hipSuccess;
}
HIP(hipHostAlloc, (void **pointer, size_t nbytes, unsigned flags), (pointer, nbytes, flags)) {
  return do_hipHostMalloc(pointer, nbytes, flags);
}
HIP(hipMallocHost, (void **pointer, size_t nbytes), (pointer, nbytes)) { return do_hipHostMalloc(pointer, nbytes, 0); }
HIP(hipMemAllocHost, (void **pointer, size_t nbytes),
    (pointer, nbytes)) { return do_hipHostMalloc(pointer, nbytes, 0); }
HIP(hipHostGetDevicePointer, (void **there, void *pointer, unsigned flags), (there, pointer, flags)) {
  if (flags || !find_pinned(pointer, 1)) return hipErrorInvalidValue;
  *there = pointer;
  return hipSuccess;
}
HIP(hipHostGetFlags, (unsigned *flags, void *pointer), (flags, pointer)) {
  Allocation *pinned = find_pinned(pointer, 1);
  if (!pinned) return hipErrorInvalidValue;
  *flags = pinned->flags;
  return hipSuccess;
}
HIP(hipHostFree, (void *pointer), (pointer)) {
  REFUSE(refused_in_thread());
  if (!pointer && !STRICT) return hipSuccess;
  finish();
  for (Allocation **link = &host_allocations; *link; link = &(*link)->next) {
    Allocation *allocation = *link;
    if (allocation->address != (uint64_t)pointer || allocation->is_registered) continue;
    *link = allocation->next;
    if (is_mapped(allocation)) given_back(allocation->address);
    else free(pointer);
    free(allocation);
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}
HIP(hipFreeHost, (void *pointer), (pointer)) { return do_hipHostFree(pointer); }
/* Flags are those of pinned memory (portable, mapped), io memory and read-only. */
HIP(hipHostRegister, (void *pointer, size_t nbytes, unsigned flags), (pointer, nbytes, flags)) {
  uint64_t address = (uint64_t)pointer;
  if (!pointer || !nbytes || flags > 15 || address + nbytes < address) return hipErrorInvalidValue;
  for (Allocation *a = host_allocations; a; a = a->next)
    if (a->address < address + nbytes && address < a->address + a->nbytes) return hipErrorHostMemoryAlreadyRegistered;
  hipError_t code = emulator.adopt(address, nbytes);
  if (code) return code;
  note(&host_allocations, (Allocation){.address = address, .nbytes = nbytes, .flags = flags | hipHostMallocMapped,
                                       .is_registered = true});
  return hipSuccess;
}
HIP(hipHostUnregister, (void *pointer), (pointer)) {
  finish();
  for (Allocation **link = &host_allocations; *link; link = &(*link)->next) {
    Allocation *allocation = *link;
    if (allocation->address != (uint64_t)pointer || !allocation->is_registered) continue;
    *link = allocation->next;
    given_back(allocation->address);
    free(allocation);
    return hipSuccess;
  }
  return hipErrorHostMemoryNotRegistered;
}
HIP(hipMallocManaged, (void **pointer, size_t nbytes, unsigned flags), (pointer, nbytes, flags)) {
  if (flags != hipMemAttachGlobal && (STRICT || flags != 2)) return hipErrorInvalidValue;
  return new_allocation(pointer, nbytes, true);
}
/* Hints: the memory is the host's own. */
HIP(hipMemPrefetchAsync, (const void *pointer, size_t nbytes, int device, Stream *stream),
    (pointer, nbytes, device, stream)) {
  (void)device, (void)stream;
  return find(pointer, nbytes) ? hipSuccess : hipErrorInvalidValue;
}
HIP(hipMemAdvise, (const void *pointer, size_t nbytes, int advice, int device), (pointer, nbytes, advice, device)) {
  (void)advice, (void)device;
  return find(pointer, nbytes) ? hipSuccess : hipErrorInvalidValue;
}
HIP(hipStreamAttachMemAsync, (Stream *stream, void *pointer, size_t nbytes, unsigned flags),
    (stream, pointer, nbytes, flags)) {
  (void)stream, (void)flags;
  return find(pointer, nbytes ? nbytes : 1) ? hipSuccess : hipErrorInvalidValue;
}
