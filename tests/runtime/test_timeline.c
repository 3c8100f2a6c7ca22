/* Tests the timeline's file, written by several forked processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/debug/timeline.h"

enum { CHILDREN = 8, EVENTS = 60000 /* fills several chunks of the file */ };

static void put_events(int child) {
  const struct rt_timeline_detail detail = {"child", (uint64_t)child, NULL};
  for (int i = 0; i < EVENTS; i++)
    rt_timeline_span("test", "event", base_clock_ns(), &detail, 1);
}

/* All children write at once to the file that the parent has opened. No event may be lost or
 * damaged. */
static void children_share_the_file(void **state) {
  char path[] = "/tmp/tegracl-timeline-XXXXXX", line[1024];
  int counts[CHILDREN] = {0}, child;
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  rt_timeline_open(path);
  assert_true(rt_timeline_is_on);
  for (int i = 0; i < CHILDREN; i++)
    if (fork() == 0) {
      rt_timeline_forked();
      put_events(i);
      _exit(0);
    }
  for (int i = 0; i < CHILDREN; i++) {
    int status;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    const char *text = line + strspn(line, " \n"), *args = strstr(text, "\"args\":");
    if (strncmp(text, "{\"name\":\"event\"", 15) != 0)
      continue;
    assert_non_null(args);
    assert_int_equal(sscanf(args, "\"args\":{\"child\":%d}},\n", &child), 1);
    assert_in_range(child, 0, CHILDREN - 1);
    counts[child]++;
  }
  fclose(file);
  unlink(path);
  for (int i = 0; i < CHILDREN; i++)
    assert_int_equal(counts[i], EVENTS);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(children_share_the_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
