/* clGetDeviceInfo. Values that depend on the board come from rt_device_info. Those of every SM 8.x
 * are in the tables below (docs/hardware/command-stream.md section 9).
 */
#include <limits.h>

#include "icd/command_buffer/command_buffer.h"
#include "icd/image/image.h"
#include "icd/objects.h"
#include "icd/platform/device_text.h"
#include "icd/platform/experimental.h"
#include "icd/platform/uuid.h"

#include "icd/cl_tegracl.h"

/* cl_nv_device_attribute_query: values from NVIDIA's extension text and clinfo's table. Debian's
 * cl_ext.h stops at 0x4006. */
enum {
  DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV = 0x4007,
  DEVICE_PCI_BUS_ID_NV = 0x4008,
  DEVICE_PCI_SLOT_ID_NV = 0x4009,
  DEVICE_PCI_DOMAIN_ID_NV = 0x400A,
};

/* cl_khr_kernel_clock, cl_ext_cxx_for_opencl and cl_ext_float_atomics: values from the
 * extensions' texts. Not all headers have them. */
enum {
  DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR = 0x1076,
  KERNEL_CLOCK_SCOPES = 1 | 2 | 4, /* device, work-group, sub-group */
  DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT = 0x4230,
  DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT = 0x4231,
  DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT = 0x4232,
  DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT = 0x4233,
  GLOBAL_FP_ATOMICS = 1 | 2 | 4, /* load and store; add; min and max */
  LOCAL_FP_ATOMICS = GLOBAL_FP_ATOMICS << 16,
  FP_ATOMICS = GLOBAL_FP_ATOMICS | LOCAL_FP_ATOMICS,
  FP_ATOMIC_SUMS = 2 | 2 << 16, /* not reported for halves (compiler/extensions.h) */
};

