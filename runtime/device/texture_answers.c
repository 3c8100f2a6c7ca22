/* See texture_answers.h. */
#include "runtime/device/texture_answers.h"

#include <stdio.h>
#include <string.h>

#include "runtime/debug/debug.h"
#include "runtime/device/device.h"
#include "runtime/texture_check_version_gen.h"

#define EVERYTHING (RT_FORMAT_READS | RT_FORMAT_FILTERS | RT_FORMAT_STORES)

const struct rt_texture_answers rt_texture_all_right = {
    .part = {[0 ... RT_TEXTURE_PARTS - 1] = true},
    .format = {[0 ... RT_TEXTURE_FORMATS - 1] = EVERYTHING},
};

static const char *const part_names[RT_TEXTURE_PARTS] = {
    "rows", "samplers", "buffers", "caches", "layers", "linear filters", "typed stores"};

/* ---- the doctor's answers ---------------------------------------------------------------------
 */

const char rt_texture_check_version[] = TEXTURE_CHECK_VERSION;

#define FORMAT_NAME(order, type, ...) #order "." #type,
static const char *const format_names[] = {TEXTURE_FORMATS(FORMAT_NAME)};

/* What works for a format, by the bits RT_FORMAT_*. */
static const char *const works_names[] = {
    "none",   "reads",        "filters",        "reads filters",
    "stores", "reads stores", "filters stores", "reads filters stores"};

static int find_name(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0)
      return i;
  return -1;
}

static bool copy_text(char *to, size_t size, const char *text) {
  const size_t length = strlen(text);
  if (length >= size)
    return false;
  memcpy(to, text, length + 1);
  return true;
}

bool rt_texture_stored_set(struct rt_texture_stored *s, const char *name, const char *value) {
  static const char *const yes[] = {"no", "yes"};
  if (strcmp(name, "check") == 0)
    return *value && copy_text(s->check, sizeof(s->check), value);
  if (strcmp(name, "board") == 0) {
    s->has_board = copy_text(s->board, sizeof(s->board), value);
    return s->has_board;
  }
  const int part = find_name(part_names, RT_TEXTURE_PARTS, name);
  if (part >= 0) {
    const int works = find_name(yes, 2, value);
    if (works < 0)
      return false;
    s->answers.part[part] = works;
    s->parts |= 1u << part;
    return true;
  }
  const int format = find_name(format_names, RT_TEXTURE_FORMATS, name);
  const int works = find_name(works_names, sizeof works_names / sizeof *works_names, value);
  if (format < 0 || works < 0)
    return false;
  s->answers.format[format] = (uint8_t)works;
  s->answers.tested[format] = true;
  return true;
}

bool rt_texture_stored_is_complete(const struct rt_texture_stored *s) {
  bool formats = false;
  for (int i = 0; i < RT_TEXTURE_FORMATS; i++)
    formats |= s->answers.tested[i];
  const bool nothing = !*s->check && !s->has_board && !s->parts && !formats;
  return nothing || (*s->check && s->has_board && s->parts == (1u << RT_TEXTURE_PARTS) - 1);
}

/* Copies the board's name without the characters that the file cannot have. */
static void clean_board(const char *board, char clean[64]) {
  size_t n = 0;
  for (; n < 63 && board[n]; n++)
    clean[n] = board[n] >= ' ' && board[n] < 0x7f && !strchr("\"\\", board[n]) ? board[n] : '?';
  clean[n] = 0;
}

void rt_texture_answers_store(const struct rt_texture_answers *answers, const char *board,
                              void (*put)(void *data, const char *name, const char *value),
                              void *data) {
  char clean[64];
  clean_board(board, clean);
  put(data, "check", rt_texture_check_version);
  put(data, "board", clean);
  for (int i = 0; i < RT_TEXTURE_PARTS; i++)
    put(data, part_names[i], answers->part[i] ? "yes" : "no");
  for (int i = 0; i < RT_TEXTURE_FORMATS; i++)
    if (answers->tested[i])
      put(data, format_names[i], works_names[answers->format[i]]);
}

