/* Captures and graphs. Part of amdhip64.c. */

typedef struct GraphExec { Graph graph; Work *last; int device; bool alive; struct GraphExec *next; } GraphExec;
static GraphExec *executables; /* all that ever were */
static bool is_executable(const GraphExec *wanted) {
  for (GraphExec *executable = executables; executable; executable = executable->next)
    if (executable == wanted) return executable->alive;
  return false;
}
typedef struct {
  Extent block;
  void **extra;
  Kernel *kernel;
  Extent grid;
  void **parameters;
  unsigned dynamic_lds;
} KernelNodeParameters;
_Static_assert(sizeof(KernelNodeParameters) == 64, "hipKernelNodeParams has 64 bytes");

/* ---- captures ---- */

HIP(hipStreamBeginCapture, (Stream *handle, int mode), (handle, mode)) {
  Stream *stream = stream_of(handle);
  if (is_null(stream)) return hipErrorStreamCaptureUnsupported;
  if (!stream->alive) return hipErrorContextIsDestroyed;
  if (STRICT && mode != hipStreamCaptureModeThreadLocal) return hipErrorInvalidValue;
  if (stream->capture) return hipErrorIllegalState;
  Capture *capture = calloc(1, sizeof *capture); /* never freed: events may name it */
  *capture = (Capture){calloc(1, sizeof(Graph)), stream, pthread_self(), true, false, captures};
  capture->graph->alive = true;
  captures = capture;
  stream->capture = capture;
  set_nodes(stream, NULL, 0);
  return hipSuccess;
}
static void end(Capture *capture) {
  for (Capture **link = &captures; *link; link = &(*link)->next)
    if (*link == capture) {
      *link = capture->next;
      break;
    }
  capture->is_over = true;
  for (Stream *stream = newest; stream; stream = stream->older)
    if (stream->capture == capture) stream->capture = NULL;
}
static bool is_joined(const Capture *capture) {
  for (Node *node = capture->graph->first; node; node = node->next) {
    bool is_last = false;
    for (unsigned i = 0; i < capture->origin->node_count; i++) is_last |= capture->origin->nodes[i] == node;
    if (!node->has_dependents && !is_last) return false;
  }
  return true;
}
HIP(hipStreamEndCapture, (Stream *handle, Graph **graph), (handle, graph)) {
  *graph = NULL;
  Stream *stream = stream_of(handle);
  Capture *capture = stream->capture;
  if (!capture) return hipErrorIllegalState;
  if (capture->origin != stream) return hipErrorStreamCaptureUnmatched;
  if (!captures_here(capture)) return hipErrorStreamCaptureWrongThread;
  bool joined = is_joined(capture);
  end(capture);
  if (!capture->is_valid) return hipErrorStreamCaptureInvalidated;
  if (!joined) return hipErrorStreamCaptureUnjoined;
  *graph = capture->graph;
  return hipSuccess;
}
HIP(hipStreamGetCaptureInfo_v2,
    (Stream *handle, int *status, uint64_t *number, Graph **graph, Node ***nodes, size_t *count),
    (handle, status, number, graph, nodes, count)) {
  Stream *stream = stream_of(handle);
  *status = !stream->capture ? 0 : stream->capture->is_valid ? 1 : 2;
  if (number) *number = (uint64_t)stream->capture;
  if (graph) *graph = stream->capture ? stream->capture->graph : NULL;
  if (nodes) *nodes = stream->nodes;
  if (count) *count = stream->capture ? stream->node_count : 0;
  return hipSuccess;
}

HIP(hipStreamIsCapturing, (Stream *handle, int *status), (handle, status)) {
  return status ? do_hipStreamGetCaptureInfo_v2(handle, status, NULL, NULL, NULL, NULL) : hipErrorInvalidValue;
}

/* ---- graphs ---- */

static int type_of(const Work *work) {
  static const int types[] = {[LAUNCH] = NODE_KERNEL, [COPY] = NODE_MEMCPY, [ROWS] = NODE_MEMCPY, [FILL] = NODE_MEMSET,
                              [HOST] = NODE_HOST, [EVENT] = NODE_EMPTY, [MARK] = NODE_EMPTY, [FREE] = NODE_EMPTY};
  return types[work->what];
}
static void *copy_of(const void *source, uint64_t nbytes) { return memcpy(malloc(nbytes + 1), source, nbytes); }
static void copy_work(Work *to, const Work *from) {
  *to = *from;
  if (from->what == LAUNCH) to->source = copy_of(from->source, from->nbytes);
}
static unsigned index_of(const Graph *graph, const Node *wanted) {
  unsigned index = 0;
  for (Node *node = graph->first; node != wanted; node = node->next) index++;
  return index;
}
static Node *node_at(const Graph *graph, unsigned index) {
  Node *node = graph->first;
  while (index--) node = node->next;
  return node;
}
static void free_nodes(Graph *graph) {
  for (Node *node = graph->first, *next; node; node = next) {
    next = node->next;
    if (node->work.what == LAUNCH) free((void *)node->work.source);
    GraphMemory *memory = node->work.what == MARK ? node->work.data : NULL;
    if (memory) let_go_of_memory(memory);
    free(node->after);
    free(node);
  }
  graph->first = graph->last = NULL;
}

