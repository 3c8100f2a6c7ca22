/* Checks that all commands on buffers share. Each gives CL_SUCCESS or its error
 * with a sentence under the name of call.
 */
#ifndef TEGRACL_TRANSFER_H
#define TEGRACL_TRANSFER_H

#include "icd/memory/box.h"
#include "icd/queue/command.h"

/* Memory of any kind: CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT */
cl_int icd_check_mem(cl_command_queue queue, cl_mem mem, const char *call);

/* The same of a buffer. */
cl_int icd_check_buffer(cl_command_queue queue, cl_mem mem, const char *call);

/* CL_INVALID_VALUE */
cl_int icd_check_range(cl_mem mem, size_t offset, size_t size, const char *call);

/* CL_INVALID_OPERATION: the flags forbid the host's access. */
cl_int icd_check_host_access(cl_mem mem, bool read, bool write, const char *call);

/* CL_INVALID_OPERATION: the contents cannot change. */
cl_int icd_check_mutable(cl_mem mem, const char *call);

/* The host's side of a transfer, one of target and source, and its wait list:
 * CL_INVALID_VALUE, and the errors of icd_check_waits and icd_check_host_access. */
cl_int icd_check_host_side(cl_command_queue queue, cl_mem mem, const void *target,
                           const void *source, cl_uint wait_count, const cl_event *waits,
                           const char *call);

/* CL_INVALID_VALUE: a fill's pattern, its size, or its place (an offset or an address). */
cl_int icd_check_pattern(cl_command_queue queue, const void *pattern, size_t pattern_size,
                         size_t offset, size_t size, const char *call);

/* CL_INVALID_VALUE */
cl_int icd_check_map_flags(cl_command_queue queue, cl_map_flags flags, const char *call);
cl_int icd_check_migration(cl_command_queue queue, cl_mem_migration_flags flags, const char *call);

/* A copy of one row, and a fill with a checked pattern, without their mems. Of size 0:
 * nothing but a place in the order. */
struct icd_operation icd_line(cl_command_type type, char *target, const char *source, size_t size);
struct icd_operation icd_fill_operation(cl_command_type type, char *target, const void *pattern,
                                        size_t pattern_size, size_t size);

/* Operations between memory objects of the device, for queues and command buffers, with all checks
 * of clEnqueue* but those of queue and wait list. */
cl_int icd_copy_buffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                       size_t target_offset, size_t size, struct icd_operation *operation,
                       const char *call);
struct icd_rectangles {
  const size_t *source_origin, *target_origin, *region;
  /* Pitches; 0: no gaps. */
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
