/* Memory pools. Part of amdhip64.c.
 *
 * What is freed in a stream is used again at once in that stream, and in others when the stream has done it: the
 * earliest that HIP allows. */

/* hipMemPoolAttr; the first three are whether memory may be used again in other streams. */
enum {
  hipMemPoolReuseFollowEventDependencies = 1, hipMemPoolReuseAllowOpportunistic, hipMemPoolReuseAllowInternalDependencies,
  hipMemPoolAttrReleaseThreshold, hipMemPoolAttrReservedMemCurrent, hipMemPoolAttrReservedMemHigh,
  hipMemPoolAttrUsedMemCurrent, hipMemPoolAttrUsedMemHigh,
};
enum { GRANULE = 512 };

typedef struct { int type, id; } Location; /* hipMemLocation; type 1: a device */
typedef struct { int allocation_type, handle_types; Location location; } PoolProperties;
typedef struct Block {
  uint64_t address, nbytes;
  enum { USED, FREED, IDLE } state;
  Stream *freed_in;
  Work *freed_by; /* the last of them: it may be freed, used and freed again before the work is done */
  struct Block *next;
} Block;
/* bytes and most: reserved and used ones, now and at most since somebody asked to count anew. */
typedef struct Pool {
  int device, reuses[3];
  uint64_t threshold, bytes[2], most[2];
  Block *blocks;
  struct Pool *next;
} Pool;
enum { RESERVED, IN_USE };

static Pool *pools; /* all that ever were */
static Pool *current_pools[MOST_DEVICES]; /* from which hipMallocAsync takes; NULL: the default one */

static bool is_pool(const Pool *pool) { return is_handle(A_POOL, pool); }
static Pool *make_pool(int device) {
  Pool *pool = new_handle(A_POOL, sizeof *pool); /* never freed: it may have blocks that are in use */
  *pool = (Pool){.device = device, .reuses = {1, 1, 1}, .next = pools};
  return pools = pool;
}
static Pool *default_pool(int device) {
  static Pool *made[MOST_DEVICES];
  if (!made[device]) made[device] = make_pool(device);
  return made[device];
}
static Pool *current_pool(int device) {
  return current_pools[device] ? current_pools[device] : default_pool(device);
}
static void count_bytes(Pool *pool, int which, uint64_t more) {
  pool->bytes[which] += more;
  if (pool->bytes[which] > pool->most[which]) pool->most[which] = pool->bytes[which];
}
HIP(hipMemPoolCreate, (Pool **pool, const PoolProperties *properties), (pool, properties)) {
  if (!pool || !properties || properties->allocation_type != 1 || properties->location.type != 1)
    return hipErrorInvalidValue;
  if (!is_device(properties->location.id)) return hipErrorInvalidDevice;
  *pool = make_pool(properties->location.id);
  return hipSuccess;
}
static hipError_t give_back(Pool *pool, uint64_t most) {
  for (Block **link = &pool->blocks; *link;) {
    Block *block = *link;
    if (block->state != IDLE || pool->bytes[RESERVED] <= most) {
      link = &block->next;
      continue;
    }
    *link = block->next;
    pool->bytes[RESERVED] -= block->nbytes;
    hipError_t code = do_hipFree((void *)block->address);
    if (code) return code;
    free(block);
  }
  return hipSuccess;
}
/* hipFree takes memory of a pool, too. */
static void forget_block(uint64_t address) {
  for (Pool *pool = pools; pool; pool = pool->next)
    for (Block **link = &pool->blocks; *link; link = &(*link)->next) {
      Block *block = *link;
      if (block->address != address) continue;
      *link = block->next;
      pool->bytes[RESERVED] -= block->nbytes;
      if (block->state == USED) pool->bytes[IN_USE] -= block->nbytes;
      free(block);
      return;
    }
}
HIP(hipMemPoolDestroy, (Pool *pool), (pool)) {
  if (!is_pool(pool) || pool == default_pool(pool->device)) return hipErrorInvalidValue;
  finish();
  end_handle(A_POOL, pool);
  if (current_pools[pool->device] == pool) current_pools[pool->device] = NULL;
  return give_back(pool, 0);
}
/* A count of the most bytes may only begin anew. */
HIP(hipMemPoolSetAttribute, (Pool *pool, int attribute, const void *value), (pool, attribute, value)) {
  static const uint64_t anew = 0;
  if (!is_pool(pool) || !value) return hipErrorInvalidValue;
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies: case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      memcpy(&pool->reuses[attribute - 1], value, sizeof *pool->reuses);
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
      memcpy(&pool->threshold, value, sizeof pool->threshold);
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh: case hipMemPoolAttrUsedMemHigh: {
      int which = attribute == hipMemPoolAttrUsedMemHigh;
      if (memcmp(value, &anew, sizeof anew)) return hipErrorInvalidValue;
      pool->most[which] = pool->bytes[which];
      return hipSuccess;
    }
  }
  return hipErrorInvalidValue;
}
HIP(hipMemPoolGetAttribute, (Pool *pool, int attribute, void *value), (pool, attribute, value)) {
  if (!is_pool(pool) || !value || attribute < 1 || attribute > hipMemPoolAttrUsedMemHigh) return hipErrorInvalidValue;
  if (attribute < hipMemPoolAttrReleaseThreshold) {
    memcpy(value, &pool->reuses[attribute - 1], sizeof *pool->reuses);
    return hipSuccess;
  }
  const uint64_t values[] = {pool->threshold, pool->bytes[RESERVED], pool->most[RESERVED], pool->bytes[IN_USE],
                             pool->most[IN_USE]};
  memcpy(value, &values[attribute - hipMemPoolAttrReleaseThreshold], sizeof *values);
  return hipSuccess;
}
/* A pool is its device's own: it always has access, and others, which are no peers, never do. */
typedef struct { Location location; int flags; } Access;
enum { READ_AND_WRITE = 3 };
HIP(hipMemPoolSetAccess, (Pool *pool, const Access *wanted, size_t count), (pool, wanted, count)) {
  if (!is_pool(pool) || (count && !wanted)) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; i++) {
    if (wanted[i].location.type != 1) return hipErrorInvalidValue;
    if (!is_device(wanted[i].location.id)) return hipErrorInvalidDevice;
    bool is_own = wanted[i].location.id == pool->device;
    if (is_own != (wanted[i].flags == READ_AND_WRITE)) return hipErrorInvalidValue;
  }
  return hipSuccess;
}
HIP(hipMemPoolGetAccess, (int *flags, Pool *pool, const Location *location), (flags, pool, location)) {
  if (!flags || !is_pool(pool) || !location || location->type != 1) return hipErrorInvalidValue;
  if (!is_device(location->id)) return hipErrorInvalidDevice;
  *flags = location->id == pool->device ? READ_AND_WRITE : 0;
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
  work->kind = NODE_ALLOCATE;
  return hipSuccess;
}
/* What a graph frees: memory of a graph, which that graph has not freed yet. The memory stays until the graph and all
 * that were made of it are gone. */