#define SINGLE_FP                                                                                  \
  (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO |                   \
   CL_FP_ROUND_TO_INF | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
#define DOUBLE_FP                                                                                  \
  (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO |                   \
   CL_FP_ROUND_TO_INF | CL_FP_FMA)
/* PTX's f16 add, mul and fma only support rounding to nearest even. */
#define HALF_FP (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA)

#define USM_BITS cl_device_unified_shared_memory_capabilities_intel

/* PTX's memory model supports all of these. */
#define ATOMIC_CAPABILITIES                                                                        \
  (CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |                               \
   CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP |                            \
   CL_DEVICE_ATOMIC_SCOPE_DEVICE | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES)

enum {
  VENDOR_ID_NVIDIA = 0x10DE,
  /* as deviceQuery of the CUDA samples prints it (Total constant memory) */
  CONSTANT_BANK_BYTES = 65536,
  CACHE_LINE_BYTES = 128,
  LARGEST_TYPE_BYTES = 128, /* long16, double16 */
  BASE_ALIGN_BITS = LARGEST_TYPE_BYTES * CHAR_BIT,
  /* in device memory like buffers; OpenCL requires at least 64 KiB */
  GLOBAL_VARIABLE_BYTES = 1 << 20,
};

/* Queries whose value is the same for every SM 8.x. X(query, type, value) */
#define FIXED_VALUES(X)                                                                            \
  X(CL_DEVICE_TYPE, cl_device_type, CL_DEVICE_TYPE_GPU)                                            \
  X(CL_DEVICE_VENDOR_ID, cl_uint, VENDOR_ID_NVIDIA)                                                \
  X(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, cl_uint, 3)                                                \
  X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, cl_uint, 1)                                             \
  X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, cl_uint, 1)                                            \
  X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, cl_uint, 1)                                              \
  X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, cl_uint, 1)                                             \
  X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, cl_uint, 1)                                            \
  X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, cl_uint, 1)                                           \
  X(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, cl_uint, 2)                                             \
  X(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, cl_uint, 1)                                                \
  X(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, cl_uint, 1)                                               \
  X(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, cl_uint, 1)                                                 \
  X(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, cl_uint, 1)                                                \
  X(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint, 1)                                               \
  X(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, cl_uint, 1)                                              \
  X(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, cl_uint, 2)                                                \
  X(CL_DEVICE_ADDRESS_BITS, cl_uint, 64)                                                           \
  X(CL_DEVICE_IMAGE_SUPPORT, cl_bool, CL_TRUE)                                                     \
  X(CL_DEVICE_MAX_READ_IMAGE_ARGS, cl_uint, ICD_IMAGE_ARGS_MAX)                                    \
  X(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, cl_uint, ICD_IMAGE_ARGS_MAX)                                   \
  X(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, cl_uint, ICD_IMAGE_ARGS_MAX)                              \
  X(CL_DEVICE_IMAGE2D_MAX_WIDTH, size_t, ICD_IMAGE_WIDTH_MAX)                                      \
  X(CL_DEVICE_IMAGE2D_MAX_HEIGHT, size_t, ICD_IMAGE_WIDTH_MAX)                                     \
  X(CL_DEVICE_IMAGE3D_MAX_WIDTH, size_t, ICD_IMAGE_SIDE_MAX)                                       \
  X(CL_DEVICE_IMAGE3D_MAX_HEIGHT, size_t, ICD_IMAGE_SIDE_MAX)                                      \
  X(CL_DEVICE_IMAGE3D_MAX_DEPTH, size_t, ICD_IMAGE_SIDE_MAX)                                       \
  X(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, size_t, ICD_IMAGE_BUFFER_MAX)                                 \
  X(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, size_t, ICD_IMAGE_LAYERS_MAX)                                  \
  X(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, cl_uint, ICD_IMAGE_ALIGN)                                     \
  X(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, cl_uint, ICD_IMAGE_ALIGN)                              \
  X(CL_DEVICE_MAX_SAMPLERS, cl_uint, ICD_SAMPLERS_MAX)                                             \
  X(CL_DEVICE_MAX_PIPE_ARGS, cl_uint, 0)                                                           \
  X(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, cl_uint, 0)                                            \
  X(CL_DEVICE_PIPE_MAX_PACKET_SIZE, cl_uint, 0)                                                    \
  X(CL_DEVICE_PIPE_SUPPORT, cl_bool, CL_FALSE)                                                     \
  X(CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint, BASE_ALIGN_BITS)                                       \
  X(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, cl_uint, LARGEST_TYPE_BYTES)                               \
  X(CL_DEVICE_SINGLE_FP_CONFIG, cl_device_fp_config, SINGLE_FP)                                    \
  X(CL_DEVICE_DOUBLE_FP_CONFIG, cl_device_fp_config, DOUBLE_FP)                                    \
  X(CL_DEVICE_HALF_FP_CONFIG, cl_device_fp_config, HALF_FP)                                        \
  X(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, cl_device_mem_cache_type, CL_READ_WRITE_CACHE)                \
  X(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cl_uint, CACHE_LINE_BYTES)                                \
  X(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, cl_ulong, CONSTANT_BANK_BYTES)                             \
  X(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, size_t, GLOBAL_VARIABLE_BYTES)                             \
  X(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, size_t, GLOBAL_VARIABLE_BYTES)                 \
  X(CL_DEVICE_LOCAL_MEM_TYPE, cl_device_local_mem_type, CL_LOCAL)                                  \
  X(CL_DEVICE_ERROR_CORRECTION_SUPPORT, cl_bool, CL_FALSE)                                         \
  X(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool, CL_TRUE)                                               \
  X(CL_DEVICE_ENDIAN_LITTLE, cl_bool, CL_TRUE)                                                     \
  X(CL_DEVICE_AVAILABLE, cl_bool, CL_TRUE)                                                         \
  X(CL_DEVICE_EXECUTION_CAPABILITIES, cl_device_exec_capabilities, CL_EXEC_KERNEL)                 \
  X(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, cl_command_queue_properties,                               \
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)                            \
  X(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, cl_command_queue_properties, 0)                          \
  X(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, cl_uint, 0)                                          \
  X(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, cl_uint, 0)                                                \
  X(CL_DEVICE_MAX_ON_DEVICE_QUEUES, cl_uint, 0)                                                    \
  X(CL_DEVICE_MAX_ON_DEVICE_EVENTS, cl_uint, 0)                                                    \
  X(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, cl_device_device_enqueue_capabilities, 0)               \
  X(CL_DEVICE_PARENT_DEVICE, cl_device_id, NULL)                                                   \
  X(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, cl_uint, 0)                                               \
  X(CL_DEVICE_PARTITION_PROPERTIES, cl_device_partition_property, 0)                               \
  X(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, cl_device_affinity_domain, 0)                             \
  X(CL_DEVICE_REFERENCE_COUNT, cl_uint, 1)                                                         \
  X(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, cl_bool, CL_TRUE)                                       \
  X(CL_DEVICE_PRINTF_BUFFER_SIZE, size_t, ICD_PRINT_BYTES)                                         \
  X(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, cl_uint, 0)                                     \
  X(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, cl_uint, 0)                                       \
  X(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, cl_uint, 0)                                        \
  X(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, cl_bool, CL_TRUE)                            \
  X(CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR,                                                \
    cl_device_integer_dot_product_capabilities_khr,                                                \
    CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR |                                        \
        CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR)                                            \
  X(DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR, cl_bitfield, KERNEL_CLOCK_SCOPES)                        \
  X(DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT, cl_version, CL_MAKE_VERSION(1, 0, 0))               \
  X(DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT, cl_bitfield, FP_ATOMICS)                             \
  X(DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT, cl_bitfield, FP_ATOMICS)                             \
  X(DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT, cl_bitfield, FP_ATOMICS & ~FP_ATOMIC_SUMS)             \
  X(CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, cl_version, CL_MAKE_VERSION(1, 2, 0))                  \
  X(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, cl_device_atomic_capabilities, ATOMIC_CAPABILITIES)      \
  X(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, cl_device_atomic_capabilities,                            \
    ATOMIC_CAPABILITIES | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM)                                        \
  X(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, cl_bool, CL_TRUE)                                    \
  X(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, cl_bool, CL_TRUE)                           \
  X(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, cl_bool, CL_TRUE)                                     \
  X(CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV, cl_bool, CL_FALSE)                                           \
  X(CL_DEVICE_INTEGRATED_MEMORY_NV, cl_bool, CL_TRUE)                                              \
  X(CL_DEVICE_GPU_OVERLAP_NV, cl_bool, CL_FALSE)                                                   \
  X(CL_DEVICE_SEMAPHORE_TYPES_KHR, cl_semaphore_type_khr, CL_SEMAPHORE_TYPE_BINARY_KHR)            \
  X(CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, cl_external_semaphore_handle_type_khr,            \
    CL_SEMAPHORE_HANDLE_SYNC_FD_KHR)                                                               \
  X(CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, cl_external_semaphore_handle_type_khr,            \
    CL_SEMAPHORE_HANDLE_SYNC_FD_KHR)                                                               \
  X(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, cl_device_command_buffer_capabilities_khr,          \
    CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR |                                               \
        CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR)                                         \
  X(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, cl_command_queue_properties, 0)        \
  X(CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR, cl_command_queue_properties,          \
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)                            \
  X(CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, cl_external_memory_handle_type_khr,         \
    CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR)                                                         \
  X(CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR,                        \
    cl_external_memory_handle_type_khr, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR)                     \
  X(CL_DEVICE_LUID_VALID_KHR, cl_bool, CL_FALSE)                                                   \
  X(CL_DEVICE_NODE_MASK_KHR, cl_uint, 1)                                                           \
  X(CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, USM_BITS, 0)                             \
  X(CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL, USM_BITS, 0)                                   \
  X(DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV, cl_uint, 0)                                            \
  X(DEVICE_PCI_BUS_ID_NV, cl_uint, 0)    /* not a PCI device: */                                   \
  X(DEVICE_PCI_SLOT_ID_NV, cl_uint, 0)   /* CUDA's deviceQuery prints 0 */                         \
  X(DEVICE_PCI_DOMAIN_ID_NV, cl_uint, 0) /* for all three on a Jetson */

