/* Streams and events. Part of amdhip64.c. */

/* ---- streams ---- */

enum { LEAST_PRIORITY = 1, GREATEST_PRIORITY = -1 };

hipError_t hipDeviceSynchronize(void) {
  ENTER;
  REFUSE(refused_anywhere(hipErrorStreamCaptureUnsupported));
  return wait_for_all();
}
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  ENTER;
  *least = LEAST_PRIORITY;
  *greatest = GREATEST_PRIORITY;
  return hipSuccess;
}
hipError_t hipStreamCreateWithPriority(Stream **stream, unsigned flags, int priority) {
  ENTER;
  if (flags & ~(unsigned)hipStreamNonBlocking) return hipErrorInvalidValue;
  if (priority > LEAST_PRIORITY) priority = LEAST_PRIORITY;
  if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
  *stream = make_stream(current, flags, priority);
  return hipSuccess;
}
hipError_t hipStreamCreate(Stream **stream) {
  ENTER;
  *stream = make_stream(current, 0, 0);
  return hipSuccess;
}
hipError_t hipStreamGetPriority(Stream *handle, int *priority) {
  ENTER;
  Stream *stream = stream_of(handle);
  if (!stream->alive) return hipErrorInvalidHandle;
  *priority = stream->priority;
  return hipSuccess;
}
hipError_t hipStreamGetDevice(Stream *handle, int *device) {
  ENTER;
  Stream *stream = stream_of(handle);
  if (!stream->alive) return hipErrorInvalidHandle;
  *device = stream->device;
  return hipSuccess;
}
hipError_t hipStreamDestroy(Stream *stream) {
  ENTER;
  if ((uint64_t)stream <= 2 || !stream->alive) return hipErrorInvalidHandle;
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
hipError_t hipStreamSynchronize(Stream *handle) {
  ENTER;
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
hipError_t hipStreamQuery(Stream *handle) {
  ENTER;
  Stream *stream = stream_of(handle);
  REFUSE(refused_to_wait(stream));
  return queried(stream->last);
}

/* ---- events ---- */

enum { hipEventDisableTiming = 2 };

hipError_t hipEventCreateWithFlags(Event **event, unsigned flags) {
  ENTER;
  if (flags & ~(unsigned)hipEventDisableTiming) return hipErrorInvalidValue;
  *event = calloc(1, sizeof **event); /* never freed, so that work may still reach it */
  (*event)->timed = !(flags & hipEventDisableTiming);
  return hipSuccess;
}
hipError_t hipEventCreate(Event **event) {
  ENTER;
  *event = calloc(1, sizeof **event);
  (*event)->timed = true;
  return hipSuccess;
}
hipError_t hipEventDestroy(Event *event) { ENTER; return event ? hipSuccess : hipErrorInvalidHandle; }
hipError_t hipEventRecord(Event *event, Stream *handle) {
  ENTER;
  if (!event) return hipErrorInvalidHandle;
  Stream *stream = stream_of(handle);
  if (!stream->alive || stream->device != current) return hipErrorInvalidHandle;
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
hipError_t hipStreamWaitEvent(Stream *handle, Event *event, unsigned flags) {
  ENTER;
  if (!event) return hipErrorInvalidHandle;
  if (flags) return hipErrorInvalidValue;
  Stream *stream = stream_of(handle);
  if (!stream->alive) return hipErrorInvalidHandle;
  if (stream->capture || is_captured(event)) return wait_in_capture(stream, event);
  if (!event->work) return hipSuccess; /* never recorded, or reached */
  put_after(enqueue(stream, MARK), event->work);
  return hipSuccess;
}
hipError_t hipEventSynchronize(Event *event) {
  ENTER;
  if (!event) return hipErrorInvalidHandle;
  if (is_captured(event)) return hipErrorCapturedEvent;
  waits++;
  finish_work(event->work);
  return told();
}
hipError_t hipEventQuery(Event *event) {
  ENTER;
  if (!event) return hipErrorInvalidHandle;
  if (is_captured(event)) return hipErrorCapturedEvent;
  REFUSE(refused_in_thread());
  return queried(event->work);
}
hipError_t hipEventElapsedTime(float *milliseconds, Event *start, Event *end) {
  ENTER;
  if (!start || !end || !start->recorded || !end->recorded || !start->timed || !end->timed) return hipErrorInvalidHandle;
  if (start->work || end->work) return hipErrorNotReady;
  *milliseconds = (end->time.tv_sec - start->time.tv_sec) * 1e3f + (end->time.tv_nsec - start->time.tv_nsec) * 1e-6f;
  return hipSuccess;
}

/* ---- functions of the host ---- */

hipError_t hipLaunchHostFunc(Stream *stream, void (*function)(void *), void *data) {
  ENTER;
  if (!function) return hipErrorInvalidValue;
  Work *work = NULL;
  hipError_t code = submit(stream, HOST, &work);
  if (code) return code;
  work->function = function;
  work->data = data;
  return hipSuccess;
}
