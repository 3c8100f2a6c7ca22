/* TEGRACL_DEBUG. See debug.h. */
#include "base/debug.h"

#include <stdlib.h>
#include <string.h>

void base_debug_topics(void (*take)(const char *topic)) {
  const char *list = secure_getenv("TEGRACL_DEBUG");
  while (list && *list) {
    const size_t length = strcspn(list, ",");
    char *topic = length ? strndup(list, length) : NULL;
    if (topic)
      take(topic);
    free(topic);
    list += length + (list[length] == ',');
  }
}