/* Queries whose value depends on the board. X(query, type, expression), where expression may use
 * struct rt_device_info *info. */
#define BOARD_VALUES(X)                                                                            \
  X(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint, info->sm_count)                                          \
  X(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t, info->max_threads_per_block)                            \
  X(CL_DEVICE_MAX_NUM_SUB_GROUPS, cl_uint, info->max_threads_per_block / info->warp_size)          \
  X(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint, info->max_clock_mhz)                                   \
  X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong, info->max_buffer_bytes)                                \
  X(CL_DEVICE_MAX_PARAMETER_SIZE, size_t, user_param_bytes(info))                                  \
  X(CL_DEVICE_MAX_CONSTANT_ARGS, cl_uint,                                                          \
    (cl_uint)(user_param_bytes(info) / sizeof(cl_ulong))) /* a pointer each */                     \
  X(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong, info->l2_bytes)                                     \
  X(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong, info->memory_bytes)                                       \
  X(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong, info->shared_bytes_per_block)                              \
  X(CL_DEVICE_PROFILING_TIMER_RESOLUTION, size_t, info->timer_step_ns)                             \
  X(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t, info->warp_size)                         \
  X(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, cl_uint, info->sm_version >> 8)                         \
  X(CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, cl_uint, info->sm_version & 0xff)                       \
  X(CL_DEVICE_REGISTERS_PER_BLOCK_NV, cl_uint, info->registers_per_sm)                             \
  X(CL_DEVICE_WARP_SIZE_NV, cl_uint, info->warp_size)                                              \
  X(CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities,                                        \
    info->shared_addresses ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER   \
                           : 0)                                                                    \
  X(CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR, cl_mutable_dispatch_fields_khr,                   \
    icd_mutable_fields(info))                                                                      \
  X(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, USM_BITS, usm_access_bits(info))                        \
  X(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, USM_BITS, usm_access_bits(info))                      \
  X(CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, USM_BITS, usm_access_bits(info))

