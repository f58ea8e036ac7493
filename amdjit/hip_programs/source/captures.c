/* Streams that are captured: their work becomes nodes of a graph. Part of amdhip64.c.
 *
 * What is refused follows ROCm's clr: hipamd/src/hip_internal.hpp (CHECK_STREAM_CAPTURE_SUPPORTED and its relatives),
 * hip_stream.cpp and hip_graph.cpp. amdjit itself captures with hipStreamCaptureModeThreadLocal. */

enum { hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed };
/* hipGraphNodeType */
enum {
  NODE_KERNEL, NODE_MEMCPY, NODE_MEMSET, NODE_HOST, NODE_GRAPH, NODE_EMPTY, NODE_WAIT, NODE_RECORD, NODE_ALLOCATE = 10,
  NODE_FREE,
};

typedef struct Node {
  Work work;
  struct Node **after;
  unsigned after_count;
  struct Node *copy_of, *next;
  Work *running;      /* while a launch is put together */
  struct Node *made;  /* while the graph is copied: the node that ends its copy */
  struct Graph *child; /* a graph in the place of work */
  void **parameters;  /* addresses of a launch's arguments, for those who ask for them */
  bool has_dependents;
} Node;
/* An allocation of a graph, the data of a MARK. address: 0 once the program has freed it. users: nodes that have it. */
typedef struct GraphMemory { uint64_t address; unsigned users; struct GraphMemory *next; } GraphMemory;
static GraphMemory *graph_memories;
typedef struct Graph { Node *first, *last; } Graph;
typedef struct Capture {
  Graph *graph;
  Stream *origin;
  pthread_t thread;
  int mode;
  bool is_valid, is_over;
  struct Capture *next;
} Capture;

static Capture *captures; /* those that go on */
static __thread int thread_mode = hipStreamCaptureModeGlobal; /* hipThreadExchangeStreamCaptureMode */

static bool captures_here(const Capture *capture) { return pthread_equal(capture->thread, pthread_self()); }
/* Calls that HIP refuses while the thread captures, or anybody does with the global mode; they spoil the captures. */
static hipError_t refused_in_thread(void) {
  hipError_t code = hipSuccess;
  for (Capture *capture = captures; capture; capture = capture->next) {
    if (thread_mode == hipStreamCaptureModeRelaxed || capture->mode == hipStreamCaptureModeRelaxed) continue;
    bool is_global = thread_mode == hipStreamCaptureModeGlobal && capture->mode == hipStreamCaptureModeGlobal;
    if (!is_global && !captures_here(capture)) continue;
    capture->is_valid = false;
    code = hipErrorStreamCaptureUnsupported;
  }
  return code;
}
/* Calls that HIP refuses while anybody captures. */
static hipError_t refused_anywhere(hipError_t code) {
  for (Capture *capture = captures; capture; capture = capture->next) capture->is_valid = false;
  return captures ? code : hipSuccess;
}
#define REFUSE(check)             \
  do {                            \
    hipError_t refused = (check); \
    if (refused) return refused;  \
  } while (0)

static void set_nodes(Stream *stream, Node **nodes, unsigned count) {
  Node **copy = calloc(count + 1, sizeof *copy);
  if (count) memcpy(copy, nodes, count * sizeof *copy);
  free(stream->nodes);
  stream->nodes = copy;
  stream->node_count = count;
}
static void depend_on(Node *node, Node *other) {
  node->after = realloc(node->after, (node->after_count + 1) * sizeof *node->after);
  node->after[node->after_count++] = other;
  other->has_dependents = true;
}
static Node *add_node(Graph *graph) {
  Node *node = new_handle(A_NODE, sizeof *node);
  *(graph->first ? &graph->last->next : &graph->first) = node;
  graph->last = node;
  return node;
}

/* Put work into a stream, or a node into the graph that is captured there; the caller fills it in. */
static hipError_t submit(Stream *handle, int what, Work **work) {
  Stream *stream = stream_of(handle);
  if (!stream->alive || stream->device != current) return hipErrorInvalidHandle;
  if (stream->capture) {
    if (!stream->capture->is_valid) return hipErrorStreamCaptureInvalidated;
    Node *node = add_node(stream->capture->graph);
    for (unsigned i = 0; i < stream->node_count; i++) depend_on(node, stream->nodes[i]);
    set_nodes(stream, &node, 1);
    node->work.what = what;
    *work = &node->work;
    return hipSuccess;
  }
  if (is_null(stream))
    for (Capture *capture = captures; capture; capture = capture->next)
      if (is_blocking(capture->origin) && capture->origin->device == current) {
        capture->is_valid = false;
        return hipErrorStreamCaptureImplicit;
      }
  *work = enqueue(stream, what);
  return hipSuccess;
}
