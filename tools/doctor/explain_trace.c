/* Explains a trace line by line. A call is printed when it returns;
 * calls that never returned are printed last.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hw/constant_bank.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "runtime/debug/debug.h"
#include "tools/doctor/explain.h"

/* ---- fields of a line ------------------------------------------------------------ */

/* Returns the value after " name=" up to a blank or the end of the line,
 * and its length. Returns NULL if there is none. */
static const char *find_value(const char *line, const char *name, size_t *length) {
  size_t n = strlen(name);
  for (const char *at = strchr(line, ' '); at; at = strchr(at + 1, ' ')) {
    if (strncmp(at + 1, name, n) != 0 || at[1 + n] != '=')
      continue;
    const char *value = at + 1 + n + 1;
    *length = strcspn(value, " \n");
    return value;
  }
  return NULL;
}

static uint64_t read_number(const char *line, const char *name) {
  size_t length;
  const char *text = find_value(line, name, &length);
  return text ? (uint64_t)strtoll(text, NULL, 0) : 0;
}

/* Reads addresses and GPFIFO entries, which may have bit 63 set. */
static uint64_t read_wide_number(const char *line, const char *name) {
  size_t length;
  const char *text = find_value(line, name, &length);
  return text ? strtoull(text, NULL, 0) : 0;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct bytes {
  unsigned char *data; /* owned; aligned for words */
  size_t count;
};

static struct bytes read_bytes(const char *line, const char *name) {
  size_t length = 0;
  const char *text = find_value(line, name, &length);
  struct bytes b = {.data = text ? malloc(length / 2 + 1) : NULL};
  if (!b.data)
    return b;
  for (size_t i = 0; i + 1 < length; i += 2) {
    int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0)
      break;
    b.data[b.count++] = (unsigned char)(high << 4 | low);
  }
  return b;
}

/* ---- submissions ------------------------------------------------------------------ */

struct submission {
  FILE *out;
  uint64_t gpu;
  const unsigned char *data;
  size_t bytes;
  uint32_t inline_qmd[QMD_WORDS];
};

/* Returns the data at a GPU address, or NULL if the record does not contain all of it. */
static const uint32_t *at_gpu(const struct submission *s, uint64_t gpu, size_t bytes) {
  bool inside = gpu >= s->gpu && gpu - s->gpu <= s->bytes && bytes <= s->bytes - (gpu - s->gpu);
  return inside && (gpu - s->gpu) % sizeof(uint32_t) == 0
             ? (const uint32_t *)(const void *)(s->data + (gpu - s->gpu))
             : NULL;
}

static void put_qmd(const struct submission *s, const uint32_t *qmd) {
  rt_dump_qmd(s->out, qmd);
  uint64_t bank = (uint64_t)qmd_get(qmd, QMD_CONSTANT_BUFFER_ADDR_UPPER(0)) << 32 |
                  qmd_get(qmd, QMD_CONSTANT_BUFFER_ADDR_LOWER(0));
  size_t bytes = (size_t)qmd_get(qmd, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(0))
                 << QMD_CONSTANT_SIZE_SHIFT;
  const uint32_t *words = at_gpu(s, bank, bytes);
  if (!words)
    return;
  fprintf(s->out, " constant bank 0 at 0x%" PRIx64 ":\n", bank);
  rt_dump_bank0(s->out, words, bytes, BANK0_PARAMS);
}

static void put_qmd_at(const struct submission *s, uint64_t address) {
  const uint32_t *qmd = at_gpu(s, address, QMD_BYTES);
  fprintf(s->out, " QMD at 0x%" PRIx64 "%s\n", address, qmd ? ":" : ", not recorded");
  if (qmd)
    put_qmd(s, qmd);
}

static void find_launch(void *user, const struct rt_method *m) {
  struct submission *s = user;
  if (m->class_id != CLASS_COMPUTE || !m->has_data)
    return;
  if (m->address == NVC7C0_SEND_PCAS_A)
    put_qmd_at(s, (uint64_t)m->data << QMD_ADDRESS_SHIFT);
  uint32_t first = NVC7C0_LOAD_INLINE_QMD_DATA(0);
  if (m->address < first || m->address >= first + QMD_BYTES)
    return;
  uint32_t word = (m->address - first) / sizeof(uint32_t);
  s->inline_qmd[word] = m->data;
  if (word == QMD_WORDS - 1) {
    fprintf(s->out, " QMD in the pushbuffer:\n");
    put_qmd(s, s->inline_qmd);
  }
}

static void put_submission(const char *line, FILE *out) {
  struct bytes data = read_bytes(line, "data");
  struct submission s = {
      .out = out, .gpu = read_wide_number(line, "gpu"), .data = data.data, .bytes = data.count};
  uint64_t entry = read_wide_number(line, "entry");
  fprintf(out, "submit: token 0x%" PRIx64 ", point %" PRIu64 "\n", read_number(line, "token"),
          read_number(line, "point"));
  rt_dump_gp_entry(out, (uint32_t)read_number(line, "index"), entry);
  size_t words = gp_entry_words(entry);
  const uint32_t *pushbuffer = at_gpu(&s, gp_entry_address(entry), words * sizeof(uint32_t));
  if (pushbuffer) {
    rt_dump_pushbuffer(out, pushbuffer, words);
    rt_pushbuffer_walk(pushbuffer, words, find_launch, &s);
  } else {
    fprintf(out, "  the pushbuffer was not recorded\n");
  }
  free(data.data);
}

/* ---- calls ------------------------------------------------------------------------ */

/* A call that has not returned yet. */
struct call {
  char *line;
  struct call *next;
};