/* Texts. X(query, expression) */
#define TEXTS(X)                                                                                   \
  X(CL_DEVICE_NAME, device->name)                                                                  \
  X(CL_DEVICE_VENDOR, "NVIDIA Corporation")                                                        \
  X(CL_DRIVER_VERSION, ICD_DRIVER_VERSION_TEXT)                                                    \
  X(CL_DEVICE_PROFILE, "FULL_PROFILE")                                                             \
  X(CL_DEVICE_VERSION, icd_version_text(cc_il_available()))                                        \
  X(CL_DEVICE_OPENCL_C_VERSION, ICD_C_VERSION_TEXT)                                                \
  X(CL_DEVICE_EXTENSIONS, icd_device_extensions(info->shared_addresses, cc_il_available()))        \
  X(CL_DEVICE_BUILT_IN_KERNELS, "")                                                                \
  X(CL_DEVICE_IL_VERSION, cc_il_available() ? icd_il_versions() : "")                              \
  X(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, "v0000-01-01-00") /* means none */

/* Atomics are atomic between kernels, but not between kernels and the host. */
static USM_BITS usm_access_bits(const struct rt_device_info *info) {
  return info->shared_addresses ? CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL |
                                      CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL |
                                      CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
                                : 0;
}

/* Returns the size of a kernel's parameters without the hidden block. */
static size_t user_param_bytes(const struct rt_device_info *info) {
  return info->max_param_bytes - sizeof(struct kernel_hidden);
}

static cl_int answer_list(const struct icd_answer *answer, const cl_name_version *list,
                          size_t count) {
  return icd_answer_bytes(answer, "clGetDeviceInfo", list, count * sizeof(*list));
}

/* Returns an empty list if programs cannot be created from SPIR-V. */
static cl_int answer_spirv(const struct icd_answer *answer, const void *values, size_t size) {
  return icd_answer_bytes(answer, "clGetDeviceInfo", values, cc_il_available() ? size : 0);
}

static cl_int answer_uuid(const struct icd_answer *answer, const char *kind, const char *name,
                          const char *identity) {
  cl_uchar uuid[CL_UUID_SIZE_KHR];
  icd_uuid(kind, name, identity, uuid);
  return icd_answer_bytes(answer, "clGetDeviceInfo", uuid, sizeof(uuid));
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info param_name,
                                                size_t param_value_size, void *param_value,
                                                size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_device(device))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE, "device %p is not a valid cl_device_id",
                    (void *)device);
  const struct rt_device_info *info = device->info;
  const cl_name_version *list;
  size_t count;

#define AS_VALUE(query, type, expression)                                                          \
  case query:                                                                                      \
    return ICD_ANSWER(&answer, type, expression);
