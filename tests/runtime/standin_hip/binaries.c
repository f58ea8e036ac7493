/* Which code a GPU takes: target ids (LLVM AMDGPU guide, "Target ID" and "ELF Header") and offload bundles (Clang
 * documentation, "Clang Offload Bundler"). Part of standin.c. */

/* A feature in an id such as gfx90a:sramecc+:xnack-: 2 off, 3 on, as in the ELF header; 1 if it is not there. */
static unsigned setting(const char *id, const char *feature) {
  const char *found = strstr(id, feature);
  return !found ? 1 : found[strlen(feature)] == '+' ? 3 : 2;
}

static bool takes_setting(unsigned code, const char *feature) {
  return code == 1 || code == setting(architecture(), feature);
}

/* EF_AMDGPU_MACH of a processor and of the generic one that it is a member of, and whether the processor has SRAM-ECC
 * and XNACK to set. */
static const struct processor {
  const char *name; unsigned machine; const char *generic; unsigned generic_machine; bool has_settings;
} processors[] = {
  {"gfx90a", 0x3f, "", 0, true},
  {"gfx942", 0x4c, "gfx9-4-generic", 0x5f, true}, {"gfx950", 0x4f, "gfx9-4-generic", 0x5f, true},
  {"gfx1100", 0x41, "gfx11-generic", 0x54, false},
  {"gfx1200", 0x48, "gfx12-generic", 0x59, false}, {"gfx1201", 0x4e, "gfx12-generic", 0x59, false},
};

static bool is_named(const char *id, const char *name) {
  return strcspn(id, ":") == strlen(name) && !strncmp(id, name, strlen(name));
}

static const struct processor *own_processor(void) {
  for (size_t i = 0; i < sizeof processors / sizeof *processors; i++)
    if (is_named(architecture(), processors[i].name)) return &processors[i];
  return NULL;
}

/* How well code for an id suits the GPU: 0 if not at all, less for a generic processor's, more with more settings. */
static size_t suits(const char *id) {
  const struct processor *own = own_processor();
  bool is_own = own && is_named(id, own->name);
  if (!is_own && !(own && is_named(id, own->generic))) return 0;
  if (!takes_setting(setting(id, "sramecc"), "sramecc") || !takes_setting(setting(id, "xnack"), "xnack")) return 0;
  return strlen(id) + (is_own ? 128 : 0);
}

static bool takes_flags(unsigned flags) {
  const struct processor *own = own_processor();
  if (!own) return false;
  unsigned machine = flags & 0xff, version = flags >> 24;
  if (version ? machine != own->generic_machine : machine != own->machine) return false;
  unsigned xnack = flags >> 8 & 3, sramecc = flags >> 10 & 3;
  if (!own->has_settings) return !xnack && !sramecc;
  return takes_setting(xnack, "xnack") && takes_setting(sramecc, "sramecc");
}

/* The code object of a bundle that suits the GPU best; NULL if there is none. */
static const void *taken_from(const char *bundle) {
  static const char prefix[] = "hipv4-amdgcn-amd-amdhsa--";
  const char *at = bundle + 24;
  uint64_t count;
  memcpy(&count, at, sizeof count);
  at += sizeof count;
  const void *best = NULL;
  size_t most = 0;
  for (; count; count--) {
    uint64_t entry[3]; /* offset, size, length of the id */
    memcpy(entry, at, sizeof entry);
    at += sizeof entry;
    char id[128];
    snprintf(id, sizeof id, "%.*s", (int)entry[2], at);
    at += entry[2];
    if (strncmp(id, prefix, sizeof prefix - 1) || suits(id + sizeof prefix - 1) <= most) continue;
    best = bundle + entry[0];
    most = suits(id + sizeof prefix - 1);
  }
  return best;
}
