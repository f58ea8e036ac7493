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
static hipError_t free_pinned(void *pointer) {
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
HIP(hipHostFree, (void *pointer), (pointer)) {
  REFUSE(refused_in_thread());
  if (!pointer && !STRICT) return hipSuccess;
  finish();
  return free_pinned(pointer);
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
  (void)stream;
  Allocation *allocation = find(pointer, nbytes);
  if (allocation) allocation->places[2] = device + 2;
  return allocation ? hipSuccess : hipErrorInvalidValue;
}
HIP(hipMemAdvise, (const void *pointer, size_t nbytes, int advice, int device), (pointer, nbytes, advice, device)) {
  Allocation *allocation = find(pointer, nbytes);
  if (!allocation || advice < 1) return hipErrorInvalidValue;
  if (advice <= 2) allocation->is_read_mostly = advice == 1;
  else if (advice <= 6) allocation->places[(advice - 3) / 2] = advice % 2 ? device + 2 : 0;
  return hipSuccess;
}
/* hipMemRangeAttribute: read mostly, preferred location, accessed by, location of the last prefetch; -2 is none. */
HIP(hipMemRangeGetAttribute, (int *data, size_t size, int attribute, const void *pointer, size_t nbytes),
    (data, size, attribute, pointer, nbytes)) {
  Allocation *allocation = data && pointer && nbytes ? find(pointer, nbytes) : NULL;
  if (!allocation || size < 4 || size % 4) return hipErrorInvalidValue;
  if (attribute == 100) *data = 0; /* coherent in fine grains */
  else if (attribute < 1 || attribute > 4) return hipErrorInvalidValue;
  else *data = attribute == 1 ? allocation->is_read_mostly : allocation->places[attribute - 2] - 2;
  if (attribute == 3)
    for (size_t i = 1; i < size / 4; i++) data[i] = -2;
  return hipSuccess;
}
HIP(hipMemRangeGetAttributes,
    (int **data, size_t *sizes, int *attributes, size_t count, const void *pointer, size_t nbytes),
    (data, sizes, attributes, count, pointer, nbytes)) {
  if (!data || !sizes || !attributes || !count) return hipErrorInvalidValue;
  hipError_t code = hipSuccess;
  for (size_t i = 0; i < count && !code; i++)
    code = do_hipMemRangeGetAttribute(data[i], sizes[i], attributes[i], pointer, nbytes);
  return code;
}
HIP(hipStreamAttachMemAsync, (Stream *stream, void *pointer, size_t nbytes, unsigned flags),
    (stream, pointer, nbytes, flags)) {
  (void)stream, (void)flags;
  return find(pointer, nbytes ? nbytes : 1) ? hipSuccess : hipErrorInvalidValue;
}
