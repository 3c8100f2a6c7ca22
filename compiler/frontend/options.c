/* OpenCL build options. */
#include "compiler/frontend/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_C_VERSION = 120, DEFAULT_OPT_LEVEL = 2, REGISTERS_MAX = 255 };

static const struct {
  const char *name;
  unsigned version;
  const char *cxx;
} language_versions[] = {
    {"CL1.0", 100, NULL},       {"CL1.1", 110, NULL},          {"CL1.2", 120, NULL},
    {"CL2.0", 200, NULL},       {"CL3.0", 300, NULL},          {"CL3.1", 310, NULL},
    {"CLC++", 200, "CLC++1.0"}, {"CLC++1.0", 200, "CLC++1.0"}, {"CLC++2021", 300, "CLC++2021"},
};

/* The commands that accept an option. Objects store the options
 * that the link needs (see options_write). */
enum { BUILD = OPTIONS_BUILD, LINK = OPTIONS_LINK, LIBRARY = OPTIONS_LIBRARY };

/* Options without a value: the corresponding argument for clang, and the effects. */
static const struct {
  const char *name;
  const char *clang; /* NULL if clang does not need it */
  unsigned effects;  /* enum option_effect */
  unsigned purposes;
} flags[] = {
    {"-cl-single-precision-constant", "-cl-single-precision-constant", 0, BUILD},
    {"-cl-denorms-are-zero", NULL, OPTION_FTZ, BUILD | LINK | LIBRARY},
    {"-cl-fp32-correctly-rounded-divide-sqrt", "-cl-fp32-correctly-rounded-divide-sqrt",
     OPTION_EXACT, BUILD},
    {"-cl-opt-disable", NULL, OPTION_NO_OPT, BUILD},
    {"-cl-strict-aliasing", "-cl-strict-aliasing", 0, BUILD},
    {"-cl-uniform-work-group-size", "-cl-uniform-work-group-size", 0, BUILD},
    {"-cl-no-subgroup-ifp", NULL, 0, BUILD | LINK | LIBRARY},
    {"-cl-mad-enable", "-cl-mad-enable", OPTION_CONTRACT, BUILD},
    {"-cl-no-signed-zeros", "-cl-no-signed-zeros", 0, BUILD | LINK | LIBRARY},
    {"-cl-unsafe-math-optimizations", "-cl-unsafe-math-optimizations", OPTION_CONTRACT | OPTION_FTZ,
     BUILD | LINK | LIBRARY},
    {"-cl-finite-math-only", "-cl-finite-math-only", 0, BUILD | LINK | LIBRARY},
    {"-cl-fast-relaxed-math", "-cl-fast-relaxed-math", OPTION_CONTRACT | OPTION_FTZ | OPTION_FAST,
     BUILD | LINK | LIBRARY},
    {"-w", "-w", 0, BUILD},
    {"-Werror", "-Werror", 0, BUILD},
    {"-cl-kernel-arg-info", NULL, OPTION_ARG_INFO, BUILD},
    {"-g", NULL, 0, BUILD}, /* line tables are always kept, because they cost no code */
    {"-cl-nv-verbose", NULL, OPTION_VERBOSE, BUILD | LINK | LIBRARY},
    {"-create-library", NULL, 0, LIBRARY},
    {"-enable-link-options", NULL, OPTION_ENABLE_LINK, LIBRARY},
};

/* Takes ownership of the argument, which is NULL if memory ran out. */
static bool add_argument(struct options *options, char *argument) {
  if (options->clang_count == options->clang_capacity) {
    size_t capacity = options->clang_capacity ? options->clang_capacity * 2 : 16;
    char **clang = realloc(options->clang, capacity * sizeof *clang);
    if (!clang) {
      free(argument);
      return false;
    }
    options->clang = clang;
    options->clang_capacity = capacity;
  }
  if (argument)
    options->clang[options->clang_count++] = argument;
  return argument;
}

/* Adds an option and its value as one argument. In a separate argument clang would expand a
 * leading @ to the contents of a file, and take a leading dash for an option. */
static bool add_joined(struct options *options, const char *option, const char *value) {
  char *argument = NULL;
  return asprintf(&argument, "%s%s", option, value) >= 0 && add_argument(options, argument);
}

/* Reads the next word of *at into word, and resolves quotes and backslashes. Returns false
 * at the end of the text. Sets *bad if a quote is not closed. */
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

/* The length of the identifier that begins the text of -D or -U, or 0 if there is none. clang
 * takes what follows it, but for "=", as the beginning of the definition, as in -D name(args)=text.
 * A line break there would start a new line of the program; one after "=" just ends the macro. */
static size_t macro_name_length(const char *text) {
  size_t length = 0;
  while (isalnum((unsigned char)text[length]) || text[length] == '_')
    length++;
  const size_t end = strcspn(text, "=\n\r");
  return isdigit((unsigned char)*text) || (text[end] && text[end] != '=') ? 0 : length;
}

static bool parse_language(const char *name, struct options *options) {
  for (size_t i = 0; i < sizeof language_versions / sizeof language_versions[0]; i++)
    if (!strcmp(name, language_versions[i].name)) {
      options->c_version = language_versions[i].version;
      options->cxx = language_versions[i].cxx;
      return true;
    }
  return false;
}

