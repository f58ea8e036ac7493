/* Code objects and launches. Part of amdhip64.c. */

/* ---- modules ---- */

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
  if (!memcmp(image, "__CLANG_OFFLOAD_BUNDLE__", 24)) image = taken_from(image);
  if (!image) return hipErrorNoBinaryForGpu;
  const Elf64_Ehdr *header = image;
  if (memcmp(image, ELFMAG, SELFMAG) || header->e_machine != 224) return hipErrorInvalidImage;
  if (!takes_flags(header->e_flags)) return hipErrorNoBinaryForGpu;
  uint64_t nbytes = image_size(header);
  uint64_t emulated = is_emulated ? emulator.load(image, nbytes) : 0;
  if (is_emulated && !emulated) return hipErrorInvalidImage;
  *module = malloc(sizeof **module);
  **module = (Module){image, nbytes, emulated, current};
  return hipSuccess;
}
hipError_t hipModuleLoad(Module **module, const char *path) {
  *module = NULL;
  FILE *file = fopen(path, "rb");
  if (!file) return hipErrorFileNotFound;
  fseek(file, 0, SEEK_END);
  long nbytes = ftell(file);
  rewind(file);
  char *image = malloc(nbytes + 1); /* never freed, as the module holds it */
  bool whole = fread(image, 1, nbytes, file) == (size_t)nbytes;
  fclose(file);
  return whole ? hipModuleLoadData(module, image) : hipErrorFileNotFound;
}
hipError_t hipModuleUnload(Module *module) {
  ENTER;
  REFUSE(refused_in_thread());
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
  if (kernel->module->device != current || parameters) return hipErrorInvalidValue;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024) return hipErrorInvalidConfiguration;
  /* HIP_LAUNCH_PARAM_BUFFER_POINTER, its value, HIP_LAUNCH_PARAM_BUFFER_SIZE, its address, HIP_LAUNCH_PARAM_END */
  if (!extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3) return hipErrorInvalidValue;
  Work *work = NULL;
  hipError_t code = submit(stream, LAUNCH, &work);
  if (code) return code;
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