/* Returns whether the stored answers apply to this driver and board. Otherwise stores the reason. A
 * container may hide the board's name. */
static bool applies(const struct rt_texture_stored *s, const char *board, char why[256]) {
  char clean[64];
  clean_board(board, clean);
  if (!*s->check)
    snprintf(why, 256, "tegracl-doctor has stored none");
  else if (strcmp(s->check, rt_texture_check_version) != 0)
    snprintf(why, 256, "the stored ones are of another version of the self-check");
  else if (*clean && strcmp(s->board, clean) != 0)
    snprintf(why, 256, "the stored ones are of the board \"%s\"", s->board);
  else
    return true;
  return false;
}

void rt_texture_units_init(struct rt_texture_units *units, const struct rt_texture_stored *stored,
                           const char *board) {
  char text[256];
  base_mutex_init(&units->lock, BASE_LOCK_RT_TEXTURE_UNITS);
  units->wanted = base_images(true);
  if (units->wanted == BASE_IMAGES_SOFTWARE || units->wanted == BASE_IMAGES_HARDWARE)
    return;
  if (applies(stored, board, text)) {
    units->wanted = BASE_IMAGES_CHECKED;
    units->answers = stored->answers;
    atomic_store(&units->decided, true);
    rt_texture_answers_print(&units->answers, text, sizeof(text));
    if (rt_debug_choices())
      fprintf(stderr, "tegracl: texture units, as tegracl-doctor has found: %s%s\n",
              *text ? "software does these: " : "all right", text);
    return;
  }
  const bool automatic = units->wanted == BASE_IMAGES_AUTO;
  if (rt_debug_choices())
    fprintf(stderr, "tegracl: texture units: no answers, %s: %s\n", text,
            automatic ? "software reads all images" : "the first image tests them");
  if (automatic)
    units->wanted = BASE_IMAGES_SOFTWARE;
}

/* ---- the decision -----------------------------------------------------------------------------
 */

const struct rt_texture_answers *rt_texture_units_answers(const struct rt_texture_units *units) {
  if (units->wanted == BASE_IMAGES_HARDWARE)
    return &rt_texture_all_right;
  return atomic_load(&units->decided) ? &units->answers : NULL;
}

/* Returns whether any image may use the texture units. */
static bool has_uses(const struct rt_texture_answers *answers) {
  const bool *part = answers->part;
  return part[RT_TEXTURE_CACHES] &&
         ((part[RT_TEXTURE_ROWS] && part[RT_TEXTURE_SAMPLERS]) || part[RT_TEXTURE_BUFFERS]);
}

bool rt_texture_may_read(const struct rt_device *device) {
  const struct rt_texture_answers *answers = rt_texture_units_answers(&device->textures);
  return device->textures.wanted != BASE_IMAGES_SOFTWARE && answers && has_uses(answers);
}

bool rt_texture_needs_code(const struct rt_device *device) {
  const struct rt_texture_answers *answers = rt_texture_units_answers(&device->textures);
  return device->textures.wanted != BASE_IMAGES_SOFTWARE && (!answers || has_uses(answers));
}

const char *rt_texture_part_name(enum rt_texture_part part) {
  return part_names[part];
}

void rt_texture_answers_print(const struct rt_texture_answers *answers, char *text, size_t size) {
  static const char *const uses[] = {"reads", "linear filters", "typed stores"};
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < RT_TEXTURE_PARTS && used < size; i++)
    if (!answers->part[i])
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", part_names[i]);
  for (int bit = 0; bit < 3; bit++) {
    unsigned tested = 0, wrong = 0;
    for (int i = 0; i < RT_TEXTURE_FORMATS; i++) {
      tested += answers->tested[i];
      wrong += answers->tested[i] && !(answers->format[i] >> bit & 1);
    }
    if (wrong && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%s of %u of %u formats",
                               used ? ", " : "", uses[bit], wrong, tested);
  }
}
