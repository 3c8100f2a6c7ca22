/* Parses TEGRACL_DEBUG, and prints the driver's system calls on stderr. */
#include "runtime/debug/debug.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/trace.h"

static struct {
  bool launch;
  bool ioctl;
  bool choices;
} topics;

static void read_topic(const char *topic) {
  static const char trace[] = "trace:", timeline[] = "timeline:";
  if (strncmp(topic, trace, sizeof trace - 1) == 0)
    rt_trace_open(topic + sizeof trace - 1);
  else if (strncmp(topic, timeline, sizeof timeline - 1) == 0)
    rt_timeline_open(topic + sizeof timeline - 1);
  else if (strcmp(topic, "launch") == 0)
    topics.launch = true;
  else if (strcmp(topic, "ioctl") == 0)
    topics.ioctl = true;
  else if (strcmp(topic, "choices") == 0)
    topics.choices = true;
  else if (strcmp(topic, "api") != 0 && strcmp(topic, "build") != 0) /* icd/object/error.c's */
    fprintf(stderr,
            "tegracl: TEGRACL_DEBUG: unknown topic \"%s\"; use api, build, launch, ioctl, choices, "
            "trace:FILE, timeline:FILE\n",
            topic);
}

static void read_topics(void) {
  base_debug_topics(read_topic);
}

void rt_debug_begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_topics);
}

bool rt_timeline_begin(void) {
  rt_debug_begin();
  return rt_timeline_is_on;
}

bool rt_debug_launch(void) {
  rt_debug_begin();
  return topics.launch;
}

bool rt_debug_choices(void) {
  rt_debug_begin();
  return topics.choices;
}

static const struct nvgpu_os *traced;

static int trace_open(const char *path, int flags) {
  int result = traced->open(path, flags);
  fprintf(stderr, "tegracl: %s: open %s = %d\n", traced->name, path, result);
  return result;
}

static int trace_close(int fd) {
  int result = traced->close(fd);
  fprintf(stderr, "tegracl: %s: close %d = %d\n", traced->name, fd, result);
  return result;
}

const char *rt_request_name(uint32_t request) {
  switch (request) {
  case EMULATOR_IOCTL_FAULT:
    return "EMULATOR_IOCTL_FAULT";
  case EMULATOR_IOCTL_COUNTERS:
    return "EMULATOR_IOCTL_COUNTERS";
  case EMULATOR_IOCTL_MODES:
    return "EMULATOR_IOCTL_MODES";
  case EMULATOR_IOCTL_NOTE:
    return "EMULATOR_IOCTL_NOTE";
  case EMULATOR_IOCTL_GRID:
    return "EMULATOR_IOCTL_GRID";
  default:
    break;
  }
  const char *name = nvgpu_request_name(request);
  return name ? name : "unknown request";
}

static int trace_ioctl(int fd, unsigned long request, void *argument) {
  enum { SHOWN = 128 };
  size_t size = _IOC_SIZE((uint32_t)request);
  uint32_t words[SHOWN / 4] = {0};
  int result = traced->ioctl(fd, request, argument);
  if (size > SHOWN)
    size = SHOWN;
  if (size && argument)
    memcpy(words, argument, size);
  char text[SHOWN / 4 * 9 + 1] = "";
  for (size_t i = 0; i < (size + 3) / 4; i++)
    snprintf(text + 9 * i, 10, " %08x", words[i]);
  fprintf(stderr, "tegracl: %s: ioctl %d %s = %d, after:%s\n", traced->name, fd,
          rt_request_name((uint32_t)request), result, text);
  return result;
}

static void *trace_mmap(void *address, size_t length, int protection, int flags, int fd,
                        off_t offset, int *error) {
  void *p = traced->mmap(address, length, protection, flags, fd, offset, error);
  fprintf(stderr, "tegracl: %s: mmap %p, %zu bytes of fd %d = %p (%d)\n", traced->name, address,
          length, fd, p, *error);
  return p;
}

static int trace_munmap(void *address, size_t length) {
  int result = traced->munmap(address, length);
  fprintf(stderr, "tegracl: %s: munmap %p, %zu bytes = %d\n", traced->name, address, length,
          result);
  return result;
}

static int trace_poll(struct pollfd *fds, unsigned count, int timeout_ms) {
  int result = traced->poll(fds, count, timeout_ms);
  fprintf(stderr, "tegracl: %s: poll of %u fds from %d on, %d ms = %d\n", traced->name, count,
          count ? fds[0].fd : -1, timeout_ms, result);
  return result;
}

static void trace_doorbell(void *page, uint32_t token) {
  fprintf(stderr, "tegracl: %s: doorbell 0x%x\n", traced->name, token);
  traced->doorbell(page, token);
}

const struct nvgpu_os *rt_debug_trace_os(const struct nvgpu_os *os) {
  static const struct nvgpu_os trace = {
      .name = "trace",
      .open = trace_open,
      .close = trace_close,
      .ioctl = trace_ioctl,
      .mmap = trace_mmap,
      .munmap = trace_munmap,
      .poll = trace_poll,
      .doorbell = trace_doorbell,
  };
  rt_debug_begin();
  os = rt_trace_os(os);
  if (!topics.ioctl)
    return os;
  traced = os;
  return &trace;
}
