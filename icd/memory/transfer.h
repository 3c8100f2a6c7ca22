/* Checks and operations of commands on memory objects. Each function returns CL_SUCCESS or an
 * OpenCL error, which it reports under the name call.
 */
#ifndef TEGRACL_TRANSFER_H
#define TEGRACL_TRANSFER_H

#include "icd/memory/box.h"
#include "icd/queue/command.h"

/* Returns CL_INVALID_MEM_OBJECT if mem is not a memory object, or CL_INVALID_CONTEXT if it
 * belongs to another context than queue. */
cl_int icd_check_mem(cl_command_queue queue, cl_mem mem, const char *call);

/* Like icd_check_mem, and returns CL_INVALID_MEM_OBJECT if mem is an image. */
cl_int icd_check_buffer(cl_command_queue queue, cl_mem mem, const char *call);

/* Returns CL_INVALID_VALUE if the range is outside mem. */
cl_int icd_check_range(cl_mem mem, size_t offset, size_t size, const char *call);

/* Returns CL_INVALID_OPERATION if the flags of mem do not allow the host this access. */
cl_int icd_check_host_access(cl_mem mem, bool read, bool write, const char *call);

/* Returns CL_INVALID_OPERATION if mem is immutable. */
cl_int icd_check_mutable(cl_mem mem, const char *call);

/* Checks the host's side of a transfer, of which either target or source is not NULL, and the
 * wait list. Returns CL_INVALID_VALUE, or an error of icd_check_waits or icd_check_host_access. */
cl_int icd_check_host_side(cl_command_queue queue, cl_mem mem, const void *target,
                           const void *source, cl_uint wait_count, const cl_event *waits,
                           const char *call);

/* Returns CL_INVALID_VALUE if the pattern, its size, or the alignment of the range to be filled
 * is invalid. offset is an offset or an address. */
cl_int icd_check_pattern(cl_command_queue queue, const void *pattern, size_t pattern_size,
                         size_t offset, size_t size, const char *call);

/* Return CL_INVALID_VALUE if the flags are invalid. */
cl_int icd_check_map_flags(cl_command_queue queue, cl_map_flags flags, const char *call);
cl_int icd_check_migration(cl_command_queue queue, cl_mem_migration_flags flags, const char *call);

/* Return the operation that copies one row, or fills with a checked pattern. They leave mems
 * empty. An operation of size 0 is only a marker. */
struct icd_operation icd_line(cl_command_type type, char *target, const char *source, size_t size);
struct icd_operation icd_fill_operation(cl_command_type type, char *target, const void *pattern,
                                        size_t pattern_size, size_t size);

/* Fill in operations between memory objects of the device, for queues and command buffers. They
 * make all checks of clEnqueue* except for those of the queue and the wait list. */
cl_int icd_copy_buffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                       size_t target_offset, size_t size, struct icd_operation *operation,
                       const char *call);
struct icd_rectangles {
  const size_t *source_origin, *target_origin, *region;
  /* Pitches in bytes. 0 means that there are no gaps. */
  size_t source_row_bytes, source_slice_bytes, target_row_bytes, target_slice_bytes;
};
cl_int icd_copy_buffer_rect(cl_command_queue queue, cl_mem source, cl_mem target,
                            const struct icd_rectangles *rectangles,
                            struct icd_operation *operation, const char *call);
cl_int icd_fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                       size_t pattern_size, size_t offset, size_t size,
                       struct icd_operation *operation, const char *call);
cl_int icd_copy_image(cl_command_queue queue, cl_mem source, cl_mem target,
                      const size_t *source_origin, const size_t *target_origin,
                      const size_t *region, struct icd_operation *operation, const char *call);
cl_int icd_copy_image_to_buffer(cl_command_queue queue, cl_mem source, cl_mem target,
                                const size_t *origin, const size_t *region, size_t offset,
                                struct icd_operation *operation, const char *call);
cl_int icd_copy_buffer_to_image(cl_command_queue queue, cl_mem source, cl_mem target, size_t offset,
                                const size_t *origin, const size_t *region,
                                struct icd_operation *operation, const char *call);
cl_int icd_fill_image(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                      const size_t *region, struct icd_operation *operation, const char *call);

#endif
