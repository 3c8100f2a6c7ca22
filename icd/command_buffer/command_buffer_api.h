/* The API of cl_khr_command_buffer 0.9.8 and cl_khr_command_buffer_mutable_dispatch 0.9.5. Both
 * extensions are experimental: other drafts, which headers of other years declare under the same
 * names, have different parameters. So the C names of the functions have the prefix icd_
 * (applications find them under their own names), and this file declares what differs between
 * drafts. The values are from Khronos's registry.
 */
#ifndef TEGRACL_COMMAND_BUFFER_API_H
#define TEGRACL_COMMAND_BUFFER_API_H

#include "icd/icd.h"

typedef cl_bitfield cl_device_command_buffer_capabilities_khr;
typedef struct _cl_command_buffer_khr *cl_command_buffer_khr;
typedef cl_uint cl_sync_point_khr;
typedef cl_uint cl_command_buffer_info_khr;
typedef cl_uint cl_command_buffer_state_khr;
typedef cl_properties cl_command_buffer_properties_khr;
typedef cl_bitfield cl_command_buffer_flags_khr;
typedef cl_properties cl_command_properties_khr;
typedef struct _cl_mutable_command_khr *cl_mutable_command_khr;
typedef cl_uint cl_command_buffer_update_type_khr;
typedef cl_bitfield cl_mutable_dispatch_fields_khr;
typedef cl_uint cl_mutable_command_info_khr;
typedef cl_bitfield cl_mutable_dispatch_asserts_khr;

#ifndef cl_khr_command_buffer
#define CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR              0x12A9
#define CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR 0x12AA
#define CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR         (1 << 0)
#define CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR      (1 << 2)
#define CL_COMMAND_BUFFER_FLAGS_KHR                            0x1293
#define CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR                 (1 << 0)
#define CL_INVALID_COMMAND_BUFFER_KHR                          (-1138)
#define CL_INVALID_SYNC_POINT_WAIT_LIST_KHR                    (-1139)
#define CL_INCOMPATIBLE_COMMAND_QUEUE_KHR                      (-1140)
#define CL_COMMAND_BUFFER_QUEUES_KHR                           0x1294
#define CL_COMMAND_BUFFER_NUM_QUEUES_KHR                       0x1295
#define CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR                  0x1296
#define CL_COMMAND_BUFFER_STATE_KHR                            0x1297
#define CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR                 0x1298
#define CL_COMMAND_BUFFER_STATE_RECORDING_KHR                  0
#define CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR                 1
#define CL_COMMAND_COMMAND_BUFFER_KHR                          0x12A8
#endif

#ifndef cl_khr_command_buffer_mutable_dispatch
#define CL_COMMAND_BUFFER_MUTABLE_KHR               (1 << 1)
#define CL_INVALID_MUTABLE_COMMAND_KHR              (-1141)
#define CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR 0x12B0
#define CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR    0x12B1
#define CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR       (1 << 0)
#define CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR         (1 << 1)
#define CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR          (1 << 2)
#define CL_MUTABLE_DISPATCH_ARGUMENTS_KHR           (1 << 3)
#define CL_MUTABLE_DISPATCH_EXEC_INFO_KHR           (1 << 4)
#define CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR        0x12A0
#define CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR       0x12A1
#define CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR         0x12AD
#define CL_MUTABLE_DISPATCH_KERNEL_KHR              0x12A3
#define CL_MUTABLE_DISPATCH_DIMENSIONS_KHR          0x12A4
#define CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR  0x12A5
#define CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR    0x12A6
#define CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR     0x12A7
typedef struct _cl_mutable_dispatch_arg_khr {
  cl_uint arg_index;
  size_t arg_size;
  const void *arg_value;
} cl_mutable_dispatch_arg_khr;
typedef struct _cl_mutable_dispatch_exec_info_khr {
  cl_uint param_name;
  size_t param_value_size;
  const void *param_value;
} cl_mutable_dispatch_exec_info_khr;
#endif

/* The first drafts of the extension lack these. */
#ifndef CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR
#define CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR 0x129A
#endif
#ifndef CL_COMMAND_BUFFER_CONTEXT_KHR
#define CL_COMMAND_BUFFER_CONTEXT_KHR 0x1299
#endif
#ifndef CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR
#define CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR 0x12A2
#endif
#ifndef CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
#define CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR           0x12B7
#define CL_MUTABLE_DISPATCH_ASSERTS_KHR                          0x12B8
#define CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR (1 << 0)
#endif
#ifndef CL_COMMAND_BUFFER_STATE_FINALIZED_KHR
#define CL_COMMAND_BUFFER_STATE_FINALIZED_KHR 2 /* some arguments have not been set */
#endif

/* cl_mutable_dispatch_config_khr and its type. */
enum { ICD_MUTABLE_DISPATCH_CONFIG = 0 };
struct icd_mutable_dispatch_config {
  cl_mutable_command_khr command;
  cl_uint num_args;
  cl_uint num_svm_args;
  cl_uint num_exec_infos;
  cl_uint work_dim;
  const cl_mutable_dispatch_arg_khr *arg_list;
  const cl_mutable_dispatch_arg_khr *arg_svm_list;
  const cl_mutable_dispatch_exec_info_khr *exec_info_list;
  const size_t *global_work_offset;
  const size_t *global_work_size;
  const size_t *local_work_size;
};

