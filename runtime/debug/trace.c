/* Writes the trace. A record is one line, written with one write() before the event that it
 * describes. Before an ioctl or a doorbell the file is also synced to disk, so that its last line
 * shows what stopped the program or the machine. */
#include "runtime/debug/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/debug/log_file.h"

static struct {
  int fd; /* -1: no trace */
  const struct nvgpu_os *os;
} trace = {.fd = -1};

bool rt_trace_on(void) {
  return trace.fd >= 0;
}

/* ---- records ------------------------------------------------------------------ */

struct record {
  FILE *out; /* NULL if memory is exhausted */
  char *text;
  size_t size;
};

static void begin_record(struct record *r, const char *what) {
  uint64_t ns = base_clock_ns();
  r->text = NULL;
  r->out = open_memstream(&r->text, &r->size);
  if (r->out)
    fprintf(r->out, "%" PRIu64 ".%09" PRIu64 " %d %s", ns / 1000000000, ns % 1000000000,
            (int)gettid(), what);
}

static void put_bytes(struct record *r, const char *name, const void *data, size_t bytes) {
  if (!r->out)
    return;
  fprintf(r->out, " %s=", name);
  for (size_t i = 0; i < bytes; i++)
    fprintf(r->out, "%02x", ((const unsigned char *)data)[i]);
}

static void put_number(struct record *r, const char *name, uint64_t value) {
  if (r->out)
    fprintf(r->out, " %s=0x%" PRIx64, name, value);
}

static void put_signed(struct record *r, const char *name, int64_t value) {
  if (r->out)
    fprintf(r->out, " %s=%" PRId64, name, value);
}

static void end_record(struct record *r, bool to_disk) {
  if (!r->out)
    return;
  fputc('\n', r->out);
  if (fclose(r->out) == 0) {
    ssize_t written;
    do
      written = base_write(trace.fd, r->text, r->size);
    while (written < 0 && errno == EINTR);
    if (to_disk)
      fdatasync(trace.fd);
  }
  free(r->text);
}

/* Begins the record of a result. since is the time at which the call began, after its record was
 * written. */
static void begin_result(struct record *r, uint64_t since, int64_t result) {
  uint64_t ns = base_clock_ns() - since;
  begin_record(r, "end");
  put_signed(r, "ns", (int64_t)ns);
  put_signed(r, "result", result);
}

static void put_result(uint64_t since, int result) {
  struct record r;
  begin_result(&r, since, result);
  end_record(&r, false);
}

/* ---- calls -------------------------------------------------------------------- */

static int recorded_open(const char *path, int flags) {
  struct record r;
  begin_record(&r, "open");
  put_number(&r, "flags", (unsigned)flags);
  if (r.out)
    fprintf(r.out, " path=%s", path);
  end_record(&r, false);
  uint64_t since = base_clock_ns();
  int result = trace.os->open(path, flags);
  put_result(since, result);
  return result;
}

static int recorded_close(int fd) {
  struct record r;
  begin_record(&r, "close");
  put_signed(&r, "fd", fd);
  end_record(&r, false);
  uint64_t since = base_clock_ns();
  int result = trace.os->close(fd);
  put_result(since, result);
  return result;
}

/* Arguments with a pointer to a struct that the kernel fills in. */
static const struct {
  uint32_t request;
  const char *type;
  size_t pointer, bytes; /* offsets of the 64-bit fields with its address and size */
  size_t bytes_size;     /* size of the bytes field */
} pointed[] = {
#define POINTED(request, argument, pointer, bytes, type)                                           \
  {                                                                                                \
    request, type, offsetof(struct argument, pointer), offsetof(struct argument, bytes),           \
        sizeof(((struct argument *)0)->bytes)                                                      \
  }
    POINTED(NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, nvgpu_gpu_get_characteristics,
            gpu_characteristics_buf_addr, gpu_characteristics_buf_size,
            "nvgpu_gpu_characteristics"),
    POINTED(NVGPU_TSG_IOCTL_READ_SINGLE_SM_ERROR_STATE, nvgpu_tsg_read_single_sm_error_state_args,
            record_mem, record_size, "nvgpu_tsg_sm_error_state_record"),
#undef POINTED
};

