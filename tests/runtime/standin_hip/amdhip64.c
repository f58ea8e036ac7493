/* A stand-in for ROCm's libamdhip64.so, for tests on machines without an AMD GPU.
 *
 * It has the functions that amdjit calls, with HIP's ABI (hip_runtime_api.h of ROCm 6 and 7). Work is queued and done
 * as late as HIP may do it: when somebody waits. So a missing synchronisation shows as wrong results. Memory and launches
 * go to the callbacks of standin_set_emulator; without them memory is malloc's, and a launch only copies its kernarg
 * to the address that is its first argument ("echo").
 *
 * Environment: STANDIN_HIP_DEVICES (1), STANDIN_HIP_ARCH (gfx1201), STANDIN_HIP_MEMORY (bytes, 16 GiB),
 * STANDIN_HIP_FAIL ("hipMalloc=2,hipModuleLoadData=209").
 */
#define _GNU_SOURCE
#include <elf.h>
#include <pthread.h>
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
  hipErrorInvalidDevicePointer = 17, hipErrorNoDevice = 100, hipErrorInvalidDevice = 101, hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209, hipErrorInvalidHandle = 400, hipErrorNotFound = 500, hipErrorNotReady = 600,
  hipErrorLaunchFailure = 719,
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
} Emulator;

typedef struct Allocation { uint64_t address, nbytes; int device; struct Allocation *next; } Allocation;
typedef struct Module { const char *image; uint64_t nbytes, emulated; int device; } Module;
typedef struct Kernel { Module *module; char name[256]; struct Kernel *next; } Kernel;
typedef struct Event { bool recorded, reached; struct timespec time; } Event;
typedef struct Stream { int device; bool alive; } Stream;
typedef struct Work {
  enum { COPY, LAUNCH, EVENT } what;
  int kind;
  void *destination;
  const void *source;
  uint64_t nbytes;
  Kernel *kernel;
  uint32_t grid_and_block[6], dynamic_lds;
  Event *event;
  struct Work *next;
} Work;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static Emulator emulator;
static bool is_emulated;
static Allocation *allocations;
static Kernel *kernels;
static Work *queue, **queue_end = &queue;
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

static void unlock(int *unused) { (void)unused; pthread_mutex_unlock(&lock); }
#define ENTER                                                              \
  __attribute__((cleanup(unlock))) int entered = pthread_mutex_lock(&lock); \
  (void)entered;                                                           \
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
  for (Work *work = queue; work; work = work->next) count++;
  return count;
}

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
hipError_t hipRuntimeGetVersion(int *version) { ENTER; *version = 70253211; return hipSuccess; }
hipError_t hipGetDevicePropertiesR0600(Properties *properties, int device) {
  ENTER;
  if (device < 0 || device >= device_count()) return hipErrorInvalidDevice;
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "Stand-in GPU");
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", architecture());
  properties->totalGlobalMem = total_memory();
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->multiProcessorCount = 32;
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
  {400, "hipErrorInvalidHandle", "invalid resource handle"}, {500, "hipErrorNotFound", "named symbol not found"},
  {600, "hipErrorNotReady", "device not ready"}, {700, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
  {719, "hipErrorLaunchFailure", "unspecified launch failure"},
};
static const Words *words(int code) {
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (WORDS[i].code == code) return &WORDS[i];
  return NULL;
}
const char *hipGetErrorName(hipError_t code) { const Words *w = words(code); return w ? w->name : "hipErrorUnknown"; }
const char *hipGetErrorString(hipError_t code) { const Words *w = words(code); return w ? w->text : "unknown error"; }

/* ---- memory ---- */

static Allocation *find(const void *pointer, uint64_t nbytes) {
  uint64_t address = (uint64_t)pointer;
  for (Allocation *a = allocations; a; a = a->next)
    if (a->address <= address && address + nbytes <= a->address + a->nbytes) return a;
  return NULL;
}

static hipError_t copy_now(int kind, void *destination, const void *source, uint64_t nbytes) {
  if (!is_emulated) {
    memmove(destination, source, nbytes);
    return hipSuccess;
  }
  if (kind == hipMemcpyHostToDevice) return emulator.to_device((uint64_t)destination, source, nbytes);
  if (kind == hipMemcpyDeviceToHost) return emulator.to_host(destination, (uint64_t)source, nbytes);
  void *between = malloc(nbytes);
  hipError_t code = emulator.to_host(between, (uint64_t)source, nbytes);
  if (!code) code = emulator.to_device((uint64_t)destination, between, nbytes);
  free(between);
  return code;
}

