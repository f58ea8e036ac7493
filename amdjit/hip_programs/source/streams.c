/* Streams and events. Part of amdhip64.c. */

/* ---- streams ---- */

enum { LEAST_PRIORITY = 1, GREATEST_PRIORITY = -1 };

static hipError_t do_hipDeviceSynchronize(void);
HIP(hipCtxSynchronize, (void), ()) { return do_hipDeviceSynchronize(); }
HIP(hipDeviceSynchronize, (void), ()) {
  REFUSE(refused_anywhere(hipErrorStreamCaptureUnsupported));
  return wait_for_all();
}
HIP(hipDeviceGetStreamPriorityRange, (int *least, int *greatest), (least, greatest)) {
  *least = LEAST_PRIORITY;
  *greatest = GREATEST_PRIORITY;
  return hipSuccess;
}
HIP(hipStreamCreateWithPriority, (Stream **stream, unsigned flags, int priority), (stream, flags, priority)) {
  if (flags & ~(unsigned)hipStreamNonBlocking) return hipErrorInvalidValue;
  if (priority > LEAST_PRIORITY) priority = LEAST_PRIORITY;
  if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
  *stream = make_stream(current, flags, priority);
  return hipSuccess;
}
HIP(hipStreamCreate, (Stream **stream), (stream)) {
  *stream = make_stream(current, 0, 0);
  return hipSuccess;
}
HIP(hipStreamCreateWithFlags, (Stream **stream, unsigned flags), (stream, flags)) {
  return do_hipStreamCreateWithPriority(stream, flags, 0);
}
HIP(hipStreamGetFlags, (Stream *handle, unsigned *flags), (handle, flags)) {
  Stream *stream = stream_of(handle);
  if (!stream->alive) return hipErrorInvalidHandle;
  *flags = stream->flags;
  return hipSuccess;
}
HIP(hipDeviceReset, (void), ()) {
  finish();
  return told();
}
HIP(hipStreamGetPriority, (Stream *handle, int *priority), (handle, priority)) {
  Stream *stream = stream_of(handle);
  if (!stream->alive) return hipErrorInvalidHandle;
  *priority = stream->priority;
  return hipSuccess;
}
HIP(hipStreamGetDevice, (Stream *handle, int *device), (handle, device)) {
  Stream *stream = stream_of(handle);
  if (!stream->alive) return hipErrorInvalidHandle;
  *device = stream->device;
  return hipSuccess;
}
HIP(hipStreamDestroy, (Stream *stream), (stream)) {
  if (!end_handle(A_STREAM, stream)) return hipErrorInvalidHandle;
  stream->alive = false; /* what it has is still done */
  return hipSuccess;
}
/* Why a stream cannot be waited for: it is captured, or another one is captured in this thread. */
static hipError_t refused_to_wait(Stream *stream) {
  if (!stream->alive) return hipErrorInvalidHandle;
  if (stream->capture) {
    stream->capture->is_valid = false;
    return hipErrorStreamCaptureUnsupported;
  }
  return is_null(stream) ? hipSuccess : refused_in_thread();
}
HIP(hipStreamSynchronize, (Stream *handle), (handle)) {
  Stream *stream = stream_of(handle);
  REFUSE(refused_to_wait(stream));
  return wait_for(stream);
}
/* A query brings the work on by one piece, so that a program that asks again and again ends. */
static hipError_t queried(Work *work) {
  if (!work) return told();
  mark_needed(work);
  step();
  return hipErrorNotReady;
}
HIP(hipStreamQuery, (Stream *handle), (handle)) {
  Stream *stream = stream_of(handle);
  REFUSE(refused_to_wait(stream));
  return queried(stream->last);
}

/* ---- events ---- */

enum { hipEventBlockingSync = 1, hipEventDisableTiming = 2, hipEventExternal = 1 };
/* hipEventDisableSystemFence, hipEventReleaseToDevice, hipEventReleaseToSystem: hints about caches. */
static const unsigned EVENT_HINTS = hipEventBlockingSync | 0xe0000000u;