HIP(hipGraphDestroy, (Graph *graph), (graph)) {
  if (!graph) return hipErrorInvalidValue;
  if (!graph->alive) return hipErrorIllegalState;
  graph->alive = false;
  free_nodes(graph);
  return hipSuccess;
}
HIP(hipGraphCreate, (Graph **graph, unsigned flags), (graph, flags)) {
  if (!graph || flags) return hipErrorInvalidValue;
  *graph = calloc(1, sizeof **graph);
  (*graph)->alive = true;
  return hipSuccess;
}

/* ---- nodes that programs add ---- */

static bool is_in(const Graph *graph, const Node *wanted) {
  for (Node *node = graph->first; node; node = node->next)
    if (node == wanted) return true;
  return false;
}
/* Add a node; the caller fills in its work when that is known to be right. */
static hipError_t new_node(Node **made, Graph *graph, Node *const *after, size_t count, const Work *work) {
  if (!made || !graph || !graph->alive || (count && !after)) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; i++)
    if (!is_in(graph, after[i])) return hipErrorInvalidValue;
  *made = add_node(graph);
  (*made)->work = *work;
  for (size_t i = 0; i < count; i++) depend_on(*made, after[i]);
  return hipSuccess;
}
/* What a launch by these parameters does; its kernarg is the caller's. */
static hipError_t set_launch(Work *work, const KernelNodeParameters *given, int device) {
  Kernel *kernel = given->kernel;
  hipError_t code = entry_of(kernel) ? registered_kernel(kernel, &kernel) : hipSuccess;
  if (code) return code;
  if (!kernel || !kernel->module->alive || kernel->module->device != device) return hipErrorInvalidValue;
  Shape shape = {{given->grid.x, given->grid.y, given->grid.z, given->block.x, given->block.y, given->block.z},
                 given->dynamic_lds, false};
  void **extra = given->extra;
  code = check_shape(kernel, &shape);
  if (code) return code;
  if (given->parameters && !STRICT) {
    work->source = gathered(kernel->layout, given->parameters);
    work->nbytes = explicit_bytes(kernel->layout);
  } else {
    if (given->parameters || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3)
      return hipErrorInvalidValue;
    work->nbytes = *(size_t *)extra[3];
    work->source = copy_of(extra[1], work->nbytes);
  }
  work->what = LAUNCH;
  work->kernel = kernel;
  memcpy(work->grid_and_block, shape.grid_and_block, sizeof work->grid_and_block);
  work->dynamic_lds = shape.dynamic_lds;
  return hipSuccess;
}
HIP(hipGraphAddKernelNode,
    (Node **made, Graph *graph, Node *const *after, size_t count, const KernelNodeParameters *given),
    (made, graph, after, count, given)) {
  Work work = {0};
  hipError_t code = given ? set_launch(&work, given, current) : hipErrorInvalidValue;
  if (code) return code;
  code = new_node(made, graph, after, count, &work);
  if (code) free((void *)work.source);
  return code;
}
HIP(hipGraphAddMemcpyNode1D,
    (Node **made, Graph *graph, Node *const *after, size_t count, void *destination, const void *source, size_t nbytes,
     int kind), (made, graph, after, count, destination, source, nbytes, kind)) {
  hipError_t code = check_copy(destination, source, nbytes, &kind);
  Work work = {.what = COPY, .kind = kind, .destination = destination, .source = source, .nbytes = nbytes};
  return code ? code : new_node(made, graph, after, count, &work);
}
typedef struct { void *destination; unsigned size; size_t rows, pitch; unsigned value; size_t count; } FillParameters;
HIP(hipGraphAddMemsetNode, (Node **made, Graph *graph, Node *const *after, size_t count, const FillParameters *given),
    (made, graph, after, count, given)) {
  if (!given || !given->count || !given->rows || (given->size != 1 && given->size != 2 && given->size != 4))
    return hipErrorInvalidValue;
  uint64_t extent = (given->rows - 1) * given->pitch + given->size * given->count;
  if (!find(given->destination, extent) && !find_pinned(given->destination, extent)) return hipErrorInvalidValue;
  Work work = {.what = FILL, .kind = (int)given->size, .destination = given->destination, .value = given->value,
               .nbytes = given->count, .rows = given->rows, .pitches = {given->pitch}};
  return new_node(made, graph, after, count, &work);
}
typedef struct { void (*function)(void *); void *data; } HostParameters;
HIP(hipGraphAddHostNode, (Node **made, Graph *graph, Node *const *after, size_t count, const HostParameters *given),
    (made, graph, after, count, given)) {
  if (!given || !given->function) return hipErrorInvalidValue;
  Work work = {.what = HOST, .function = given->function, .data = given->data};
  return new_node(made, graph, after, count, &work);
}
HIP(hipGraphAddEmptyNode, (Node **made, Graph *graph, Node *const *after, size_t count), (made, graph, after, count)) {
  return new_node(made, graph, after, count, &(Work){.what = MARK});
}
typedef struct { int pool[22]; const void *access; size_t access_count, nbytes; void *pointer; } AllocationParameters;
HIP(hipGraphAddMemAllocNode,
    (Node **made, Graph *graph, Node *const *after, size_t count, AllocationParameters *given),
    (made, graph, after, count, given)) {
  if (!given || !given->nbytes || given->pool[0] != 1 || given->pool[2] != 1) return hipErrorInvalidValue;
  hipError_t code = new_node(made, graph, after, count, &(Work){.what = MARK});
  return code ? code : give_memory(&(*made)->work, &given->pointer, given->nbytes);
}
HIP(hipGraphAddMemFreeNode, (Node **made, Graph *graph, Node *const *after, size_t count, void *pointer),
    (made, graph, after, count, pointer)) {
  return pointer ? new_node(made, graph, after, count, &(Work){.what = MARK}) : hipErrorInvalidValue;
}
/* Launches put nodes in the order of the graph's list, so an edge to an earlier one is refused. */
HIP(hipGraphAddDependencies, (Graph *graph, Node *const *from, Node *const *to, size_t count), (graph, from, to, count)) {
  if (!graph || !graph->alive || (count && (!from || !to))) return hipErrorInvalidValue;
  static int is_said;
  for (size_t i = 0; i < count; i++) {
    if (!is_in(graph, from[i]) || !is_in(graph, to[i]) || from[i] == to[i]) return hipErrorInvalidValue;
    if (index_of(graph, from[i]) > index_of(graph, to[i]))
      return amdjit_hip_missing("hipGraphAddDependencies to a node that was added earlier", &is_said);
  }
  for (size_t i = 0; i < count; i++) depend_on(to[i], from[i]);
  return hipSuccess;
}

