/* The device's interpreter: the process's own, or one that this library starts. Part of amdhip64.c.
 *
 * PYTHON, LIBPYTHON and PACKAGES are the interpreter that built this library, its shared library, and the folder with
 * amdjit; they are given to the compiler. Py_BytesMain is the only way to start an interpreter that is the same in all
 * versions of Python and finds the packages of its virtual environment. It runs in a thread of its own, which stays in
 * amdjit_hip_serve until the program exits, and then ends as every interpreter does. */

static const char SERVE[] =
    "import sys; sys.path[0:1] = ['" PACKAGES "']; from amdjit.hip_programs.service import serve; serve('%s', %s)";

static pthread_once_t starting = PTHREAD_ONCE_INIT;
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile bool has_failed, is_over;
static bool is_own;
static pthread_t interpreter;
static pid_t process;
static char statement[8192];
static int (*run_python)(int, char **);

/* What the service calls. */
void amdjit_hip_install(const Emulator *callbacks, const Facts *given);
void amdjit_hip_failed(void);
void amdjit_hip_serve(void);
void amdjit_hip_over(void);
void amdjit_hip_print(const char *text, uint64_t length, int is_error);

/* The version of HIP's headers, in programs that were compiled with device_functions.h: some numbers depend on it. */
extern int amdjit_hip_headers __attribute__((weak));

static void set(volatile bool *state) {
  pthread_mutex_lock(&state_lock);
  *state = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&state_lock);
}
static void stop(void) {
  if (getpid() != process || is_over) return;
  is_ready_to_work = false;
  set(&is_over);
  if (!pthread_equal(pthread_self(), interpreter)) pthread_join(interpreter, NULL);
}
/* exit calls first what was registered last: `stop` must be before the destructors of what LLVM makes when it first
 * needs it, which is in a kernel's first launch, or in a thread that compiles at the same time as later ones. */
static void stop_first(Kernel *kernel) {
  static time_t last;
  if (!is_own || (kernel && kernel->was_launched && last == time(NULL))) return;
  if (kernel) kernel->was_launched = true;
  last = time(NULL);
  atexit(stop);
}
void amdjit_hip_install(const Emulator *callbacks, const Facts *given) {
  emulator = *callbacks;
  facts = *given;
  if (&amdjit_hip_headers) facts.version = (uint32_t)amdjit_hip_headers;
  stop_first(NULL);
  set(&is_ready_to_work);
}
void amdjit_hip_failed(void) { set(&has_failed); }
void amdjit_hip_over(void) { is_ready_to_work = false; }
void amdjit_hip_serve(void) {
  pthread_mutex_lock(&state_lock);
  while (!is_over) pthread_cond_wait(&changed, &state_lock);
  pthread_mutex_unlock(&state_lock);
}
void amdjit_hip_print(const char *text, uint64_t length, int is_error) {
  FILE *stream = is_error ? stderr : stdout;
  fwrite(text, 1, length, stream);
  fflush(stream);
}

static void *interpret(void *unused) {
  (void)unused;
  static char *command[] = {PYTHON, "-c", statement, NULL};
  run_python(3, command);
  amdjit_hip_failed(); /* of no use if it has been of service */
  return NULL;
}
/* Start an interpreter. It must not change what signals do in the program. */
static void start_own(void) {
  static const int signals[] = {SIGINT, SIGPIPE, SIGXFSZ};
  struct sigaction actions[3];
  void *library = dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL);
  if (library) run_python = (int (*)(int, char **))dlsym(library, "Py_BytesMain");
  if (!run_python) {
    fprintf(stderr, "amdjit's HIP: no Python can be started: %s\n", dlerror());
    has_failed = true;
    return;
  }
  for (int i = 0; i < 3; i++) sigaction(signals[i], NULL, &actions[i]);
  is_own = true;
  process = getpid();
  pthread_create(&interpreter, NULL, interpret, NULL);
  pthread_mutex_lock(&state_lock);
  while (!is_ready_to_work && !has_failed) pthread_cond_wait(&changed, &state_lock);
  pthread_mutex_unlock(&state_lock);
  for (int i = 0; i < 3; i++) sigaction(signals[i], &actions[i], NULL);
}
static void start_once(void) {
  Dl_info own;
  dladdr((void *)start_once, &own);
  int (*is_running)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
  bool has_python = is_running && is_running();
  snprintf(statement, sizeof statement, SERVE, own.dli_fname, has_python ? "False" : "True");
  if (!has_python) {
    start_own();
    return;
  }
  int (*take)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
  void (*give)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
  int (*execute)(const char *, void *) = (int (*)(const char *, void *))dlsym(RTLD_DEFAULT, "PyRun_SimpleStringFlags");
  int had = take();
  if (execute(statement, NULL)) has_failed = true;
  give(had);
}
static void forked(void) {
  if (!is_own) return;
  is_ready_to_work = false; /* the interpreter's thread is not in the child */
  has_failed = is_over = true;
}
static bool start(void) {
  if (is_ready_to_work) return true;
  pthread_once(&starting, start_once);
  return is_ready_to_work;
}
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forked); }
