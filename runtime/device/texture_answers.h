/* What the texture units of a device do right, as their self-check has found or the user says. */
#ifndef TEGRACL_RUNTIME_TEXTURE_ANSWERS_H
#define TEGRACL_RUNTIME_TEXTURE_ANSWERS_H

#include <stdatomic.h>

#include "base/images.h"
#include "base/lock.h"
#include "gpu/cubin/kernel_code.h"
#include "gpu/hw/texture.h"

#define RT_COUNT_FORMAT(...) +1
enum { RT_TEXTURE_FORMATS = 0 TEXTURE_FORMATS(RT_COUNT_FORMAT) };

/* Kinds of images, and what applies to all of them. A failure rules out what needs the part. */
enum rt_texture_part {
  RT_TEXTURE_ROWS,     /* headers of rows: all images but those in buffers */
  RT_TEXTURE_SAMPLERS, /* the same images: kernels may read them with any sampler */
  RT_TEXTURE_BUFFERS,  /* headers of buffers: image1d_buffer_t */
  RT_TEXTURE_CACHES,   /* invalidates: all images */
  RT_TEXTURE_LAYERS,   /* handles that differ within a warp: arrays and 3D images */
  RT_TEXTURE_FILTERS,  /* linear filters of all formats */
  RT_TEXTURE_STORES,   /* typed stores of all formats */
  RT_TEXTURE_PARTS
};
/* What works for a format. */
enum { RT_FORMAT_READS = 1, RT_FORMAT_FILTERS = 2, RT_FORMAT_STORES = 4 };

struct rt_texture_answers {
  bool part[RT_TEXTURE_PARTS];
  uint8_t format[RT_TEXTURE_FORMATS]; /* by index in TEXTURE_FORMATS */
  bool tested[RT_TEXTURE_FORMATS];
};

/* Time limits of the self-check. It takes 10 to 200 ms on an idle software Orin. */
enum { RT_TEXTURE_CHECK_LIMIT_MS = 2000 };

/* The answers of the self-check that tegracl-doctor has run. board_file.h describes their text. */
struct rt_texture_stored {
  char check[24]; /* rt_texture_check_version of the doctor; "" if nothing is stored */
  char board[64]; /* rt_device_info.board of the board that was tested */
  bool has_board;
  uint32_t parts; /* bits: the parts that have an answer */
  struct rt_texture_answers answers;
};

/* Identifies the self-check and what the driver does with the texture units: answers of another
 * version say nothing about this one. */
extern const char rt_texture_check_version[];

/* Sets what is stored under the name. Returns false and changes nothing if the name or the value is
 * unknown. */
bool rt_texture_stored_set(struct rt_texture_stored *stored, const char *name, const char *value);
/* Returns whether either nothing is stored, or all parts have an answer. */
bool rt_texture_stored_is_complete(const struct rt_texture_stored *stored);
/* Calls put for each name and value of the answers. */
void rt_texture_answers_store(const struct rt_texture_answers *answers, const char *board,
                              void (*put)(void *data, const char *name, const char *value),
                              void *data);

/* The decision of a device. */
struct rt_texture_units {
  enum base_images wanted;
  struct base_mutex
      lock; /* protects the fields below, except that answers is constant if decided */
  atomic_bool decided;
  unsigned tries; /* self-checks that ended without decision */
  uint64_t next_ns;
  struct rt_texture_answers answers;
};

extern const struct rt_texture_answers rt_texture_all_right;

/* board is rt_device_info.board. */
void rt_texture_units_init(struct rt_texture_units *units, const struct rt_texture_stored *stored,
                           const char *board);
/* Returns what the texture units do right, or NULL if that is not decided yet. */
const struct rt_texture_answers *rt_texture_units_answers(const struct rt_texture_units *units);
const char *rt_texture_part_name(enum rt_texture_part part);
/* Prints what failed, as a list; empty if nothing did. */
void rt_texture_answers_print(const struct rt_texture_answers *answers, char *text, size_t size);

#endif
