/* Prints the report with the names of the user and the machine replaced. */
#include "tools/doctor/report.h"

#include <ctype.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static char *user_name(void) {
  const struct passwd *user = getpwuid(getuid());
  return strdup(user ? user->pw_name : "");
}

static char *host_name(void) {
  struct utsname system;
  return strdup(uname(&system) == 0 ? system.nodename : "");
}

void report_begin(struct report *r, FILE *screen, FILE *file) {
  const char *home = getenv("HOME");
  *r = (struct report){.screen = screen,
                       .file = file,
                       .home = strdup(home ? home : ""),
                       .user = user_name(),
                       .host = host_name()};
}

void report_end(struct report *r) {
  free(r->home);
  free(r->user);
  free(r->host);
}

static bool is_name_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Whether the name continues after end: a dot may be part of a name or end a sentence. */
static bool name_continues(const char *end) {
  return is_name_char(end[0]) || (end[0] == '.' && is_name_char(end[1]));
}

/* Returns the length of the name if it is at this place of the text, or
 * 0 if there is another or a longer name. */
static size_t match_name(const char *start, const char *at, const char *name) {
  size_t n = name ? strlen(name) : 0;
  if (n == 0 || strncmp(at, name, n) != 0 || name_continues(at + n))
    return 0;
  return at == start || !(is_name_char(at[-1]) || at[-1] == '.') ? n : 0;
}

/* A user's name is often an ordinary word ("orin", "root"), so it
 * is replaced only as part of a path. */
static size_t match_folder(const char *start, const char *at, const char *user) {
  return at > start && at[-1] == '/' ? match_name(start, at, user) : 0;
}

char *report_redact(const char *text, const char *home, const char *user, const char *host) {
  char *out = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&out, &size);
  if (!f)
    return NULL;
  bool root = home && strcmp(home, "/") == 0;
  for (const char *at = text; *at;) {
    size_t n;
    if (!root && (n = match_name(text, at, home)) > 0)
      fputs("~", f);
    else if ((n = match_folder(text, at, user)) > 0)
      fputs("USER", f);
    else if ((n = match_name(text, at, host)) > 0)
      fputs("HOST", f);
    else
      fputc(*at, f);
    at += n ? n : 1;
  }
  if (fclose(f)) {
    free(out);
    return NULL;
  }
  return out;
}

void report_print(struct report *r, const char *format, ...) {
  va_list arguments;
  char *text = NULL;
  va_start(arguments, format);
  int n = vasprintf(&text, format, arguments);
  va_end(arguments);
  char *clean = n < 0 ? NULL : report_redact(text, r->home, r->user, r->host);
  if (clean && r->screen)
    fputs(clean, r->screen);
  if (clean && r->file)
    fputs(clean, r->file);
  free(clean);
  if (n >= 0)
    free(text);
}

void report_sync(struct report *r) {
  if (r->screen)
    fflush(r->screen);
  if (r->file && fflush(r->file) == 0)
    fdatasync(fileno(r->file));
}