/* before is the argument before the call; it has the size of the caller's struct. */
static void put_pointed(uint32_t request, const void *argument, const void *before) {
  for (size_t i = 0; i < sizeof(pointed) / sizeof(pointed[0]); i++) {
    if (pointed[i].request != request)
      continue;
    uint64_t address = 0, room = 0, bytes = 0;
    memcpy(&address, (const char *)argument + pointed[i].pointer, sizeof(address));
    memcpy(&room, (const char *)before + pointed[i].bytes, pointed[i].bytes_size);
    memcpy(&bytes, (const char *)argument + pointed[i].bytes, pointed[i].bytes_size);
    struct record r;
    begin_record(&r, "struct");
    if (r.out)
      fprintf(r.out, " type=%s", pointed[i].type);
    size_t length = room < bytes ? room : bytes;
    const void *data = (const void *)(uintptr_t)address;
    struct nvgpu_gpu_characteristics c;
    if (request == NVGPU_GPU_IOCTL_GET_CHARACTERISTICS) {
      /* The trace omits the chip's serial number. Releases with a different struct have it at
       * another offset, so only the common beginning is written for them. */
      size_t known =
          bytes == sizeof(c) ? sizeof(c) : offsetof(struct nvgpu_gpu_characteristics, num_gpc);
      length = length < known ? length : known;
      memcpy(&c, data, length);
      c.per_device_identifier = 0;
      data = &c;
    }
    put_bytes(&r, "data", data, length);
    end_record(&r, false);
  }
}

static int recorded_ioctl(int fd, unsigned long request, void *argument) {
  enum { ARGUMENT_MAX = 1024 }; /* larger than any argument with pointers */
  size_t size = argument ? _IOC_SIZE((uint32_t)request) : 0;
  char before[ARGUMENT_MAX];
  if (size <= sizeof(before) && size)
    memcpy(before, argument, size);
  struct record r;
  begin_record(&r, "ioctl");
  put_signed(&r, "fd", fd);
  put_number(&r, "request", (uint32_t)request);
  if (size)
    put_bytes(&r, "arg", argument, size);
  else
    put_number(&r, "value", (uintptr_t)argument);
  end_record(&r, true);
  uint64_t since = base_clock_ns();
  int result = trace.os->ioctl(fd, request, argument);
  begin_result(&r, since, result);
  if (size)
    put_bytes(&r, "arg", argument, size);
  end_record(&r, false);
  if (result == 0 && size && size <= sizeof(before))
    put_pointed((uint32_t)request, argument, before);
  return result;
}

static void *recorded_mmap(void *address, size_t length, int protection, int flags, int fd,
                           off_t offset, int *error) {
  struct record r;
  begin_record(&r, "mmap");
  put_number(&r, "address", (uintptr_t)address);
  put_number(&r, "length", length);
  put_number(&r, "prot", (unsigned)protection);
  put_number(&r, "flags", (unsigned)flags);
  put_signed(&r, "fd", fd);
  put_number(&r, "offset", (uint64_t)offset);
  end_record(&r, false);
  uint64_t since = base_clock_ns();
  void *p = trace.os->mmap(address, length, protection, flags, fd, offset, error);
  begin_result(&r, since, p ? 0 : *error);
  put_number(&r, "address", (uintptr_t)p);
  end_record(&r, false);
  return p;
}

static int recorded_munmap(void *address, size_t length) {
  struct record r;
  begin_record(&r, "munmap");
  put_number(&r, "address", (uintptr_t)address);
  put_number(&r, "length", length);
  end_record(&r, false);
  uint64_t since = base_clock_ns();
  int result = trace.os->munmap(address, length);
  put_result(since, result);
  return result;
}

static int recorded_poll(struct pollfd *fds, unsigned count, int timeout_ms) {
  struct record r;
  begin_record(&r, "poll");
  put_signed(&r, "fd", count ? fds[0].fd : -1);
  put_signed(&r, "count", count);
  put_signed(&r, "timeout_ms", timeout_ms);
  end_record(&r, false);
  uint64_t since = base_clock_ns();
  int result = trace.os->poll(fds, count, timeout_ms);
  put_result(since, result);
  return result;
}

static void recorded_doorbell(void *page, uint32_t token) {
  struct record r;
  begin_record(&r, "doorbell");
  put_number(&r, "token", token);
  end_record(&r, true);
  trace.os->doorbell(page, token);
}

const struct nvgpu_os *rt_trace_os(const struct nvgpu_os *os) {
  static const struct nvgpu_os table = {
      .name = "trace",
      .open = recorded_open,
      .close = recorded_close,
      .ioctl = recorded_ioctl,
      .mmap = recorded_mmap,
      .munmap = recorded_munmap,
      .poll = recorded_poll,
      .doorbell = recorded_doorbell,
  };
  if (!rt_trace_on())
    return os;
  trace.os = os;
  return &table;
}

/* ---- submissions, and the file ------------------------------------------------- */

void rt_trace_submit(const struct rt_trace_submission *s) {
  struct record r;
  begin_record(&r, "submit");
  put_number(&r, "token", s->token);
  put_signed(&r, "point", (int64_t)s->point);
  put_signed(&r, "index", s->index);
  put_number(&r, "entry", s->entry);
  put_number(&r, "gpu", s->gpu);
  put_bytes(&r, "data", s->data, s->bytes);
  end_record(&r, false);
}

void rt_trace_open(const char *path) {
  trace.fd = rt_log_open(path, RT_TRACE_HEAD "\n", "trace");
}
