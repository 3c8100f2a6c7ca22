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

#define TEXTURES_HEAD                                                                              \
  "\"texture.board\": \"Jetson AGX Orin\", \"texture.rows\": \"yes\", \"texture.samplers\": "      \
  "\"yes\", "                                                                                      \
  "\"texture.buffers\": \"yes\", \"texture.caches\": \"yes\", \"texture.layers\": \"no\", "        \
  "\"texture.linear filters\": \"yes\""
#define TEXTURES                                                                                   \
  "\"texture.check\": \"0123456789abcdef\", " TEXTURES_HEAD                                        \
  ", \"texture.typed stores\": \"yes\", "                                                          \
  "\"texture.RGBA.UNORM_INT8\": \"reads filters stores\", "                                        \
  "\"texture.R.UNSIGNED_INT32\": \"reads stores\", \"texture.sRGBA.UNORM_INT8\": \"none\", "

static const char good[] = HEAD ",\n \"choice.preemption\": \"cta\", \"choice.copies\": \"yes\",\n"
                                "\"choice.priority\":\"no\", \"step.host\": \"pass\", " TEXTURES
                                "\"measured.launch_ns\": 18446744073709551615, \"x\": true}\n";

static unsigned rounds = 20000, seed = 1;

static bool parse(const char *text, struct rt_board_results *results, char why[256]) {
  return rt_board_parse(text, strlen(text), &here, results, why);
}

static void valid_results_are_used(void **state) {
  (void)state;
  struct rt_board_results c = {0};
  char why[256] = "";
  rt_choices_set(&c.choices, "contexts", "no");
  assert_true(parse(good, &c, why));
  assert_string_equal(rt_choice_value(&c.choices, RT_CHOICE_PREEMPTION), "cta");
  assert_string_equal(rt_choice_value(&c.choices, RT_CHOICE_COPY_METHODS), "yes");
  assert_string_equal(rt_choice_value(&c.choices, RT_CHOICE_HIGH_PRIORITY), "no");
  /* Choices that the file does not contain are unchanged. */
  assert_string_equal(rt_choice_value(&c.choices, RT_CHOICE_CONTEXTS), "no");
  assert_string_equal(rt_choice_value(&c.choices, RT_CHOICE_TSG_REUSE), "unknown");
}

/* ---- texture units ------------------------------------------------------------------------- */

/* Copies what a driver stores, and appends it to the text. */
static void put(void *data, const char *name, const char *value) {
  char *text = data;
  const size_t used = strlen(text);
  snprintf(text + used, RT_BOARD_BYTES_MAX - used, ", \"texture.%s\": \"%s\"", name, value);
}

static int find_format(const struct rt_texture_stored *stored, int first) {
  while (first < RT_TEXTURE_FORMATS && !stored->answers.tested[first])
    first++;
  return first;
}

static void answers_about_textures_are_used(void **state) {
  (void)state;
  struct rt_board_results c = {0};
  char why[256] = "";
  assert_true(parse(good, &c, why));
  assert_string_equal(c.textures.check, "0123456789abcdef");
  assert_string_equal(c.textures.board, "Jetson AGX Orin");
  for (int i = 0; i < RT_TEXTURE_PARTS; i++)
    assert_int_equal(c.textures.answers.part[i], i != RT_TEXTURE_LAYERS);
  unsigned tested = 0, works = 0;
  for (int i = find_format(&c.textures, 0); i < RT_TEXTURE_FORMATS;
       i = find_format(&c.textures, i + 1)) {
    tested++;
    works += c.textures.answers.format[i];
  }
  assert_int_equal(tested, 3);
  assert_int_equal(works, (RT_FORMAT_READS | RT_FORMAT_FILTERS | RT_FORMAT_STORES) +
                              (RT_FORMAT_READS | RT_FORMAT_STORES));
}

