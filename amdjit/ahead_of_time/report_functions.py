"""The C functions that read a kernel's record, as templates: each header replaces KERNEL, PREFIX,
and the names of the record's words."""

from __future__ import annotations

__all__ = ["COMMON", "RECORD", "TELL_FAULT", "TELL_LINES"]

COMMON = """\
#ifndef AMDJIT_C_REPORTS
#define AMDJIT_C_REPORTS 1

enum amdjit_kind {
  AMDJIT_TEXT, AMDJIT_IS_BOOLEAN, AMDJIT_IS_SIGNED, AMDJIT_IS_UNSIGNED, AMDJIT_IS_F16,
  AMDJIT_IS_BF16, AMDJIT_IS_F32, AMDJIT_IS_F64, AMDJIT_IS_FP8, AMDJIT_IS_BF8, AMDJIT_IS_FP8_FNUZ,
  AMDJIT_IS_BF8_FNUZ
};

/* A part of a text: the text, or a value with printf's format for it, NULL for Python's way. */
typedef struct amdjit_part {
  enum amdjit_kind kind;
  int bits;
  const char *text;
} amdjit_part;

/* words: of 32 bits, of all its values. */
typedef struct amdjit_text {
  const amdjit_part *parts;
  int count, words;
} amdjit_text;

/* Where a kernel may stop, and a call on the way there. */
typedef struct amdjit_site {
  amdjit_text text;
  const char *place;
  int is_library;
} amdjit_site;
typedef struct amdjit_call {
  const char *caller, *place, *text;
  int is_library;
} amdjit_call;

/* The place of a printed line among all: its workgroup, then its wave, then when it came. */
typedef struct amdjit_line {
  uint64_t block;
  uint32_t wave;
  size_t at;
} amdjit_line;

static inline int amdjit_order_lines(const void *left, const void *right) {
  const amdjit_line *first = (const amdjit_line *)left, *second = (const amdjit_line *)right;
  if (first->block != second->block) return first->block < second->block ? -1 : 1;
  if (first->wave != second->wave) return first->wave < second->wave ? -1 : 1;
  return first->at < second->at ? -1 : first->at > second->at;
}

static inline double amdjit_float_of(enum amdjit_kind kind, uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float single;
  double value;
  switch (kind) {
    case AMDJIT_IS_F16: return amdjit_f16_value((amdjit_f16)low);
    case AMDJIT_IS_BF16: return amdjit_bf16_value((amdjit_bf16)low);
    case AMDJIT_IS_FP8: return amdjit_fp8_value((amdjit_fp8)low);
    case AMDJIT_IS_BF8: return amdjit_bf8_value((amdjit_bf8)low);
    case AMDJIT_IS_FP8_FNUZ: return amdjit_fp8_fnuz_value((amdjit_fp8_fnuz)low);
    case AMDJIT_IS_BF8_FNUZ: return amdjit_bf8_fnuz_value((amdjit_bf8_fnuz)low);
    case AMDJIT_IS_F32: memcpy(&single, &low, sizeof single); return (double)single;
    default: memcpy(&value, &bits, sizeof value); return value;
  }
}

/* Whether a number that is read again is the same. */
static inline int amdjit_is_same(enum amdjit_kind kind, double value, double again) {
  if (kind == AMDJIT_IS_F32) return (float)value == (float)again;
  if (kind == AMDJIT_IS_F16) return amdjit_f16_bits(value) == amdjit_f16_bits(again);
  return value == again;
}

/* Write a float as NumPy does: with as few digits as tell it from others of its type. */
static inline void amdjit_write_float(FILE *file, enum amdjit_kind kind, double value) {
  char text[40], digits[40];
  int precision, exponent, count = 0, i;
  if (isnan(value)) { fputs("nan", file); return; }
  if (isinf(value)) { fputs(value < 0 ? "-inf" : "inf", file); return; }
  if (kind != AMDJIT_IS_F16 && kind != AMDJIT_IS_F32 && kind != AMDJIT_IS_F64) {
    fprintf(file, "%g", value);
    return;
  }
  for (precision = 0; precision < 17; precision++) {
    snprintf(text, sizeof text, "%.*e", precision, value);
    if (amdjit_is_same(kind, value, strtod(text, NULL))) break;
  }
  exponent = atoi(strchr(text, 'e') + 1);
  if (value != 0 && (exponent < -4 || exponent >= 16)) { fputs(text, file); return; }
  for (i = 0; text[i] != 'e'; i++)
    if (text[i] >= '0' && text[i] <= '9') digits[count++] = text[i];
  if (signbit(value)) fputc('-', file);
  for (i = exponent < 0 ? exponent : 0; i <= exponent || i < count; i++) {
    if (i == exponent + 1) fputc('.', file);
    fputc(i >= 0 && i < count ? digits[i] : '0', file);
  }
  if (exponent + 1 >= count) fputs(".0", file);
}

/* Write a part, and return the words of the values behind it. */
static inline const uint32_t *amdjit_write_part(FILE *file, const amdjit_part *part,
                                                const uint32_t *words) {
  uint64_t bits;
  if (part->kind == AMDJIT_TEXT) { fputs(part->text, file); return words; }
  bits = part->bits > 32 ? words[0] | (uint64_t)words[1] << 32 : words[0];
  if (part->bits < 64) bits &= (UINT64_C(1) << part->bits) - 1;
  if (part->kind == AMDJIT_IS_BOOLEAN) fputs(bits ? "True" : "False", file);
  else if (part->kind == AMDJIT_IS_UNSIGNED)
    fprintf(file, part->text ? part->text : "%" PRIu64, bits);
  else if (part->kind == AMDJIT_IS_SIGNED) {
    uint64_t sign = UINT64_C(1) << (part->bits - 1);
    fprintf(file, part->text ? part->text : "%" PRId64, (int64_t)((bits ^ sign) - sign));
  } else {
    double value = amdjit_float_of(part->kind, bits);
    if (part->text) fprintf(file, part->text, isnan(value) ? fabs(value) : value);
    else amdjit_write_float(file, part->kind, value);
  }
  return words + (part->bits > 32 ? 2 : 1);
}

static inline void amdjit_write_text(FILE *file, const amdjit_text *text, const uint32_t *words) {
  int i;
  for (i = 0; i < text->count; i++) words = amdjit_write_part(file, &text->parts[i], words);
}

#endif /* AMDJIT_C_REPORTS */
"""

