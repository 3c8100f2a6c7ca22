/* Tests the number of cores that a process may use. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/cores.h"

static char root[] = "/tmp/tegracl-cores-XXXXXX";

/* Writes a file below root and creates its folders. */
static void write_file(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof(path), "%s/%s", root, name);
  for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int make_root(void **state) {
  (void)state;
  strcpy(root + strlen(root) - 6, "XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof(command), "rm -r %s", root);
  return system(command);
}

static void no_quota_means_no_limit(void **state) {
  (void)state;
  assert_int_equal(base_cores_of_quota(root), 0);
  write_file("proc/self/cgroup", "0::/user.slice\n");
  assert_int_equal(base_cores_of_quota(root), 0);
  write_file("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  assert_int_equal(base_cores_of_quota(root), 0);
}

/* The smallest quota of a cgroup and its parents counts, rounded up. */
static void smallest_v2_quota_counts(void **state) {
  (void)state;
  write_file("proc/self/cgroup", "0::/a/b/c\n");
  write_file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  write_file("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  write_file("sys/fs/cgroup/a/cpu.max", "400000 100000\n");
  assert_int_equal(base_cores_of_quota(root), 2);
  write_file("sys/fs/cgroup/a/b/c/cpu.max", "20000 100000\n");
  assert_int_equal(base_cores_of_quota(root), 1);
  /* In a container only the folder of the cgroup itself is visible. */
  write_file("proc/self/cgroup", "0::/\n");
  write_file("sys/fs/cgroup/cpu.max", "300000 100000\n");
  assert_int_equal(base_cores_of_quota(root), 3);
}

static void reads_v1_quota(void **state) {
  (void)state;
  write_file("proc/self/cgroup", "12:cpuset:/x\n5:cpu,cpuacct:/docker/1\n1:name=systemd:/\n0::/\n");
  write_file("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  write_file("sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n");
  assert_int_equal(base_cores_of_quota(root), 0);
  write_file("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "400000\n");
  assert_int_equal(base_cores_of_quota(root), 4);
  /* A quota without a period, and invalid lines. */
  write_file("proc/self/cgroup", "5\n:\ncpu\n5:cpu:/docker/2\n");
  write_file("sys/fs/cgroup/cpu/docker/2/cpu.cfs_quota_us", "400000\n");
  assert_int_equal(base_cores_of_quota(root), 0);
}

static void affinity_limits_cores(void **state) {
  (void)state;
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  assert_in_range(base_cores(), 1, CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
    if (CPU_ISSET(i, &before))
      CPU_SET(i, &one);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
  assert_int_equal(base_cores(), 1);
  assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(no_quota_means_no_limit, make_root, remove_root),
      cmocka_unit_test_setup_teardown(smallest_v2_quota_counts, make_root, remove_root),
      cmocka_unit_test_setup_teardown(reads_v1_quota, make_root, remove_root),
      cmocka_unit_test(affinity_limits_cores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
