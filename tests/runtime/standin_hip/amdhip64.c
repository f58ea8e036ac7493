/* A stand-in for ROCm's libamdhip64.so, for tests on machines without an AMD GPU.
 *
 * It has the functions that amdjit calls, with HIP's ABI (hip_runtime_api.h of ROCm 6 and 7). Work is queued and done
 * as late as HIP may do it: when somebody waits, only what that wait is for, and in the least favourable order that HIP
 * allows (queues.c). So a missing synchronisation shows as wrong results. Memory and launches
 * go to the callbacks of standin_set_emulator; without them memory is malloc's, and a launch only copies its kernarg
 * to the address that is its first argument ("echo").
 *
 * Environment: STANDIN_HIP_DEVICES (1), STANDIN_HIP_ARCH (gfx1201), STANDIN_HIP_VERSION (70253211),
 * STANDIN_HIP_MEMORY (bytes, 16 GiB), STANDIN_HIP_MULTIPROCESSORS (32), STANDIN_HIP_POOLS (1: it has memory pools),
 * STANDIN_HIP_MANAGED (1: it has managed memory), STANDIN_HIP_FAIL ("hipMalloc=2,hipModuleLoadData=209"),
 * STANDIN_HIP_CRASH and STANDIN_HIP_HANG ("hipMalloc,hipModuleLoadData": functions that end the process, or never
 * return), STANDIN_HIP_WRONG (a kernel: the next copy from the device after each of its launches has a wrong bit).
 */
#define _GNU_SOURCE
#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int hipError_t;
enum {
  hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorInvalidConfiguration = 9,
  hipErrorInvalidDevicePointer = 17, hipErrorNoDevice = 100, hipErrorInvalidDevice = 101, hipErrorInvalidImage = 200, hipErrorFileNotFound = 301,
  hipErrorNoBinaryForGpu = 209, hipErrorInvalidHandle = 400, hipErrorIllegalState = 401, hipErrorNotFound = 500,
  hipErrorNotReady = 600, hipErrorContextIsDestroyed = 709, hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorStreamCaptureUnsupported = 900, hipErrorStreamCaptureInvalidated = 901, hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureUnjoined = 904, hipErrorStreamCaptureIsolation = 905, hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907, hipErrorStreamCaptureWrongThread = 908, hipErrorGraphExecUpdateFailure = 910,
  hipErrorUnknown = 999,
};
enum { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };

typedef struct {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int textures_and_surfaces[40];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
  int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseHipArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported;
  int memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingHipArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int reserved[63], hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  unsigned arch; /* hipDeviceArch_t: 17 one-bit fields */
  void *hdpMemFlushCntl, *hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatched[4], isLargeBar, asicRevision;
} Properties;
_Static_assert(sizeof(Properties) == 1472, "hipDeviceProp_tR0600 has 1472 bytes");

/* What standin_set_emulator gives. Each returns a HIP error code unless said otherwise. */
typedef struct {
  uint64_t (*allocate)(uint64_t nbytes); /* 0: out of memory */
  hipError_t (*release)(uint64_t address);
  hipError_t (*to_device)(uint64_t address, const void *source, uint64_t nbytes);
  hipError_t (*to_host)(void *destination, uint64_t address, uint64_t nbytes);
  uint64_t (*load)(const void *image, uint64_t nbytes); /* 0: refused */
  void (*unload)(uint64_t module);
  hipError_t (*launch)(uint64_t module, const char *name, const uint32_t *grid_and_block, uint32_t dynamic_lds,
                       const void *kernarg, uint64_t nbytes);
  hipError_t (*launch_cooperative)(uint64_t module, const char *name, const uint32_t *grid_and_block,
                                   uint32_t dynamic_lds, const void *kernarg, uint64_t nbytes);
  uint64_t (*time)(void); /* of the device, in nanoseconds; 0: the host's clock is the device's */
} Emulator;