static void put_duration(FILE *out, uint64_t ns) {
  enum { NS_PER_US = 1000, NS_PER_MS = 1000000 };
  if (ns < NS_PER_MS)
    fprintf(out, " (%" PRIu64 ".%" PRIu64 " us)", ns / NS_PER_US, ns % NS_PER_US / 100);
  else
    fprintf(out, " (%" PRIu64 " ms)", ns / NS_PER_MS);
}

static void put_result(FILE *out, const char *end) {
  if (!end) {
    fprintf(out, " did not return");
    return;
  }
  int64_t result = (int64_t)read_number(end, "result");
  fprintf(out, " = %" PRId64, result);
  if (result < 0)
    fprintf(out, " (%s)", strerror((int)-result));
  put_duration(out, read_number(end, "ns"));
}

/* Prints the words of a request that is not in the tables. */
static void put_words(FILE *out, const char *name, const struct bytes *b) {
  fprintf(out, " %s:", name);
  for (size_t i = 0; i < b->count; i++)
    fprintf(out, "%s%02x", i % sizeof(uint32_t) ? "" : " ", b->data[i]);
}

static void put_ioctl(const char *call, const char *end, FILE *out) {
  uint32_t code = (uint32_t)read_number(call, "request");
  const struct nvgpu_request *request = nvgpu_request_find(code);
  fprintf(out, "ioctl %" PRId64 " %s", (int64_t)read_number(call, "fd"), rt_request_name(code));
  put_result(out, end);
  struct bytes before = read_bytes(call, "arg");
  struct bytes after = read_bytes(end ? end : "", "arg");
  bool both = after.data && after.count == before.count;
  fprintf(out, "\n   ");
  if (request && request->argument) {
    fprintf(out, " %s:", request->argument->name);
    explain_struct(out, request->argument, before.data, both ? after.data : NULL, before.count);
  } else if (before.count) {
    put_words(out, "before", &before);
    if (both && memcmp(before.data, after.data, before.count) != 0)
      put_words(out, "after", &after);
  } else {
    fprintf(out, " value 0x%" PRIx64, read_wide_number(call, "value"));
  }
  fputc('\n', out);
  free(before.data);
  free(after.data);
}

static const char *skip_words(const char *line, int count) {
  for (; count > 0 && *line; count--) {
    line += strcspn(line, " ");
    line += strspn(line, " ");
  }
  return line;
}

/* Prints a call. end is the line of its return, or NULL. */
static void put_call(const char *call, const char *end, FILE *out) {
  const char *what = skip_words(call, 2);
  fprintf(out, "%.*s ", (int)(what - call - 1), call);
  if (strncmp(what, "ioctl ", 6) == 0) {
    put_ioctl(call, end, out);
    return;
  }
  fprintf(out, "%.*s", (int)strcspn(what, "\n"), what);
  put_result(out, end);
  uint64_t address = end ? read_wide_number(end, "address") : 0;
  if (address)
    fprintf(out, " at 0x%" PRIx64, address);
  fputc('\n', out);
}

/* Prints a struct that the argument of an ioctl points to. */
static void put_pointed(const char *line, FILE *out) {
  size_t length = 0;
  const char *name = find_value(line, "type", &length);
  char type[128];
  snprintf(type, sizeof(type), "%.*s", (int)length, name ? name : "");
  const struct nvgpu_struct *s = nvgpu_struct_find(type);
  struct bytes data = read_bytes(line, "data");
  fprintf(out, "    %s:", type);
  if (s && data.data)
    explain_struct(out, s, data.data, NULL, data.count);
  fputc('\n', out);
  free(data.data);
}

static int64_t thread_of(const char *line) {
  return strtoll(skip_words(line, 1), NULL, 10);
}

/* Removes a thread's unfinished call from the list and returns its line. */
static char *take_call(struct call **calls, int64_t thread) {
  for (struct call **link = calls; *link; link = &(*link)->next) {
    struct call *c = *link;
    if (thread_of(c->line) != thread)
      continue;
    char *line = c->line;
    *link = c->next;
    free(c);
    return line;
  }
  return NULL;
}

static bool is_call(const char *what) {
  static const char *const calls[] = {"open ", "close ", "ioctl ", "mmap ", "munmap ", "poll "};
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
    if (strncmp(what, calls[i], strlen(calls[i])) == 0)
      return true;
  return false;
}

static void put_line(struct call **calls, const char *line, FILE *out) {
  const char *what = skip_words(line, 2);
  if (is_call(what)) {
    struct call *c = calloc(1, sizeof(*c));
    char *copy = strdup(line);
    if (c && copy) {
      *c = (struct call){.line = copy, .next = *calls};
      *calls = c;
    } else {
      free(c);
      free(copy);
    }
  } else if (strncmp(what, "end ", 4) == 0) {
    char *call = take_call(calls, thread_of(line));
    if (call)
      put_call(call, line, out);
    free(call);
  } else if (strncmp(what, "struct ", 7) == 0) {
    put_pointed(line, out);
  } else {
    fprintf(out, "%.*s ", (int)(what - line - (what > line)), line);
    if (strncmp(what, "submit ", 7) == 0)
      put_submission(line, out);
    else
      fprintf(out, "%s", what);
  }
}

int explain_trace(FILE *in, FILE *out) {
  struct call *calls = NULL;
  char *line = NULL;
  size_t room = 0;
  ssize_t size;
  while ((size = explain_read_line(in, &line, &room)) > 0)
    if (strchr(line, '\n'))
      put_line(&calls, line, out);
    else
      fprintf(out, "the trace ends within a record\n"); /* a full disk, for example */
  free(line);
  while (calls) {
    char *call = take_call(&calls, thread_of(calls->line));
    put_call(call, NULL, out);
    free(call);
  }
  return (int)size;
}
