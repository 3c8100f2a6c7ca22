/* Reads and writes the samples' picture files with libpng and libjpeg. */
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

bool picture_write_png(const char *folder, const char *file, const uint8_t *grey, int width,
                       int height) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height,
                     .format = PNG_FORMAT_GRAY};
  if (!png_image_write_to_file(&image, path, 0, grey, width, NULL)) {
    fprintf(stderr, "%s: %s\n", path, image.message);
    return false;
  }
  printf("  wrote %s\n", path);
  return true;
}

bool picture_read_jpeg(const char *file, uint8_t **grey, int *width, int *height) {
  FILE *in = fopen(file, "rb");
  if (!in) {
    perror(file);
    return false;
  }
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_stdio_src(&jpeg, in);
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_GRAYSCALE;
  jpeg_start_decompress(&jpeg);
  *width = (int)jpeg.output_width;
  *height = (int)jpeg.output_height;
  *grey = malloc((size_t)*width * (size_t)*height);
  bool ok = *grey != NULL;
  while (ok && jpeg.output_scanline < jpeg.output_height) {
    uint8_t *row = *grey + (size_t)jpeg.output_scanline * (size_t)*width;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_abort_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  fclose(in);
  return ok;
}