typedef struct Allocation { uint64_t address, nbytes; int device; struct Allocation *next; } Allocation;
typedef struct Module { const char *image; uint64_t nbytes, emulated; int device; } Module;
typedef struct Kernel { Module *module; char name[256]; struct Kernel *next; } Kernel;
/* A piece of work, in a queue or as the contents of a graph's node. */
typedef struct Work {
  enum { COPY, LAUNCH, EVENT, HOST, MARK, FILL, ROWS, FREE } what;
  int kind;
  void *destination;
  const void *source; /* of a launch: its kernarg, which the work owns */
  uint64_t nbytes;
  Kernel *kernel;
  uint32_t grid_and_block[6], dynamic_lds;
  bool is_cooperative;
  struct Event *event;
  void (*function)(void *);
  void *data;
  uint32_t value;           /* of a fill: kind bytes of it, nbytes times */
  uint64_t rows, pitches[2]; /* of a copy of rows: the destination's and the source's */
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
static bool is_emulated;
static Allocation *allocations;
static Kernel *kernels;
static Stream *newest; /* all streams, those of graphs' nodes included */
static unsigned order; /* 0: the newest stream first; else the seed of a random legal order */
static __thread bool in_host_function;
static hipError_t sticky;
static char failures[4096];
static uint64_t used_memory, launches, waits;
static unsigned launch_delay;
static __thread int current;

/* ---- failures on demand ---- */

static hipError_t failure_in(const char *list, const char *function) {
  size_t length = strlen(function);
  for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!strncmp(at, function, length) && at[length] == '=') return atoi(at + length + 1);
  return hipSuccess;
}

static hipError_t failure(const char *function) {
  hipError_t code = failure_in(failures, function);
  const char *environment = getenv("STANDIN_HIP_FAIL");
  return code || !environment ? code : failure_in(environment, function);
}

/* What a driver does that tells nothing. Read once, because every function of HIP asks. */
static const char *crashing, *hanging, *miscomputed;
__attribute__((constructor)) static void read_misbehaviour(void) {
  crashing = getenv("STANDIN_HIP_CRASH");
  hanging = getenv("STANDIN_HIP_HANG");
  miscomputed = getenv("STANDIN_HIP_WRONG");
}
static bool is_listed(const char *list, const char *function) {
  size_t length = strlen(function);
  for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!strncmp(at, function, length) && (!at[length] || at[length] == ',')) return true;
  return false;
}
static void misbehave(const char *function) {
  if (is_listed(crashing, function)) raise(SIGSEGV);
  while (is_listed(hanging, function)) pause();
}

/* HIP forbids its functions in functions that a stream calls: a real runtime hangs there. */
static hipError_t refuse_in_host_function(const char *function) {
  fprintf(stderr, "stand-in HIP: %s was called by a function of hipLaunchHostFunc\n", function);
  return hipErrorUnknown;
}

static void unlock(int *unused) { (void)unused; pthread_mutex_unlock(&lock); }
#define ENTER                                                              \
  __attribute__((cleanup(unlock))) int entered = pthread_mutex_lock(&lock); \
  (void)entered;                                                           \
  if (crashing || hanging) misbehave(__func__);                            \
  if (in_host_function) return refuse_in_host_function(__func__);           \
  if (failure(__func__)) return failure(__func__)

/* ---- what only tests call ---- */

void standin_set_emulator(const Emulator *callbacks) { emulator = *callbacks; is_emulated = true; }
void standin_set_failures(const char *list) { snprintf(failures, sizeof failures, "%s", list); }
uint64_t standin_launches(void) { return launches; }
uint64_t standin_waits(void) { return waits; }
uint64_t standin_used_memory(void) { return used_memory; }
/* Wait this long before a launch reads its arguments, so that a race for them is lost. */
void standin_set_launch_delay(unsigned microseconds) { launch_delay = microseconds; }
/* The device that an address was allocated on, -1 for no allocation. */
int standin_device_of(uint64_t address) {
  for (Allocation *a = allocations; a; a = a->next)
    if (a->address == address) return a->device;
  return -1;
}
uint64_t standin_queued(void) {
  uint64_t count = 0;
  for (Stream *stream = newest; stream; stream = stream->older)
    for (Work *work = stream->first; work; work = work->next) count += work->what != MARK && work->what != FREE;
  return count;
}
/* 0: what a wait needs, and of that the newest stream's work first. Else a random legal order, with work of others. */
void standin_set_order(unsigned seed) { order = seed; }

/* ---- devices ---- */

