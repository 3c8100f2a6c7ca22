/* Splits TEGRACL_DEBUG into topics. */
#include "base/debug.h"

#include <stdlib.h>
#include <string.h>

void base_debug_topics(void (*use_topic)(const char *topic)) {
  const char *list = secure_getenv("TEGRACL_DEBUG");
  while (list && *list) {
    const size_t length = strcspn(list, ",");
    char *topic = length ? strndup(list, length) : NULL;
    if (topic)
      use_topic(topic);
    free(topic);
    list += length + (list[length] == ',');
  }
}
