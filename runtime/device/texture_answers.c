/* See texture_answers.h. */
#include "runtime/device/texture_answers.h"

#include <stdio.h>

#include "runtime/device/device.h"

#define EVERYTHING (RT_FORMAT_READS | RT_FORMAT_FILTERS | RT_FORMAT_STORES)

const struct rt_texture_answers rt_texture_all_right = {
    .part = {[0 ... RT_TEXTURE_PARTS - 1] = true},
    .format = {[0 ... RT_TEXTURE_FORMATS - 1] = EVERYTHING},
};

void rt_texture_units_init(struct rt_texture_units *units) {
  base_mutex_init(&units->lock, BASE_LOCK_RT_TEXTURE_UNITS);
  units->wanted = base_images(true);
}

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

static const char *const part_names[RT_TEXTURE_PARTS] = {
    "rows", "samplers", "buffers", "caches", "layers", "linear filters", "typed stores"};

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