static hipError_t launch_now(Work *work) {
  launches++;
  if (is_emulated)
    return emulator.launch(work->kernel->module->emulated, work->kernel->name, work->grid_and_block, work->dynamic_lds,
                           work->source, work->nbytes);
  uint64_t target;
  memcpy(&target, work->source, 8);
  if (!find((void *)target, 28 + work->nbytes)) return hipErrorLaunchFailure;
  memcpy((char *)target, work->grid_and_block, 24);
  memcpy((char *)target + 24, &work->dynamic_lds, 4);
  memcpy((char *)target + 28, work->source, work->nbytes);
  return hipSuccess;
}

/* Do all queued work. What a launch fails with is told by the first call that waits for it, as HIP does. */
static void finish(void) {
  while (queue) {
    Work *work = queue;
    queue = work->next;
    if (!queue) queue_end = &queue;
    hipError_t code = hipSuccess;
    if (work->what == COPY) code = copy_now(work->kind, work->destination, work->source, work->nbytes);
    if (work->what == LAUNCH) code = launch_now(work);
    if (work->what == EVENT) {
      clock_gettime(CLOCK_MONOTONIC, &work->event->time);
      work->event->reached = true;
    }
    if (work->what == LAUNCH) free((void *)work->source);
    if (code && !sticky) sticky = code;
    free(work);
  }
}
static hipError_t wait_for_all(void) {
  waits++;
  finish();
  hipError_t code = sticky;
  sticky = hipSuccess;
  return code;
}

static Work *enqueue(int what) {
  Work *work = calloc(1, sizeof *work);
  work->what = what;
  *queue_end = work;
  queue_end = &work->next;
  return work;
}

