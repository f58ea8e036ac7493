/* Code objects and launches. Part of amdhip64.c. */

/* ---- modules ---- */

/* How many bytes may be read from an address on: to the end of its mapping. The parts of a program lie behind each
 * other, with nothing to read between them where pages may be large. */
static uint64_t readable_bytes(const void *from) {
  FILE *maps = fopen("/proc/self/maps", "r");
  uint64_t start, end, found = 0;
  char permissions[8], rest[4096];
  while (maps && fscanf(maps, "%lx-%lx %7s%4095[^\n]", &start, &end, permissions, rest) >= 3) {
    if (*permissions != 'r') continue;
    if (found && start == found) found = end; /* the next one adjoins it */
    else if (start <= (uint64_t)from && (uint64_t)from < end) found = end;
    else if (found) break;
  }
  if (maps) fclose(maps);
  return found ? found - (uint64_t)from : 0;
}
static hipError_t load(Module **module, const void *image) {
  *module = NULL;
  if (!image) return hipErrorInvalidValue;
  uint64_t emulated = 0;
  hipError_t code = emulator.load(image, readable_bytes(image), &emulated);
  if (code) return code;
  *module = new_handle(A_MODULE, sizeof **module); /* never freed: kernels name it */
  **module = (Module){emulated, current};
  return hipSuccess;
}
HIP(hipModuleLoadData, (Module **module, const void *image), (module, image)) { return load(module, image); }
HIP(hipModuleLoadDataEx, (Module **module, const void *image, unsigned count, int *options, void **values),
    (module, image, count, options, values)) {
  (void)count, (void)options, (void)values; /* of CUDA's just-in-time compiler */
  return load(module, image);
}
HIP(hipModuleLoad, (Module **module, const char *path), (module, path)) {
  *module = NULL;
  FILE *file = fopen(path, "rb");
  if (!file) return hipErrorFileNotFound;
  fseek(file, 0, SEEK_END);
  long nbytes = ftell(file);
  rewind(file);
  char *image = malloc(nbytes + 1); /* never freed, as the module holds it */
  bool whole = fread(image, 1, nbytes, file) == (size_t)nbytes;
  fclose(file);
  return whole ? load(module, image) : hipErrorFileNotFound;
}
HIP(hipModuleUnload, (Module *module), (module)) {
  REFUSE(refused_in_thread());
  if (!is_handle(A_MODULE, module)) return hipErrorInvalidHandle;
  finish();
  end_handle(A_MODULE, module);
  emulator.unload(module->emulated);
  return hipSuccess;
}
static bool is_kernel(const Kernel *kernel) {
  return is_handle(A_KERNEL, kernel) && is_handle(A_MODULE, kernel->module);
}
static hipError_t function_of(Kernel **kernel, Module *module, const char *name) {
  *kernel = NULL;
  const Layout *layout = emulator.describe(module->emulated, name);
  if (!layout) return hipErrorNotFound;
  *kernel = new_handle(A_KERNEL, sizeof **kernel);
  **kernel = (Kernel){module, layout, strdup(name), false};
  return hipSuccess;
}
HIP(hipModuleGetFunction, (Kernel **kernel, Module *module, const char *name), (kernel, module, name)) {
  *kernel = NULL;
  if (!is_handle(A_MODULE, module)) return hipErrorInvalidHandle;
  return function_of(kernel, module, name);
}
const char *hipKernelNameRef(const Kernel *kernel) { return is_kernel(kernel) ? kernel->name : NULL; }
/* A variable of a module, which is memory that programs copy to and from. */
static hipError_t variable_of(Module *module, const char *name, void **address, size_t *nbytes) {
  uint64_t at = 0, size = 0;
  hipError_t code = emulator.symbol(module->emulated, name, &at, &size);
  if (code) return code;
  if (!find((void *)at, size))
    note(&allocations, (Allocation){.address = at, .nbytes = size, .device = module->device, .is_symbol = true});
  if (address) *address = (void *)at;
  if (nbytes) *nbytes = size;
  return hipSuccess;
}
HIP(hipModuleGetGlobal, (void **address, size_t *nbytes, Module *module, const char *name),
    (address, nbytes, module, name)) {
  if (!is_handle(A_MODULE, module)) return hipErrorInvalidHandle;
  return variable_of(module, name, address, nbytes);
}

/* ---- launches ---- */

typedef struct {
  uint32_t grid_and_block[6];
  uint64_t dynamic_lds;
  bool is_cooperative;
} Shape;

