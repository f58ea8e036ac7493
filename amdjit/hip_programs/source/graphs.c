/* Captures and graphs. Part of amdhip64.c. */

typedef struct GraphExec { Graph graph; Work *last; int device; } GraphExec;
static bool is_graph(const Graph *graph) { return is_handle(A_GRAPH, graph); }
static bool is_node(const Node *node) { return is_handle(A_NODE, node); }
static bool is_executable(const GraphExec *executable) { return is_handle(AN_EXECUTABLE, executable); }
static Graph *new_graph(void) { return new_handle(A_GRAPH, sizeof(Graph)); }
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

static bool is_in(const Graph *graph, const Node *wanted) {
  for (Node *node = graph->first; node; node = node->next)
    if (node == wanted) return true;
  return false;
}
/* graph: NULL for a new one. nodes: what the first captured work depends on. */
static hipError_t begin_capture(Stream *handle, Graph *graph, Node *const *nodes, size_t count, int mode) {
  Stream *stream = stream_of(handle);
  if (is_null(stream)) return hipErrorStreamCaptureUnsupported;
  if (!stream->alive) return hipErrorContextIsDestroyed;
  if (mode < 0 || mode > hipStreamCaptureModeRelaxed) return hipErrorInvalidValue;
  if (STRICT && mode != hipStreamCaptureModeThreadLocal) return hipErrorInvalidValue;
  if (stream->capture) return hipErrorIllegalState;
  Capture *capture = calloc(1, sizeof *capture); /* never freed: events may name it */
  *capture = (Capture){graph ? graph : new_graph(), stream, pthread_self(), mode, true, false, captures};
  captures = capture;
  stream->capture = capture;
  set_nodes(stream, (Node **)nodes, (unsigned)count);
  return hipSuccess;
}
HIP(hipStreamBeginCapture, (Stream *handle, int mode), (handle, mode)) {
  return begin_capture(handle, NULL, NULL, 0, mode);
}
/* ports: of programmatic launches, which other GPUs have. */
HIP(hipStreamBeginCaptureToGraph,
    (Stream *handle, Graph *graph, Node *const *after, const void *ports, size_t count, int mode),
    (handle, graph, after, ports, count, mode)) {
  (void)ports;
  if (!is_graph(graph) || (count && !after)) return hipErrorInvalidValue;
  for (Capture *capture = captures; capture; capture = capture->next)
    if (capture->graph == graph) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; i++)
    if (!is_in(graph, after[i])) return hipErrorInvalidValue;
  return begin_capture(handle, graph, after, count, mode);
}
HIP(hipThreadExchangeStreamCaptureMode, (int *mode), (mode)) {
  if (!mode || *mode < 0 || *mode > hipStreamCaptureModeRelaxed) return hipErrorInvalidValue;
  int before = thread_mode;
  thread_mode = *mode;
  *mode = before;
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
  if (!graph) return hipErrorInvalidValue;
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
  if (!status) return hipErrorInvalidValue;
  Stream *stream = stream_of(handle);
  *status = !stream->capture ? 0 : stream->capture->is_valid ? 1 : 2;
  if (number) *number = (uint64_t)stream->capture;
  if (graph) *graph = stream->capture ? stream->capture->graph : NULL;
  if (nodes) *nodes = stream->nodes;
  if (count) *count = stream->capture ? stream->node_count : 0;
  return hipSuccess;
}
HIP(hipStreamGetCaptureInfo, (Stream *handle, int *status, uint64_t *number), (handle, status, number)) {
  return do_hipStreamGetCaptureInfo_v2(handle, status, number, NULL, NULL, NULL);
}
HIP(hipStreamIsCapturing, (Stream *handle, int *status), (handle, status)) {
  return do_hipStreamGetCaptureInfo_v2(handle, status, NULL, NULL, NULL, NULL);
}

/* ---- graphs ---- */

