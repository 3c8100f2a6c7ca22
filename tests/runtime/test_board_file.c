/* Tests the file with tegracl-doctor's results: the driver must use it only if it is completely
 * valid.
 *
 * test_board_file [ROUNDS [SEED]]   also reads ROUNDS damaged files, none of which may do harm */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/device/board_file.h"

static const struct rt_board_identity here = {
    .driver = "1.2", .l4t = "36.4.3", .kernel = "5.15.148-tegra"};

#define HEAD                                                                                       \
  "{ \"format\": 1, \"driver\": \"1.2\", \"l4t\": \"36.4.3\", \"kernel\": \"5.15.148-tegra\""

static const char good[] = HEAD ",\n \"choice.preemption\": \"cta\", \"choice.copies\": \"yes\",\n"
                                "\"choice.priority\":\"no\", \"step.host\": \"pass\", "
                                "\"measured.launch_ns\": 18446744073709551615, \"x\": true}\n";

static unsigned rounds = 20000, seed = 1;

static bool parse(const char *text, struct rt_choices *choices, char why[256]) {
  return rt_board_parse(text, strlen(text), &here, choices, why);
}

static void valid_results_are_used(void **state) {
  (void)state;
  struct rt_choices c = {0};
  char why[256] = "";
  rt_choices_set(&c, "contexts", "no");
  assert_true(parse(good, &c, why));
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_PREEMPTION), "cta");
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_COPY_METHODS), "yes");
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_HIGH_PRIORITY), "no");
  /* Choices that the file does not contain are unchanged. */
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_CONTEXTS), "no");
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_TSG_REUSE), "unknown");
}

static void invalid_files_are_rejected(void **state) {
  (void)state;
  static const struct {
    const char *text, *why;
  } cases[] = {
      {"", "not a flat JSON object"},
      {"{}", "not a flat JSON object"},
      {"[]", "not a flat JSON object"},
      {HEAD ", \"choice.copies\": \"yes\"", "not a flat JSON object"},
      {HEAD ", \"choice.copies\": \"yes\"}}", "not a flat JSON object"},
      {HEAD ", \"choice.copies\": \"yes\",}", "not a flat JSON object"},
      {HEAD ", \"choice.copies\": {\"a\": 1}}", "not a flat JSON object"},
      {HEAD ", \"choice.copies\": yes}", "not a flat JSON object"},
      {HEAD ", \"x\": -1}", "not a flat JSON object"},
      {HEAD ", \"x\": 1e3}", "not a flat JSON object"},
      {HEAD ", \"x\": \"a\\u0041\"}", "not a flat JSON object"},
      {HEAD ", \"x\": \"\n\"}", "not a flat JSON object"},
      {HEAD ", \"choice.copies\": \"perhaps\"}", "\"choice.copies\" cannot be \"perhaps\""},
      {HEAD ", \"choice.copies\": true}", "\"choice.copies\" cannot be \"true\""},
      {HEAD ", \"choice.speed\": \"yes\"}", "\"choice.speed\" cannot be \"yes\""},
      {HEAD ", \"choice.copies\": \"yes\", \"choice.preemption\": \"yes\"}",
       "\"choice.preemption\" cannot be \"yes\""},
      {"{ \"format\": 2 }", "written for format \"2\", but this is \"1\""},
      {"{ \"format\": 1, \"driver\": \"1.1\" }", "written for driver version \"1.1\", but this is"},
      {"{ \"l4t\": \"36.4.4\" }", "written for L4T \"36.4.4\", but this is \"36.4.3\""},
      {"{ \"kernel\": \"6\" }", "written for kernel \"6\", but this is \"5.15.148-tegra\""},
      {"{ \"format\": 1, \"driver\": \"1.2\", \"l4t\": \"36.4.3\" }", "is missing"},
      {"{ \"format\": 1, \"driver\": \"1.2\", \"kernel\": \"5.15.148-tegra\" }", "is missing"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct rt_choices c = {0};
    char why[256] = "";
    assert_false(parse(cases[i].text, &c, why));
    if (!strstr(why, cases[i].why))
      fail_msg("%s: \"%s\" is not in \"%s\"", cases[i].text, cases[i].why, why);
    for (int k = 0; k < RT_CHOICES; k++)
      assert_int_equal(c.value[k], 0);
  }
}

/* In a container L4T is unknown, but the kernel release is known. */
static void unknown_l4t_is_accepted(void **state) {
  (void)state;
  struct rt_board_identity container = here;
  struct rt_choices c = {0};
  char why[256] = "";
  container.l4t[0] = 0;
  assert_true(rt_board_parse(good, strlen(good), &container, &c, why));
}

static void damaged_text_is_rejected(void **state) {
  (void)state;
  srand(seed);
  for (unsigned i = 0; i < rounds; i++) {
    const size_t bytes = sizeof(good) - 1 - (i % 4 ? 0 : (size_t)rand() % (sizeof(good) - 1));
    /* The copy has exactly the length of the text, so that a sanitizer detects reads past its
     * end. */
    char *text = malloc(bytes ? bytes : 1);
    struct rt_choices c = {0};
    char why[256] = "";
    memcpy(text, good, bytes);
    for (int n = rand() % 4; n > 0 && bytes; n--)
      text[(size_t)rand() % bytes] = n % 2 ? (char)rand() : "{}\",: \\\n"[rand() % 8];
    if (!rt_board_parse(text, bytes, &here, &c, why)) {
      assert_true(*why);
      for (int k = 0; k < RT_CHOICES; k++)
        assert_int_equal(c.value[k], 0);
    }
    for (int k = 0; k < RT_CHOICES; k++)
      assert_non_null(rt_choice_value(&c, k));
    free(text);
  }
}

/* ---- files -------------------------------------------------------------------------------- */

static char path[] = "/tmp/tegracl-board-XXXXXX";

static int read_file(uid_t owner, const char *words) {
  struct rt_choices c = {0};
  char why[256] = "";
  const int result = rt_board_read(path, owner, owner, &here, &c, why);
  if (words && !strstr(why, words))
    fail_msg("\"%s\" is not in \"%s\"", words, why);
  return result;
}

static void owner_and_mode_are_checked(void **state) {
  (void)state;
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, good, strlen(good)), (int)strlen(good));
  const uid_t me = geteuid();
  fchmod(fd, 0644);
  assert_int_equal(read_file(me, NULL), 0);
  assert_int_equal(read_file(me + 1, "it belongs to user"), 1);
  fchmod(fd, 0664);
  assert_int_equal(read_file(me, "it is writable by others (mode 0664)"), 1);
  fchmod(fd, 0602);
  assert_int_equal(read_file(me, "it is writable by others (mode 0602)"), 1);
  fchmod(fd, 0644);
  assert_int_equal(ftruncate(fd, RT_BOARD_BYTES_MAX + 1), 0);
  assert_int_equal(read_file(me, "it is too large: 65537 bytes"), 1);
  assert_int_equal(ftruncate(fd, 0), 0);
  assert_int_equal(read_file(me, "not a flat JSON object"), 1);
  close(fd);
  unlink(path);
  assert_int_equal(read_file(me, NULL), -1);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(read_file(me, "not a regular file"), 1);
  unlink(path);
}

int main(int argc, char **argv) {
  rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : rounds;
  seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : seed;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(valid_results_are_used),     cmocka_unit_test(invalid_files_are_rejected),
      cmocka_unit_test(unknown_l4t_is_accepted),    cmocka_unit_test(damaged_text_is_rejected),
      cmocka_unit_test(owner_and_mode_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
