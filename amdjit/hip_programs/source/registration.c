/* Kernels and variables of programs, which clang registers before main, and their launches. Part of amdhip64.c.
 *
 * Layouts: clang's CGCUDANV.cpp ("__hip_fatbin_wrapper"), and hip_runtime_api.h. A binary is loaded when something of
 * it is first used, on the device that is current then. */

typedef struct { uint32_t x, y, z; } Extent;
typedef struct { uint32_t magic, version; const void *image, *unused; } Wrapper;
enum { HIP_MAGIC = 0x48495046 }; /* "HIPF" */
typedef struct Binary {
  const void *image;
  Module *modules[MOST_DEVICES];
  hipError_t codes[MOST_DEVICES];
} Binary;
typedef struct Registered {
  Binary *binary;
  const void *handle; /* the host's function or variable */
  const char *name;
  void **managed; /* of a managed variable: the host's pointer to it */
  Kernel *kernels[MOST_DEVICES];
  struct Registered *next;
} Registered;
static Registered *registered;

static void note_registered(Binary *binary, const void *handle, const char *name, void **managed) {
  Registered *entry = calloc(1, sizeof *entry);
  *entry = (Registered){.binary = binary, .handle = handle, .name = name, .managed = managed, .next = registered};
  registered = entry;
}
Binary *__hipRegisterFatBinary(const Wrapper *wrapper) {
  Binary *binary = calloc(1, sizeof *binary);
  if (wrapper && wrapper->magic == HIP_MAGIC) binary->image = wrapper->image;
  return binary;
}
void __hipUnregisterFatBinary(Binary *binary) { binary->image = NULL; }
void __hipRegisterFunction(Binary *binary, const void *handle, char *device_name, const char *name, unsigned limit,
                           void *thread, void *block, Extent *block_size, Extent *grid_size, int *wave_size) {
  (void)device_name, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)wave_size;
  note_registered(binary, handle, name, NULL);
}
void __hipRegisterVar(Binary *binary, const void *variable, char *host_name, const char *name, int is_external,
                      size_t nbytes, int is_constant, int is_global) {
  (void)host_name, (void)is_external, (void)nbytes, (void)is_constant, (void)is_global;
  note_registered(binary, variable, name, NULL);
}
/* The host reads managed variables through a pointer, which is there from now on; the device's is set when its module is
 * loaded. */
void __hipRegisterManagedVar(Binary *binary, void **pointer, const void *initial, const char *name, size_t nbytes,
                             unsigned alignment) {
  (void)alignment;
  if (hipMallocManaged(pointer, nbytes, hipMemAttachGlobal)) return;
  memcpy(*pointer, initial, nbytes);
  note_registered(binary, pointer, name, pointer);
}
void __hipRegisterSurface(void) {}
void __hipRegisterTexture(void) {}

static hipError_t set_managed(Registered *entry, Module *module) {
  void *address = NULL;
  hipError_t code = variable_of(module, entry->name, &address, NULL);
  return code ? code : copy_now(hipMemcpyHostToDevice, address, entry->managed, sizeof *entry->managed);
}
/* The module of a binary on the current device. What it is refused with stays. */
static hipError_t module_of(Binary *binary, Module **module) {
  if (!binary->image) return hipErrorInvalidImage;
  if (!binary->modules[current] && !binary->codes[current]) {
    hipError_t code = load(&binary->modules[current], binary->image);
    for (Registered *each = registered; each && !code; each = each->next)
      if (each->binary == binary && each->managed) code = set_managed(each, binary->modules[current]);
    binary->codes[current] = code;
  }
  *module = binary->modules[current];
  return binary->codes[current];
}
static Registered *entry_of(const void *handle) {
  for (Registered *each = registered; each; each = each->next)
    if (each->handle == handle) return each;
  return NULL;
}
const char *hipKernelNameRefByPtr(const void *function, Stream *stream) {
  (void)stream;
  Registered *entry = entry_of(function);
  return entry ? entry->name : NULL;
}
static hipError_t registered_kernel(const void *function, Kernel **kernel) {
  Registered *entry = entry_of(function);
  if (!entry) return hipErrorInvalidDeviceFunction;
  if (!entry->kernels[current]) {
    Module *module = NULL;
    hipError_t code = module_of(entry->binary, &module);
    if (code) return code;
    if (function_of(&entry->kernels[current], module, entry->name)) return hipErrorInvalidDeviceFunction;
  }
  *kernel = entry->kernels[current];
  return hipSuccess;
}

/* ---- launches ---- */

typedef struct { Extent grid, block; size_t dynamic_lds; Stream *stream; } Configuration;
enum { MOST_CONFIGURATIONS = 64 };
static __thread Configuration configurations[MOST_CONFIGURATIONS];
static __thread unsigned configuration_count;

