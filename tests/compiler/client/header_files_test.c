/* Headers passed by the application (clCompileProgram): which header clang uses,
 * unusual names, and many headers. Nothing remains of them if the client, the helper
 * process or both are killed during a build. Uses the real compiler. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/compiler.h"

static char folder[] = "/tmp/tegracl-header-files-XXXXXX";

static const struct cc_device device = {
    .sm = 87, .version = 310, .extensions = "", .c_features = "", .local_mem_bytes = 49152};

static const char *options;

static enum cc_status compile(const char *source, const struct cc_header *headers, size_t count,
                              struct cc_result *result) {
  const struct cc_source text = {source, strlen(source)};
  const struct cc_job job = {.action = CC_COMPILE,
                             .device = &device,
                             .sources = &text,
                             .source_count = 1,
                             .headers = headers,
                             .header_count = count,
                             .options = options};
  return cc_build(&job, result);
}

static void compile_good(const char *source, const struct cc_header *headers, size_t count) {
  struct cc_result result;
  const enum cc_status status = compile(source, headers, count, &result);
  if (status != CC_OK)
    fail_msg("%d: %s", status, result.log);
  cc_result_finish(&result);
}

static void test_finds_headers_by_name(void **state) {
  (void)state;
  static const struct cc_header headers[] = {
      {"value.h", "#define VALUE 1\n#include \"sub/inner.h\"\n"},
      {"sub/inner.h", "#include \"near.h\"\n#include \"../far.h\"\n"},
      {"sub/near.h", "#define NEAR 2\n"},
      {"near.h", "#define NEAR 0\n"},
      {"far.h", "#define FAR 3\n"},
      {"a b\"c\\d'e\tf@{},:.h", "#define ODD 4\n"},
      {"gr\xc3\xb6\xc3\x9f"
       "e.h",
       "#define LETTERS 5\n"},
      {"empty.h", ""},
  };
  compile_good(
      "#include <value.h>\n#include \"empty.h\"\n#include <a b\"c\\d'e\tf@{},:.h>\n"
      "#include \"gr\xc3\xb6\xc3\x9f"
      "e.h\"\n"
      "#if VALUE != 1 || NEAR != 2 || FAR != 3 || ODD != 4 || LETTERS != 5\n#error\n#endif\n"
      "kernel void k(global int *o) { *o = VALUE; }\n",
      headers, sizeof(headers) / sizeof(headers[0]));
}

/* Declarations that the front end adds do not use names that an application may define. */
static void test_macros_cannot_break_declarations(void **state) {
  (void)state;
  static const struct cc_header header = {"value.h", "#define VALUE 1\n"};
  options = "-D a=1 -D b=1 -D c=1 -D layout=1 -D stride=1"; /* clang's header has no such names */
  compile_good("#include <value.h>\nkernel void k(global int *o) { *o = VALUE; }\n", &header, 1);
  options = NULL;
}

/* Names that would lead out of the folder are refused. */
static void test_refuses_names_outside_folder(void **state) {
  (void)state;
  static const char *const names[] = {"", "/etc/passwd", "..", "../x.h", "a/../../x.h", "a/.."};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    const struct cc_header header = {names[i], ""};
    struct cc_result result;
    assert_int_not_equal(compile("kernel void k() {}", &header, 1, &result), CC_OK);
    assert_non_null(strstr(result.log, "must be a relative path"));
    cc_result_finish(&result);
  }
}

/* A header cannot have the name that clang uses for the source. */
static void test_refuses_name_of_source(void **state) {
  (void)state;
  static const char *const names[] = {"<program source>", "./<program source>",
                                      ".//./<program source>"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    const struct cc_header header = {names[i], "#define A 1\n"};
    struct cc_result result;
    assert_int_not_equal(compile("kernel void k() {}", &header, 1, &result), CC_OK);
    assert_non_null(strstr(result.log, "has the same name as the program's source"));
    cc_result_finish(&result);
  }
}

/* More headers than the usual limit of open files. */
static void test_builds_with_2000_headers(void **state) {
  (void)state;
  enum { HEADERS = 2000 };
  static struct cc_header headers[HEADERS];
  static char names[HEADERS][16];
  for (int i = 0; i < HEADERS; i++) {
    snprintf(names[i], sizeof(names[i]), "h%d.h", i);
    headers[i] = (struct cc_header){names[i], i == HEADERS - 1 ? "#define LAST" : ""};
  }
  compile_good("#include \"h1999.h\"\n#ifndef LAST\n#error\n#endif\nkernel void k() {}\n", headers,
               HEADERS);
}

static int count_files(void) {
  int count = 0;
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  while (readdir(directory))
    count++;
  closedir(directory);
  return count - 2; /* . and .. */
}

/* Reads the state and parent of a process. Returns false if it no longer exists. */
static bool read_process(int pid, char *state, int *parent) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file)
    return false;
  const bool read = fscanf(file, "%*d (%*[^)]) %c %d", state, parent) == 2;
  fclose(file);
  return read;
}

static int child_of(int process) {
  int child = 0, parent;
  char state;
  DIR *directory = opendir("/proc");
  assert_non_null(directory);
  for (struct dirent *item; (item = readdir(directory));)
    if (read_process(atoi(item->d_name), &state, &parent) && parent == process)
      child = atoi(item->d_name);
  closedir(directory);
  return child;
}

static void wait_for_end(int pid) {
  char state;
  int parent;
  while (read_process(pid, &state, &parent) && state != 'Z')
    usleep(1000);
}

static void test_killed_builds_leave_no_files(void **state) {
  (void)state;
  enum { KILL_CLIENT = 1, KILL_HELPER = 2, KILL_BOTH = 3 };
  char pipe_name[64], source[128];
  snprintf(pipe_name, sizeof(pipe_name), "%s/pipe", folder);
  snprintf(source, sizeof(source), "#include \"a.h\"\n#include \"%s\"\n", pipe_name);
  static const struct cc_header header = {"a.h", "#define A\n"};
  for (int who = KILL_CLIENT; who <= KILL_BOTH; who++) {
    assert_int_equal(mkfifo(pipe_name, 0600), 0);
    const pid_t client = fork();
    assert_true(client >= 0);
    if (client == 0) {
      struct cc_result result;
      _exit(compile(source, &header, 1, &result));
    }
    const int writer = open(pipe_name, O_WRONLY); /* now clang has opened the headers */
    assert_true(writer >= 0);
    const int helper = child_of(client), clang = child_of(helper);
    assert_true(helper && clang);
    if (who & KILL_HELPER)
      kill(helper, SIGKILL);
    if (who & KILL_CLIENT)
      kill(client, SIGKILL);
    int status = 0;
    assert_int_equal(waitpid(client, &status, 0), client);
    wait_for_end(helper);
    wait_for_end(clang);
    close(writer);
    unlink(pipe_name);
    assert_int_equal(count_files(), 0);
  }
}

static int make_folder(void **state) {
  (void)state;
  setenv("TEGRACL_CACHE", "0", 1);
  return mkdtemp(folder) ? setenv("TMPDIR", folder, 1) : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_finds_headers_by_name),
      cmocka_unit_test(test_macros_cannot_break_declarations),
      cmocka_unit_test(test_refuses_names_outside_folder),
      cmocka_unit_test(test_refuses_name_of_source),
      cmocka_unit_test(test_builds_with_2000_headers),
      cmocka_unit_test(test_killed_builds_leave_no_files),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