/* ---- executable graphs ---- */

HIP(hipGraphInstantiate, (GraphExec **made, Graph *graph, Node **wrong, char *log, size_t size),
    (made, graph, wrong, log, size)) {
  (void)wrong, (void)log, (void)size;
  if (!graph || !graph->alive) return hipErrorInvalidValue;
  GraphExec *executable = calloc(1, sizeof *executable);
  executable->alive = true;
  executable->device = current;
  executable->next = executables;
  executables = executable;
  for (Node *node = graph->first; node; node = node->next) {
    Node *copy = add_node(&executable->graph);
    copy_work(&copy->work, &node->work);
    copy->copy_of = node;
    if (node->work.what == MARK && node->work.data) ((GraphMemory *)node->work.data)->users++;
    /* A node is a queue of its own, newer than those of the nodes before it. */
    copy->work.stream = make_stream(current, hipStreamNonBlocking, 0);
    for (unsigned i = 0; i < node->after_count; i++)
      depend_on(copy, node_at(&executable->graph, index_of(graph, node->after[i])));
  }
  *made = executable;
  return hipSuccess;
}
HIP(hipGraphInstantiateWithFlags, (GraphExec **made, Graph *graph, uint64_t flags), (made, graph, flags)) {
  (void)flags; /* of memory that graphs allocate, and of launches by kernels */
  return do_hipGraphInstantiate(made, graph, NULL, NULL, 0);
}
HIP(hipGraphUpload, (GraphExec *executable, Stream *stream), (executable, stream)) {
  (void)stream;
  return is_executable(executable) ? hipSuccess : hipErrorInvalidValue;
}
HIP(hipGraphExecDestroy, (GraphExec *executable), (executable)) {
  if (!is_executable(executable)) return hipErrorInvalidValue;
  executable->alive = false;
  finish_work(executable->last);
  let_go(executable->last);
  for (Node *node = executable->graph.first; node; node = node->next)
    for (Stream **link = &newest; *link; link = &(*link)->older)
      if (*link == node->work.stream) {
        *link = node->work.stream->older;
        free(node->work.stream);
        break;
      }
  free_nodes(&executable->graph);
  return hipSuccess;
}
HIP(hipGraphLaunch, (GraphExec *executable, Stream *handle), (executable, handle)) {
  if (!is_executable(executable)) return hipErrorInvalidValue;
  Stream *stream = stream_of(handle);
  if (stream->capture) return hipErrorStreamCaptureUnsupported;
  Work *start = NULL;
  hipError_t code = submit(handle, MARK, &start);
  if (code) return code;
  put_after(start, executable->last); /* launches of one executable follow each other */
  for (Node *node = executable->graph.first; node; node = node->next) {
    Work *work = enqueue(node->work.stream, node->work.what), template;
    copy_work(&template, &node->work);
    work->kind = template.kind;
    work->destination = template.destination;
    work->source = template.source;
    work->nbytes = template.nbytes;
    work->kernel = template.kernel;
    memcpy(work->grid_and_block, template.grid_and_block, sizeof work->grid_and_block);
    work->dynamic_lds = template.dynamic_lds;
    work->function = template.function;
    work->data = template.data;
    work->value = template.value;
    work->rows = template.rows;
    memcpy(work->pitches, template.pitches, sizeof work->pitches);
    node->running = work;
    put_after(work, start);
    for (unsigned i = 0; i < node->after_count; i++) put_after(work, node->after[i]->running);
  }
  let_go(executable->last);
  executable->last = enqueue(stream, MARK);
  executable->last->references++;
  for (Node *node = executable->graph.first; node; node = node->next) put_after(executable->last, node->running);
  return hipSuccess;
}

