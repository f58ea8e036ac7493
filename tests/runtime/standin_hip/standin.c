/* A stand-in for ROCm's libamdhip64.so, for tests on machines without an AMD GPU: amdjit's own, at its strictest.
 *
 * It also fails on demand, and takes only the code objects that the GPU of STANDIN_HIP_ARCH would take (binaries.c).
 * Memory and launches go to the callbacks of standin_set_emulator; without them memory is malloc's, and a launch only
 * copies its kernarg to the address that is its first argument ("echo").
 *
 * Environment: STANDIN_HIP_DEVICES (1), STANDIN_HIP_ARCH (gfx1201), STANDIN_HIP_VERSION (70253211),
 * STANDIN_HIP_MEMORY (bytes, 16 GiB), STANDIN_HIP_MULTIPROCESSORS (32), STANDIN_HIP_POOLS (1: it has memory pools),
 * STANDIN_HIP_MANAGED (1: it has managed memory), STANDIN_HIP_FAIL ("hipMalloc=2,hipModuleLoadData=209"),
 * STANDIN_HIP_CRASH and STANDIN_HIP_HANG ("hipMalloc,hipModuleLoadData": functions that end the process, or never
 * return), STANDIN_HIP_WRONG (a kernel: the next copy from the device after each of its launches has a wrong bit).
 */
#define STRICT 1
static void before(const char *function);
static int refusal(const char *function);
#include "amdhip64.c"

#include <elf.h>
#include "binaries.c"

/* ---- failures on demand ---- */

static char failures[4096];
static unsigned launch_delay;

static hipError_t failure_in(const char *list, const char *function) {
  size_t length = strlen(function);
  for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!strncmp(at, function, length) && at[length] == '=') return atoi(at + length + 1);
  return hipSuccess;
}
static void read_facts(void);
static int refusal(const char *function) {
  read_facts();
  hipError_t code = failure_in(failures, function);
  const char *environment = getenv("STANDIN_HIP_FAIL");
  return code || !environment ? code : failure_in(environment, function);
}

/* What a driver does that tells nothing. Read once, because every function of HIP asks. */
static const char *crashing, *hanging, *miscomputed;
static bool is_listed(const char *list, const char *function) {
  size_t length = strlen(function);
  for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!strncmp(at, function, length) && (!at[length] || at[length] == ',')) return true;
  return false;
}
static void before(const char *function) {
  if (launch_delay && !strncmp(function, "hipModuleLaunch", 15)) usleep(launch_delay);
  if (is_listed(crashing, function)) raise(SIGSEGV);
  while (is_listed(hanging, function)) pause();
}

/* ---- the device ---- */

