/* Which code a GPU takes: target ids (LLVM AMDGPU guide, "Target ID" and "ELF Header") and offload bundles (Clang
 * documentation, "Clang Offload Bundler"). Part of amdhip64.c. */

/* A feature in an id such as gfx90a:sramecc+:xnack-: 2 off, 3 on, as in the ELF header; 1 if it is not there. */
static unsigned setting(const char *id, const char *feature) {
  const char *found = strstr(id, feature);
  return !found ? 1 : found[strlen(feature)] == '+' ? 3 : 2;
}

static bool takes_setting(unsigned code, const char *feature) {
  return code == 1 || code == setting(architecture(), feature);
}

static bool takes_id(const char *id) {
  size_t length = strcspn(id, ":");
  return length == strcspn(architecture(), ":") && !strncmp(id, architecture(), length) &&
         takes_setting(setting(id, "sramecc"), "sramecc") && takes_setting(setting(id, "xnack"), "xnack");
}

static bool takes_flags(unsigned flags) {
  /* EF_AMDGPU_MACH, and whether the processor has SRAM-ECC and XNACK to set. */
  static const struct { const char *name; unsigned machine; bool has_settings; } processors[] = {
    {"gfx90a", 0x3f, true}, {"gfx942", 0x4c, true}, {"gfx950", 0x4f, true}, {"gfx1100", 0x41, false},
    {"gfx1200", 0x48, false}, {"gfx1201", 0x4e, false},
  };
  for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
    size_t length = strcspn(architecture(), ":");
    if (strlen(processors[i].name) != length || strncmp(processors[i].name, architecture(), length)) continue;
    if ((flags & 0xff) != processors[i].machine) return false;
    unsigned xnack = flags >> 8 & 3, sramecc = flags >> 10 & 3;
    if (!processors[i].has_settings) return !xnack && !sramecc;
    return takes_setting(xnack, "xnack") && takes_setting(sramecc, "sramecc");
  }
  return false;
}

/* The code object of a bundle that the GPU takes, that with the most settings of several; NULL if there is none. */
static const void *taken_from(const char *bundle) {
  static const char prefix[] = "hipv4-amdgcn-amd-amdhsa--";
  const char *at = bundle + 24;
  uint64_t count;
  memcpy(&count, at, sizeof count);
  at += sizeof count;
  const void *best = NULL;
  size_t longest = 0;
  for (; count; count--) {
    uint64_t entry[3]; /* offset, size, length of the id */
    memcpy(entry, at, sizeof entry);
    at += sizeof entry;
    char id[128];
    snprintf(id, sizeof id, "%.*s", (int)entry[2], at);
    at += entry[2];
    if (strncmp(id, prefix, sizeof prefix - 1) || !takes_id(id + sizeof prefix - 1) || strlen(id) < longest) continue;
    best = bundle + entry[0];
    longest = strlen(id);
  }
  return best;
}