HIP(hipGraphGetNodes, (Graph *graph, Node **nodes, size_t *count), (graph, nodes, count)) {
  if (!graph || !graph->alive || !count) return hipErrorInvalidValue;
  size_t found = 0;
  for (Node *node = graph->first; node; node = node->next, found++)
    if (nodes && found < *count) nodes[found] = node;
  *count = found;
  return hipSuccess;
}
HIP(hipGraphGetEdges, (Graph *graph, Node **from, Node **to, size_t *count), (graph, from, to, count)) {
  if (!graph || !graph->alive || !count) return hipErrorInvalidValue;
  size_t found = 0;
  for (Node *node = graph->first; node; node = node->next)
    for (unsigned i = 0; i < node->after_count; i++, found++)
      if (from && to && found < *count) from[found] = node->after[i], to[found] = node;
  *count = found;
  return hipSuccess;
}
HIP(hipGraphNodeGetType, (Node *node, int *type), (node, type)) {
  if (!node || !type) return hipErrorInvalidValue;
  *type = type_of(&node->work);
  return hipSuccess;
}

/* ---- updates ---- */

static void replace(Work *work, const Work *with) {
  Stream *stream = work->stream;
  if (work->what == LAUNCH) free((void *)work->source);
  copy_work(work, with);
  work->stream = stream;
}
/* hipGraphExecUpdateResult: 0 success, 2 another topology, 3 another type of a node. */
HIP(hipGraphExecUpdate, (GraphExec *executable, Graph *graph, Node **wrong, int *result),
    (executable, graph, wrong, result)) {
  if (!is_executable(executable) || !graph || !graph->alive || !wrong || !result) return hipErrorInvalidValue;
  *wrong = NULL;
  *result = 2;
  Node *ours = executable->graph.first, *theirs = graph->first;
  for (; ours && theirs; ours = ours->next, theirs = theirs->next) {
    *wrong = theirs;
    if (ours->after_count != theirs->after_count) return hipErrorGraphExecUpdateFailure;
    for (unsigned i = 0; i < ours->after_count; i++)
      if (index_of(&executable->graph, ours->after[i]) != index_of(graph, theirs->after[i]))
        return hipErrorGraphExecUpdateFailure;
    if (type_of(&ours->work) != type_of(&theirs->work)) {
      *result = 3;
      return hipErrorGraphExecUpdateFailure;
    }
  }
  if (ours || theirs) return hipErrorGraphExecUpdateFailure;
  for (ours = executable->graph.first, theirs = graph->first; ours; ours = ours->next, theirs = theirs->next)
    replace(&ours->work, &theirs->work);
  *wrong = NULL;
  *result = 0;
  return hipSuccess;
}
HIP(hipGraphExecKernelNodeSetParams, (GraphExec *executable, Node *node, const KernelNodeParameters *given),
    (executable, node, given)) {
  if (!is_executable(executable) || !node || !given || !given->kernel) return hipErrorInvalidValue;
  Node *ours = executable->graph.first;
  while (ours && ours->copy_of != node) ours = ours->next;
  if (!ours || ours->work.what != LAUNCH) return hipErrorInvalidValue;
  Work work = ours->work;
  hipError_t code = set_launch(&work, given, executable->device);
  if (code) return code;
  replace(&ours->work, &work);
  free((void *)work.source);
  return hipSuccess;
}
