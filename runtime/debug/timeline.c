/* Writes the timeline's file. See timeline.h. */
#include "runtime/debug/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "runtime/debug/log_file.h"

enum {
  LINE_BYTES = 2048,
  TEXT_BYTES = 256, /* longest name or text; the rest is cut off */
  CHUNK_BYTES = 1 << 20,
  BLANKS_BYTES = 1 << 14,
  FIRST_QUEUE_LANE = 1 << 24, /* above all thread ids, which end at 1 << 22 */
};

bool rt_timeline_is_on;

static struct {
  int fd;
  struct base_mutex lock; /* guards what follows */
  char *at, *end;         /* unused rest of the current chunk */
  void *map;
  size_t mapped;
} file = {.fd = -1, .lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_RT_TIMELINE_FILE)};

static int process;
static __thread int thread;

/* ---- the file --------------------------------------------------------------------- */

/* Appends a chunk of blanks to the file and maps it. Readers skip blanks between events. Processes
 * that share the file append separate chunks. Caller holds file.lock. */
static bool next_chunk(void) {
  static char blanks[BLANKS_BYTES]; /* too large for a small thread stack */
  const long page = sysconf(_SC_PAGESIZE);
  if (file.map)
    munmap(file.map, file.mapped);
  file.map = NULL;
  file.at = file.end = NULL;
  memset(blanks, ' ', sizeof(blanks));
  blanks[sizeof(blanks) - 1] = '\n';
  off_t begin = -1, end = -1;
  for (size_t i = 0; i < CHUNK_BYTES / BLANKS_BYTES; i++) {
    if (base_write(file.fd, blanks, sizeof(blanks)) != (ssize_t)sizeof(blanks))
      break;
    const off_t reached = lseek(file.fd, 0, SEEK_CUR);
    if (begin >= 0 && reached != end + BLANKS_BYTES)
      break; /* another process has appended meanwhile */
    end = reached;
    if (begin < 0)
      begin = end - BLANKS_BYTES;
  }
  if (begin < 0)
    return false;
  const off_t first = begin / page * page;
  const size_t length = (size_t)(end - first);
  void *map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, first);
  if (map == MAP_FAILED)
    return false;
  file.map = map;
  file.mapped = length;
  file.at = (char *)map + (begin - first);
  file.end = (char *)map + length;
  return true;
}

static void put_line(const char *line, size_t length) {
  base_mutex_lock(&file.lock);
  if ((size_t)(file.end - file.at) >= length || next_chunk()) {
    memcpy(file.at, line, length);
    file.at += length;
  }
  base_mutex_unlock(&file.lock);
}

/* ---- lines -------------------------------------------------------------------------- */

struct line {
  char text[LINE_BYTES];
  size_t length;
};

/* RESERVED bytes are kept for the end of the line. */
static bool has_room(const struct line *l, size_t bytes) {
  enum { RESERVED = 16 };
  return l->length + bytes + RESERVED <= sizeof(l->text);
}

static void add_chars(struct line *l, const char *text, size_t length) {
  if (!has_room(l, length))
    return;
  memcpy(l->text + l->length, text, length);
  l->length += length;
}
#define ADD(line, literal) add_chars((line), (literal), sizeof(literal) - 1)

static void add_number(struct line *l, uint64_t number) {
  char digits[20];
  size_t count = 0;
  do
    digits[sizeof(digits) - ++count] = (char)('0' + number % 10);
  while (number /= 10);
  add_chars(l, digits + sizeof(digits) - count, count);
}

/* Adds a time in microseconds, with three decimals. */
static void add_time(struct line *l, uint64_t ns) {
  const uint64_t rest = ns % 1000;
  const char tail[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                       (char)('0' + rest % 10)};
  add_number(l, ns / 1000);
  add_chars(l, tail, sizeof(tail));
}