static void written_answers_are_read(void **state) {
  (void)state;
  static char text[RT_BOARD_BYTES_MAX] = HEAD;
  struct rt_texture_answers answers = rt_texture_all_right;
  struct rt_board_results c = {0};
  char why[256] = "";
  for (int i = 0; i < RT_TEXTURE_FORMATS; i++) {
    answers.format[i] = (uint8_t)(i % 8);
    answers.tested[i] = true;
  }
  answers.part[RT_TEXTURE_STORES] = false;
  rt_texture_answers_store(&answers, "a \"board\"\n", put, text);
  strcat(text, "}");
  if (!parse(text, &c, why))
    fail_msg("%s", why);
  assert_memory_equal(&c.textures.answers, &answers, sizeof(answers));
  assert_string_equal(c.textures.check, rt_texture_check_version);
  assert_string_equal(c.textures.board, "a ?board??");
}

static const struct rt_texture_answers *answers_for(const char *images, const char *check,
                                                    const char *tested, const char *board,
                                                    enum base_images *wanted) {
  static struct rt_texture_units units;
  struct rt_texture_stored stored = {.answers = rt_texture_all_right};
  snprintf(stored.check, sizeof(stored.check), "%s", check);
  snprintf(stored.board, sizeof(stored.board), "%s", tested);
  if (images)
    setenv("TEGRACL_IMAGES", images, 1);
  else
    unsetenv("TEGRACL_IMAGES");
  memset(&units, 0, sizeof(units));
  rt_texture_units_init(&units, &stored, board);
  *wanted = units.wanted;
  unsetenv("TEGRACL_IMAGES");
  return rt_texture_units_answers(&units);
}

static void answers_are_of_this_board_and_check(void **state) {
  (void)state;
  static const char other[] = "fedcba9876543210", *const now = rt_texture_check_version;
  static const struct {
    const char *images, *check, *tested, *board;
    bool used;
    enum base_images wanted;
  } cases[] = {
      {NULL, now, "AGX", "AGX", true, BASE_IMAGES_CHECKED},
      {"auto", now, "AGX", "AGX", true, BASE_IMAGES_CHECKED},
      {"checked", now, "AGX", "AGX", true, BASE_IMAGES_CHECKED},
      {NULL, now, "A?X", "A\"X", true, BASE_IMAGES_CHECKED},
      {NULL, now, "AGX", "", true, BASE_IMAGES_CHECKED}, /* a container hides the name */
      {NULL, now, "AGX", "Nano", false, BASE_IMAGES_SOFTWARE},
      {NULL, now, "", "Nano", false, BASE_IMAGES_SOFTWARE},
      {NULL, other, "AGX", "AGX", false, BASE_IMAGES_SOFTWARE},
      {NULL, "", "AGX", "AGX", false, BASE_IMAGES_SOFTWARE},
      {"checked", now, "AGX", "Nano", false, BASE_IMAGES_CHECKED},
      {"checked", other, "AGX", "AGX", false, BASE_IMAGES_CHECKED},
      {"checked", "", "", "", false, BASE_IMAGES_CHECKED},
      {"software", now, "AGX", "AGX", false, BASE_IMAGES_SOFTWARE},
      {"hardware", other, "AGX", "AGX", true, BASE_IMAGES_HARDWARE},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    enum base_images wanted;
    const struct rt_texture_answers *answers =
        answers_for(cases[i].images, cases[i].check, cases[i].tested, cases[i].board, &wanted);
    if (!!answers != cases[i].used || wanted != cases[i].wanted)
      fail_msg("case %zu: %s answers, choice %d", i, answers ? "has" : "no", wanted);
  }
}

