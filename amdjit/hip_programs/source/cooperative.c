/* Cooperative launches and occupancy. Part of amdhip64.c. */

/* HIP's own limit counts work-items and the static and dynamic LDS here, no registers. */
static uint64_t workgroups_of_multiprocessor(const Kernel *kernel, unsigned work_items, uint64_t dynamic_lds) {
  uint64_t lds = kernel->layout->lds_bytes + dynamic_lds;
  uint64_t by_items = (uint64_t)threads_of_multiprocessor() / work_items, by_lds = lds ? (128 << 10) / lds : by_items;
  return by_items < by_lds ? by_items : by_lds;
}
static hipError_t launch_cooperatively(Kernel *kernel, Shape shape, Stream *stream, void **parameters) {
  shape.is_cooperative = true;
  hipError_t code = check_shape(kernel, &shape);
  if (code) return code;
  const uint32_t *size = shape.grid_and_block;
  uint64_t most = facts.multiprocessors *
                  workgroups_of_multiprocessor(kernel, size[3] * size[4] * size[5], shape.dynamic_lds);
  if ((uint64_t)size[0] * size[1] * size[2] > most) return hipErrorCooperativeLaunchTooLarge;
  if (kernel->layout->kernarg_bytes && kernel->layout->count && !parameters) return hipErrorInvalidValue;
  /* Not documented: refused, so that nobody relies on it. */
  if (stream_of(stream)->capture) return hipErrorStreamCaptureUnsupported;
  return queue_launch(kernel, &shape, gathered(kernel->layout, parameters), explicit_bytes(kernel->layout), stream);
}
HIP(hipModuleLaunchCooperativeKernel,
    (Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic_lds,
     Stream *stream, void **parameters),
    (kernel, gx, gy, gz, bx, by, bz, dynamic_lds, stream, parameters)) {
  if (!is_kernel(kernel)) return hipErrorInvalidHandle;
  if (kernel->module->device != current) return hipErrorInvalidValue;
  return launch_cooperatively(kernel, (Shape){{gx, gy, gz, bx, by, bz}, dynamic_lds, true}, stream, parameters);
}
HIP(hipLaunchCooperativeKernel,
    (const void *function, Extent grid, Extent block, void **parameters, unsigned dynamic_lds, Stream *stream),
    (function, grid, block, parameters, dynamic_lds, stream)) {
  Kernel *kernel = NULL;
  hipError_t code = registered_kernel(function, &kernel);
  if (code) return code;
  Shape shape = {{grid.x, grid.y, grid.z, block.x, block.y, block.z}, dynamic_lds, true};
  return launch_cooperatively(kernel, shape, stream, parameters);
}

/* ---- launches with attributes ---- */

/* hipLaunchAttribute; all but 2, whether the launch is cooperative, are hints. */
typedef struct { int id, padding; union { int cooperative; char bytes[64]; } value; } LaunchAttribute;
_Static_assert(sizeof(LaunchAttribute) == 72, "hipLaunchAttribute has 72 bytes");
typedef struct {
  Extent grid, block;
  size_t dynamic_lds;
  Stream *stream;
  const LaunchAttribute *attributes;
  unsigned count;
} LaunchConfiguration;

static hipError_t launch_with(Kernel *kernel, Shape shape, Stream *stream, void **parameters, void **extra,
                              const LaunchAttribute *attributes, unsigned count) {
  if (count && !attributes) return hipErrorInvalidValue;
  for (unsigned i = 0; i < count; i++)
    if (attributes[i].id == 2 && attributes[i].value.cooperative)
      return extra ? hipErrorInvalidValue : launch_cooperatively(kernel, shape, stream, parameters);
  return launch_function(kernel, shape, stream, parameters, extra);
}
HIP(hipLaunchKernelExC, (const LaunchConfiguration *given, const void *function, void **parameters),
    (given, function, parameters)) {
  Kernel *kernel = NULL;
  if (!given) return hipErrorInvalidValue;
  hipError_t code = registered_kernel(function, &kernel);
  if (code) return code;
  const Extent *grid = &given->grid, *block = &given->block;
  Shape shape = {{grid->x, grid->y, grid->z, block->x, block->y, block->z}, given->dynamic_lds, false};
  return launch_with(kernel, shape, given->stream, parameters, NULL, given->attributes, given->count);
}
typedef struct {
  unsigned grid_and_block[6], dynamic_lds;
  Stream *stream;
  const LaunchAttribute *attributes;
  unsigned count;
} FunctionConfiguration;
HIP(hipDrvLaunchKernelEx, (const FunctionConfiguration *given, Kernel *kernel, void **parameters, void **extra),
    (given, kernel, parameters, extra)) {
  if (!given) return hipErrorInvalidValue;
  if (!is_kernel(kernel)) return hipErrorInvalidHandle;
  Shape shape = {.dynamic_lds = given->dynamic_lds};
  memcpy(shape.grid_and_block, given->grid_and_block, sizeof shape.grid_and_block);
  return launch_with(kernel, shape, given->stream, parameters, extra, given->attributes, given->count);
}