/* Copy the explicit arguments to where the kernel reads them. */
static char *gathered(const Layout *layout, void **parameters) {
  char *kernarg = calloc(1, layout->kernarg_bytes ? layout->kernarg_bytes : 1);
  for (uint32_t i = 0; i < layout->count; i++)
    memcpy(kernarg + layout->arguments[i].offset, parameters[i], layout->arguments[i].size);
  return kernarg;
}
static uint64_t explicit_bytes(const Layout *layout) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < layout->count; i++)
    if (layout->arguments[i].offset + layout->arguments[i].size > end)
      end = layout->arguments[i].offset + layout->arguments[i].size;
  return end;
}
static hipError_t check_shape(const Kernel *kernel, const Shape *shape) {
  const uint32_t *size = shape->grid_and_block;
  for (int axis = 0; axis < 6; axis++)
    if (!size[axis]) return hipErrorInvalidConfiguration;
  if ((uint64_t)size[3] * size[4] * size[5] > 1024) return hipErrorInvalidConfiguration;
  bool fits = shape->dynamic_lds <= facts.lds_bytes && kernel->layout->lds_bytes + shape->dynamic_lds <= facts.lds_bytes;
  return fits ? hipSuccess : hipErrorInvalidValue;
}
/* Queue a launch; the work owns the kernarg from then on. */
static hipError_t queue_launch(Kernel *kernel, const Shape *shape, char *kernarg, uint64_t nbytes, Stream *stream) {
  Work *work = NULL;
  hipError_t code = submit(stream, LAUNCH, &work);
  if (code) {
    free(kernarg);
    return code;
  }
  work->nbytes = nbytes;
  work->source = kernarg;
  work->kernel = kernel;
  work->is_cooperative = shape->is_cooperative;
  memcpy(work->grid_and_block, shape->grid_and_block, sizeof work->grid_and_block);
  work->dynamic_lds = (uint32_t)shape->dynamic_lds;
  return hipSuccess;
}
static hipError_t launch_function(Kernel *kernel, Shape shape, Stream *stream, void **parameters, void **extra) {
  if (!is_kernel(kernel)) return hipErrorInvalidHandle;
  if (kernel->module->device != current || (STRICT && parameters)) return hipErrorInvalidValue;
  hipError_t code = check_shape(kernel, &shape);
  if (code) return code;
  if (parameters || (!extra && !kernel->layout->count && !STRICT)) {
    uint64_t nbytes = explicit_bytes(kernel->layout);
    return queue_launch(kernel, &shape, gathered(kernel->layout, parameters), nbytes, stream);
  }
  /* HIP_LAUNCH_PARAM_BUFFER_POINTER, its value, HIP_LAUNCH_PARAM_BUFFER_SIZE, its address, HIP_LAUNCH_PARAM_END */
  if (!extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3) return hipErrorInvalidValue;
  uint64_t nbytes = *(size_t *)extra[3];
  char *kernarg = malloc(nbytes ? nbytes : 1);
  memcpy(kernarg, extra[1], nbytes);
  return queue_launch(kernel, &shape, kernarg, nbytes, stream);
}
HIP(hipModuleLaunchKernel,
    (Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic_lds,
     Stream *stream, void **parameters, void **extra),
    (kernel, gx, gy, gz, bx, by, bz, dynamic_lds, stream, parameters, extra)) {
  return launch_function(kernel, (Shape){{gx, gy, gz, bx, by, bz}, dynamic_lds, false}, stream, parameters, extra);
}
/* Its grid counts work-items, in whole workgroups: others are refused, as emulated grids have none that are cut. */
HIP(hipExtModuleLaunchKernel,
    (Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, size_t dynamic_lds,
     Stream *stream, void **parameters, void **extra, Event *start, Event *end, unsigned flags),
    (kernel, gx, gy, gz, bx, by, bz, dynamic_lds, stream, parameters, extra, start, end, flags)) {
  (void)flags;
  if (!bx || !by || !bz || gx % bx || gy % by || gz % bz) return hipErrorInvalidConfiguration;
  Shape shape = {{gx / bx, gy / by, gz / bz, bx, by, bz}, dynamic_lds, false};
  hipError_t code = start ? do_hipEventRecord(start, stream) : hipSuccess;
  if (!code) code = launch_function(kernel, shape, stream, parameters, extra);
  return code || !end ? code : do_hipEventRecord(end, stream);
}
/* It is C++ to programs. */
#define EXTENDED _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
hipError_t EXTENDED(Kernel *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, Stream *, void **,
                    void **, Event *, Event *, unsigned) __attribute__((alias("hipExtModuleLaunchKernel")));
