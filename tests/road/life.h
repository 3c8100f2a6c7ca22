/* One life of a context: made, used in all the ways that reach the kernel, and given
 * back. For programs behind whose OpenCL calls the kernel boundary is refusing_os.c.
 */
#ifndef TEGRACL_ROAD_LIFE_H
#define TEGRACL_ROAD_LIFE_H

#include <stdbool.h>

#include "tests/road/road.h"

enum life_step {
  DEVICE,
  CONTEXT,
  QUEUE,
  BUFFER,
  PROGRAM,
  BUILD,
  KERNEL,
  LAUNCH,
  WAIT,
  TIMES,
  READ,
  FINISH
};

enum { LIFE_ITEMS = 64, LIFE_KERNELS = 3 };

struct life {
  cl_context context;
  cl_command_queue queue;
  cl_mem buffer;
  cl_program program;
  cl_kernel kernels[LIFE_KERNELS];
  cl_event gate, events[LIFE_KERNELS];
  enum life_step step; /* the last one */
};

/* To be got by the program. */
extern cl_platform_id life_platform;
extern cl_device_id life_device;

/* A kernel of the program that faults. */
extern const char life_faulty[];

/* Builds the program of all lives; life_forget frees it. */
void life_compile(void);
void life_forget(void);
bool life_is_compiled(void);

/* Until the first error. */
cl_int life_live(struct life *life);
cl_int life_launch(struct life *life, unsigned kernel, cl_event gate, cl_event *event);
/* What there is of it. */
void life_release(struct life *life);

/* A whole one, with nothing refused. */
void life_works(void);

#endif
