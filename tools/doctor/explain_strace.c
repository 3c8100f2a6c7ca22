/* Explains lines of strace: replaces the number of an ioctl by the name of the request. If several
 * interfaces use the number, prints all names, beginning with that of L4T r36.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "gpu/nvgpu/uapi.h"
#include "tools/doctor/explain.h"
#include "tools/doctor/requests.h"

/* Names of other drivers' requests with the same numbers, which strace prints instead. */
static const struct {
  const char *name;
  uint32_t code;
} foreign_names[] = {
    {"TCSETSW", NVGPU_IOCTL_TSG_ENABLE},
    {"TCSETSF", NVGPU_IOCTL_TSG_DISABLE},
    {"TCGETA", NVGPU_IOCTL_TSG_PREEMPT},
    {"SNDRV_TIMER_IOCTL_TREAD_OLD", NVGPU_TSG_IOCTL_UNBIND_CHANNEL},
    {"HDA_IOCTL_GET_WCAP", NVGPU_IOCTL_CHANNEL_SET_TIMEOUT_EX},
};

/* Reads a number. *end points after it, or to text if there is none. */
static uint32_t read_number(const char *text, const char **end) {
  char *after;
  uint32_t value = (uint32_t)strtoul(text, &after, 0);
  *end = after;
  return value;
}

/* Reads text like _IOC(_IOC_READ|_IOC_WRITE, 0x47, 0x5, 0x10). */
static uint32_t read_ioc(const char *text, const char **end) {
  const char *close = strchr(text, ')'), *comma = strchr(text, ',');
  *end = text;
  if (!close || !comma || comma > close)
    return 0;
  uint32_t parts[3];
  uint32_t direction = 0;
  const char *read = strstr(text, "_IOC_READ"), *write = strstr(text, "_IOC_WRITE");
  if (read && read < comma)
    direction |= _IOC_READ;
  if (write && write < comma)
    direction |= _IOC_WRITE;
  const char *at = comma;
  for (int i = 0; i < 3; i++) {
    const char *after;
    if (*at != ',')
      return 0;
    parts[i] = read_number(at + 1, &after);
    if (after == at + 1)
      return 0;
    at = after;
  }
  if (at != close)
    return 0;
  *end = close + 1;
  return (uint32_t)_IOC(direction, parts[0], parts[1], parts[2]);
}

/* Reads one or more names, for example "SNDCTL_TMR_STOP or TCSETSW". */
static uint32_t read_names(const char *text, const char **end) {
  size_t all = strcspn(text, ",");
  for (size_t i = 0; i < sizeof(foreign_names) / sizeof(foreign_names[0]); i++) {
    size_t n = strlen(foreign_names[i].name);
    const char *last = text + all - n;
    if (all < n || strncmp(last, foreign_names[i].name, n) != 0 || (all > n && last[-1] != ' '))
      continue;
    *end = text + all;
    return foreign_names[i].code;
  }
  return 0;
}

static uint32_t read_request(const char *text, const char **end) {
  *end = text;
  if (strncmp(text, "_IOC(", 5) == 0)
    return read_ioc(text, end);
  if (*text >= '0' && *text <= '9')
    return read_number(text, end);
  return read_names(text, end);
}

static void put_request(uint32_t code, FILE *out) {
  const struct nvgpu_request *request = nvgpu_request_find(code);
  unsigned others = 0;
  if (request) {
    fprintf(out, "%s /* L4T r36", request->name);
    if (request->argument)
      fprintf(out, ", struct %s of %u bytes", request->argument->name, request->argument->size);
  }
  for (unsigned i = 0; i < doctor_request_count; i++) {
    const struct doctor_request *r = &doctor_requests[i];
    if (r->code != code || (request && strcmp(request->name, r->name) == 0))
      continue;
    if (!request && others++ == 0)
      fprintf(out, "%s /* %s, %s", r->name, r->interface, r->node);
    else
      fprintf(out, "; or %s of %s, %s", r->name, r->interface, r->node);
  }
  fprintf(out, request || others ? " */" : "0x%x", code);
}

void explain_strace_line(const char *line, FILE *out) {
  const char *call = strstr(line, "ioctl(");
  const char *request = call ? strstr(call, ", ") : NULL;
  const char *end = NULL;
  uint32_t code = request ? read_request(request + 2, &end) : 0;
  if (!request || end == request + 2) {
    fputs(line, out);
    return;
  }
  fprintf(out, "%.*s", (int)(request + 2 - line), line);
  put_request(code, out);
  fputs(end, out);
}
