/* tegracl-emulate PROGRAM [ARGUMENT...]: runs a program, and the programs that it starts, with the
 * nodes of a software Orin. The preloaded library is in the directory of this program or in the one
 * where it was installed. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "LD_PRELOAD"

/* Exit statuses of a shell that cannot run or cannot find a program. */
enum { NOT_RUNNABLE = 126, NOT_FOUND = 127 };

static int path_beside_program(char path[PATH_MAX]) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (length < 0)
    return -errno;
  self[length] = '\0';
  *strrchr(self, '/') = '\0';
  int wanted = snprintf(path, PATH_MAX, "%s/%s", self, EMULATE_LIBRARY);
  return wanted < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static const char *find_library(char path[PATH_MAX]) {
  if (path_beside_program(path) == 0 && access(path, R_OK) == 0)
    return path;
  return access(EMULATE_FOLDER "/" EMULATE_LIBRARY, R_OK) == 0 ? EMULATE_FOLDER "/" EMULATE_LIBRARY
                                                               : NULL;
}

/* Appends the library to LD_PRELOAD, so that a tracer in the list sees the calls first. The path
 * must not contain the separators of the list, which cannot be quoted. */
static int append_to_preloaded(const char *library) {
  if (strpbrk(library, ": "))
    return -EINVAL;
  const char *others = getenv(VARIABLE);
  char *list = NULL;
  if (asprintf(&list, "%s%s%s", others ? others : "", others && *others ? ":" : "", library) < 0)
    return -ENOMEM;
  int result = setenv(VARIABLE, list, 1) ? -errno : 0;
  free(list);
  return result;
}

static void print_usage(FILE *out) {
  fprintf(out, "usage: tegracl-emulate PROGRAM [ARGUMENT...]\n"
               "Runs PROGRAM with a software Orin at /dev/nvmap and /dev/nvgpu/igpu0/ctrl.\n"
               "TEGRACL_EMULATOR in the environment chooses its board and modes.\n");
}

int main(int argc, char **argv) {
  char path[PATH_MAX];
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    print_usage(stdout);
    return 0;
  }
  if (argc < 2 || argv[1][0] == '-') {
    print_usage(stderr);
    return NOT_RUNNABLE;
  }
  const char *library = find_library(path);
  if (!library) {
    fprintf(stderr, "tegracl-emulate: %s is neither beside this program nor in %s\n",
            EMULATE_LIBRARY, EMULATE_FOLDER);
    return NOT_RUNNABLE;
  }
  int error = append_to_preloaded(library);
  if (error) {
    fprintf(stderr, "tegracl-emulate: cannot preload %s: %s\n", library,
            error == -EINVAL ? "a colon or a space in its path" : strerror(-error));
    return NOT_RUNNABLE;
  }
  execvp(argv[1], argv + 1);
  error = errno;
  fprintf(stderr, "tegracl-emulate: %s: %s\n", argv[1], strerror(error));
  return error == ENOENT ? NOT_FOUND : NOT_RUNNABLE;
}