enum outcome {
  OUTCOME_DONE,
  OUTCOME_UNKNOWN,
  OUTCOME_BAD_VALUE,
  OUTCOME_NO_LANGUAGE,
  OUTCOME_NOT_TO_LINK,
  OUTCOME_NO_LIBRARY,
  OUTCOME_NO_MEMORY
};

/* Parses -D, -U and -I, whose value is either attached or the next word. If a macro is
 * defined several times, the last definition counts; clang would warn. */
static enum outcome parse_preprocessor(struct options *options, char letter, const char *value) {
  const size_t name_length = letter == 'I' ? strlen(value) : macro_name_length(value);
  if (!name_length)
    return OUTCOME_BAD_VALUE;
  bool added;
  if (letter == 'I') {
    /* "-I-" would be a separate option. */
    added = add_joined(options, *value == '-' ? OPTIONS_FOLDER "./" : OPTIONS_FOLDER, value);
  } else {
    char *name = strndup(value, name_length);
    added = name && add_joined(options, "-U", name) &&
            (letter == 'U' || add_joined(options, "-D", value));
    free(name);
  }
  return added ? OUTCOME_DONE : OUTCOME_NO_MEMORY;
}

static enum outcome parse_flag(struct options *options, size_t flag, unsigned purposes) {
  if (!(flags[flag].purposes & purposes))
    return flags[flag].purposes & BUILD ? OUTCOME_NOT_TO_LINK : OUTCOME_NO_LIBRARY;
  options->effects |= flags[flag].effects;
  if (flags[flag].effects & OPTION_NO_OPT)
    options->opt_level = 0;
  if (flags[flag].clang && !add_argument(options, strdup(flags[flag].clang)))
    return OUTCOME_NO_MEMORY;
  return OUTCOME_DONE;
}

static enum outcome parse_option(struct options *options, unsigned purposes, const char *word,
                                 const char **rest, struct text *value) {
  static const char cl_std[] = "-cl-std=", nv_cstd[] = "-cl-nv-cstd=",
                    registers[] = "-cl-nv-maxrregcount", level[] = "-cl-nv-opt-level";
  bool bad = false;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (!strcmp(word, flags[i].name))
      return parse_flag(options, i, purposes);
  if (word[0] == '-' && word[1] && strchr("DUI", word[1])) {
    if (!(purposes & BUILD))
      return OUTCOME_NOT_TO_LINK;
    if (word[2])
      return parse_preprocessor(options, word[1], word + 2);
    if (!next_word(rest, value, &bad) || bad)
      return OUTCOME_BAD_VALUE;
    return parse_preprocessor(options, word[1], value->data);
  }
  const char *language = !strncmp(word, cl_std, sizeof cl_std - 1)     ? word + sizeof cl_std - 1
                         : !strncmp(word, nv_cstd, sizeof nv_cstd - 1) ? word + sizeof nv_cstd - 1
                                                                       : NULL;
  if (language && !(purposes & BUILD))
    return OUTCOME_NOT_TO_LINK;
  if (language)
    return parse_language(language, options) ? OUTCOME_DONE : OUTCOME_NO_LANGUAGE;
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

bool options_parse(const char *text, unsigned purposes, struct options *options, struct text *log) {
  static const char *const faults[] = {
      [OUTCOME_UNKNOWN] = "is not known",
      [OUTCOME_BAD_VALUE] = "has a missing or malformed value",
      [OUTCOME_NO_LANGUAGE] = "has an unknown version: use CL1.0 to CL3.1, CLC++1.0 or CLC++2021",
      [OUTCOME_NOT_TO_LINK] = "is only valid for compiling, not for linking",
      [OUTCOME_NO_LIBRARY] = "is only valid for links with -create-library",
  };
  struct text word = {0}, value = {0};
  enum outcome outcome = OUTCOME_DONE;
  bool bad = false;
  *options = (struct options){.c_version = DEFAULT_C_VERSION, .opt_level = DEFAULT_OPT_LEVEL};
  while (outcome == OUTCOME_DONE && next_word(&text, &word, &bad)) {
    outcome = bad ? OUTCOME_BAD_VALUE : parse_option(options, purposes, word.data, &text, &value);
    if (word.failed || value.failed)
      outcome = OUTCOME_NO_MEMORY;
  }
  if (outcome == OUTCOME_NO_MEMORY)
    text_puts(log, "error: out of memory\n");
  else if (outcome != OUTCOME_DONE)
    text_printf(log, "error: build option '%s' %s\n", word.data, faults[outcome]);
  text_finish(&word);
  text_finish(&value);
  return outcome == OUTCOME_DONE;
}

void options_join(struct options *all, const struct options *part) {
  all->effects = (all->effects & part->effects & OPTIONS_SHARED) |
                 ((all->effects | part->effects) & ~OPTIONS_SHARED);
  if (!all->max_registers || (part->max_registers && part->max_registers < all->max_registers))
    all->max_registers = part->max_registers;
}

void options_write(const struct options *options, struct text *words) {
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (flags[i].effects && !(flags[i].effects & ~options->effects))
      text_printf(words, "%s ", flags[i].name);
  if (options->max_registers)
    text_printf(words, "-cl-nv-maxrregcount=%u", options->max_registers);
}

void options_finish(struct options *options) {
  for (size_t i = 0; i < options->clang_count; i++)
    free(options->clang[i]);
  free(options->clang);
  *options = (struct options){0};
}
