/* Pinned, mapped and managed host memory. Part of amdhip64.c.
 *
 * Kernels reach what was asked for with hipHostMallocMapped and managed memory; on a real GPU they may reach all pinned
 * memory, which no program should rely on. */

enum { hipHostMallocPortable = 1, hipHostMallocMapped = 2, hipMemAttachGlobal = 1 };

static Allocation *host_allocations; /* device: the flags of hipHostMalloc */

static uint64_t mapped(size_t nbytes) {
  return is_emulated ? emulator.allocate(nbytes) : (uint64_t)aligned_alloc(4096, (nbytes + 4095) & ~4095ull);
}
hipError_t hipHostMalloc(void **pointer, size_t nbytes, unsigned flags) {
  ENTER;
  REFUSE(refused_in_thread());
  *pointer = NULL;
  if (flags & ~(unsigned)(hipHostMallocPortable | hipHostMallocMapped)) return hipErrorInvalidValue;
  if (!nbytes) return hipSuccess;
  uint64_t address = flags & hipHostMallocMapped ? mapped(nbytes) : (uint64_t)malloc(nbytes);
  if (!address) return hipErrorOutOfMemory;
  Allocation *allocation = malloc(sizeof *allocation);
  *allocation = (Allocation){address, nbytes, (int)flags, host_allocations};
  host_allocations = allocation;
  *pointer = (void *)address;
  return hipSuccess;
}
hipError_t hipHostGetDevicePointer(void **there, void *pointer, unsigned flags) {
  ENTER;
  if (flags) return hipErrorInvalidValue;
  for (Allocation *a = host_allocations; a; a = a->next)
    if (a->address == (uint64_t)pointer && a->device & hipHostMallocMapped) {
      *there = pointer;
      return hipSuccess;
    }
  return hipErrorInvalidValue;
}
hipError_t hipHostFree(void *pointer) {
  ENTER;
  REFUSE(refused_in_thread());
  finish();
  for (Allocation **link = &host_allocations; *link; link = &(*link)->next) {
    Allocation *allocation = *link;
    if (allocation->address != (uint64_t)pointer) continue;
    *link = allocation->next;
    if (is_emulated && allocation->device & hipHostMallocMapped) emulator.release(allocation->address);
    else free(pointer);
    free(allocation);
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}
hipError_t hipMallocManaged(void **pointer, size_t nbytes, unsigned flags) {
  if (flags != hipMemAttachGlobal) return hipErrorInvalidValue;
  return hipMalloc(pointer, nbytes);
}
/* How many allocations of hipHostMalloc there are. */
uint64_t standin_host_allocations(void) {
  uint64_t count = 0;
  for (Allocation *a = host_allocations; a; a = a->next) count++;
  return count;
}
