/* OpenCL build options. */
#include "compiler/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_C_VERSION = 120, DEFAULT_OPT_LEVEL = 2, REGISTERS_MAX = 255 };

static const struct {
  const char *name;
  unsigned version;
} language_versions[] = {
    {"CL1.0", 100}, {"CL1.1", 110}, {"CL1.2", 120}, {"CL2.0", 200}, {"CL3.0", 300},
};

/* Options without a value: what clang gets, and what else they set. */
enum effect {
  EFFECT_NONE = 0,
  EFFECT_CONTRACT = 1,
  EFFECT_FTZ = 2,
  EFFECT_EXACT = 4,
  EFFECT_FAST = 8,
  EFFECT_NO_OPT = 16,
  EFFECT_ARG_INFO = 32,
  EFFECT_VERBOSE = 64,
};

static const struct {
  const char *name;
  const char *clang; /* NULL: not for clang */
  unsigned effects;
} flags[] = {
    {"-cl-single-precision-constant", "-cl-single-precision-constant", 0},
    {"-cl-denorms-are-zero", NULL, EFFECT_FTZ},
    {"-cl-fp32-correctly-rounded-divide-sqrt", "-cl-fp32-correctly-rounded-divide-sqrt",
     EFFECT_EXACT},
    {"-cl-opt-disable", NULL, EFFECT_NO_OPT},
    {"-cl-strict-aliasing", "-cl-strict-aliasing", 0},
    {"-cl-uniform-work-group-size", "-cl-uniform-work-group-size", 0},
    {"-cl-no-subgroup-ifp", NULL, 0},
    {"-cl-mad-enable", "-cl-mad-enable", EFFECT_CONTRACT},
    {"-cl-no-signed-zeros", "-cl-no-signed-zeros", 0},
    {"-cl-unsafe-math-optimizations", "-cl-unsafe-math-optimizations",
     EFFECT_CONTRACT | EFFECT_FTZ},
    {"-cl-finite-math-only", "-cl-finite-math-only", 0},
    {"-cl-fast-relaxed-math", "-cl-fast-relaxed-math", EFFECT_CONTRACT | EFFECT_FTZ | EFFECT_FAST},
    {"-w", "-w", 0},
    {"-Werror", "-Werror", 0},
    {"-cl-kernel-arg-info", NULL, EFFECT_ARG_INFO},
    {"-g", NULL, 0}, /* lines are always kept: they cost 1 % of the time, no code */
    {"-cl-nv-verbose", NULL, EFFECT_VERBOSE},
};

static bool add_argument(struct options *options, const char *argument) {
  if (options->clang_count == options->clang_capacity) {
    size_t capacity = options->clang_capacity ? options->clang_capacity * 2 : 16;
    char **clang = realloc(options->clang, capacity * sizeof *clang);
    if (!clang)
      return false;
    options->clang = clang;
    options->clang_capacity = capacity;
  }
  char *copy = strdup(argument);
  if (!copy)
    return false;
  options->clang[options->clang_count++] = copy;
  return true;
}

/* The next word of *at into word, quotes and backslashes resolved. False at the
 * end of the text; *bad is set for an unclosed quote. */
static bool next_word(const char **at, struct text *word, bool *bad) {
  const char *p = *at;
  while (isspace((unsigned char)*p))
    p++;
  word->size = 0;
  if (!*p)
    return false;
  text_add(word, "", 0);
  for (char quote = 0; *p && (quote || !isspace((unsigned char)*p)); p++) {
    if (quote ? *p == quote : *p == '"' || *p == '\'')
      quote = quote ? 0 : *p;
    else if (*p == '\\' && (p[1] == '"' || p[1] == '\\' || p[1] == '\'' || p[1] == ' '))
      text_add(word, ++p, 1);
    else
      text_add(word, p, 1);
    if (quote && !p[1])
      *bad = true;
  }
  *at = p;
  return true;
}

static bool parse_number(const char *text, unsigned long least, unsigned long most,
                         unsigned *value) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || number < least || number > most)
    return false;
  *value = (unsigned)number;
  return true;
}

static void apply(struct options *options, unsigned effects) {
  options->contract |= (effects & EFFECT_CONTRACT) != 0;
  options->flush_denormals |= (effects & EFFECT_FTZ) != 0;
  options->exact_division |= (effects & EFFECT_EXACT) != 0;
  options->fast_math |= (effects & EFFECT_FAST) != 0;
  options->arg_info |= (effects & EFFECT_ARG_INFO) != 0;
  options->verbose |= (effects & EFFECT_VERBOSE) != 0;
  if (effects & EFFECT_NO_OPT)
    options->opt_level = 0;
}

static bool is_macro_name(const char *name) {
  if (!isalpha((unsigned char)*name) && *name != '_')
    return false;
  while (isalnum((unsigned char)*name) || *name == '_')
    name++;
  /* -D name(args)=text is what clang takes, too. */
  return *name == 0 || *name == '=' || *name == '(';
}

