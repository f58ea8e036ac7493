/* Streams as queues: what may run when, and the least favourable order of it. Part of amdhip64.c.
 *
 * The work of a stream is done in order. The null stream waits for what blocking streams have, and they wait for what it
 * has; streams made with hipStreamNonBlocking do neither (HIP programming guide, "Stream management"). Events and the
 * nodes of graphs make work wait for that of other streams. */

enum { hipStreamNonBlocking = 1 };
enum { MOST_DEVICES = 16 };

static Stream *null_stream(int device) {
  static Stream *streams[MOST_DEVICES];
  if (!streams[device]) {
    streams[device] = calloc(1, sizeof(Stream));
    *streams[device] = (Stream){.device = device, .alive = true, .older = newest};
    newest = streams[device];
  }
  return streams[device];
}
static Stream *make_stream(int device, unsigned flags, int priority) {
  null_stream(device); /* it is older than all others of its device */
  Stream *stream = new_handle(A_STREAM, sizeof *stream); /* never freed: work may name it */
  *stream = (Stream){.device = device, .alive = true, .flags = flags, .priority = priority, .older = newest};
  newest = stream;
  return stream;
}
/* The stream of a handle: 0 and 1 are the legacy stream of the current device, 2 is this thread's. A handle of no stream
 * counts as that of a destroyed one (hip::isValid of HIP's clr looks it up). */
static Stream *stream_of(Stream *handle) {
  static __thread Stream *of_thread[MOST_DEVICES];
  static __thread Stream unknown;
  if ((uint64_t)handle < 2) return null_stream(current);
  if ((uint64_t)handle != 2) {
    if (is_handle(A_STREAM, handle)) return handle;
    unknown = (Stream){.device = current};
    return &unknown;
  }
  if (!of_thread[current]) of_thread[current] = make_stream(current, 0, 0);
  return of_thread[current];
}
static bool is_null(Stream *stream) { return stream == null_stream(stream->device); }
static bool is_blocking(Stream *stream) { return !(stream->flags & hipStreamNonBlocking); }

/* Let a piece of work do what another one says, at its own place. */
static void set_work(Work *work, const Work *what) {
  Work place = *work;
  *work = *what;
  work->stream = place.stream;
  work->before = place.before;
  work->next = place.next;
  work->after = place.after;
  work->after_count = place.after_count;
  work->references = place.references;
  work->done = place.done;
  work->needed = place.needed;
}
static void let_go(Work *work) {
  if (!work || --work->references) return;
  free(work->after);
  free(work);
}
static void put_after(Work *work, Work *other) {
  if (!other || other->done) return;
  work->after = realloc(work->after, (work->after_count + 1) * sizeof *work->after);
  work->after[work->after_count++] = other;
  other->references++;
}
static Work *enqueue(Stream *stream, int what) {
  Work *work = calloc(1, sizeof *work);
  work->what = what;
  work->stream = stream;
  work->references = 1;
  work->before = stream->last;
  *(stream->last ? &stream->last->next : &stream->first) = work;
  stream->last = work;
  for (Stream *other = newest; other; other = other->older) {
    if (other == stream || other->device != stream->device || !is_blocking(other) || !is_blocking(stream)) continue;
    if (is_null(stream) || is_null(other)) put_after(work, other->last);
  }
  return work;
}

static hipError_t copy_now(int kind, void *destination, const void *source, uint64_t nbytes);
static hipError_t launch_now(Work *work);
static hipError_t fill_now(const Work *work);
static hipError_t copy_rows_now(const Work *work);
static void freed(Work *work);
static hipError_t release(uint64_t address);

static uint64_t *freed_late;
static unsigned freed_late_count;

/* What work fails with is told by the first call that waits for it, as HIP does. */
static void run(Work *work) {
  Stream *stream = work->stream; /* taken out first: Python may free memory meanwhile, which finishes all work */
  stream->first = work->next;
  if (!stream->first) stream->last = NULL;
  else stream->first->before = NULL;
  hipError_t code = hipSuccess;
  running++;
  stream->running++;
  if (work->what == COPY) code = copy_now(work->kind, work->destination, work->source, work->nbytes);
  if (work->what == FILL) code = fill_now(work);
  if (work->what == ROWS) code = copy_rows_now(work);
  if (work->what == FREE) freed(work);
  if (work->what == LAUNCH) {
    code = launch_now(work);
    free((void *)work->source);
  }
  if (work->what == EVENT) {
    uint64_t time = emulator.time();
    clock_gettime(CLOCK_MONOTONIC, &work->event->time);
    if (time) work->event->time = (struct timespec){time / 1000000000, time % 1000000000};
    if (work->event->work == work) work->event->work = NULL;
  }
  if (work->what == HOST) {
    in_host_function = true;
    work->function(work->data);
    in_host_function = false;
  }
  running--;
  stream->running--;
  if (code && !sticky) sticky = code;
  work->done = true;
  for (unsigned i = 0; i < work->after_count; i++) let_go(work->after[i]);
  work->after_count = 0;
  let_go(work);
}
static bool is_ready(const Work *work) {
  for (unsigned i = 0; i < work->after_count; i++)
    if (!work->after[i]->done) return false;
  return true;
}
static void mark_needed(Work *work) {
  for (; work && !work->needed; work = work->before) {
    work->needed = true;
    for (unsigned i = 0; i < work->after_count; i++)
      if (!work->after[i]->done) mark_needed(work->after[i]);
  }
}
/* Do one piece of work on the way to those that are needed; false if there is none. */
static bool step(void) {
  Stream *chosen = NULL;
  unsigned candidates = 0;
  for (Stream *stream = newest; stream; stream = stream->older) {
    if (!stream->first || stream->running || !is_ready(stream->first)) continue;
    if (!order) {
      if (!stream->first->needed) continue;
      chosen = stream;
      break;
    }
    if (rand_r(&order) % ++candidates == 0) chosen = stream;
  }
  if (order == 0 && chosen == NULL) return false;
  if (chosen) run(chosen->first);
  return chosen != NULL;
}
static void finish_work(Work *work) {
  if (!work || work->done) return;
  work->references++;
  mark_needed(work);
  while (!work->done && step());
  let_go(work);
}
static void finish_stream(Stream *stream) {
  if (!is_null(stream)) {
    finish_work(stream->last);
    return;
  }
  finish_work(enqueue(stream, MARK)); /* waits for the blocking streams, too */
}
/* Do all queued work, that of the newest stream first. */
static void finish(void) {
  for (Stream *stream = newest; stream; stream = stream->older) finish_work(stream->last);
  while (!running && freed_late_count) release(freed_late[--freed_late_count]);
}
static hipError_t told(void) {
  hipError_t code = sticky;
  sticky = hipSuccess;
  return code;
}
static hipError_t wait_for(Stream *stream) {
  waits++;
  finish_stream(stream);
  return told();
}
static hipError_t wait_for_all(void) {
  waits++;
  finish();
  return told();
}
