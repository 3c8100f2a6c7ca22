/* Lines of strace: the request of an ioctl gets its name, everything else stays. Which
 * of the interfaces with one number is meant, strace does not tell; that of L4T r36
 * comes first.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tools/doctor/explain.h"
#include "tools/doctor/requests.h"

/* strace knows only terminals' names for some requests of the TSG node. */
static const struct {
  const char *name;
  uint32_t code;
} terminal_names[] = {{"TCSETSW", TCSETSW}, {"TCSETSF", TCSETSF}, {"TCGETA", TCGETA}};

/* A number as strace writes them; *end is behind it, or equal to text if there is
 * none. */
static uint32_t read_number(const char *text, const char **end) {
  char *behind;
  uint32_t value = (uint32_t)strtoul(text, &behind, 0);
  *end = behind;
  return value;
}

/* _IOC(_IOC_READ|_IOC_WRITE, 0x47, 0x5, 0x10) */
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
    const char *behind;
    if (*at != ',')
      return 0;
    parts[i] = read_number(at + 1, &behind);
    if (behind == at + 1)
      return 0;
    at = behind;
  }
  if (at != close)
    return 0;
  *end = close + 1;
  return (uint32_t)_IOC(direction, parts[0], parts[1], parts[2]);
}

static uint32_t read_terminal_name(const char *text, const char **end) {
  for (size_t i = 0; i < sizeof(terminal_names) / sizeof(terminal_names[0]); i++) {
    size_t n = strlen(terminal_names[i].name);
    if (strncmp(text, terminal_names[i].name, n) == 0 && text[n] == ',') {
      *end = text + n;
      return terminal_names[i].code;
    }
  }
  return 0;
}

static uint32_t read_request(const char *text, const char **end) {
  *end = text;
  if (strncmp(text, "_IOC(", 5) == 0)
    return read_ioc(text, end);
  if (*text >= '0' && *text <= '9')
    return read_number(text, end);
  return read_terminal_name(text, end);
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
