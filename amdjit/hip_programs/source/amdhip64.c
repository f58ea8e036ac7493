/* HIP's C ABI above an amdjit device. `amdjit/hip_programs/__init__.py` says how the parts fit together.
 *
 * Every function of HIP is one HIP(...) here: it takes the lock, starts the device if it is the first one, and notes
 * what it returns for hipGetLastError. Work is queued (queues.c). Programs get it done before the function returns that
 * queued it. With STRICT, which tests set, it is done as late as HIP may do it: when somebody waits, only what that wait
 * is for, and in the least favourable order that HIP allows. So a missing synchronisation shows as wrong results. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef STRICT
#define STRICT 0
/* What tests let functions do: wait, end the process, return an error. */
static void before(const char *function) { (void)function; }
static int refusal(const char *function) { (void)function; return 0; }
#endif

typedef int hipError_t;
enum {
  hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorNotInitialized = 3,
  hipErrorDeinitialized = 4, hipErrorInvalidConfiguration = 9, hipErrorInvalidSymbol = 13, hipErrorMissingConfiguration = 52,
  hipErrorInvalidDevicePointer = 17, hipErrorInvalidMemcpyDirection = 21, hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100, hipErrorInvalidDevice = 101, hipErrorInvalidImage = 200, hipErrorFileNotFound = 301,
  hipErrorNoBinaryForGpu = 209, hipErrorInvalidHandle = 400, hipErrorIllegalState = 401, hipErrorNotFound = 500,
  hipErrorNotReady = 600, hipErrorUnsupportedLimit = 215, hipErrorPeerAccessUnsupported = 217,
  hipErrorContextIsDestroyed = 709, hipErrorHostMemoryAlreadyRegistered = 712, hipErrorHostMemoryNotRegistered = 713,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720, hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900, hipErrorStreamCaptureInvalidated = 901, hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureUnjoined = 904, hipErrorStreamCaptureIsolation = 905, hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907, hipErrorStreamCaptureWrongThread = 908, hipErrorGraphExecUpdateFailure = 910,
  hipErrorUnknown = 999,
};
enum { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };

/* A kernel as its code object describes it; offset and size in bytes for each explicit argument. */
typedef struct {
  uint32_t kernarg_bytes, lds_bytes, scratch_bytes, vgprs, wave_size, most_work_items, count;
  struct { uint32_t offset, size; } arguments[];
} Layout;
/* What the device does; amdjit/hip_programs/gpu.py has its twin. Each returns a HIP error code unless said otherwise. */
typedef struct {
  /* frames: return addresses of who asks. 0: out of memory. */
  uint64_t (*allocate)(uint64_t nbytes, int for_host, void *const *frames, uint64_t count);
  hipError_t (*release)(uint64_t address, void *const *frames, uint64_t count);
  hipError_t (*adopt)(uint64_t address, uint64_t nbytes); /* memory of the host, until it is released */
  hipError_t (*to_device)(uint64_t address, const void *source, uint64_t nbytes);
  hipError_t (*to_host)(void *destination, uint64_t address, uint64_t nbytes);
  hipError_t (*load)(const void *image, uint64_t most_bytes, uint64_t *module);
  void (*unload)(uint64_t module);
  const Layout *(*describe)(uint64_t module, const char *kernel); /* NULL: there is none of that name */
  hipError_t (*symbol)(uint64_t module, const char *name, uint64_t *address, uint64_t *nbytes);
  hipError_t (*launch)(uint64_t module, const char *name, const uint32_t *grid_and_block, uint32_t dynamic_lds,
                       const void *kernarg, uint64_t nbytes, int cooperative);
  /* A program in a folder (runtime_compilation.c): hiprtc's code; and remove the folder. */
  int (*compile)(const char *folder, const char *const *options, int count);
  void (*discard)(const char *folder);
  uint64_t (*time)(void); /* of the device, in nanoseconds; 0: the host's clock is the device's */
} Emulator;
/* The device as programs see it: `devices` that are all the same. */
typedef struct {
  char name[256], architecture[256];
  uint64_t memory;
  uint32_t devices, version, multiprocessors, wave_size, lds_bytes, has_pools, has_managed_memory;
} Facts;

