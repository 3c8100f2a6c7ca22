/* The file of tegracl-doctor's findings: the driver uses it only if all of it is right.
 *
 * test_board_file [ROUNDS [SEED]]: so many damaged files, none of which may do harm.
 */
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

static void findings_of_this_board(void **state) {
  (void)state;
  struct rt_choices c = {0};
  char why[256] = "";
  rt_choices_set(&c, "contexts", "no");
  assert_true(parse(good, &c, why));
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_PREEMPTION), "cta");
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_COPY_METHODS), "yes");
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_HIGH_PRIORITY), "no");
  /* Choices that it does not name stay. */
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_CONTEXTS), "no");
  assert_string_equal(rt_choice_value(&c, RT_CHOICE_TSG_REUSE), "unknown");
}

static void refused_files(void **state) {
  (void)state;
  static const struct {
    const char *text, *why;
  } cases[] = {
      {"", "no flat JSON object"},
      {"{}", "no flat JSON object"},
      {"[]", "no flat JSON object"},
      {HEAD ", \"choice.copies\": \"yes\"", "no flat JSON object"},
      {HEAD ", \"choice.copies\": \"yes\"}}", "no flat JSON object"},
      {HEAD ", \"choice.copies\": \"yes\",}", "no flat JSON object"},
      {HEAD ", \"choice.copies\": {\"a\": 1}}", "no flat JSON object"},
      {HEAD ", \"choice.copies\": yes}", "no flat JSON object"},
      {HEAD ", \"x\": -1}", "no flat JSON object"},
      {HEAD ", \"x\": 1e3}", "no flat JSON object"},
      {HEAD ", \"x\": \"a\\u0041\"}", "no flat JSON object"},
      {HEAD ", \"x\": \"\n\"}", "no flat JSON object"},
      {HEAD ", \"choice.copies\": \"perhaps\"}", "\"choice.copies\" cannot be \"perhaps\""},
      {HEAD ", \"choice.copies\": true}", "\"choice.copies\" cannot be \"true\""},
      {HEAD ", \"choice.speed\": \"yes\"}", "\"choice.speed\" cannot be \"yes\""},
      {HEAD ", \"choice.copies\": \"yes\", \"choice.preemption\": \"yes\"}",
       "\"choice.preemption\" cannot be \"yes\""},
      {"{ \"format\": 2 }", "made with format \"2\", and this is \"1\""},
      {"{ \"format\": 1, \"driver\": \"1.1\" }", "made with driver version \"1.1\", and this is"},
      {"{ \"l4t\": \"36.4.4\" }", "made with L4T \"36.4.4\", and this is \"36.4.3\""},
      {"{ \"kernel\": \"6\" }", "made with kernel \"6\", and this is \"5.15.148-tegra\""},
      {"{ \"format\": 1, \"driver\": \"1.2\", \"l4t\": \"36.4.3\" }", "it lacks"},
      {"{ \"format\": 1, \"driver\": \"1.2\", \"kernel\": \"5.15.148-tegra\" }", "it lacks"},
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

/* A container does not know its L4T, and has the kernel's release. */
static void unknown_l4t(void **state) {
  (void)state;
  struct rt_board_identity container = here;
  struct rt_choices c = {0};
  char why[256] = "";
  container.l4t[0] = 0;
  assert_true(rt_board_parse(good, strlen(good), &container, &c, why));
}

static void damaged_text(void **state) {
  (void)state;
  srand(seed);
  for (unsigned i = 0; i < rounds; i++) {
    const size_t bytes = sizeof(good) - 1 - (i % 4 ? 0 : (size_t)rand() % (sizeof(good) - 1));
    /* Exactly as long as it is, so that a sanitizer sees reads past its end. */
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

static void owners_and_modes(void **state) {
  (void)state;
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, good, strlen(good)), (int)strlen(good));
  const uid_t me = geteuid();
  fchmod(fd, 0644);
  assert_int_equal(read_file(me, NULL), 0);
  assert_int_equal(read_file(me + 1, "it belongs to user"), 1);
  fchmod(fd, 0664);
  assert_int_equal(read_file(me, "others can write it (mode 0664)"), 1);
  fchmod(fd, 0602);
  assert_int_equal(read_file(me, "others can write it (mode 0602)"), 1);
  fchmod(fd, 0644);
  assert_int_equal(ftruncate(fd, RT_BOARD_BYTES_MAX + 1), 0);
  assert_int_equal(read_file(me, "it has 65537 bytes"), 1);
  assert_int_equal(ftruncate(fd, 0), 0);
  assert_int_equal(read_file(me, "no flat JSON object"), 1);
  close(fd);
  unlink(path);
  assert_int_equal(read_file(me, NULL), -1);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(read_file(me, "it is no file"), 1);
  unlink(path);
}

int main(int argc, char **argv) {
  rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : rounds;
  seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : seed;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(findings_of_this_board),
      cmocka_unit_test(refused_files),
      cmocka_unit_test(unknown_l4t),
      cmocka_unit_test(damaged_text),
      cmocka_unit_test(owners_and_modes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