static int type_of(const Work *work) {
  static const int types[] = {[LAUNCH] = NODE_KERNEL, [COPY] = NODE_MEMCPY, [ROWS] = NODE_MEMCPY, [FILL] = NODE_MEMSET,
                              [HOST] = NODE_HOST, [EVENT] = NODE_RECORD, [MARK] = NODE_EMPTY};
  return work->what == MARK && work->kind ? work->kind : types[work->what];
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
static GraphMemory *memory_of(const Work *work) { return work->kind == NODE_ALLOCATE ? work->data : NULL; }
static void free_payload(Work *work) {
  if (work->what == LAUNCH) free((void *)work->source);
  if (memory_of(work)) let_go_of_memory(memory_of(work));
}
static void free_graph(Graph *graph);
static void free_node(Node *node) {
  end_handle(A_NODE, node);
  free_payload(&node->work);
  if (node->child) free_graph(node->child);
  free(node->parameters);
  free(node->after);
  free(node);
}
static void free_nodes(Graph *graph) {
  for (Node *node = graph->first, *next; node; node = next) {
    next = node->next;
    free_node(node);
  }
  graph->first = graph->last = NULL;
}
static void free_graph(Graph *graph) {
  end_handle(A_GRAPH, graph);
  free_nodes(graph);
  free(graph);
}
static bool is_being_captured(const Graph *graph) {
  for (Capture *capture = captures; capture; capture = capture->next)
    if (capture->graph == graph) return true;
  return false;
}
HIP(hipGraphDestroy, (Graph *graph), (graph)) {
  if (!is_graph(graph) || is_being_captured(graph)) return hipErrorInvalidValue;
  free_graph(graph);
  return hipSuccess;
}
HIP(hipGraphCreate, (Graph **graph, unsigned flags), (graph, flags)) {
  if (!graph || flags) return hipErrorInvalidValue;
  *graph = new_graph();
  return hipSuccess;
}

/* ---- copies ---- */

static bool is_after_made(const Node *node) {
  for (unsigned i = 0; i < node->after_count; i++)
    if (!node->after[i]->made) return false;
  return true;
}
static void copy_node(Graph *to, Node *node, Node *entry) {
  Node *copy = node->made = add_node(to);
  copy->copy_of = node;
  copy_work(&copy->work, &node->work);
  if (memory_of(&copy->work)) memory_of(&copy->work)->users++;
  for (unsigned i = 0; i < node->after_count; i++) depend_on(copy, node->after[i]->made);
  if (entry && !node->after_count) depend_on(copy, entry);
}
/* Copy nodes in an order in which each is behind what it depends on. flat: graphs in a graph become nodes among the
 * others, between the copy of their node and one that ends them. False: nodes depend on themselves. */
static bool copy_nodes(Graph *to, Graph *from, Node *entry, bool flat) {
  bool is_whole = true;
  for (Node *node = from->first; node; node = node->next) node->made = NULL;
  for (bool again = true; again;) {
    again = false;
    for (Node *node = from->first; node; node = node->next) {
      if (node->made || !is_after_made(node)) continue;
      again = true;
      copy_node(to, node, entry);
      if (!node->child) continue;
      Graph *child = flat ? to : (node->made->child = new_graph());
      is_whole &= copy_nodes(child, node->child, flat ? node->made : NULL, flat);
      if (!flat) continue;
      Node *end = add_node(to);
      end->work.what = MARK;
      depend_on(end, node->made);
      for (Node *each = node->child->first; each; each = each->next)
        if (each->made) depend_on(end, each->made);
      node->made = end;
    }
  }
  for (Node *node = from->first; node; node = node->next) is_whole &= node->made != NULL;
  return is_whole;
}
HIP(hipGraphClone, (Graph **clone, Graph *graph), (clone, graph)) {
  if (!clone || !is_graph(graph)) return hipErrorInvalidValue;
  *clone = new_graph();
  if (copy_nodes(*clone, graph, NULL, false)) return hipSuccess;
  free_graph(*clone);
  *clone = NULL;
  return hipErrorInvalidValue;
}
static Node *copy_in(const Graph *graph, const Node *original) {
  Node *node = graph->first;
  while (node && node->copy_of != original) node = node->next;
  return node;
}
HIP(hipGraphNodeFindInClone, (Node **node, Node *original, Graph *clone), (node, original, clone)) {
  if (!node || !is_node(original) || !is_graph(clone)) return hipErrorInvalidValue;
  *node = copy_in(clone, original);
  return *node ? hipSuccess : hipErrorInvalidValue;
}

/* ---- nodes that programs add ---- */

/* Add a node; the caller fills in its work when that is known to be right. */
static hipError_t new_node(Node **made, Graph *graph, Node *const *after, size_t count, const Work *work) {
  if (!made || !is_graph(graph) || (count && !after)) return hipErrorInvalidValue;
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
  if (!is_kernel(kernel)) return hipErrorInvalidDeviceFunction;
  if (kernel->module->device != device) return hipErrorInvalidValue;
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
/* What other nodes do. */
static hipError_t set_copy(Work *work, void *destination, const void *source, size_t nbytes, int kind) {
  hipError_t code = check_copy(destination, source, nbytes, &kind);
  *work = (Work){.what = COPY, .kind = kind, .destination = destination, .source = source, .nbytes = nbytes};
  return code;
}
static hipError_t set_symbol_copy(Work *work, const void *symbol, size_t offset, void *to, const void *from,
                                  size_t nbytes, int kind) {
  char *part = NULL;
  hipError_t code = part_of_symbol(symbol, nbytes, offset, &part);
  return code ? code : set_copy(work, to ? to : part, to ? part : from, nbytes, kind);
}
typedef struct { void *destination; unsigned size; size_t rows, pitch; unsigned value; size_t count; } FillParameters;
static hipError_t set_fill(Work *work, const FillParameters *given) {
  if (!given || !given->count || !given->rows || (given->size != 1 && given->size != 2 && given->size != 4))
    return hipErrorInvalidValue;
  uint64_t extent = extent_of(given->rows, given->pitch, given->size, given->count);
  if (!find(given->destination, extent) && !find_pinned(given->destination, extent)) return hipErrorInvalidValue;
  *work = (Work){.what = FILL, .kind = (int)given->size, .destination = given->destination, .value = given->value,
                 .nbytes = given->count, .rows = given->rows, .pitches = {given->pitch}};
  return hipSuccess;
}
typedef struct { void (*function)(void *); void *data; } HostParameters;
static hipError_t set_host(Work *work, const HostParameters *given) {
  if (!given || !given->function) return hipErrorInvalidValue;
  *work = (Work){.what = HOST, .function = given->function, .data = given->data};
  return hipSuccess;
}
static hipError_t set_event(Work *work, Event *event, int type) {
  if (!is_event(event)) return hipErrorInvalidValue;
  *work = (Work){.what = type == NODE_RECORD ? EVENT : MARK, .kind = type == NODE_RECORD ? 0 : type, .event = event};
  return hipSuccess;
}
/* Three functions for each of them: add a node, change one, change one of an executable graph. `set` fills in `work`. */
#define PARAMETERS(...) __VA_ARGS__
#define NODE(add, change, change_executable, set, parameters, arguments)                                               \
  HIP(add, (Node **made, Graph *graph, Node *const *after, size_t count, parameters),                                  \
      (made, graph, after, count, arguments)) {                                                                        \
    Work work = {0};                                                                                                   \
    hipError_t code = set;                                                                                             \
    return code ? code : new_node(made, graph, after, count, &work);                                                   \
  }                                                                                                                    \
  HIP(change, (Node *node, parameters), (node, arguments)) {                                                           \
    Work work = {0};                                                                                                   \
    hipError_t code = set;                                                                                             \
    return code ? code : change_node(node, &work);                                                                     \
  }                                                                                                                    \
  HIP(change_executable, (GraphExec *executable, Node *node, parameters), (executable, node, arguments)) {             \
    Work work = {0};                                                                                                   \
    hipError_t code = set;                                                                                             \
    return code ? code : change_node(node_of(executable, node), &work);                                                \
  }
static Node *node_of(const GraphExec *executable, const Node *node) {
  return is_executable(executable) && is_node(node) ? copy_in(&executable->graph, node) : NULL;
}
/* Let a node do something else of its type. */
static void replace(Work *work, const Work *with) {
  if (memory_of(with)) memory_of(with)->users++;
  free_payload(work);
  Work copy;
  copy_work(&copy, with);
  set_work(work, &copy);
}
static hipError_t change_node(Node *node, const Work *work) {
  if (!is_node(node) || type_of(&node->work) != type_of(work)) return hipErrorInvalidValue;
  replace(&node->work, work);
  return hipSuccess;
}
NODE(hipGraphAddMemcpyNode1D, hipGraphMemcpyNodeSetParams1D, hipGraphExecMemcpyNodeSetParams1D,
     set_copy(&work, destination, source, nbytes, kind),
     PARAMETERS(void *destination, const void *source, size_t nbytes, int kind),
     PARAMETERS(destination, source, nbytes, kind))
NODE(hipGraphAddMemcpyNodeToSymbol, hipGraphMemcpyNodeSetParamsToSymbol, hipGraphExecMemcpyNodeSetParamsToSymbol,
     set_symbol_copy(&work, symbol, offset, NULL, source, nbytes, kind),
     PARAMETERS(const void *symbol, const void *source, size_t nbytes, size_t offset, int kind),
     PARAMETERS(symbol, source, nbytes, offset, kind))
NODE(hipGraphAddMemcpyNodeFromSymbol, hipGraphMemcpyNodeSetParamsFromSymbol, hipGraphExecMemcpyNodeSetParamsFromSymbol,
     set_symbol_copy(&work, symbol, offset, destination, NULL, nbytes, kind),
     PARAMETERS(void *destination, const void *symbol, size_t nbytes, size_t offset, int kind),
     PARAMETERS(destination, symbol, nbytes, offset, kind))
NODE(hipGraphAddMemcpyNode, hipGraphMemcpyNodeSetParams, hipGraphExecMemcpyNodeSetParams, set_planes(&work, given),
     PARAMETERS(const Copy3D *given), PARAMETERS(given))
NODE(hipGraphAddMemsetNode, hipGraphMemsetNodeSetParams, hipGraphExecMemsetNodeSetParams, set_fill(&work, given),
     PARAMETERS(const FillParameters *given), PARAMETERS(given))
NODE(hipGraphAddHostNode, hipGraphHostNodeSetParams, hipGraphExecHostNodeSetParams, set_host(&work, given),
     PARAMETERS(const HostParameters *given), PARAMETERS(given))
NODE(hipGraphAddEventRecordNode, hipGraphEventRecordNodeSetEvent, hipGraphExecEventRecordNodeSetEvent,
     set_event(&work, event, NODE_RECORD), PARAMETERS(Event *event), PARAMETERS(event))
NODE(hipGraphAddEventWaitNode, hipGraphEventWaitNodeSetEvent, hipGraphExecEventWaitNodeSetEvent,
     set_event(&work, event, NODE_WAIT), PARAMETERS(Event *event), PARAMETERS(event))
/* It has a copy of the graph. */
HIP(hipGraphAddChildGraphNode, (Node **made, Graph *graph, Node *const *after, size_t count, Graph *child),
    (made, graph, after, count, child)) {
  Graph *copy = NULL;
  hipError_t code = do_hipGraphClone(&copy, child);
  if (!code) code = new_node(made, graph, after, count, &(Work){.what = MARK, .kind = NODE_GRAPH});
  if (!code) (*made)->child = copy;
  else if (copy) free_graph(copy);
  return code;
}
HIP(hipGraphChildGraphNodeGetGraph, (Node *node, Graph **graph), (node, graph)) {
  if (!is_node(node) || !node->child || !graph) return hipErrorInvalidValue;
  *graph = node->child;
  return hipSuccess;
}
HIP(hipGraphAddEmptyNode, (Node **made, Graph *graph, Node *const *after, size_t count), (made, graph, after, count)) {
  return new_node(made, graph, after, count, &(Work){.what = MARK});
}
typedef struct { int pool[22]; const void *access; size_t access_count, nbytes; void *pointer; } AllocationParameters;
HIP(hipGraphAddMemAllocNode,
    (Node **made, Graph *graph, Node *const *after, size_t count, AllocationParameters *given),
    (made, graph, after, count, given)) {
  if (!given || !given->nbytes || given->pool[0] != 1 || given->pool[2] != 1) return hipErrorInvalidValue;
  hipError_t code = new_node(made, graph, after, count, &(Work){.what = MARK, .kind = NODE_EMPTY});
  return code ? code : give_memory(&(*made)->work, &given->pointer, given->nbytes);
}
HIP(hipGraphAddMemFreeNode, (Node **made, Graph *graph, Node *const *after, size_t count, void *pointer),
    (made, graph, after, count, pointer)) {
  if (!is_graph(graph)) return hipErrorInvalidValue;
  REFUSE(check_graph_free(graph, pointer));
  return new_node(made, graph, after, count, &(Work){.what = MARK, .kind = NODE_FREE, .destination = pointer});
}
static hipError_t check_edges(const Graph *graph, Node *const *from, Node *const *to, size_t count) {
  if (!is_graph(graph) || (count && (!from || !to))) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; i++)
    if (!is_in(graph, from[i]) || !is_in(graph, to[i]) || from[i] == to[i]) return hipErrorInvalidValue;
  return hipSuccess;
}
static bool remove_edge(Node *node, const Node *other) {
  for (unsigned i = 0; i < node->after_count; i++) {
    if (node->after[i] != other) continue;
    node->after[i] = node->after[--node->after_count];
    return true;
  }
  return false;
}
HIP(hipGraphAddDependencies, (Graph *graph, Node *const *from, Node *const *to, size_t count), (graph, from, to, count)) {
  REFUSE(check_edges(graph, from, to, count));
  for (size_t i = 0; i < count; i++) depend_on(to[i], from[i]);
  return hipSuccess;
}
HIP(hipGraphRemoveDependencies, (Graph *graph, Node *const *from, Node *const *to, size_t count),
    (graph, from, to, count)) {
  REFUSE(check_edges(graph, from, to, count));
  for (size_t i = 0; i < count; i++)
    if (!remove_edge(to[i], from[i])) return hipErrorInvalidValue;
  return hipSuccess;
}
/* Nodes do not know their graph, and only those of graphs may go. */
static void take_out(Graph *graph, Node *gone) {
  Node *before = NULL;
  for (Node *node = graph->first; node; node = node->next) {
    remove_edge(node, gone);
    if (node->next == gone) before = node;
  }
  *(before ? &before->next : &graph->first) = gone->next;
  if (graph->last == gone) graph->last = before;
}
HIP(hipGraphDestroyNode, (Node *node), (node)) {
  if (!is_node(node)) return hipErrorInvalidValue;
  for (size_t i = 0; i < handle_slots; i++) {
    Graph *graph = handles[i].kind == A_GRAPH ? (Graph *)handles[i].address : NULL;
    if (!graph || !is_in(graph, node)) continue;
    if (is_being_captured(graph)) return hipErrorInvalidValue;
    take_out(graph, node);
    free_node(node);
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}

/* ---- executable graphs ---- */

HIP(hipGraphInstantiate, (GraphExec **made, Graph *graph, Node **wrong, char *log, size_t size),
    (made, graph, wrong, log, size)) {
  (void)wrong, (void)log, (void)size;
  if (!made || !is_graph(graph)) return hipErrorInvalidValue;
  Graph nodes = {0};
  if (!copy_nodes(&nodes, graph, NULL, true)) {
    free_nodes(&nodes);
    return hipErrorInvalidValue;
  }
  *made = new_handle(AN_EXECUTABLE, sizeof **made);
  **made = (GraphExec){.graph = nodes, .device = current};
  /* A node is a queue of its own, newer than those of the nodes before it. */
  for (Node *node = nodes.first; node; node = node->next)
    node->work.stream = make_stream(current, hipStreamNonBlocking, 0);
  return hipSuccess;
}
HIP(hipGraphInstantiateWithFlags, (GraphExec **made, Graph *graph, uint64_t flags), (made, graph, flags)) {
  (void)flags; /* of memory that graphs allocate, and of launches by kernels */
  return do_hipGraphInstantiate(made, graph, NULL, NULL, 0);
}
typedef struct { Node *wrong; uint64_t flags; int result; Stream *stream; } InstantiateParameters;
HIP(hipGraphInstantiateWithParams, (GraphExec **made, Graph *graph, InstantiateParameters *given),
    (made, graph, given)) {
  if (!given) return hipErrorInvalidValue;
  hipError_t code = do_hipGraphInstantiate(made, graph, NULL, NULL, 0);
  given->wrong = NULL;
  given->result = code ? 1 : 0; /* hipGraphInstantiateResult: an error, success */
  return code;
}
HIP(hipGraphUpload, (GraphExec *executable, Stream *stream), (executable, stream)) {
  (void)stream;
  return is_executable(executable) ? hipSuccess : hipErrorInvalidValue;
}
HIP(hipGraphExecDestroy, (GraphExec *executable), (executable)) {
  if (!end_handle(AN_EXECUTABLE, executable)) return hipErrorInvalidValue;
  finish_work(executable->last);
  let_go(executable->last);
  for (Node *node = executable->graph.first; node; node = node->next)
    for (Stream **link = &newest; *link; link = &(*link)->older)
      if (*link == node->work.stream) {
        *link = node->work.stream->older;
        end_handle(A_STREAM, node->work.stream);
        free(node->work.stream);
        break;
      }
  free_nodes(&executable->graph);
  free(executable);
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
    Work *work = enqueue(node->work.stream, node->work.what), copy;
    copy_work(&copy, &node->work);
    set_work(work, &copy);
    node->running = work;
    put_after(work, start);
    if (work->what == MARK && work->event) put_after(work, work->event->work);
    if (work->what == EVENT) {
      work->event->recorded = true;
      work->event->work = work;
    }
    for (unsigned i = 0; i < node->after_count; i++) put_after(work, node->after[i]->running);
  }
  let_go(executable->last);
  executable->last = enqueue(stream, MARK);
  executable->last->references++;
  for (Node *node = executable->graph.first; node; node = node->next) put_after(executable->last, node->running);
  return hipSuccess;
}

HIP(hipGraphGetNodes, (Graph *graph, Node **nodes, size_t *count), (graph, nodes, count)) {
  if (!is_graph(graph) || !count) return hipErrorInvalidValue;
  size_t found = 0;
  for (Node *node = graph->first; node; node = node->next, found++)
    if (nodes && found < *count) nodes[found] = node;
  *count = found;
  return hipSuccess;
}
HIP(hipGraphGetRootNodes, (Graph *graph, Node **nodes, size_t *count), (graph, nodes, count)) {
  if (!is_graph(graph) || !count) return hipErrorInvalidValue;
  size_t found = 0;
  for (Node *node = graph->first; node; node = node->next) {
    if (node->after_count) continue;
    if (nodes && found < *count) nodes[found] = node;
    found++;
  }
  *count = found;
  return hipSuccess;
}
HIP(hipGraphNodeGetDependencies, (Node *node, Node **nodes, size_t *count), (node, nodes, count)) {
  if (!is_node(node) || !count) return hipErrorInvalidValue;
  for (unsigned i = 0; nodes && i < node->after_count && i < *count; i++) nodes[i] = node->after[i];
  *count = node->after_count;
  return hipSuccess;
}
HIP(hipGraphGetEdges, (Graph *graph, Node **from, Node **to, size_t *count), (graph, from, to, count)) {
  if (!is_graph(graph) || !count) return hipErrorInvalidValue;
  size_t found = 0;
  for (Node *node = graph->first; node; node = node->next)
    for (unsigned i = 0; i < node->after_count; i++, found++)
      if (from && to && found < *count) from[found] = node->after[i], to[found] = node;
  *count = found;
  return hipSuccess;
}
HIP(hipGraphNodeGetType, (Node *node, int *type), (node, type)) {
  if (!is_node(node) || !type) return hipErrorInvalidValue;
  *type = type_of(&node->work) + (major_version() < 6); /* its enumeration began at 1 */
  return hipSuccess;
}

/* ---- updates ---- */

/* hipGraphExecUpdateResult: 0 success, 2 another topology, 3 another type of a node. */
static int difference(const Graph *ours, const Graph *theirs, Node **wrong) {
  Node *our = ours->first, *their = theirs->first;
  for (; our && their; our = our->next, their = their->next) {
    *wrong = their->copy_of;
    if (our->after_count != their->after_count) return 2;
    for (unsigned i = 0; i < our->after_count; i++)
      if (index_of(ours, our->after[i]) != index_of(theirs, their->after[i])) return 2;
    if (type_of(&our->work) != type_of(&their->work)) return 3;
  }
  if (our || their) return 2;
  *wrong = NULL;
  return 0;
}
HIP(hipGraphExecUpdate, (GraphExec *executable, Graph *graph, Node **wrong, int *result),
    (executable, graph, wrong, result)) {
  if (!is_executable(executable) || !is_graph(graph) || !wrong || !result) return hipErrorInvalidValue;
  Graph nodes = {0};
  *wrong = NULL;
  *result = copy_nodes(&nodes, graph, NULL, true) ? difference(&executable->graph, &nodes, wrong) : 2;
  if (!*result)
    for (Node *our = executable->graph.first, *their = nodes.first; our; our = our->next, their = their->next)
      replace(&our->work, &their->work);
  free_nodes(&nodes);
  return *result ? hipErrorGraphExecUpdateFailure : hipSuccess;
}
static hipError_t change_launch(Node *node, const KernelNodeParameters *given, int device) {
  if (!is_node(node) || node->work.what != LAUNCH || !given || !given->kernel) return hipErrorInvalidValue;
  Work work = node->work;
  hipError_t code = set_launch(&work, given, device);
  if (code) return code;
  replace(&node->work, &work);
  free((void *)work.source);
  return hipSuccess;
}
HIP(hipGraphExecKernelNodeSetParams, (GraphExec *executable, Node *node, const KernelNodeParameters *given),
    (executable, node, given)) {
  return change_launch(node_of(executable, node), given, current);
}
HIP(hipGraphKernelNodeSetParams, (Node *node, const KernelNodeParameters *given), (node, given)) {
  return change_launch(node, given, current);
}
HIP(hipGraphKernelNodeGetParams, (Node *node, KernelNodeParameters *found), (node, found)) {
  if (!is_node(node) || node->work.what != LAUNCH || !found) return hipErrorInvalidValue;
  const Work *work = &node->work;
  const Layout *layout = work->kernel->layout;
  const uint32_t *size = work->grid_and_block;
  node->parameters = realloc(node->parameters, (layout->count + 1) * sizeof *node->parameters);
  for (uint32_t i = 0; i < layout->count; i++)
    node->parameters[i] = (char *)work->source + layout->arguments[i].offset;
  *found = (KernelNodeParameters){.grid = {size[0], size[1], size[2]}, .block = {size[3], size[4], size[5]},
                                  .kernel = work->kernel, .parameters = node->parameters,
                                  .dynamic_lds = work->dynamic_lds};
  return hipSuccess;
}
