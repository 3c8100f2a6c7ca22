/* Shared by the sample programs: an OpenCL device, kernels built from tests/samples/kernels/, and a
 * line of statistics for each kernel. */
#ifndef TEGRACL_SAMPLES_H
#define TEGRACL_SAMPLES_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  const char *pictures; /* folder for PNG files */
  const char *modules;  /* folder with the kernels as SPIR-V, or NULL */
  const char *photo;    /* JPEG file for edges and convolution, or NULL */
};

/* Builds a program from tests/samples/kernels/NAME.cl, or from its SPIR-V. On failure prints a
 * message with the build log and returns NULL. */
cl_program sample_build(const struct host *host, const char *name);

/* Creates a buffer of size bytes, initialised from data unless that is NULL. On failure prints a
 * message and returns NULL. */
cl_mem sample_buffer(const struct host *host, size_t size, const void *data);

/* Sets the arguments (pairs of a size_t size and a pointer, terminated by the size SAMPLE_END) and
 * runs kernel over global[] work-items. Prints a line with kernel, work-items, registers, CUBIN
 * bytes, warp instructions and time. */
#define SAMPLE_END SIZE_MAX
bool sample_run(const struct host *host, cl_program program, const char *kernel, cl_uint dims,
                const size_t *global, const size_t *local, ...);

/* Copies a buffer to the host (blocking) and releases the buffer. */
bool sample_fetch(const struct host *host, cl_mem buffer, size_t size, void *data);

/* Prints a sample's verdict and returns ok. */
bool sample_verdict(const char *name, bool ok, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Read and write 8-bit grey pictures. On failure print a message and return false. */
bool picture_write_png(const char *folder, const char *file, const uint8_t *grey, int width,
                       int height);
bool picture_read_jpeg(const char *file, uint8_t **grey, int *width, int *height);

/* The samples. They return true if the results equal the CPU's. */
bool sample_vadd(const struct host *host);
bool sample_mandelbrot(const struct host *host);
bool sample_matmul(const struct host *host);
bool sample_histogram(const struct host *host);
bool sample_nbody(const struct host *host);
bool sample_sha256(const struct host *host);
bool sample_edges(const struct host *host);
bool sample_convolution(const struct host *host);

#endif