static uint64_t number(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : otherwise;
}
static const char *architecture(void) {
  const char *text = getenv("STANDIN_HIP_ARCH");
  return text ? text : "gfx1201";
}
static int device_count(void) { return (int)number("STANDIN_HIP_DEVICES", 1); }
static uint64_t total_memory(void) { return number("STANDIN_HIP_MEMORY", 16ull << 30); }

hipError_t hipGetDeviceCount(int *count) {
  ENTER;
  *count = device_count();
  return *count ? hipSuccess : hipErrorNoDevice;
}
hipError_t hipSetDevice(int device) {
  ENTER;
  if (device < 0 || device >= device_count()) return hipErrorInvalidDevice;
  current = device;
  return hipSuccess;
}
hipError_t hipGetDevice(int *device) { ENTER; *device = current; return hipSuccess; }
static hipError_t device_attribute(int *value, int attribute) {
  enum { MANAGED_MEMORY = 24, MEMORY_POOLS_SUPPORTED = 88 };
  if (attribute == MANAGED_MEMORY) *value = (int)number("STANDIN_HIP_MANAGED", 1);
  else if (attribute == MEMORY_POOLS_SUPPORTED) *value = (int)number("STANDIN_HIP_POOLS", 1);
  else return hipErrorInvalidValue;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER;
  if (device < 0 || device >= device_count()) return hipErrorInvalidDevice;
  return device_attribute(value, attribute);
}
hipError_t hipRuntimeGetVersion(int *version) {
  ENTER;
  *version = (int)number("STANDIN_HIP_VERSION", 70253211);
  return hipSuccess;
}
hipError_t hipGetDevicePropertiesR0600(Properties *properties, int device) {
  ENTER;
  if (device < 0 || device >= device_count()) return hipErrorInvalidDevice;
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "Stand-in GPU");
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", architecture());
  properties->totalGlobalMem = total_memory();
  properties->sharedMemPerBlock = 64 << 10;
  properties->warpSize = !strncmp(architecture(), "gfx9", 4) ? 64 : 32;
  properties->maxThreadsPerBlock = 1024;
  properties->multiProcessorCount = (int)number("STANDIN_HIP_MULTIPROCESSORS", 32);
  properties->cooperativeLaunch = 1;
  return hipSuccess;
}

typedef struct { int code; const char *name, *text; } Words;
static const Words WORDS[] = {
  {0, "hipSuccess", "no error"}, {1, "hipErrorInvalidValue", "invalid argument"},
  {2, "hipErrorOutOfMemory", "out of memory"}, {9, "hipErrorInvalidConfiguration", "invalid configuration argument"},
  {100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
  {101, "hipErrorInvalidDevice", "invalid device ordinal"},
  {200, "hipErrorInvalidImage", "device kernel image is invalid"},
  {209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
  {301, "hipErrorFileNotFound", "file not found"},
  {400, "hipErrorInvalidHandle", "invalid resource handle"}, {500, "hipErrorNotFound", "named symbol not found"},
  {600, "hipErrorNotReady", "device not ready"}, {700, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
  {401, "hipErrorIllegalState", "the operation cannot be performed in the present state"},
  {709, "hipErrorContextIsDestroyed", "context is destroyed"},
  {719, "hipErrorLaunchFailure", "unspecified launch failure"},
  {720, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
  {900, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
  {901, "hipErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
  {903, "hipErrorStreamCaptureUnmatched", "capture was not initiated in this stream"},
  {904, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
  {905, "hipErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
  {906, "hipErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream"},
  {907, "hipErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
  {908, "hipErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread"},
  {910, "hipErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes which violated "
                                          "constraints specific to instantiated graph update"},
};
static const Words *words(int code) {
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (WORDS[i].code == code) return &WORDS[i];
  return NULL;
}
const char *hipGetErrorName(hipError_t code) { const Words *w = words(code); return w ? w->name : "hipErrorUnknown"; }
const char *hipGetErrorString(hipError_t code) { const Words *w = words(code); return w ? w->text : "unknown error"; }

#include "queues.c"
#include "captures.c"
#include "memory.c"
#include "fills.c"
#include "host_memory.c"
#include "pools.c"
#include "streams.c"
#include "binaries.c"
#include "modules.c"
#include "cooperative.c"
#include "graphs.c"
