/* Reads the file with tegracl-doctor's results. See board_file.h. */
#include "runtime/device/board_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/debug/debug.h"

/* ---- this system ------------------------------------------------------------------------ */

static void identify_l4t(char *l4t, size_t size) {
  char line[128] = "", major[4], revision[16];
  FILE *f = fopen("/etc/nv_tegra_release", "re");
  if (f && fgets(line, sizeof(line), f) &&
      sscanf(line, "# R%3[0-9] (release), REVISION: %15[0-9.]", major, revision) == 2)
    snprintf(l4t, size, "%s.%s", major, revision);
  if (f)
    fclose(f);
}

void rt_board_identify(bool emulated, struct rt_board_identity *here) {
  static const char software[] = "software Orin";
  struct utsname system;
  *here = (struct rt_board_identity){.driver = TEGRACL_VERSION};
  if (emulated) {
    snprintf(here->l4t, sizeof(here->l4t), software);
    snprintf(here->kernel, sizeof(here->kernel), software);
    return;
  }
  identify_l4t(here->l4t, sizeof(here->l4t));
  if (uname(&system) == 0)
    snprintf(here->kernel, sizeof(here->kernel), "%s", system.release);
}

/* ---- flat JSON ---------------------------------------------------------------------------- */

enum { NAME_MAX_BYTES = 64, VALUE_MAX_BYTES = 80 };

struct reader {
  const char *at, *end;
};

static bool take_char(struct reader *r, char c) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
    r->at++;
  if (r->at == r->end || *r->at != c)
    return false;
  r->at++;
  return true;
}

/* Accepts printable ASCII without escapes; the doctor writes nothing else. */
static bool read_string(struct reader *r, char *text, size_t size) {
  size_t n = 0;
  if (!take_char(r, '"'))
    return false;
  while (r->at < r->end && *r->at != '"' && *r->at != '\\' && *r->at >= ' ' && *r->at < 0x7f) {
    if (n + 1 == size)
      return false;
    text[n++] = *r->at++;
  }
  text[n] = 0;
  return r->at < r->end && *r->at++ == '"';
}

/* Reads a number, true or false as text. */
static bool read_word(struct reader *r, char *text, size_t size) {
  size_t n = 0;
  while (r->at < r->end && ((*r->at >= '0' && *r->at <= '9') || (*r->at >= 'a' && *r->at <= 'z'))) {
    if (n + 1 == size)
      return false;
    text[n++] = *r->at++;
  }
  text[n] = 0;
  return n && (text[strspn(text, "0123456789")] == 0 || strcmp(text, "true") == 0 ||
               strcmp(text, "false") == 0);
}

__attribute__((format(printf, 2, 3))) static bool refuse_file(char why[256], const char *format,
                                                              ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, 256, format, arguments);
  va_end(arguments);
  return false;
}

struct findings {
  bool format, driver, kernel, l4t;
  struct rt_choices choices; /* -1: not there */
  struct rt_texture_stored textures;
};

static bool check_same(const char *name, const char *value, const char *here, bool *seen,
                       char why[256]) {
  if (strcmp(value, here) != 0)
    return refuse_file(why,
                       "it was written for %s \"%s\", but this is \"%s\": run tegracl-doctor again",
                       name, value, here);
  *seen = true;
  return true;
}

static bool take_pair(struct findings *f, const char *name, const char *value,
                      const struct rt_board_identity *here, char why[256]) {
  static const char choice[] = "choice.", texture[] = "texture.";
  char format[16];
  if (strcmp(name, "format") == 0) {
    snprintf(format, sizeof(format), "%d", RT_BOARD_FORMAT);
    return check_same("format", value, format, &f->format, why);
  }
  if (strcmp(name, "driver") == 0)
    return check_same("driver version", value, here->driver, &f->driver, why);
  if (strcmp(name, "kernel") == 0)
    return check_same("kernel", value, here->kernel, &f->kernel, why);
  /* In a container the L4T release is unknown and not compared. */
  if (strcmp(name, "l4t") == 0 && *here->l4t)
    return *value ? check_same("L4T", value, here->l4t, &f->l4t, why)
                  : refuse_file(why,
                                "it was written where the L4T release is unknown, as in a "
                                "container, but this is \"%s\": run tegracl-doctor here",
                                here->l4t);
  if (strncmp(name, choice, sizeof(choice) - 1) == 0 &&
      !rt_choices_set(&f->choices, name + sizeof(choice) - 1, value))
    return refuse_file(why, "\"%s\" cannot be \"%s\"", name, value);
  if (strncmp(name, texture, sizeof(texture) - 1) == 0 &&
      !rt_texture_stored_set(&f->textures, name + sizeof(texture) - 1, value))
    return refuse_file(why, "\"%s\" cannot be \"%s\"", name, value);
  return true;
}