/* Adds a quoted string. Truncation never splits an escape sequence. */
static void add_text(struct line *l, const char *text) {
  static const char hex[] = "0123456789abcdef";
  ADD(l, "\"");
  for (size_t i = 0; i < TEXT_BYTES && text[i]; i++) {
    const unsigned char c = (unsigned char)text[i];
    const char escaped[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (c < ' ' || c == '"' || c == '\\')
      add_chars(l, escaped, sizeof(escaped));
    else
      add_chars(l, text + i, 1);
  }
  ADD(l, "\"");
}

static void add_lane(struct line *l, int lane) {
  if (!process)
    process = getpid();
  if (!thread)
    thread = gettid();
  ADD(l, ",\"pid\":");
  add_number(l, (uint64_t)process);
  ADD(l, ",\"tid\":");
  add_number(l, (uint64_t)(lane == RT_LANE_THREAD ? thread : FIRST_QUEUE_LANE + lane));
}

static void add_details(struct line *l, const struct rt_timeline_detail *details, size_t count) {
  ADD(l, ",\"args\":{");
  for (size_t i = 0; i < count && has_room(l, LINE_BYTES / 4); i++) {
    if (i)
      ADD(l, ",");
    add_text(l, details[i].name);
    ADD(l, ":");
    if (details[i].text)
      add_text(l, details[i].text);
    else
      add_number(l, details[i].number);
  }
  ADD(l, "}");
}

static void put_event(struct line *l) {
  static const char end[] = "},\n";
  memcpy(l->text + l->length, end, sizeof(end) - 1);
  put_line(l->text, l->length + sizeof(end) - 1);
}

void rt_timeline_put(const struct rt_timeline_event *e) {
  struct line l;
  l.length = 0;
  ADD(&l, "{\"name\":");
  add_text(&l, e->name);
  ADD(&l, ",\"cat\":");
  add_text(&l, e->category);
  if (e->end_ns > e->begin_ns) {
    ADD(&l, ",\"ph\":\"X\",\"dur\":");
    add_time(&l, e->end_ns - e->begin_ns);
  } else {
    ADD(&l, ",\"ph\":\"i\",\"s\":\"t\"");
  }
  ADD(&l, ",\"ts\":");
  add_time(&l, e->begin_ns);
  add_lane(&l, e->lane);
  if (e->detail_count)
    add_details(&l, e->details, e->detail_count);
  put_event(&l);
}

void rt_timeline_span(const char *category, const char *name, uint64_t begin_ns,
                      const struct rt_timeline_detail *details, size_t detail_count) {
  rt_timeline_put(&(struct rt_timeline_event){.category = category,
                                              .name = name,
                                              .lane = RT_LANE_THREAD,
                                              .begin_ns = begin_ns,
                                              .end_ns = base_clock_ns(),
                                              .details = details,
                                              .detail_count = detail_count});
}

void rt_timeline_fault(const char *message) {
  const uint64_t now = base_clock_ns();
  const struct rt_timeline_detail detail = {"message", 0, message};
  rt_timeline_put(&(struct rt_timeline_event){.category = "fault",
                                              .name = "GPU fault",
                                              .lane = RT_LANE_THREAD,
                                              .begin_ns = now,
                                              .end_ns = now,
                                              .details = &detail,
                                              .detail_count = 1});
}

/* Writes the name that viewers show for a process or a lane. */
static void put_name(const char *kind, int lane, const char *name) {
  struct line l;
  l.length = 0;
  ADD(&l, "{\"ph\":\"M\",\"name\":");
  add_text(&l, kind);
  add_lane(&l, lane);
  add_details(&l, &(struct rt_timeline_detail){.name = "name", .text = name}, 1);
  put_event(&l);
}

void rt_timeline_name_lane(int lane, const char *name) {
  put_name("thread_name", lane, name);
}

/* ---- creation and destruction -------------------------------------------------------- */

void rt_timeline_open(const char *path) {
  file.fd = rt_log_open(path, "[\n", "timeline");
  if (file.fd < 0)
    return;
  rt_timeline_is_on = true;
  put_name("process_name", RT_LANE_THREAD, program_invocation_short_name);
}

/* Opens the file again after a fork. Parent and child would otherwise share a file offset, by which
 * next_chunk determines where its chunk was appended. */
static void open_again(void) {
  char path[32];
  const int shared = file.fd;
  snprintf(path, sizeof(path), "/proc/self/fd/%d", shared);
  file.fd = rt_log_open(path, "", "timeline");
  close(shared);
}

void rt_timeline_forked(void) {
  if (!rt_timeline_is_on)
    return;
  base_mutex_init(&file.lock, BASE_LOCK_RT_TIMELINE_FILE);
  open_again();
  process = thread = 0;
  file.at = file.end = NULL; /* the parent's chunk stays mapped until next_chunk unmaps it */
  put_name("process_name", RT_LANE_THREAD, program_invocation_short_name);
}
