/* TEGRACL_IMAGES: what reads and writes images. The driver and the offline compiler both read it.
 */
#ifndef TEGRACL_BASE_IMAGES_H
#define TEGRACL_BASE_IMAGES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum base_images {
  BASE_IMAGES_AUTO,     /* as CHECKED if tegracl-doctor has tested this board, else as SOFTWARE */
  BASE_IMAGES_SOFTWARE, /* instructions */
  BASE_IMAGES_HARDWARE, /* the texture units, without self-check */
  BASE_IMAGES_CHECKED,  /* the texture units where their self-check passes */
};

/* Returns the user's choice. If complain is set, reports unknown values on stderr. */
static inline enum base_images base_images(bool complain) {
  static const char *const names[] = {"auto", "software", "hardware", "checked"};
  const char *value = secure_getenv("TEGRACL_IMAGES");
  for (int i = 0; value && i < 4; i++)
    if (strcmp(value, names[i]) == 0)
      return (enum base_images)i;
  if (complain && value && *value)
    fprintf(stderr,
            "tegracl: TEGRACL_IMAGES is \"%s\"; it can be auto, software, checked or hardware\n",
            value);
  return BASE_IMAGES_AUTO;
}

#endif
