/* TEGRACL_IMAGES: what reads and writes images. The driver and the offline compiler both call this,
 * so they agree whether kernels need code for the texture units. */
#ifndef TEGRACL_BASE_IMAGES_H
#define TEGRACL_BASE_IMAGES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum base_images {
  BASE_IMAGES_SOFTWARE, /* instructions */
  BASE_IMAGES_HARDWARE, /* the texture units, without self-check */
  BASE_IMAGES_CHECKED,  /* the texture units where their self-check passes */
};

/* Returns the user's choice. If complain is set, reports unknown values on stderr. */
static inline enum base_images base_images(bool complain) {
  static const char *const names[] = {"software", "hardware", "checked"};
  const char *value = secure_getenv("TEGRACL_IMAGES");
  for (int i = 0; value && i < 3; i++)
    if (strcmp(value, names[i]) == 0)
      return (enum base_images)i;
  if (complain && value && *value)
    fprintf(stderr, "tegracl: TEGRACL_IMAGES is \"%s\"; it can be software, hardware or checked\n",
            value);
  return BASE_IMAGES_SOFTWARE;
}

#endif
