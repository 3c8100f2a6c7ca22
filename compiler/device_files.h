/* The files of compiler/device/, embedded in tegraclc by embed.py. */
#ifndef TEGRACL_DEVICE_FILES_H
#define TEGRACL_DEVICE_FILES_H

struct device_file {
  const char *name; /* without folder, as in #include */
  const char *text;
};

extern const struct device_file device_files[];
extern const unsigned device_file_count;

#endif