hipError_t __hipPushCallConfiguration(Extent grid, Extent block, size_t dynamic_lds, Stream *stream) {
  if (configuration_count == MOST_CONFIGURATIONS) return hipErrorInvalidConfiguration;
  configurations[configuration_count++] = (Configuration){grid, block, dynamic_lds, stream};
  return hipSuccess;
}
hipError_t __hipPopCallConfiguration(Extent *grid, Extent *block, size_t *dynamic_lds, Stream **stream) {
  if (!configuration_count) return hipErrorMissingConfiguration;
  const Configuration *last = &configurations[--configuration_count];
  *grid = last->grid;
  *block = last->block;
  *dynamic_lds = last->dynamic_lds;
  *stream = last->stream;
  return hipSuccess;
}
static hipError_t launch_registered(const void *function, const Shape *shape, void **parameters, Stream *stream) {
  Kernel *kernel = NULL;
  hipError_t code = registered_kernel(function, &kernel);
  if (!code) code = check_shape(kernel, shape);
  if (code) return code;
  if (kernel->layout->count && !parameters) return hipErrorInvalidValue;
  return queue_launch(kernel, shape, gathered(kernel->layout, parameters), explicit_bytes(kernel->layout), stream);
}
HIP(hipLaunchKernel,
    (const void *function, Extent grid, Extent block, void **parameters, size_t dynamic_lds, Stream *stream),
    (function, grid, block, parameters, dynamic_lds, stream)) {
  Shape shape = {{grid.x, grid.y, grid.z, block.x, block.y, block.z}, dynamic_lds, false};
  return launch_registered(function, &shape, parameters, stream);
}
HIP(hipGetFuncBySymbol, (Kernel **kernel, const void *function), (kernel, function)) {
  return kernel ? registered_kernel(function, kernel) : hipErrorInvalidValue;
}
HIP(hipExtLaunchKernel,
    (const void *function, Extent grid, Extent block, void **parameters, size_t dynamic_lds, Stream *stream, Event *start,
     Event *end, int flags),
    (function, grid, block, parameters, dynamic_lds, stream, start, end, flags)) {
  (void)flags;
  Shape shape = {{grid.x, grid.y, grid.z, block.x, block.y, block.z}, dynamic_lds, false};
  hipError_t code = start ? do_hipEventRecord(start, stream) : hipSuccess;
  if (!code) code = launch_registered(function, &shape, parameters, stream);
  return code || !end ? code : do_hipEventRecord(end, stream);
}

/* ---- variables ---- */

static hipError_t registered_variable(const void *symbol, void **address, size_t *nbytes) {
  Registered *entry = entry_of(symbol);
  Module *module = NULL;
  if (!entry) return hipErrorInvalidSymbol;
  hipError_t code = module_of(entry->binary, &module);
  if (code) return code;
  code = variable_of(module, entry->name, address, nbytes);
  if (!code && entry->managed) *address = *entry->managed;
  return code ? hipErrorInvalidSymbol : hipSuccess;
}
HIP(hipGetSymbolAddress, (void **address, const void *symbol), (address, symbol)) {
  return registered_variable(symbol, address, NULL);
}
HIP(hipGetSymbolSize, (size_t *nbytes, const void *symbol), (nbytes, symbol)) {
  void *address = NULL;
  return registered_variable(symbol, &address, nbytes);
}
static hipError_t part_of_symbol(const void *symbol, size_t nbytes, size_t offset, char **part) {
  void *address = NULL;
  size_t size = 0;
  hipError_t code = registered_variable(symbol, &address, &size);
  *part = (char *)address + offset;
  if (code) return code;
  return offset > size || nbytes > size - offset ? hipErrorInvalidValue : hipSuccess;
}
HIP(hipMemcpyToSymbol, (const void *symbol, const void *source, size_t nbytes, size_t offset, int kind),
    (symbol, source, nbytes, offset, kind)) {
  char *part = NULL;
  hipError_t code = part_of_symbol(symbol, nbytes, offset, &part);
  return code ? code : copy_and_wait(part, source, nbytes, kind, null_stream(current));
}
HIP(hipMemcpyFromSymbol, (void *destination, const void *symbol, size_t nbytes, size_t offset, int kind),
    (destination, symbol, nbytes, offset, kind)) {
  char *part = NULL;
  hipError_t code = part_of_symbol(symbol, nbytes, offset, &part);
  return code ? code : copy_and_wait(destination, part, nbytes, kind, null_stream(current));
}
HIP(hipMemcpyToSymbolAsync, (const void *symbol, const void *source, size_t nbytes, size_t offset, int kind, Stream *stream),
    (symbol, source, nbytes, offset, kind, stream)) {
  char *part = NULL;
  hipError_t code = part_of_symbol(symbol, nbytes, offset, &part);
  return code ? code : queue_copy(part, source, nbytes, kind, stream);
}
HIP(hipMemcpyFromSymbolAsync, (void *destination, const void *symbol, size_t nbytes, size_t offset, int kind, Stream *stream),
    (destination, symbol, nbytes, offset, kind, stream)) {
  char *part = NULL;
  hipError_t code = part_of_symbol(symbol, nbytes, offset, &part);
  return code ? code : queue_copy(destination, part, nbytes, kind, stream);
}