static hipError_t check_graph_free(const Graph *graph, const void *pointer) {
  GraphMemory *memory = graph_memories;
  while (memory && memory->address != (uint64_t)pointer) memory = memory->next;
  if (!pointer || !memory) return hipErrorInvalidValue;
  for (Node *node = graph->first; node; node = node->next)
    if (node->work.kind == NODE_FREE && node->work.destination == pointer) return hipErrorInvalidValue;
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
  if (!pointer) return hipErrorInvalidValue;
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
    count_bytes(pool, IN_USE, size);
    *pointer = (void *)block->address;
    return hipSuccess;
  }
  hipError_t code = new_allocation(pointer, size, false);
  if (code) return code;
  Block *block = malloc(sizeof *block);
  *block = (Block){(uint64_t)*pointer, size, USED, NULL, NULL, pool->blocks};
  pool->blocks = block;
  count_bytes(pool, RESERVED, size);
  count_bytes(pool, IN_USE, size);
  return hipSuccess;
}
HIP(hipDeviceGetDefaultMemPool, (Pool **pool, int device), (pool, device)) {
  if (!pool) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  *pool = default_pool(device);
  return hipSuccess;
}
HIP(hipDeviceGetMemPool, (Pool **pool, int device), (pool, device)) {
  if (!pool) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  *pool = current_pool(device);
  return hipSuccess;
}
HIP(hipDeviceSetMemPool, (int device, Pool *pool), (device, pool)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  if (!is_pool(pool) || pool->device != device) return hipErrorInvalidValue;
  current_pools[device] = pool;
  return hipSuccess;
}
HIP(hipMallocAsync, (void **pointer, size_t nbytes, Stream *stream), (pointer, nbytes, stream)) {
  return do_hipMallocFromPoolAsync(pointer, nbytes, current_pool(current), stream);
}
static void freed(Work *work) {
  Block *block = work->data;
  if (block->state == FREED && block->freed_by == work) block->state = IDLE;
  if (STRICT) return;
  for (Pool *pool = pools; pool; pool = pool->next) give_back(pool, 0); /* so that a use of it is noticed */
}
HIP(hipFreeAsync, (void *pointer, Stream *handle), (pointer, handle)) {
  if (!pointer) return hipSuccess;
  if (stream_of(handle)->capture) {
    Work *work = NULL;
    REFUSE(check_graph_free(stream_of(handle)->capture->graph, pointer));
    hipError_t code = submit(handle, MARK, &work);
    if (!code) *work = (Work){.what = MARK, .kind = NODE_FREE, .destination = pointer};
    return code;
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
      pool->bytes[IN_USE] -= block->nbytes;
      block->freed_in = stream_of(handle);
      block->freed_by = work;
      work->data = block;
      return hipSuccess;
    }
  return do_hipFree(pointer); /* as clr does with memory of hipMalloc */
}
