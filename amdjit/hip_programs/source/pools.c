/* Memory pools. Part of amdhip64.c.
 *
 * What is freed in a stream is used again at once in that stream, and in others when the stream has done it: the
 * earliest that HIP allows. */

enum {
  hipMemPoolAttrReleaseThreshold = 4, hipMemPoolAttrReservedMemCurrent, hipMemPoolAttrReservedMemHigh,
  hipMemPoolAttrUsedMemCurrent, hipMemPoolAttrUsedMemHigh,
};
enum { GRANULE = 512 };

typedef struct { int allocation_type, handle_types; struct { int type, id; } location; } PoolProperties;
typedef struct Block {
  uint64_t address, nbytes;
  enum { USED, FREED, IDLE } state;
  Stream *freed_in;
  Work *freed_by; /* the last of them: it may be freed, used and freed again before the work is done */
  struct Block *next;
} Block;
typedef struct Pool { int device; bool alive; uint64_t threshold, reserved; Block *blocks; struct Pool *next; } Pool;

static Pool *pools;

static bool is_pool(const Pool *wanted) {
  for (Pool *pool = pools; pool; pool = pool->next)
    if (pool == wanted) return pool->alive;
  return false;
}
HIP(hipMemPoolCreate, (Pool **pool, const PoolProperties *properties), (pool, properties)) {
  if (properties->allocation_type != 1 || properties->location.type != 1) return hipErrorInvalidValue;
  if (properties->location.id < 0 || properties->location.id >= device_count()) return hipErrorInvalidDevice;
  *pool = calloc(1, sizeof **pool); /* never freed, so that a use after hipMemPoolDestroy is seen */
  **pool = (Pool){.device = properties->location.id, .alive = true, .next = pools};
  pools = *pool;
  return hipSuccess;
}
static hipError_t give_back(Pool *pool, uint64_t most) {
  for (Block **link = &pool->blocks; *link;) {
    Block *block = *link;
    if (block->state != IDLE || pool->reserved <= most) {
      link = &block->next;
      continue;
    }
    *link = block->next;
    pool->reserved -= block->nbytes;
    hipError_t code = do_hipFree((void *)block->address);
    if (code) return code;
    free(block);
  }
  return hipSuccess;
}
HIP(hipMemPoolDestroy, (Pool *pool), (pool)) {
  if (!is_pool(pool)) return hipErrorInvalidValue;
  finish();
  pool->alive = false;
  return give_back(pool, 0);
}
HIP(hipMemPoolSetAttribute, (Pool *pool, int attribute, void *value), (pool, attribute, value)) {
  if (!is_pool(pool) || attribute != hipMemPoolAttrReleaseThreshold) return hipErrorInvalidValue;
  memcpy(&pool->threshold, value, 8);
  return hipSuccess;
}
HIP(hipMemPoolGetAttribute, (Pool *pool, int attribute, void *value), (pool, attribute, value)) {
  if (!is_pool(pool) || attribute != hipMemPoolAttrReservedMemCurrent) return hipErrorInvalidValue;
  memcpy(value, &pool->reserved, 8);
  return hipSuccess;
}
HIP(hipMemPoolTrimTo, (Pool *pool, size_t most), (pool, most)) {
  return is_pool(pool) ? give_back(pool, most) : hipErrorInvalidValue;
}

/* Memory of a graph: from the capture, or the node, until the graph and its executables are gone. */
static hipError_t give_memory(Work *work, void **pointer, size_t nbytes) {
  hipError_t code = make_allocation(pointer, nbytes, false);
  if (code) return code;
  GraphMemory *memory = malloc(sizeof *memory);
  *memory = (GraphMemory){(uint64_t)*pointer, 1, graph_memories};
  work->data = graph_memories = memory;
  return hipSuccess;
}
static void let_go_of_memory(GraphMemory *memory) {
  if (--memory->users) return;
  if (memory->address) release(memory->address);
  GraphMemory **link = &graph_memories;
  while (*link != memory) link = &(*link)->next;
  *link = memory->next;
  free(memory);
}
HIP(hipMallocFromPoolAsync, (void **pointer, size_t nbytes, Pool *pool, Stream *handle),
    (pointer, nbytes, pool, handle)) {
  *pointer = NULL;
  Stream *stream = stream_of(handle);
  if (!is_pool(pool)) return hipErrorInvalidValue;
  if (!nbytes) return hipSuccess;
  if (!stream->alive || stream->device != current) return hipErrorInvalidHandle;
  if (stream->capture) {
    Work *work = NULL;
    hipError_t code = submit(handle, MARK, &work);
    if (!code) code = give_memory(work, pointer, nbytes);
    return code;
  }
  REFUSE(refused_in_thread());
  uint64_t size = (nbytes + GRANULE - 1) & ~(GRANULE - 1ull);
  for (Block *block = pool->blocks; block; block = block->next) {
    if (block->nbytes != size || block->state == USED) continue;
    if (block->state == FREED && block->freed_in != stream) continue;
    block->state = USED;
    *pointer = (void *)block->address;
    return hipSuccess;
  }
  hipError_t code = new_allocation(pointer, size, false);
  if (code) return code;
  Block *block = malloc(sizeof *block);
  *block = (Block){(uint64_t)*pointer, size, USED, NULL, NULL, pool->blocks};
  pool->blocks = block;
  pool->reserved += size;
  return hipSuccess;
}
/* The pool of a device, from which hipMallocAsync takes. */
static Pool *default_pool(int device) {
  static Pool *made[MOST_DEVICES];
  if (!made[device]) {
    made[device] = calloc(1, sizeof(Pool));
    *made[device] = (Pool){.device = device, .alive = true, .next = pools};
    pools = made[device];
  }
  return made[device];
}
HIP(hipDeviceGetDefaultMemPool, (Pool **pool, int device), (pool, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  *pool = default_pool(device);
  return hipSuccess;
}
HIP(hipDeviceGetMemPool, (Pool **pool, int device), (pool, device)) {
  return do_hipDeviceGetDefaultMemPool(pool, device);
}
HIP(hipMallocAsync, (void **pointer, size_t nbytes, Stream *stream), (pointer, nbytes, stream)) {
  return do_hipMallocFromPoolAsync(pointer, nbytes, default_pool(current), stream);
}
static void freed(Work *work) {
  Block *block = work->data;
  if (block->state == FREED && block->freed_by == work) block->state = IDLE;
  if (STRICT) return;
  for (Pool *pool = pools; pool; pool = pool->next) give_back(pool, 0); /* so that a use of it is noticed */
}
HIP(hipFreeAsync, (void *pointer, Stream *handle), (pointer, handle)) {
  if (!pointer) return hipSuccess;
  if (stream_of(handle)->capture) { /* its memory stays until the graph and all that were made of it are gone */
    Work *work = NULL;
    return submit(handle, MARK, &work);
  }
  REFUSE(refused_in_thread());
  for (Pool *pool = pools; pool; pool = pool->next)
    for (Block *block = pool->blocks; block; block = block->next) {
      if (block->address != (uint64_t)pointer) continue;
      if (block->state != USED) return hipErrorInvalidValue;
      Work *work = NULL;
      hipError_t code = submit(handle, FREE, &work);
      if (code) return code;
      block->state = FREED;
      block->freed_in = stream_of(handle);
      block->freed_by = work;
      work->data = block;
      return hipSuccess;
    }
  return do_hipFree(pointer); /* as clr does with memory of hipMalloc */
}