static bool is_event(const Event *event) { return is_handle(AN_EVENT, event); }
HIP(hipEventCreateWithFlags, (Event **event, unsigned flags), (event, flags)) {
  if (!event || flags & ~(hipEventDisableTiming | (STRICT ? 0 : EVENT_HINTS))) return hipErrorInvalidValue;
  *event = new_handle(AN_EVENT, sizeof **event); /* never freed, so that work may still reach it */
  (*event)->timed = !(flags & hipEventDisableTiming);
  return hipSuccess;
}
HIP(hipEventCreate, (Event **event), (event)) { return do_hipEventCreateWithFlags(event, 0); }
HIP(hipEventDestroy, (Event *event), (event)) {
  return end_handle(AN_EVENT, event) ? hipSuccess : hipErrorInvalidHandle;
}
static hipError_t event_node(Stream *handle, int what, Event *event) {
  Work *work = NULL;
  hipError_t code = submit(handle, what, &work);
  if (code) return code;
  work->event = event;
  work->kind = what == MARK ? NODE_WAIT : 0;
  return hipSuccess;
}
/* external: in a capture, every launch of the graph records the event, which belongs to no capture. */
HIP(hipEventRecordWithFlags, (Event *event, Stream *handle, unsigned flags), (event, handle, flags)) {
  if (!is_event(event)) return hipErrorInvalidHandle;
  if (flags & ~(unsigned)hipEventExternal) return hipErrorInvalidValue;
  Stream *stream = stream_of(handle);
  if (!stream->alive || stream->device != current) return hipErrorInvalidHandle;
  if (stream->capture && flags) return event_node(handle, EVENT, event);
  event->capture = stream->capture;
  if (stream->capture) {
    if (!stream->capture->is_valid) return hipErrorStreamCaptureInvalidated;
    free(event->nodes);
    event->nodes = calloc(stream->node_count + 1, sizeof *event->nodes);
    event->node_count = stream->node_count;
    if (stream->node_count) memcpy(event->nodes, stream->nodes, stream->node_count * sizeof *event->nodes);
    return hipSuccess;
  }
  Work *work = NULL;
  hipError_t code = submit(handle, EVENT, &work);
  if (code) return code;
  event->recorded = true;
  event->work = work;
  work->event = event;
  return hipSuccess;
}
HIP(hipEventRecord, (Event *event, Stream *handle), (event, handle)) {
  return do_hipEventRecordWithFlags(event, handle, 0);
}
static bool is_captured(const Event *event) { return event->capture && !event->capture->is_over; }
static hipError_t wait_in_capture(Stream *stream, Event *event) {
  if (stream->capture && !is_captured(event)) {
    stream->capture->is_valid = false;
    return hipErrorStreamCaptureIsolation;
  }
  if (!event->capture->is_valid) return hipErrorStreamCaptureInvalidated;
  if (!stream->capture) set_nodes(stream, NULL, 0);
  else if (stream->capture != event->capture) return hipErrorStreamCaptureIsolation;
  stream->capture = event->capture;
  for (unsigned i = 0; i < event->node_count; i++) {
    bool is_there = false;
    for (unsigned k = 0; k < stream->node_count; k++) is_there |= stream->nodes[k] == event->nodes[i];
    if (is_there) continue;
    stream->nodes = realloc(stream->nodes, (stream->node_count + 1) * sizeof *stream->nodes);
    stream->nodes[stream->node_count++] = event->nodes[i];
  }
  return hipSuccess;
}
HIP(hipStreamWaitEvent, (Stream *handle, Event *event, unsigned flags), (handle, event, flags)) {
  if (!is_event(event)) return hipErrorInvalidHandle;
  if (flags & ~(unsigned)hipEventExternal || (STRICT && flags)) return hipErrorInvalidValue;
  Stream *stream = stream_of(handle);
  if (!stream->alive) return hipErrorInvalidHandle;
  if (stream->capture && flags) return event_node(handle, MARK, event);
  if (stream->capture || is_captured(event)) return wait_in_capture(stream, event);
  if (!event->work) return hipSuccess; /* never recorded, or reached */
  put_after(enqueue(stream, MARK), event->work);
  return hipSuccess;
}
HIP(hipEventSynchronize, (Event *event), (event)) {
  if (!is_event(event)) return hipErrorInvalidHandle;
  if (is_captured(event)) return hipErrorCapturedEvent;
  waits++;
  finish_work(event->work);
  return told();
}
HIP(hipEventQuery, (Event *event), (event)) {
  if (!is_event(event)) return hipErrorInvalidHandle;
  if (is_captured(event)) return hipErrorCapturedEvent;
  REFUSE(refused_in_thread());
  return queried(event->work);
}
HIP(hipEventElapsedTime, (float *milliseconds, Event *start, Event *end), (milliseconds, start, end)) {
  if (!is_event(start) || !is_event(end) || !start->recorded || !end->recorded || !start->timed || !end->timed) return hipErrorInvalidHandle;
  if (start->work || end->work) return hipErrorNotReady;
  *milliseconds = (end->time.tv_sec - start->time.tv_sec) * 1e3f + (end->time.tv_nsec - start->time.tv_nsec) * 1e-6f;
  return hipSuccess;
}

/* ---- functions of the host ---- */

HIP(hipLaunchHostFunc, (Stream *stream, void (*function)(void *), void *data), (stream, function, data)) {
  if (!function) return hipErrorInvalidValue;
  Work *work = NULL;
  hipError_t code = submit(stream, HOST, &work);
  if (code) return code;
  work->function = function;
  work->data = data;
  return hipSuccess;
}
/* A callback of hipStreamAddCallback, with what it gets. */
typedef struct { void (*function)(Stream *, hipError_t, void *); Stream *stream; void *data; } Callback;
static void call_back(void *data) {
  const Callback *callback = data; /* never freed, as a graph may call it again */
  callback->function(callback->stream, sticky, callback->data);
}
HIP(hipStreamAddCallback,
    (Stream *stream, void (*function)(Stream *, hipError_t, void *), void *data, unsigned flags),
    (stream, function, data, flags)) {
  if (!function || flags) return hipErrorInvalidValue;
  Callback *callback = malloc(sizeof *callback);
  *callback = (Callback){function, stream, data};
  return do_hipLaunchHostFunc(stream, call_back, callback);
}
