/* Devices, their properties and attributes, contexts. Part of amdhip64.c.
 *
 * All devices are the same emulated chip. Its clocks are unknown: programs get 2 GHz, which only scales what they print. */

HIP(hipInit, (unsigned flags), (flags)) { return flags ? hipErrorInvalidValue : hipSuccess; }
HIP(hipGetDeviceCount, (int *count), (count)) {
  if (!count) return hipErrorInvalidValue;
  *count = device_count();
  return *count ? hipSuccess : hipErrorNoDevice;
}
static bool is_device(int device) { return device >= 0 && device < device_count(); }
HIP(hipSetDevice, (int device), (device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  current = device;
  return hipSuccess;
}
HIP(hipGetDevice, (int *device), (device)) {
  if (!device) return hipErrorInvalidValue;
  *device = current;
  return hipSuccess;
}
/* All are the same. */
HIP(hipChooseDeviceR0600, (int *device, const void *wanted), (device, wanted)) {
  if (!device || !wanted) return hipErrorInvalidValue;
  *device = 0;
  return hipSuccess;
}
HIP(hipChooseDevice, (int *device, const void *wanted), (device, wanted)) {
  return do_hipChooseDeviceR0600(device, wanted);
}
HIP(hipSetDeviceFlags, (unsigned flags), (flags)) { (void)flags; return hipSuccess; }
HIP(hipGetDeviceFlags, (unsigned *flags), (flags)) { *flags = 0; return hipSuccess; }
HIP(hipDeviceGet, (int *device, int ordinal), (device, ordinal)) {
  if (!is_device(ordinal)) return hipErrorInvalidDevice;
  *device = ordinal;
  return hipSuccess;
}
HIP(hipDeviceGetName, (char *name, int length, int device), (name, length, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  if (!name || length <= 0) return hipErrorInvalidValue;
  snprintf(name, length, "%s", facts.name);
  return hipSuccess;
}
HIP(hipDeviceTotalMem, (size_t *nbytes, int device), (nbytes, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  *nbytes = total_memory();
  return hipSuccess;
}
HIP(hipDeviceGetPCIBusId, (char *id, int length, int device), (id, length, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  if (!id || length < 13) return hipErrorInvalidValue;
  snprintf(id, length, "0000:%02x:00.0", device + 3);
  return hipSuccess;
}
typedef struct { int bits[4], kind; } ChannelFormat;
ChannelFormat hipCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return (ChannelFormat){{x, y, z, w}, kind};
}
HIP(hipDeviceGetByPCIBusId, (int *device, const char *id), (device, id)) {
  unsigned domain, bus, number;
  if (!device || !id) return hipErrorInvalidValue;
  bool is_read = sscanf(id, "%x:%x:%x", &domain, &bus, &number) == 3 && !domain && !number;
  if (!is_read || !is_device((int)bus - 3)) return hipErrorInvalidDevice;
  *device = (int)bus - 3;
  return hipSuccess;
}
HIP(hipRuntimeGetVersion, (int *version), (version)) { *version = (int)facts.version; return hipSuccess; }
HIP(hipDriverGetVersion, (int *version), (version)) { *version = (int)facts.version; return hipSuccess; }

enum { CLOCK_KHZ = 2000000, TIMER_KHZ = 100000, MOST_THREADS = 1024, REGISTERS = 65536, LARGEST_GRID = 2147483647 };

static int threads_of_multiprocessor(void) { return 2048; }

/* gfx1201 is 12.0, gfx90a 9.0. */
static void set_version(int *major, int *minor) {
  size_t digits = strcspn(facts.architecture, ":") - 3;
  *major = digits == 4 ? (facts.architecture[3] - '0') * 10 + facts.architecture[4] - '0' : facts.architecture[3] - '0';
  *minor = facts.architecture[digits] - '0';
}

/* hipDeviceAttribute_t; what is not here is 0. */
static hipError_t device_attribute(int *value, int attribute) {
  static const struct { int attribute, value; } fixed[] = {
    {2, 2}, {3, 1}, {4, 1}, {5, CLOCK_KHZ}, {8, 1}, {9, 1}, {10, 1}, {12, 1}, {19, 4 << 20}, {26, MOST_THREADS},
    {27, MOST_THREADS}, {28, MOST_THREADS}, {29, LARGEST_GRID}, {30, 65535}, {31, 65535}, {55, MOST_THREADS},
    {56, MOST_THREADS}, {58, LARGEST_GRID}, {59, 256}, {60, CLOCK_KHZ}, {71, REGISTERS}, {72, 2 * REGISTERS},
    {78, 1}, {81, 256}, {82, 256}, {83, LARGEST_GRID}, {85, 1}, {10000, TIMER_KHZ}, {10011, 1}, {10017, TIMER_KHZ},
  };
  int other;
  switch (attribute) {
    case 23: case 61: set_version(attribute == 23 ? value : &other, attribute == 23 ? &other : value); return hipSuccess;
    case 24: *value = (int)facts.has_managed_memory; return hipSuccess;
    case 57: *value = threads_of_multiprocessor(); return hipSuccess;
    case 63: case 10015: *value = (int)facts.multiprocessors; return hipSuccess;
    case 74: case 75: case 76: case 10002: *value = (int)facts.lds_bytes; return hipSuccess;
    case 84: *value = total_memory() > LARGEST_GRID ? LARGEST_GRID : (int)total_memory(); return hipSuccess;
    case 87: *value = (int)facts.wave_size; return hipSuccess;
    case 88: *value = (int)facts.has_pools; return hipSuccess;
  }
  if (STRICT || attribute < 0 || (attribute > 91 && attribute < 10000) || attribute > 10020) return hipErrorInvalidValue;
  *value = 0;
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    if (fixed[i].attribute == attribute) *value = fixed[i].value;
  return hipSuccess;
}
HIP(hipDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  return value ? device_attribute(value, attribute) : hipErrorInvalidValue;
}

/* ---- properties ---- */

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

/* The properties of HIP 5, which `hipGetDeviceProperties` still fills in. */
typedef struct {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode, clockInstructionRate;
  unsigned arch;
  int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard, canMapHostMemory, gcnArch;
  char gcnArchName[256];
  int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch, textures[7];
  void *hdpMemFlushCntl, *hdpRegFlushCntl;
  size_t memPitch, textureAlignment, texturePitchAlignment;
  int kernelExecTimeoutEnabled, ECCEnabled, tccDriver, cooperativeMultiDeviceUnmatched[4], isLargeBar, asicRevision;
  int managedMemory, directManagedMemAccessFromHost, concurrentManagedAccess, pageableMemoryAccess;
  int pageableMemoryAccessUsesHostPageTables;
} OldProperties;
_Static_assert(sizeof(OldProperties) == 792, "hipDeviceProp_tR0000 has 792 bytes");

#define FILL(properties)                                                                          \
  memset(properties, 0, sizeof *properties);                                                      \
  snprintf((properties)->name, sizeof (properties)->name, "%s", facts.name);                      \
  snprintf((properties)->gcnArchName, sizeof (properties)->gcnArchName, "%s", architecture());    \
  (properties)->totalGlobalMem = total_memory();                                                  \
  (properties)->sharedMemPerBlock = facts.lds_bytes;                                              \
  (properties)->maxSharedMemoryPerMultiProcessor = facts.lds_bytes;                               \
  (properties)->warpSize = (int)facts.wave_size;                                                  \
  (properties)->regsPerBlock = REGISTERS;                                                         \
  (properties)->maxThreadsPerBlock = MOST_THREADS;                                                \
  for (int axis = 0; axis < 3; axis++) {                                                          \
    (properties)->maxThreadsDim[axis] = MOST_THREADS;                                             \
    (properties)->maxGridSize[axis] = axis ? 65535 : LARGEST_GRID;                                \
  }                                                                                               \
  (properties)->clockRate = (properties)->memoryClockRate = CLOCK_KHZ;                            \
  (properties)->clockInstructionRate = TIMER_KHZ;                                                 \
  (properties)->memoryBusWidth = 256;                                                             \
  (properties)->totalConstMem = LARGEST_GRID;                                                     \
  set_version(&(properties)->major, &(properties)->minor);                                        \
  (properties)->multiProcessorCount = (int)facts.multiprocessors;                                 \
  (properties)->l2CacheSize = 4 << 20;                                                            \
  (properties)->maxThreadsPerMultiProcessor = threads_of_multiprocessor();                        \
  (properties)->concurrentKernels = (properties)->canMapHostMemory = 1;                           \
  (properties)->memPitch = LARGEST_GRID;                                                          \
  (properties)->textureAlignment = (properties)->texturePitchAlignment = 256;                     \
  (properties)->cooperativeLaunch = (properties)->isLargeBar = 1;                                 \
  (properties)->managedMemory = (int)facts.has_managed_memory;                                    \
  (properties)->concurrentManagedAccess = 1;                                                      \
  (properties)->pciBusID = device + 3

HIP(hipGetDevicePropertiesR0600, (Properties *properties, int device), (properties, device)) {
  if (!properties) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  FILL(properties);
  return hipSuccess;
}
HIP(hipGetDeviceProperties, (OldProperties *properties, int device), (properties, device)) {
  if (!properties) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  FILL(properties);
  return hipSuccess;
}
HIP(hipDeviceComputeCapability, (int *major, int *minor, int device), (major, minor, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  set_version(major, minor);
  return hipSuccess;
}
HIP(hipDeviceGetLimit, (size_t *value, int limit), (value, limit)) {
  static const size_t limits[] = {1024, 1 << 20, 8 << 20}; /* stack, printf, malloc (hipLimit_t) */
  if (!value || limit < 0 || limit > 2) return hipErrorUnsupportedLimit;
  *value = limits[limit];
  return hipSuccess;
}
HIP(hipDeviceSetLimit, (int limit, size_t value), (limit, value)) {
  (void)value; /* the emulator's stack, output and heap grow as far as they are used */
  return limit < 0 || limit > 2 ? hipErrorUnsupportedLimit : hipSuccess;
}
HIP(hipDeviceSetCacheConfig, (int config), (config)) { (void)config; return hipSuccess; }
HIP(hipDeviceSetSharedMemConfig, (int config), (config)) { (void)config; return hipSuccess; }
HIP(hipDeviceGetCacheConfig, (int *config), (config)) {
  if (config) *config = 0;
  return config ? hipSuccess : hipErrorInvalidValue;
}
HIP(hipDeviceGetSharedMemConfig, (int *config), (config)) { return do_hipDeviceGetCacheConfig(config); }
HIP(hipFuncSetSharedMemConfig, (const void *function, int config), (function, config)) {
  (void)config;
  return function ? hipSuccess : hipErrorInvalidDeviceFunction;
}
HIP(hipDeviceGetUuid, (char *bytes, int device), (bytes, device)) {
  if (!bytes) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  memset(bytes, 0, 16);
  snprintf(bytes, 16, "amdjit-%d", device);
  return hipSuccess;
}
/* Since HIP 6, some functions have other names than in the source (hip_runtime_api.h). flags: 2 for the functions that
 * take the thread's own stream for the null stream, as amdhip64.c has them. */
static void *function_named(const char *name, int major, uint64_t flags) {
  char variants[3][256];
  Dl_info own;
  void *library = dladdr((void *)hipInit, &own) ? dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL, *found = NULL;
  snprintf(variants[0], sizeof *variants, "%s%s", name, flags == 2 ? "_spt" : "");
  snprintf(variants[1], sizeof *variants, "%s%s", name, major >= 6 ? "R0600" : "");
  snprintf(variants[2], sizeof *variants, "%s", name);
  for (int i = 0; library && !found && i < 3; i++) found = dlsym(library, variants[i]);
  if (library) dlclose(library);
  return found;
}
HIP(hipGetProcAddress, (const char *name, void **function, int version, uint64_t flags, int *status),
    (name, function, version, flags, status)) {
  if (!name || !function) return hipErrorInvalidValue;
  *function = function_named(name, version / 100, flags);
  if (status) *status = *function ? 0 : 1; /* hipDriverProcAddressQueryResult: found, not found */
  return *function ? hipSuccess : hipErrorInvalidValue;
}
HIP(hipGetDriverEntryPoint, (const char *name, void **function, uint64_t flags, int *status),
    (name, function, flags, status)) {
  return do_hipGetProcAddress(name, function, major_version() * 100, flags, status);
}
HIP(hipFuncSetCacheConfig, (const void *function, int config), (function, config)) {
  (void)function, (void)config;
  return hipSuccess;
}
HIP(hipFuncSetAttribute, (const void *function, int attribute, int value), (function, attribute, value)) {
  (void)function, (void)attribute, (void)value; /* hints, and more dynamic LDS, of which all is to be had */
  return hipSuccess;
}
HIP(hipProfilerStart, (void), ()) { return hipSuccess; }
HIP(hipProfilerStop, (void), ()) { return hipSuccess; }

/* ---- peers: none; each device has its own memory ---- */

HIP(hipDeviceCanAccessPeer, (int *can, int device, int peer), (can, device, peer)) {
  if (!can || !is_device(device) || !is_device(peer)) return hipErrorInvalidDevice;
  *can = 0;
  return hipSuccess;
}
/* hipDeviceP2PAttr: nothing is to be had between two devices. */
HIP(hipDeviceGetP2PAttribute, (int *value, int attribute, int device, int peer), (value, attribute, device, peer)) {
  if (!value || attribute < 0 || attribute > 3) return hipErrorInvalidValue;
  if (!is_device(device) || !is_device(peer) || device == peer) return hipErrorInvalidDevice;
  *value = 0;
  return hipSuccess;
}
HIP(hipDeviceEnablePeerAccess, (int peer, unsigned flags), (peer, flags)) {
  if (flags) return hipErrorInvalidValue;
  return is_device(peer) ? hipErrorPeerAccessUnsupported : hipErrorInvalidDevice;
}
HIP(hipDeviceDisablePeerAccess, (int peer), (peer)) { return is_device(peer) ? 705 : hipErrorInvalidDevice; }

/* ---- contexts: each device has one ---- */

static char contexts[16];
HIP(hipDevicePrimaryCtxRetain, (void **context, int device), (context, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  *context = &contexts[device];
  return hipSuccess;
}
HIP(hipDevicePrimaryCtxRelease, (int device),
    (device)) { return is_device(device) ? hipSuccess : hipErrorInvalidDevice; }
HIP(hipCtxCreate, (void **context, unsigned flags, int device), (context, flags, device)) {
  (void)flags;
  return do_hipDevicePrimaryCtxRetain(context, device);
}
HIP(hipCtxDestroy, (void *context), (context)) { return context ? hipSuccess : hipErrorInvalidValue; }
HIP(hipCtxGetCurrent, (void **context), (context)) { return do_hipDevicePrimaryCtxRetain(context, current); }
HIP(hipCtxSetCurrent, (char *context), (context)) {
  if (context) current = (int)(context - contexts);
  return hipSuccess;
}
HIP(hipCtxPushCurrent, (char *context), (context)) { return do_hipCtxSetCurrent(context); }
HIP(hipCtxPopCurrent, (void **context), (context)) {
  return context ? do_hipDevicePrimaryCtxRetain(context, current) : hipSuccess;
}
HIP(hipCtxGetDevice, (int *device), (device)) { *device = current; return hipSuccess; }
HIP(hipCtxGetApiVersion, (void *context, unsigned *version), (context, version)) {
  (void)context;
  if (!version) return hipErrorInvalidValue;
  *version = 4; /* as clr says, whatever HIP's version is */
  return hipSuccess;
}
HIP(hipDevicePrimaryCtxGetState, (int device, unsigned *flags, int *is_active), (device, flags, is_active)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  if (flags) *flags = 0;
  if (is_active) *is_active = 1;
  return hipSuccess;
}
HIP(hipDevicePrimaryCtxSetFlags, (int device, unsigned flags), (device, flags)) {
  (void)flags; /* how the host waits */
  return is_device(device) ? hipSuccess : hipErrorInvalidDevice;
}
