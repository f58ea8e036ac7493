/* Handles: what programs get, and give back later. Part of amdhip64.c.
 *
 * A program may pass what is none, or was one once. It is looked up here and never read before, so that it is refused
 * as HIP does and ends nothing. What a handle has named is not freed where work, events or graphs may still name it. */

typedef enum {
  A_STREAM = 1, AN_EVENT, A_GRAPH, A_NODE, AN_EXECUTABLE, A_POOL, A_MODULE, A_KERNEL, A_PROGRAM,
} HandleKind;
/* A slot of a table with open addressing; kind 0: it was a handle. */
typedef struct { const void *address; int kind; } Handle;
static Handle *handles;
static size_t handle_slots, handle_count;

static Handle *slot_of(const void *address) {
  size_t at = ((uint64_t)address >> 4) * 0x9e3779b97f4a7c15 & (handle_slots - 1);
  while (handles[at].address && handles[at].address != address) at = (at + 1) & (handle_slots - 1);
  return &handles[at];
}
static void note_handle(HandleKind kind, const void *address) {
  pthread_mutex_lock(&lock); /* hiprtc's functions do not have it */
  if (2 * handle_count >= handle_slots) {
    Handle *old = handles;
    size_t slots = handle_slots;
    handle_slots = slots ? 2 * slots : 256;
    handles = calloc(handle_slots, sizeof *handles);
    handle_count = 0;
    for (size_t i = 0; i < slots; i++)
      if (old[i].kind) *slot_of(old[i].address) = old[i], handle_count++;
    free(old);
  }
  Handle *slot = slot_of(address);
  handle_count += !slot->address;
  *slot = (Handle){address, kind};
  pthread_mutex_unlock(&lock);
}
static bool is_handle(HandleKind kind, const void *address) {
  pthread_mutex_lock(&lock);
  bool found = address && handle_slots && slot_of(address)->kind == (int)kind;
  pthread_mutex_unlock(&lock);
  return found;
}
/* False: it is no handle. */
static bool end_handle(HandleKind kind, const void *address) {
  pthread_mutex_lock(&lock);
  bool found = is_handle(kind, address);
  if (found) slot_of(address)->kind = 0;
  pthread_mutex_unlock(&lock);
  return found;
}
static void *new_handle(HandleKind kind, size_t nbytes) {
  void *made = calloc(1, nbytes);
  note_handle(kind, made);
  return made;
}
