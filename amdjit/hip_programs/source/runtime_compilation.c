/* hiprtc: programs that are compiled while the program runs. Part of amdhip64.c.
 *
 * A program is a folder of files: `source`, headers by their names and `names` (an expression on each line). The
 * callback compiles it, and leaves `code`, `log` and `lowered` (the symbol of each name) there. */
enum {
  HIPRTC_SUCCESS = 0, HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2, HIPRTC_ERROR_INVALID_INPUT = 3,
  HIPRTC_ERROR_INVALID_PROGRAM = 4, HIPRTC_ERROR_COMPILATION = 6, HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8, HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
};
static const char *const RTC_ERRORS[] = {
    "HIPRTC_SUCCESS", "HIPRTC_ERROR_OUT_OF_MEMORY", "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "HIPRTC_ERROR_INVALID_INPUT", "HIPRTC_ERROR_INVALID_PROGRAM", "HIPRTC_ERROR_INVALID_OPTION",
    "HIPRTC_ERROR_COMPILATION", "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "HIPRTC_ERROR_INTERNAL_ERROR"};

typedef struct Text { char *bytes; size_t length; } Text; /* with a zero behind it */
typedef struct Program {
  char folder[PATH_MAX];
  Text code, log, lowered, names;
  bool is_compiled;
} Program;

static bool is_program(const Program *program) { return is_handle(A_PROGRAM, program); }
static const char *path_of(const Program *program, const char *file) {
  static __thread char path[2 * PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", program->folder, file);
  return path;
}
static bool write_text(const Program *program, const char *file, const char *text) {
  const char *path = path_of(program, file);
  for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
    char folder[2 * PATH_MAX];
    snprintf(folder, sizeof folder, "%s/%.*s", program->folder, (int)(slash - file), file);
    mkdir(folder, 0700);
  }
  FILE *stream = fopen(path, "wb");
  if (!stream) return false;
  bool is_written = fputs(text, stream) >= 0;
  return !fclose(stream) && is_written;
}
static Text read_text(const Program *program, const char *file) {
  Text text = {calloc(1, 1), 0};
  FILE *stream = fopen(path_of(program, file), "rb");
  for (size_t count = 1; stream && count; text.length += count) {
    text.bytes = realloc(text.bytes, text.length + 65537);
    count = fread(text.bytes + text.length, 1, 65536, stream);
    text.bytes[text.length + count] = 0;
  }
  if (stream) fclose(stream);
  return text;
}
/* A header is below the folder of the program, wherever its name would lead. */
static bool is_inside(const char *name) { return name && *name && *name != '/' && !strstr(name, ".."); }

const char *hiprtcGetErrorString(int code) {
  bool is_known = code >= 0 && code < (int)(sizeof RTC_ERRORS / sizeof *RTC_ERRORS);
  return is_known ? RTC_ERRORS[code] : "Invalid HIPRTC error code";
}
int hiprtcVersion(int *major, int *minor) {
  if (!major || !minor) return HIPRTC_ERROR_INVALID_INPUT;
  *major = 9;
  *minor = 0;
  return HIPRTC_SUCCESS;
}
int hiprtcDestroyProgram(Program **place) {
  if (!place || !end_handle(A_PROGRAM, *place)) return HIPRTC_ERROR_INVALID_INPUT;
  Program *program = *place;
  *place = NULL;
  if (start()) emulator.discard(program->folder);
  for (Text *text = &program->code; text <= &program->names; text++) free(text->bytes);
  free(program);
  return HIPRTC_SUCCESS;
}
int hiprtcCreateProgram(Program **place, const char *source, const char *name, int count, const char **headers,
                        const char **names) {
  if (!place || !source || count < 0 || (count && (!headers || !names))) return HIPRTC_ERROR_INVALID_INPUT;
  Program *program = new_handle(A_PROGRAM, sizeof *program);
  const char *temporary = getenv("TMPDIR");
  snprintf(program->folder, sizeof program->folder, "%s/amdjit-hiprtc-XXXXXX", temporary ? temporary : "/tmp");
  program->names.bytes = calloc(1, 1);
  bool is_made = mkdtemp(program->folder) && write_text(program, "source", source);
  is_made = is_made && write_text(program, "name", name && *name ? name : "program.hip");
  for (int i = 0; is_made && i < count; i++)
    is_made = headers[i] && is_inside(names[i]) && write_text(program, names[i], headers[i]);
  *place = program;
  if (is_made) return HIPRTC_SUCCESS;
  hiprtcDestroyProgram(place);
  return HIPRTC_ERROR_PROGRAM_CREATION_FAILURE;
}
int hiprtcAddNameExpression(Program *program, const char *expression) {
  if (!is_program(program) || !expression || strchr(expression, '\n')) return HIPRTC_ERROR_INVALID_INPUT;
  if (program->is_compiled) return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  size_t length = strlen(expression);
  program->names.bytes = realloc(program->names.bytes, program->names.length + length + 2);
  sprintf(program->names.bytes + program->names.length, "%s\n", expression);
  program->names.length += length + 1;
  return HIPRTC_SUCCESS;
}
int hiprtcCompileProgram(Program *program, int count, const char **options) {
  if (!is_program(program) || count < 0 || (count && !options)) return HIPRTC_ERROR_INVALID_INPUT;
  if (!start()) return HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  if (!write_text(program, "names", program->names.bytes)) return HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  int code = emulator.compile(program->folder, options, count);
  program->is_compiled = true;
  for (Text *text = &program->code; text < &program->names; text++) free(text->bytes);
  program->code = read_text(program, "code");
  program->log = read_text(program, "log");
  program->lowered = read_text(program, "lowered");
  return code;
}
/* The lines of names and of lowered names go together. Lowered ones end in a zero, as C wants them. */
int hiprtcGetLoweredName(Program *program, const char *expression, const char **lowered) {
  if (!is_program(program) || !expression || !lowered) return HIPRTC_ERROR_INVALID_INPUT;
  if (!program->is_compiled) return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  char *symbol = program->lowered.bytes, *end = symbol + program->lowered.length;
  for (const char *line = program->names.bytes; *line && symbol < end; line = strchr(line, '\n') + 1) {
    size_t length = (size_t)(strchr(line, '\n') - line);
    if (length == strlen(expression) && !strncmp(line, expression, length)) {
      *lowered = symbol;
      return HIPRTC_SUCCESS;
    }
    symbol += strlen(symbol) + 1;
  }
  return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
static int size_of(const Program *program, const Text *text, size_t more, size_t *nbytes) {
  if (!is_program(program) || !nbytes) return HIPRTC_ERROR_INVALID_INPUT;
  *nbytes = text->length + more;
  return HIPRTC_SUCCESS;
}
static int contents_of(const Program *program, const Text *text, size_t more, char *place) {
  if (!is_program(program) || !place) return HIPRTC_ERROR_INVALID_INPUT;
  if (text->bytes) memcpy(place, text->bytes, text->length + more);
  else if (more) *place = 0;
  return HIPRTC_SUCCESS;
}
int hiprtcGetProgramLogSize(Program *program, size_t *nbytes) { return size_of(program, &program->log, 1, nbytes); }
int hiprtcGetProgramLog(Program *program, char *log) { return contents_of(program, &program->log, 1, log); }
int hiprtcGetCodeSize(Program *program, size_t *nbytes) {
  if (is_program(program) && !program->code.length) return HIPRTC_ERROR_INVALID_PROGRAM;
  return size_of(program, &program->code, 0, nbytes);
}
int hiprtcGetCode(Program *program, char *code) {
  if (is_program(program) && !program->code.length) return HIPRTC_ERROR_INVALID_PROGRAM;
  return contents_of(program, &program->code, 0, code);
}