static bool read_pairs(struct reader *r, struct findings *f, const struct rt_board_identity *here,
                       char why[256]) {
  char name[NAME_MAX_BYTES], value[VALUE_MAX_BYTES];
  const char *start = r->at;
  bool good = take_char(r, '{');
  do {
    good = good && read_string(r, name, sizeof(name)) && take_char(r, ':');
    const bool text = good && take_char(r, '"');
    r->at -= text;
    good =
        good && (text ? read_string(r, value, sizeof(value)) : read_word(r, value, sizeof(value)));
    if (good && !take_pair(f, name, value, here, why))
      return false;
  } while (good && take_char(r, ','));
  good = good && take_char(r, '}');
  const size_t used = (size_t)(r->at - start);
  if (good && !take_char(r, '\0') && r->at == r->end)
    return true;
  return refuse_file(why, "not a flat JSON object (error at byte %zu)", used);
}

bool rt_board_parse(const char *text, size_t bytes, const struct rt_board_identity *here,
                    struct rt_board_results *results, char why[256]) {
  struct reader r = {text, text + bytes};
  struct findings f = {0};
  for (int i = 0; i < RT_CHOICES; i++)
    atomic_store(&f.choices.value[i], -1);
  if (!read_pairs(&r, &f, here, why))
    return false;
  if (!f.format || !f.driver || !f.kernel || (*here->l4t && !f.l4t))
    return refuse_file(why, "format, driver, l4t or kernel is missing");
  if (!rt_texture_stored_is_complete(&f.textures))
    return refuse_file(why, "an answer about textures is missing");
  for (int i = 0; i < RT_CHOICES; i++) {
    const int value = atomic_load(&f.choices.value[i]);
    if (value >= 0)
      atomic_store(&results->choices.value[i], value);
  }
  results->textures = f.textures;
  return true;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool is_trusted(const struct stat *s, uid_t owner, uid_t other_owner, char why[256]) {
  if (!S_ISREG(s->st_mode))
    return refuse_file(why, "not a regular file");
  if (s->st_uid != owner && s->st_uid != other_owner)
    return refuse_file(why, "it belongs to user %u, not to %s", (unsigned)s->st_uid,
                       owner ? "this user or root: sudo chown root" : "root: sudo chown root");
  if (s->st_mode & (S_IWGRP | S_IWOTH))
    return refuse_file(why, "it is writable by others (mode %04o): sudo chmod 644",
                       (unsigned)s->st_mode & 07777);
  if (s->st_size > RT_BOARD_BYTES_MAX)
    return refuse_file(why, "it is too large: %lld bytes, at most %d are possible",
                       (long long)s->st_size, RT_BOARD_BYTES_MAX);
  return true;
}

int rt_board_read(const char *path, uid_t owner, uid_t other_owner,
                  const struct rt_board_identity *here, struct rt_board_results *results,
                  char why[256]) {
  struct stat status = {0};
  /* O_NONBLOCK prevents blocking on a FIFO. */
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENOENT)
    return -1;
  char *text = malloc(RT_BOARD_BYTES_MAX);
  bool good = true;
  if (fd < 0 || !text || fstat(fd, &status))
    good = refuse_file(why, "%s", strerror(errno));
  good = good && is_trusted(&status, owner, other_owner, why);
  if (good) {
    const ssize_t bytes = read(fd, text, RT_BOARD_BYTES_MAX);
    good = bytes < 0 ? refuse_file(why, "%s", strerror(errno))
                     : rt_board_parse(text, (size_t)bytes, here, results, why);
  }
  free(text);
  if (fd >= 0)
    close(fd);
  return good ? 0 : 1;
}

void rt_board_choose(bool emulated, struct rt_board_results *results) {
  const char *variable = secure_getenv("TEGRACL_BOARD_FILE");
  const bool named = variable && *variable;
  const char *path = named ? variable : RT_BOARD_FILE;
  struct rt_board_identity here;
  char why[256] = "no such file";
  if ((named && strcmp(variable, "0") == 0) || (!named && emulated))
    return;
  rt_board_identify(emulated, &here);
  const int result = rt_board_read(path, named ? geteuid() : 0, 0, &here, results, why);
  if (result == 0 && rt_debug_choices())
    fprintf(stderr, "tegracl: choices of %s\n", path);
  if (result == 0 || (result < 0 && !named))
    return;
  static atomic_bool reported;
  if ((named || rt_debug_choices()) && !atomic_exchange(&reported, true))
    fprintf(stderr, "tegracl: %s is not used: %s\n", path, why);
}