RECORD = """\
/* Make a record on the current device, for arguments.record. */
static inline hipError_t KERNEL_record_make(KERNEL_record *record) {
  return hipMalloc(&record->device, PREFIX_RECORD_BYTES);
}

static inline hipError_t KERNEL_record_free(KERNEL_record *record) {
  return hipFree(record->device);
}

/* Make the record as new, in the order of the stream, before a launch. */
static inline hipError_t KERNEL_record_begin(KERNEL_record *record, const unsigned block[3],
                                             hipStream_t stream) {
  uint32_t *words = (uint32_t *)record->device;
  int capacity = PREFIX_RECORD_BYTES - 4 * HEAD_WORDS;
  hipError_t error = hipMemsetD32Async((hipDeviceptr_t)words, 0, HEAD_WORDS, stream);
  memcpy(record->block, block, sizeof record->block);
  if (error == hipSuccess && capacity)
    error = hipMemsetD32Async((hipDeviceptr_t)(words + WORD_CAPACITY), capacity, 1, stream);
  if (error == hipSuccess && capacity)
    error = hipMemsetD32Async((hipDeviceptr_t)(words + WORD_END), capacity, 1, stream);
  return error;
}
"""

TELL_LINES = """\
/* Write the printed lines: by workgroup and wave, of each wave as they came. */
static inline hipError_t KERNEL_tell_lines(const KERNEL_record *record,
    const KERNEL_kernel *kernel, const uint32_t *head, FILE *file) {
  uint64_t cursor = head[WORD_CURSOR] | (uint64_t)head[WORD_CURSOR + 1] << 32;
  uint64_t end = head[WORD_END] | (uint64_t)head[WORD_END + 1] << 32;
  size_t words = (size_t)(cursor < end ? cursor : end) / 4, at, count = 0, i;
  uint32_t *data = (uint32_t *)malloc(4 * words + 4);
  amdjit_line *lines = (amdjit_line *)malloc((words / LINE_HEAD + 1) * sizeof *lines);
  hipError_t error = hipSuccess;
  if (!data || !lines) error = hipErrorOutOfMemory;
  if (error == hipSuccess && words)
    error = hipMemcpy(data, (uint32_t *)record->device + HEAD_WORDS, 4 * words,
                      hipMemcpyDeviceToHost);
  if (error != hipSuccess) words = 0;
  for (at = 0; at < words; at += LINE_HEAD + (size_t)KERNEL_prints[data[at]].words) {
    uint32_t thread = data[at + 4], x = thread & 1023, y = thread >> 10 & 1023, z = thread >> 20;
    uint32_t item = x + record->block[0] * (y + record->block[1] * z);
    lines[count].block = (uint64_t)data[at + 3] << 48 | (uint64_t)data[at + 2] << 32 | data[at + 1];
    lines[count].wave = item / kernel->target->wave_size;
    lines[count++].at = at;
  }
  if (count) qsort(lines, count, sizeof *lines, amdjit_order_lines);
  for (i = 0; i < count; i++) {
    const uint32_t *line = data + lines[i].at;
    amdjit_write_text(file, &KERNEL_prints[line[0]], line + LINE_HEAD);
  }
  if (head[WORD_LOST])
    fprintf(file, "... and %u more, for which %d bytes had no room: build with --option "
            "print_buffer=%d\\n", (unsigned)head[WORD_LOST], PREFIX_RECORD_BYTES - 4 * HEAD_WORDS,
            2 * (PREFIX_RECORD_BYTES - 4 * HEAD_WORDS));
  free(lines);
  free(data);
  return error;
}
"""

TELL_FAULT = """\
/* Write what has stopped the kernel, and where; return whether something has. */
static inline int KERNEL_tell_fault(const uint32_t *head, FILE *file) {
  const amdjit_site *site;
  const char *place;
  uint64_t calls = head[WORD_CALLS] | (uint64_t)head[WORD_CALLS + 1] << 32;
  const uint32_t *block = head + WORD_BLOCK, *thread = head + WORD_THREAD;
  int is_library;
  if (!head[WORD_CLAIMED]) return 0;
  site = &KERNEL_faults[head[WORD_SITE]];
  place = site->place, is_library = site->is_library;
  fprintf(file, "KERNEL: ");
  amdjit_write_text(file, &site->text, head + WORD_VALUES);
  fprintf(file, " (block (%u, %u, %u), thread (%u, %u, %u))\\n", block[0], block[1], block[2],
          thread[0], thread[1], thread[2]);
  for (; is_library && calls; calls /= PREFIX_CALLS) {
    const amdjit_call *call = &KERNEL_calls[calls % PREFIX_CALLS - 1];
    place = call->place, is_library = call->is_library;
  }
  fprintf(file, "  at %s\\n", place);
  for (; calls; calls /= PREFIX_CALLS) {
    const amdjit_call *call = &KERNEL_calls[calls % PREFIX_CALLS - 1];
    fprintf(file, "  called from %s at %s: %s\\n", call->caller, call->place, call->text);
  }
  return 1;
}
"""
