/* Parses TEGRACL_EMULATOR once: words separated by commas, each followed by its settings, which
 * start with a colon, such as check:watchdog=1000000:limit=5,profile:kernels.json. */
#include "emulator/options.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/boards.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/inject.h"

/* About half a minute of execution in check mode. */
#define WATCHDOG_DEFAULT (UINT64_C(1) << 28)
enum { LIMIT_DEFAULT = 50, WORD_MAX = 4096 };
/* nvgpu, os/linux/platform_ga10b_tegra.c, railgate_delay_init */
enum { RAILGATE_DEFAULT_MS = 500 };

static struct emu_options options = {.watchdog = WATCHDOG_DEFAULT,
                                     .report_limit = LIMIT_DEFAULT,
                                     .railgate_ms = RAILGATE_DEFAULT_MS,
                                     .board = &emu_boards[0]};

static bool parse_number(const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 0);
  if (errno || end == text || *end || *text == '-')
    return false;
  *value = n;
  return true;
}

static bool check_setting(const char *setting) {
  static const char watchdog[] = "watchdog=", limit[] = "limit=";
  if (strncmp(setting, watchdog, sizeof(watchdog) - 1) == 0)
    return parse_number(setting + sizeof(watchdog) - 1, &options.watchdog);
  if (strncmp(setting, limit, sizeof(limit) - 1) == 0)
    return parse_number(setting + sizeof(limit) - 1, &options.report_limit);
  options.leaks = strcmp(setting, "leaks") == 0;
  return options.leaks;
}

static bool profile_setting(const char *setting) {
  free(options.profile_file);
  options.profile_file = *setting ? strdup(setting) : NULL;
  return options.profile_file != NULL;
}

static bool board_setting(const char *setting) {
  size_t i = 0;
  while (i < emu_board_count && strcmp(setting, emu_boards[i].word) != 0)
    i++;
  if (i == emu_board_count)
    return false;
  options.board = &emu_boards[i];
  return true;
}

static bool l4t_setting(const char *setting) {
  options.r35 = strcmp(setting, "r35") == 0;
  return options.r35 || strcmp(setting, "r36") == 0;
}

static bool preempt_setting(const char *setting) {
  if (strcmp(setting, "stuck") == 0)
    return (options.preempt_stuck = true);
  return parse_number(setting, &options.preempt_ms) && options.preempt_ms <= UINT32_MAX;
}

static bool switch_setting(const char *setting) {
  options.switches = parse_number(setting, &options.switch_ms) && options.switch_ms <= UINT32_MAX;
  return options.switches;
}

static bool railgate_setting(const char *setting) {
  return parse_number(setting, &options.railgate_ms) && options.railgate_ms <= UINT32_MAX;
}

static bool memory_setting(const char *setting) {
  return parse_number(setting, &options.memory_mib) && options.memory_mib;
}

static bool adversarial_setting(const char *setting) {
  emu_adversary.seeded = parse_number(setting, &emu_adversary.seed);
  return emu_adversary.seeded;
}

/* The words, and the functions that parse their settings. */
static const struct word {
  const char *name;
  bool *on; /* NULL if the word requires a setting */
  bool (*setting)(const char *text);
} words[] = {
    {"check", &options.check, check_setting},
    {"profile", &options.profile, profile_setting},
    {"board", NULL, board_setting},
    {"l4t", NULL, l4t_setting},
    {"railgate", NULL, railgate_setting},
    {"preempt", NULL, preempt_setting},
    {"ctxsw", NULL, switch_setting},
    {"memory", NULL, memory_setting},
    {"adversarial", &emu_adversary.on, adversarial_setting},
    {"fault", NULL, emu_inject_choose},
};

/* Parses one word and its settings. Overwrites the colons. */
static bool read_word(char *text) {
  char *next = strchr(text, ':');
  if (next)
    *next++ = 0;
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    if (strcmp(text, words[i].name) != 0)
      continue;
    if (words[i].on)
      *words[i].on = true;
    else if (!next)
      return false;
    while (next) {
      char *setting = next;
      next = strchr(setting, ':');
      if (next)
        *next++ = 0;
      if (!words[i].setting(setting))
        return false;
    }
    return true;
  }
  return false;
}

static void read_list(void) {
  const char *list = secure_getenv("TEGRACL_EMULATOR");
  while (list && *list) {
    char word[WORD_MAX];
    size_t length = strcspn(list, ",");
    snprintf(word, sizeof(word), "%.*s", (int)length, list);
    if (length >= sizeof(word) || (length && !read_word(word))) {
      fprintf(
          stderr,
          "tegracl: TEGRACL_EMULATOR: \"%.*s\" is none of check[:watchdog=N][:limit=N][:leaks], "
          "profile[:FILE.json], board:agx64|agx32|nx16|nx8|nano8|nano8super|nano4, l4t:r35|r36, "
          "railgate:MS, "
          "preempt:MS[:stuck], ctxsw:MS, memory:MIB, adversarial[:SEED], fault:SEED|NAME\n",
          (int)length, list);
      options.bad = true;
      return;
    }
    list += length + (list[length] == ',');
  }
}

const struct emu_options *emu_options(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_list);
  return &options;
}

const struct emu_board *emu_board(void) {
  return emu_options()->board;
}