hipError_t hipMalloc(void **pointer, size_t nbytes) {
  ENTER;
  *pointer = NULL;
  if (!nbytes) return hipSuccess;
  if (nbytes > total_memory() - used_memory) return hipErrorOutOfMemory;
  uint64_t address = is_emulated ? emulator.allocate(nbytes) : (uint64_t)aligned_alloc(4096, (nbytes + 4095) & ~4095ull);
  if (!address) return hipErrorOutOfMemory;
  Allocation *allocation = malloc(sizeof *allocation);
  *allocation = (Allocation){address, nbytes, current, allocations};
  allocations = allocation;
  used_memory += nbytes;
  *pointer = (void *)address;
  return hipSuccess;
}
hipError_t hipFree(void *pointer) {
  ENTER;
  finish();
  for (Allocation **link = &allocations; *link; link = &(*link)->next) {
    Allocation *allocation = *link;
    if (allocation->address != (uint64_t)pointer) continue;
    *link = allocation->next;
    used_memory -= allocation->nbytes;
    if (is_emulated) emulator.release(allocation->address);
    else free(pointer);
    free(allocation);
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}
hipError_t hipMemGetInfo(size_t *available, size_t *total) {
  ENTER;
  *total = total_memory();
  *available = *total - used_memory;
  return hipSuccess;
}

static hipError_t check_copy(void *destination, const void *source, size_t nbytes, int kind) {
  bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (!destination || !source || !(to_device || from_device)) return hipErrorInvalidValue;
  if (to_device && !find(destination, nbytes)) return hipErrorInvalidValue;
  if (from_device && !find(source, nbytes)) return hipErrorInvalidValue;
  return hipSuccess;
}
hipError_t hipMemcpy(void *destination, const void *source, size_t nbytes, int kind) {
  ENTER;
  hipError_t code = check_copy(destination, source, nbytes, kind);
  if (!code) code = wait_for_all();
  return code ? code : copy_now(kind, destination, source, nbytes);
}
hipError_t hipMemcpyAsync(void *destination, const void *source, size_t nbytes, int kind, Stream *stream) {
  ENTER;
  if (stream && (!stream->alive || stream->device != current)) return hipErrorInvalidHandle;
  hipError_t code = check_copy(destination, source, nbytes, kind);
  if (code) return code;
  Work *work = enqueue(COPY);
  work->kind = kind;
  work->destination = destination;
  work->source = source;
  work->nbytes = nbytes;
  return hipSuccess;
}

/* ---- streams and events ---- */

hipError_t hipDeviceSynchronize(void) { ENTER; return wait_for_all(); }
hipError_t hipStreamCreate(Stream **stream) {
  ENTER;
  *stream = malloc(sizeof **stream); /* never freed, so that a use after hipStreamDestroy is seen */
  **stream = (Stream){current, true};
  return hipSuccess;
}
hipError_t hipStreamDestroy(Stream *stream) {
  ENTER;
  if (!stream || !stream->alive) return hipErrorInvalidHandle;
  stream->alive = false;
  return hipSuccess;
}
hipError_t hipStreamSynchronize(Stream *stream) {
  ENTER;
  if (stream && !stream->alive) return hipErrorInvalidHandle;
  return wait_for_all();
}
hipError_t hipEventCreate(Event **event) { ENTER; *event = calloc(1, sizeof **event); return hipSuccess; }
hipError_t hipEventDestroy(Event *event) { ENTER; return event ? hipSuccess : hipErrorInvalidHandle; }
hipError_t hipEventRecord(Event *event, Stream *stream) {
  ENTER;
  if (!event || (stream && !stream->alive)) return hipErrorInvalidHandle;
  event->recorded = true;
  event->reached = false;
  enqueue(EVENT)->event = event;
  return hipSuccess;
}
hipError_t hipEventSynchronize(Event *event) { ENTER; return event ? wait_for_all() : hipErrorInvalidHandle; }
hipError_t hipEventElapsedTime(float *milliseconds, Event *start, Event *end) {
  ENTER;
  if (!start || !end || !start->recorded || !end->recorded) return hipErrorInvalidHandle;
  if (!start->reached || !end->reached) return hipErrorNotReady;
  *milliseconds = (end->time.tv_sec - start->time.tv_sec) * 1e3f + (end->time.tv_nsec - start->time.tv_nsec) * 1e-6f;
  return hipSuccess;
}

/* ---- modules ---- */

/* EF_AMDGPU_MACH of the LLVM AMDGPU guide, "ELF Header". */
static unsigned machine_flags(void) {
  const char *name = architecture();
  if (!strncmp(name, "gfx1200", 7)) return 0x48;
  if (!strncmp(name, "gfx1201", 7)) return 0x4e;
  return 0;
}

static uint64_t image_size(const Elf64_Ehdr *header) {
  uint64_t end = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
  const Elf64_Phdr *segments = (const void *)((const char *)header + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_offset + segments[i].p_filesz > end) end = segments[i].p_offset + segments[i].p_filesz;
  return end;
}

static bool has_symbol(const char *image, const char *name) {
  const Elf64_Ehdr *header = (const void *)image;
  const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const Elf64_Sym *symbols = (const void *)(image + sections[i].sh_offset);
    const char *strings = image + sections[sections[i].sh_link].sh_offset;
    for (uint64_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
      if (symbols[k].st_shndx && !strcmp(strings + symbols[k].st_name, name)) return true;
  }
  return false;
}

hipError_t hipModuleLoadData(Module **module, const void *image) {
  ENTER;
  *module = NULL;
  const Elf64_Ehdr *header = image;
  if (memcmp(image, ELFMAG, SELFMAG) || header->e_machine != 224) return hipErrorInvalidImage;
  if ((header->e_flags & 0xff) != machine_flags()) return hipErrorNoBinaryForGpu;
  uint64_t nbytes = image_size(header);
  uint64_t emulated = is_emulated ? emulator.load(image, nbytes) : 0;
  if (is_emulated && !emulated) return hipErrorInvalidImage;
  *module = malloc(sizeof **module);
  **module = (Module){image, nbytes, emulated, current};
  return hipSuccess;
}
hipError_t hipModuleUnload(Module *module) {
  ENTER;
  finish();
  if (is_emulated) emulator.unload(module->emulated);
  module->image = NULL; /* not freed, so that a use after the unloading is seen */
  return hipSuccess;
}
hipError_t hipModuleGetFunction(Kernel **kernel, Module *module, const char *name) {
  ENTER;
  *kernel = NULL;
  if (!module || !module->image) return hipErrorInvalidHandle;
  char descriptor[260];
  snprintf(descriptor, sizeof descriptor, "%s.kd", name);
  if (!has_symbol(module->image, descriptor)) return hipErrorNotFound;
  *kernel = calloc(1, sizeof **kernel);
  (*kernel)->module = module;
  snprintf((*kernel)->name, sizeof (*kernel)->name, "%s", name);
  (*kernel)->next = kernels;
  kernels = *kernel;
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned dynamic_lds, Stream *stream, void **parameters, void **extra) {
  if (launch_delay) usleep(launch_delay);
  ENTER;
  if (!kernel || !kernel->module->image) return hipErrorInvalidHandle;
  if (stream && (!stream->alive || stream->device != current)) return hipErrorInvalidHandle;
  if (kernel->module->device != current || parameters) return hipErrorInvalidValue;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024) return hipErrorInvalidConfiguration;
  /* HIP_LAUNCH_PARAM_BUFFER_POINTER, its value, HIP_LAUNCH_PARAM_BUFFER_SIZE, its address, HIP_LAUNCH_PARAM_END */
  if (!extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3) return hipErrorInvalidValue;
  Work *work = enqueue(LAUNCH);
  work->nbytes = *(size_t *)extra[3];
  void *kernarg = malloc(work->nbytes ? work->nbytes : 1);
  memcpy(kernarg, extra[1], work->nbytes);
  work->source = kernarg;
  work->kernel = kernel;
  uint32_t shape[6] = {gx, gy, gz, bx, by, bz};
  memcpy(work->grid_and_block, shape, sizeof shape);
  work->dynamic_lds = dynamic_lds;
  return hipSuccess;
}