/* is_symbol: a variable of a module. flags: of pinned memory. */
typedef struct Allocation {
  uint64_t address, nbytes;
  int device;
  unsigned flags;
  bool is_managed, is_symbol, is_registered, is_read_mostly;
  int places[3]; /* preferred, accessed by, prefetched: a device + 2, the host being -1; else 0 */
  struct Allocation *next;
} Allocation;
typedef struct Module { uint64_t emulated; int device; } Module;
typedef struct Kernel { Module *module; const Layout *layout; char *name; bool was_launched; } Kernel;
/* A piece of work, in a queue or as the contents of a graph's node. kind: of a copy, its direction; of a fill, the bytes
 * of its value, which is written nbytes times; of a mark, the type of its node. */
typedef struct Work {
  enum { COPY, LAUNCH, EVENT, HOST, MARK, FILL, ROWS, FREE } what;
  int kind;
  void *destination;
  const void *source; /* of a launch: its kernarg, which the work owns */
  uint64_t nbytes;
  Kernel *kernel;
  uint32_t grid_and_block[6], dynamic_lds;
  bool is_cooperative;
  struct Event *event; /* of a mark: what it waits for */
  void (*function)(void *);
  void *data;
  uint32_t value;
  uint64_t rows, planes, pitches[2], plane_pitches[2]; /* of a copy: the destination's and the source's */
  /* Its place: behind `before` in its stream, and behind the work of other streams. */
  struct Stream *stream;
  struct Work *before, *next, **after;
  unsigned after_count, references;
  bool done, needed;
} Work;
typedef struct Event {
  bool timed, recorded;
  Work *work; /* the last record, NULL when it is reached */
  struct timespec time;
  struct Capture *capture;
  struct Node **nodes; /* recorded in a capture: the nodes before it */
  unsigned node_count;
} Event;
typedef struct Stream {
  int device;
  bool alive;
  unsigned flags;
  int priority;
  Work *first, *last; /* what is not done yet */
  struct Stream *older;
  unsigned running; /* pieces of its work that are being done: 0 or 1 */
  struct Capture *capture;
  struct Node **nodes; /* in a capture: the nodes that the next one depends on */
  unsigned node_count;
} Stream;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static Emulator emulator;
static Facts facts;
static volatile bool is_ready_to_work;
static Allocation *allocations;
static Stream *newest; /* all streams, those of graphs' nodes included */
static unsigned order; /* 0: the newest stream first; else the seed of a random legal order */
static __thread bool in_host_function;
static hipError_t sticky;
static uint64_t used_memory, launches, waits;
static __thread int current;
static unsigned running; /* pieces of work that are being done, one inside of the other */

/* ---- every function of HIP ---- */

static unsigned depth;
static __thread hipError_t last_error;

static bool start(void);
static void stop_first(struct Kernel *kernel);
static void finish(void);

/* HIP forbids its functions in functions that a stream calls: a real runtime hangs there. */
static hipError_t refuse_in_host_function(const char *function) {
  fprintf(stderr, "amdjit's HIP: %s was called by a function of hipLaunchHostFunc\n", function);
  return hipErrorUnknown;
}
static hipError_t enter(const char *function) {
  before(function);
  bool is_started = start();
  pthread_mutex_lock(&lock);
  depth++;
  if (!is_started) return hipErrorNoDevice;
  return in_host_function ? refuse_in_host_function(function) : refusal(function);
}
static hipError_t leave(hipError_t code) {
  if (!STRICT && depth == 1 && !running) finish();
  depth--;
  if (code && code != hipErrorNotReady) last_error = code;
  pthread_mutex_unlock(&lock);
  return code;
}
#define HIP(name, parameters, arguments)          \
  static hipError_t do_##name parameters;         \
  hipError_t name parameters {                    \
    hipError_t code = enter(#name);               \
    return leave(code ? code : do_##name arguments); \
  }                                               \
  static hipError_t do_##name parameters

static int device_count(void) { return (int)facts.devices; }
static const char *architecture(void) { return facts.architecture; }
static uint64_t total_memory(void) { return facts.memory; }
static int major_version(void) { return (int)facts.version / 10000000; }

#include "errors.c"
#include "handles.c"
#include "devices.c"
#include "queues.c"
#include "captures.c"
#include "memory.c"
#include "fills.c"
#include "host_memory.c"
#include "pools.c"
#include "streams.c"
#include "modules.c"
#include "registration.c"
#include "cooperative.c"
#include "graphs.c"
#include "per_thread.c"
#include "runtime_compilation.c"
#if !STRICT
#include "start.c"
#endif