static bool parse_language(const char *name, struct options *options) {
  for (size_t i = 0; i < sizeof language_versions / sizeof language_versions[0]; i++)
    if (!strcmp(name, language_versions[i].name)) {
      options->c_version = language_versions[i].version;
      return true;
    }
  return false;
}

enum outcome { OUTCOME_DONE, OUTCOME_UNKNOWN, OUTCOME_BAD_VALUE, OUTCOME_NO_MEMORY };

/* -D, -U and -I, whose value is glued on or is the next word. Of several definitions
 * the last one counts; clang would warn. */
static enum outcome parse_preprocessor(struct options *options, char letter, const char *value) {
  if (!*value || (letter != 'I' && !is_macro_name(value)))
    return OUTCOME_BAD_VALUE;
  if (letter == 'D') {
    char *name = strndup(value, strcspn(value, "=("));
    bool added = name && add_argument(options, "-U") && add_argument(options, name);
    free(name);
    if (!added)
      return OUTCOME_NO_MEMORY;
  }
  char name[3] = {'-', letter, 0};
  return add_argument(options, name) && add_argument(options, value) ? OUTCOME_DONE
                                                                     : OUTCOME_NO_MEMORY;
}

static enum outcome parse_option(struct options *options, const char *word, const char **rest,
                                 struct text *value) {
  static const char cl_std[] = "-cl-std=", nv_cstd[] = "-cl-nv-cstd=",
                    registers[] = "-cl-nv-maxrregcount", level[] = "-cl-nv-opt-level";
  bool bad = false;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (!strcmp(word, flags[i].name)) {
      apply(options, flags[i].effects);
      if (flags[i].clang && !add_argument(options, flags[i].clang))
        return OUTCOME_NO_MEMORY;
      return OUTCOME_DONE;
    }
  if (word[0] == '-' && word[1] && strchr("DUI", word[1])) {
    if (word[2])
      return parse_preprocessor(options, word[1], word + 2);
    if (!next_word(rest, value, &bad) || bad)
      return OUTCOME_BAD_VALUE;
    return parse_preprocessor(options, word[1], value->data);
  }
  if (!strncmp(word, cl_std, sizeof cl_std - 1))
    return parse_language(word + sizeof cl_std - 1, options) ? OUTCOME_DONE : OUTCOME_BAD_VALUE;
  if (!strncmp(word, nv_cstd, sizeof nv_cstd - 1))
    return parse_language(word + sizeof nv_cstd - 1, options) ? OUTCOME_DONE : OUTCOME_BAD_VALUE;
  const struct {
    const char *name;
    size_t size;
    unsigned least, most, *target;
  } numbers[] = {
      {registers, sizeof registers - 1, 1, REGISTERS_MAX, &options->max_registers},
      {level, sizeof level - 1, 0, 3, &options->opt_level},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (strncmp(word, numbers[i].name, numbers[i].size))
      continue;
    const char *number = word + numbers[i].size;
    if (*number == '=')
      number++;
    else if (*number)
      return OUTCOME_UNKNOWN;
    else if (!next_word(rest, value, &bad) || bad)
      return OUTCOME_BAD_VALUE;
    else
      number = value->data;
    return parse_number(number, numbers[i].least, numbers[i].most, numbers[i].target)
               ? OUTCOME_DONE
               : OUTCOME_BAD_VALUE;
  }
  return OUTCOME_UNKNOWN;
}

bool options_parse(const char *text, struct options *options, struct text *log) {
  struct text word = {0}, value = {0};
  enum outcome outcome = OUTCOME_DONE;
  bool bad = false;
  *options = (struct options){.c_version = DEFAULT_C_VERSION, .opt_level = DEFAULT_OPT_LEVEL};
  while (outcome == OUTCOME_DONE && next_word(&text, &word, &bad)) {
    outcome = bad ? OUTCOME_BAD_VALUE : parse_option(options, word.data, &text, &value);
    if (word.failed || value.failed)
      outcome = OUTCOME_NO_MEMORY;
  }
  if (outcome == OUTCOME_UNKNOWN)
    text_printf(log, "error: unknown build option '%s'\n", word.data);
  else if (outcome == OUTCOME_BAD_VALUE)
    text_printf(log, "error: build option '%s' has a missing or malformed value\n", word.data);
  else if (outcome == OUTCOME_NO_MEMORY)
    text_puts(log, "error: out of memory\n");
  text_finish(&word);
  text_finish(&value);
  return outcome == OUTCOME_DONE;
}

void options_finish(struct options *options) {
  for (size_t i = 0; i < options->clang_count; i++)
    free(options->clang[i]);
  free(options->clang);
  *options = (struct options){0};
}