/* ---- invalid files ------------------------------------------------------------------------- */

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
      {HEAD ", \"texture.speed\": \"yes\"}", "\"texture.speed\" cannot be \"yes\""},
      {HEAD ", \"texture.rows\": \"perhaps\"}", "\"texture.rows\" cannot be \"perhaps\""},
      {HEAD ", \"texture.rows\": true}", "\"texture.rows\" cannot be \"true\""},
      {HEAD ", \"texture.check\": \"\"}", "\"texture.check\" cannot be \"\""},
      {HEAD ", \"texture.check\": \"0123456789abcdef01234567\"}", "\"texture.check\" cannot be"},
      {HEAD
       ", \"texture.board\": \"0123456789012345678901234567890123456789012345678901234567890123\"}",
       "\"texture.board\" cannot be"},
      {HEAD ", \"texture.RGBA.UNORM_INT8\": \"stores reads\"}",
       "\"texture.RGBA.UNORM_INT8\" cannot be"},
      {HEAD ", \"texture.RGBA.UNORM_INT9\": \"reads\"}", "\"texture.RGBA.UNORM_INT9\" cannot be"},
      {HEAD ", " TEXTURES_HEAD ", \"texture.typed stores\": \"yes\"}",
       "an answer about textures is missing"},
      {HEAD ", \"texture.check\": \"1\", " TEXTURES_HEAD "}",
       "an answer about textures is missing"},
      {HEAD ", \"texture.RGBA.UNORM_INT8\": \"reads\"}", "an answer about textures is missing"},
      {HEAD ", \"texture.check\": \"1\"}", "an answer about textures is missing"},
      {"{ \"format\": 2 }", "written for format \"2\", but this is \"1\""},
      {"{ \"format\": 1, \"driver\": \"1.1\" }", "written for driver version \"1.1\", but this is"},
      {"{ \"l4t\": \"36.4.4\" }", "written for L4T \"36.4.4\", but this is \"36.4.3\""},
      {"{ \"l4t\": \"\" }",
       "the L4T release is unknown, as in a container, but this is \"36.4.3\""},
      {"{ \"kernel\": \"6\" }", "written for kernel \"6\", but this is \"5.15.148-tegra\""},
      {"{ \"format\": 1, \"driver\": \"1.2\", \"l4t\": \"36.4.3\" }", "is missing"},
      {"{ \"format\": 1, \"driver\": \"1.2\", \"kernel\": \"5.15.148-tegra\" }", "is missing"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct rt_board_results c = {0};
    char why[256] = "";
    assert_false(parse(cases[i].text, &c, why));
    if (!strstr(why, cases[i].why))
      fail_msg("%s: \"%s\" is not in \"%s\"", cases[i].text, cases[i].why, why);
    for (int k = 0; k < RT_CHOICES; k++)
      assert_int_equal(c.choices.value[k], 0);
    assert_int_equal(*c.textures.check, 0);
  }
}

/* In a container L4T is unknown, but the kernel release is known. */
static void unknown_l4t_is_accepted(void **state) {
  (void)state;
  struct rt_board_identity container = here;
  struct rt_board_results c = {0};
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
    struct rt_board_results c = {0};
    char why[256] = "";
    memcpy(text, good, bytes);
    for (int n = rand() % 4; n > 0 && bytes; n--)
      text[(size_t)rand() % bytes] = n % 2 ? (char)rand() : "{}\",: \\\n"[rand() % 8];
    if (!rt_board_parse(text, bytes, &here, &c, why)) {
      assert_true(*why);
      for (int k = 0; k < RT_CHOICES; k++)
        assert_int_equal(c.choices.value[k], 0);
      assert_int_equal(*c.textures.check | (int)c.textures.parts, 0);
    }
    /* Answers are complete, or there are none. */
    assert_true(rt_texture_stored_is_complete(&c.textures));
    for (int k = 0; k < RT_CHOICES; k++)
      assert_non_null(rt_choice_value(&c.choices, k));
    free(text);
  }
}

/* ---- files -------------------------------------------------------------------------------- */

static char path[] = "/tmp/tegracl-board-XXXXXX";

static int read_file(uid_t owner, const char *words) {
  struct rt_board_results c = {0};
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
      cmocka_unit_test(valid_results_are_used),
      cmocka_unit_test(invalid_files_are_rejected),
      cmocka_unit_test(answers_about_textures_are_used),
      cmocka_unit_test(written_answers_are_read),
      cmocka_unit_test(answers_are_of_this_board_and_check),
      cmocka_unit_test(unknown_l4t_is_accepted),
      cmocka_unit_test(damaged_text_is_rejected),
      cmocka_unit_test(owner_and_mode_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