static uint64_t number(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : otherwise;
}
static void stop_first(Kernel *kernel) { (void)kernel; }
static bool start(void) { return true; }
static void read_facts(void) {
  const char *name = getenv("STANDIN_HIP_ARCH");
  if (!name) name = "gfx1201";
  facts = (Facts){.name = "Stand-in GPU",
                  .memory = number("STANDIN_HIP_MEMORY", 16ull << 30),
                  .devices = number("STANDIN_HIP_DEVICES", 1),
                  .version = number("STANDIN_HIP_VERSION", 70253211),
                  .multiprocessors = number("STANDIN_HIP_MULTIPROCESSORS", 32),
                  .wave_size = strncmp(name, "gfx9", 4) ? 32 : 64,
                  .lds_bytes = 64 << 10,
                  .has_pools = number("STANDIN_HIP_POOLS", 1),
                  .has_managed_memory = number("STANDIN_HIP_MANAGED", 1)};
  snprintf(facts.architecture, sizeof facts.architecture, "%s", name);
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

/* ---- the device that only echoes ---- */

static uint64_t echo_allocate(uint64_t nbytes, int for_host, void *const *frames, uint64_t count) {
  (void)for_host, (void)frames, (void)count;
  return (uint64_t)aligned_alloc(4096, (nbytes + 4095) & ~4095ull);
}
static hipError_t echo_release(uint64_t address, void *const *frames, uint64_t count) {
  (void)frames, (void)count;
  free((void *)address);
  return hipSuccess;
}
static hipError_t echo_to_device(uint64_t address, const void *source, uint64_t nbytes) {
  memmove((void *)address, source, nbytes);
  return hipSuccess;
}
static hipError_t echo_to_host(void *destination, uint64_t address, uint64_t nbytes) {
  memmove(destination, (void *)address, nbytes);
  return hipSuccess;
}
static hipError_t echo_load(const void *image, uint64_t nbytes, uint64_t *module) {
  (void)nbytes;
  *module = (uint64_t)image;
  return hipSuccess;
}
static void echo_unload(uint64_t module) { (void)module; }
static const Layout *echo_describe(uint64_t module, const char *kernel) {
  static const Layout nothing = {.most_work_items = 1024};
  char descriptor[512];
  snprintf(descriptor, sizeof descriptor, "%s.kd", kernel);
  return has_symbol((const char *)module, descriptor) ? &nothing : NULL;
}
static hipError_t echo_launch(uint64_t module, const char *name, const uint32_t *grid_and_block, uint32_t dynamic_lds,
                              const void *kernarg, uint64_t nbytes, int cooperative) {
  (void)module, (void)name, (void)cooperative;
  uint64_t target;
  memcpy(&target, kernarg, 8);
  if (!find((void *)target, 28 + nbytes)) return hipErrorLaunchFailure;
  memcpy((char *)target, grid_and_block, 24);
  memcpy((char *)target + 24, &dynamic_lds, 4);
  memcpy((char *)target + 28, kernarg, nbytes);
  return hipSuccess;
}
static uint64_t echo_time(void) { return 0; }
static const Emulator echo = {.allocate = echo_allocate, .release = echo_release, .to_device = echo_to_device,
                              .to_host = echo_to_host, .load = echo_load, .unload = echo_unload,
                              .describe = echo_describe, .launch = echo_launch, .time = echo_time};

/* ---- what stands before the device: it takes its own code only, and miscomputes on demand ---- */

static Emulator behind;
static bool spoils_next_copy;

static hipError_t load_accepted(const void *image, uint64_t most_bytes, uint64_t *module) {
  (void)most_bytes;
  if (!memcmp(image, "__CLANG_OFFLOAD_BUNDLE__", 24)) image = taken_from(image);
  if (!image) return hipErrorNoBinaryForGpu;
  const Elf64_Ehdr *header = image;
  if (memcmp(image, ELFMAG, SELFMAG) || header->e_machine != 224) return hipErrorInvalidImage;
  if (!takes_flags(header->e_flags)) return hipErrorNoBinaryForGpu;
  return behind.load(image, image_size(header), module);
}
static hipError_t launch_or_miscompute(uint64_t module, const char *name, const uint32_t *grid_and_block,
                                       uint32_t dynamic_lds, const void *kernarg, uint64_t nbytes, int cooperative) {
  if (is_listed(miscomputed, name)) spoils_next_copy = true;
  return behind.launch(module, name, grid_and_block, dynamic_lds, kernarg, nbytes, cooperative);
}
static hipError_t copy_or_spoil(void *destination, uint64_t source, uint64_t nbytes) {
  hipError_t code = behind.to_host(destination, source, nbytes);
  if (spoils_next_copy) *(unsigned char *)destination ^= 1;
  spoils_next_copy = false;
  return code;
}

/* ---- what only tests call ---- */

void standin_set_emulator(const Emulator *callbacks) {
  behind = emulator = *callbacks;
  emulator.load = load_accepted;
  emulator.launch = launch_or_miscompute;
  emulator.to_host = copy_or_spoil;
}
__attribute__((constructor)) static void prepare(void) {
  crashing = getenv("STANDIN_HIP_CRASH");
  hanging = getenv("STANDIN_HIP_HANG");
  miscomputed = getenv("STANDIN_HIP_WRONG");
  standin_set_emulator(&echo);
}
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

/* How many allocations of hipHostMalloc there are. */
uint64_t standin_host_allocations(void) {
  uint64_t count = 0;
  for (Allocation *a = host_allocations; a; a = a->next) count++;
  return count;
}