/* All functions, by the names that applications use. */
#define COMMAND_BUFFER_FUNCTIONS(X)                                                                \
  X(clCreateCommandBufferKHR)                                                                      \
  X(clRetainCommandBufferKHR)                                                                      \
  X(clReleaseCommandBufferKHR)                                                                     \
  X(clFinalizeCommandBufferKHR)                                                                    \
  X(clEnqueueCommandBufferKHR)                                                                     \
  X(clGetCommandBufferInfoKHR)                                                                     \
  X(clCommandBarrierWithWaitListKHR)                                                               \
  X(clCommandCopyBufferKHR)                                                                        \
  X(clCommandCopyBufferRectKHR)                                                                    \
  X(clCommandCopyBufferToImageKHR)                                                                 \
  X(clCommandCopyImageKHR)                                                                         \
  X(clCommandCopyImageToBufferKHR)                                                                 \
  X(clCommandFillBufferKHR)                                                                        \
  X(clCommandFillImageKHR)                                                                         \
  X(clCommandSVMMemcpyKHR)                                                                         \
  X(clCommandSVMMemFillKHR)                                                                        \
  X(clCommandNDRangeKernelKHR)                                                                     \
  X(clUpdateMutableCommandsKHR)                                                                    \
  X(clGetMutableCommandInfoKHR)

extern CL_API_ENTRY cl_command_buffer_khr CL_API_CALL icd_clCreateCommandBufferKHR(
    cl_uint queue_count, const cl_command_queue *queues,
    const cl_command_buffer_properties_khr *properties, cl_int *errcode_ret);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clRetainCommandBufferKHR(cl_command_buffer_khr buffer);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clReleaseCommandBufferKHR(cl_command_buffer_khr buffer);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clFinalizeCommandBufferKHR(cl_command_buffer_khr buffer);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clEnqueueCommandBufferKHR(
    cl_uint queue_count, cl_command_queue *queues, cl_command_buffer_khr buffer, cl_uint wait_count,
    const cl_event *waits, cl_event *event);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clGetCommandBufferInfoKHR(
    cl_command_buffer_khr buffer, cl_command_buffer_info_khr param_name, size_t param_value_size,
    void *param_value, size_t *param_value_size_ret);

/* The first and last parameters of all functions that record a command. */
#define ICD_RECORD_HEAD                                                                            \
  cl_command_buffer_khr buffer, cl_command_queue queue, const cl_command_properties_khr *properties
#define ICD_RECORD_TAIL                                                                            \
  cl_uint wait_count, const cl_sync_point_khr *waits, cl_sync_point_khr *sync_point,               \
      cl_mutable_command_khr *handle

extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandBarrierWithWaitListKHR(ICD_RECORD_HEAD,
                                                                           ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyBufferKHR(ICD_RECORD_HEAD, cl_mem source,
                                                                  cl_mem target,
                                                                  size_t source_offset,
                                                                  size_t target_offset, size_t size,
                                                                  ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyBufferRectKHR(
    ICD_RECORD_HEAD, cl_mem source, cl_mem target, const size_t *source_origin,
    const size_t *target_origin, const size_t *region, size_t source_row, size_t source_slice,
    size_t target_row, size_t target_slice, ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL
icd_clCommandCopyBufferToImageKHR(ICD_RECORD_HEAD, cl_mem source, cl_mem target, size_t offset,
                                  const size_t *origin, const size_t *region, ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyImageKHR(
    ICD_RECORD_HEAD, cl_mem source, cl_mem target, const size_t *source_origin,
    const size_t *target_origin, const size_t *region, ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyImageToBufferKHR(
    ICD_RECORD_HEAD, cl_mem source, cl_mem target, const size_t *origin, const size_t *region,
    size_t offset, ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandFillBufferKHR(ICD_RECORD_HEAD, cl_mem mem,
                                                                  const void *pattern,
                                                                  size_t pattern_size,
                                                                  size_t offset, size_t size,
                                                                  ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandFillImageKHR(ICD_RECORD_HEAD, cl_mem image,
                                                                 const void *color,
                                                                 const size_t *origin,
                                                                 const size_t *region,
                                                                 ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandSVMMemcpyKHR(ICD_RECORD_HEAD, void *target,
                                                                 const void *source, size_t size,
                                                                 ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandSVMMemFillKHR(ICD_RECORD_HEAD, void *target,
                                                                  const void *pattern,
                                                                  size_t pattern_size, size_t size,
                                                                  ICD_RECORD_TAIL);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clCommandNDRangeKernelKHR(
    ICD_RECORD_HEAD, cl_kernel kernel, cl_uint work_dim, const size_t *offset, const size_t *global,
    const size_t *local, ICD_RECORD_TAIL);

extern CL_API_ENTRY cl_int CL_API_CALL icd_clUpdateMutableCommandsKHR(
    cl_command_buffer_khr buffer, cl_uint config_count,
    const cl_command_buffer_update_type_khr *types, const void **configs);
extern CL_API_ENTRY cl_int CL_API_CALL icd_clGetMutableCommandInfoKHR(
    cl_mutable_command_khr command, cl_mutable_command_info_khr param_name, size_t param_value_size,
    void *param_value, size_t *param_value_size_ret);

#endif