/* ---- occupancy ---- */

static hipError_t most_blocks(int *blocks, Kernel *kernel, int work_items, size_t dynamic_lds) {
  if (!blocks || work_items <= 0) return hipErrorInvalidValue;
  *blocks = (int)workgroups_of_multiprocessor(kernel, work_items, dynamic_lds);
  return hipSuccess;
}
static hipError_t best_block(int *grid, int *block, Kernel *kernel, size_t dynamic_lds, int limit) {
  if (!grid || !block) return hipErrorInvalidValue;
  int most = (int)kernel->layout->most_work_items;
  *block = limit > 0 && limit < most ? limit : most;
  *grid = (int)(facts.multiprocessors * workgroups_of_multiprocessor(kernel, *block, dynamic_lds));
  return hipSuccess;
}
#define OCCUPANCY(name, found, parameters, arguments, result)   \
  HIP(name, parameters, arguments) {                            \
    Kernel *kernel = NULL;                                      \
    hipError_t code = found;                                    \
    return code ? code : result;                                \
  }
static hipError_t known_kernel(Kernel *function, Kernel **kernel) {
  *kernel = function;
  return is_kernel(function) ? hipSuccess : hipErrorInvalidDeviceFunction;
}
OCCUPANCY(hipOccupancyMaxActiveBlocksPerMultiprocessor, registered_kernel(function, &kernel),
          (int *blocks, const void *function, int work_items, size_t lds), (blocks, function, work_items, lds),
          most_blocks(blocks, kernel, work_items, lds))
OCCUPANCY(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, registered_kernel(function, &kernel),
          (int *blocks, const void *function, int work_items, size_t lds, unsigned flags),
          (blocks, function, work_items, lds, flags), ((void)flags, most_blocks(blocks, kernel, work_items, lds)))
OCCUPANCY(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, known_kernel(function, &kernel),
          (int *blocks, Kernel *function, int work_items, size_t lds), (blocks, function, work_items, lds),
          most_blocks(blocks, kernel, work_items, lds))
OCCUPANCY(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, known_kernel(function, &kernel),
          (int *blocks, Kernel *function, int work_items, size_t lds, unsigned flags),
          (blocks, function, work_items, lds, flags), ((void)flags, most_blocks(blocks, kernel, work_items, lds)))
OCCUPANCY(hipModuleOccupancyMaxPotentialBlockSizeWithFlags, known_kernel(function, &kernel),
          (int *grid, int *block, Kernel *function, size_t lds, int limit, unsigned flags),
          (grid, block, function, lds, limit, flags), ((void)flags, best_block(grid, block, kernel, lds, limit)))
OCCUPANCY(hipOccupancyMaxPotentialBlockSize, registered_kernel(function, &kernel),
          (int *grid, int *block, const void *function, size_t lds, int limit), (grid, block, function, lds, limit),
          best_block(grid, block, kernel, lds, limit))
OCCUPANCY(hipModuleOccupancyMaxPotentialBlockSize, known_kernel(function, &kernel),
          (int *grid, int *block, Kernel *function, size_t lds, int limit), (grid, block, function, lds, limit),
          best_block(grid, block, kernel, lds, limit))

/* ---- attributes ---- */

/* hip_runtime_api.h, hipFuncAttributes. */
typedef struct {
  int binaryVersion, cacheModeCA;
  size_t constSizeBytes, localSizeBytes;
  int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
  size_t sharedSizeBytes;
} FunctionAttributes;
/* hipFunction_attribute */
static hipError_t function_attribute(int *value, int attribute, const Layout *layout) {
  const int values[] = {(int)layout->most_work_items, (int)layout->lds_bytes, 0, (int)layout->scratch_bytes,
                        (int)layout->vgprs, 0, 0, 0, (int)(facts.lds_bytes - layout->lds_bytes), 0};
  if (attribute < 0 || attribute >= (int)(sizeof values / sizeof *values)) return hipErrorInvalidValue;
  *value = values[attribute];
  return hipSuccess;
}
OCCUPANCY(hipFuncGetAttribute, known_kernel(function, &kernel), (int *value, int attribute, Kernel *function),
          (value, attribute, function), function_attribute(value, attribute, kernel->layout))
OCCUPANCY(hipFuncGetAttributes, registered_kernel(function, &kernel),
          (FunctionAttributes *attributes, const void *function), (attributes, function),
          (*attributes = (FunctionAttributes){.localSizeBytes = kernel->layout->scratch_bytes,
                                              .maxDynamicSharedSizeBytes =
                                                  (int)(facts.lds_bytes - kernel->layout->lds_bytes),
                                              .maxThreadsPerBlock = (int)kernel->layout->most_work_items,
                                              .numRegs = (int)kernel->layout->vgprs,
                                              .sharedSizeBytes = kernel->layout->lds_bytes},
           hipSuccess))
