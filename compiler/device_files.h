/* The contents of compiler/device/, which embed.py embeds in tegraclc. */
#ifndef TEGRACL_DEVICE_FILES_H
#define TEGRACL_DEVICE_FILES_H

struct device_file {
  const char *name; /* without a folder, as in #include */
  const char *text;
};

extern const struct device_file device_files[];
extern const unsigned device_file_count;

#endif