#define AS_TEXT(query, expression)                                                                 \
  case query:                                                                                      \
    return ICD_ANSWER_STRING(&answer, expression);

  switch (param_name) {
    FIXED_VALUES(AS_VALUE)
    BOARD_VALUES(AS_VALUE)
    TEXTS(AS_TEXT)
  case CL_DEVICE_PLATFORM:
    return ICD_ANSWER(&answer, cl_platform_id, &icd_platform);
  case CL_DEVICE_COMPILER_AVAILABLE:
  case CL_DEVICE_LINKER_AVAILABLE:
    return ICD_ANSWER(&answer, cl_bool, cc_available());
  case CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR:
  case CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR: {
    const cl_device_integer_dot_product_acceleration_properties_khr all = {
        CL_TRUE, CL_TRUE, CL_TRUE, CL_TRUE, CL_TRUE, CL_TRUE};
    return icd_answer_bytes(&answer, __func__, &all, sizeof(all));
  }
  case CL_DEVICE_MAX_WORK_ITEM_SIZES: {
    const size_t sizes[3] = {info->max_block[0], info->max_block[1], info->max_block[2]};
    return icd_answer_bytes(&answer, __func__, sizes, sizeof(sizes));
  }
  case CL_DEVICE_NUMERIC_VERSION:
    return ICD_ANSWER(&answer, cl_version, icd_version(cc_il_available()));
  case CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS: {
    const char *const *sets = cc_il_instruction_sets(&count);
    return answer_spirv(&answer, sets, count * sizeof(*sets));
  }
  case CL_DEVICE_SPIRV_EXTENSIONS: {
    const char *const *extensions = cc_il_extensions(icd_cooperative_matrix(), &count);
    return answer_spirv(&answer, extensions, count * sizeof(*extensions));
  }
  case CL_DEVICE_SPIRV_CAPABILITIES: {
    const uint32_t *capabilities = cc_il_capabilities(icd_cooperative_matrix(), &count);
    return answer_spirv(&answer, capabilities, count * sizeof(*capabilities));
  }
  case CL_DEVICE_SUB_GROUP_SIZES_INTEL: {
    const size_t sizes[] = {info->warp_size};
    return icd_answer_bytes(&answer, __func__, sizes, sizeof(sizes));
  }
  case CL_DEVICE_PARTITION_TYPE: /* never partitioned, so the list is empty */
  case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
    return icd_answer_bytes(&answer, __func__, NULL, 0);
  case CL_DEVICE_UUID_KHR:
    return answer_uuid(&answer, "device", device->name, info->identity);
  case CL_DRIVER_UUID_KHR:
    return answer_uuid(&answer, "driver", ICD_DRIVER_VERSION_TEXT, "");
  case CL_DEVICE_LUID_KHR: { /* Windows only; never valid */
    const cl_uchar luid[CL_LUID_SIZE_KHR] = {0};
    return icd_answer_bytes(&answer, __func__, luid, sizeof(luid));
  }
  case CL_DEVICE_ILS_WITH_VERSION:
    list = icd_il_version_list(&count);
    return answer_list(&answer, list, cc_il_available() ? count : 0);
  case CL_DEVICE_EXTENSIONS_WITH_VERSION:
    list = icd_device_extension_list(info->shared_addresses, cc_il_available(), &count);
    return answer_list(&answer, list, count);
  case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
    list = icd_c_version_list(cc_il_available(), &count);
    return answer_list(&answer, list, count);
  case CL_DEVICE_OPENCL_C_FEATURES:
    list = icd_c_feature_list(&count);
    return answer_list(&answer, list, count);
  case CL_DEVICE_SVM_TYPE_CAPABILITIES_KHR:
  case CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR: {
    const cl_int code = icd_check_unified_svm(NULL, CL_INVALID_VALUE, __func__);
    if (code)
      return code;
    if (param_name == CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR)
      return ICD_ANSWER(&answer, size_t, info->shared_addresses);
    const cl_svm_capabilities_khr none[ICD_SVM_TYPES] = {0};
    return icd_answer_bytes(&answer, __func__, info->shared_addresses ? icd_svm_types : none,
                            sizeof(icd_svm_types));
  }
  case CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR:
  case CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR: {
    const cl_int code = icd_check_cooperative_matrix(NULL, CL_INVALID_VALUE, __func__);
    if (code)
      return code;
    return ICD_ANSWER(&answer, cl_uint,
                      param_name == CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR
                          ? CC_MATRIX_STRIDE
                          : CC_MATRIX_ALIGNMENT);
  }
  case CL_DEVICE_WARP_INSTRUCTIONS_TEGRACL: {
    uint64_t instructions;
    if (!icd_device() || rt_device_warp_instructions(device->rt, &instructions))
      return ICD_FAIL(NULL, CL_INVALID_VALUE, "%s", rt_last_message());
    return ICD_ANSWER(&answer, cl_ulong, instructions);
  }
  default:
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}
