/* cl_tegracl_launch_info: queries about kernels and launches. The header also declares other
 * extensions that older OpenCL headers lack. It is public; the names of the extensions are in
 * CL_DEVICE_EXTENSIONS.
 */
#ifndef CL_TEGRACL_H
#define CL_TEGRACL_H

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdint.h>

#define cl_tegracl_launch_info 1

/* The upper half of these values is "TC". They are far above the blocks that Khronos assigns to
 * vendors in its registry (cl.xml), which are below 0x20000. */

/* clGetDeviceInfo, cl_ulong: number of warp instructions that the software Orin has executed.
 * CL_INVALID_VALUE on a board, which has no such counter. */
#define CL_DEVICE_WARP_INSTRUCTIONS_TEGRACL 0x54430001

/* clGetContextInfo, char[]: the fault that has made the context unusable (kernel, address,
 * nearest buffer), or "" if there was none. */
#define CL_CONTEXT_FAULT_TEGRACL 0x54430002

/* clGetKernelWorkGroupInfo, cl_uint: number of registers of each work-item. */
#define CL_KERNEL_REGISTERS_TEGRACL 0x54430003

/* clGetKernelWorkGroupInfo, cl_ulong: size in bytes of the machine code of the kernel and the
 * functions after it. */
#define CL_KERNEL_CODE_BYTES_TEGRACL 0x54430004

/* ---- declarations from Khronos's registry that older headers lack ------------------- */

/* OpenCL 3.1 and cl_khr_spirv_queries, for clGetDeviceInfo: const char *[], const char *[] and
 * cl_uint[]. */
#ifndef CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS
#define CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS 0x12B9
#define CL_DEVICE_SPIRV_EXTENSIONS                0x12BA
#define CL_DEVICE_SPIRV_CAPABILITIES              0x12BB
#endif

#ifndef cl_ext_buffer_device_address
#define cl_ext_buffer_device_address 1

typedef cl_ulong cl_mem_device_address_ext;

#define CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT 0x5000 /* cl_mem_properties, a cl_bool */
/* clGetMemObjectInfo, an address for each device */
#define CL_MEM_DEVICE_ADDRESS_EXT           0x5001
#define CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT 0x5002 /* clSetKernelExecInfo, a list of addresses */

typedef cl_int(CL_API_CALL *clSetKernelArgDevicePointerEXT_fn)(cl_kernel kernel, cl_uint arg_index,
                                                               cl_mem_device_address_ext arg_value);
extern CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgDevicePointerEXT(
    cl_kernel kernel, cl_uint arg_index, cl_mem_device_address_ext arg_value);
#endif

/* cl_ext_immutable_memory_objects */
#ifndef CL_MEM_IMMUTABLE_EXT
#define CL_MEM_IMMUTABLE_EXT (1 << 6) /* cl_mem_flags */
#endif

/* cl_ext_image_requirements_info and cl_ext_image_from_buffer */
#ifndef CL_IMAGE_REQUIREMENTS_SIZE_EXT
typedef cl_uint cl_image_requirements_info_ext;

#define CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT    0x1290
#define CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT 0x1292
#define CL_IMAGE_REQUIREMENTS_SIZE_EXT                   0x12B2
#define CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT              0x12B3
#define CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT             0x12B4
#define CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT              0x12B5
#define CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT         0x12B6

extern CL_API_ENTRY cl_int CL_API_CALL clGetImageRequirementsInfoEXT(
    cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
    const cl_image_format *image_format, const cl_image_desc *image_desc,
    cl_image_requirements_info_ext param_name, size_t param_value_size, void *param_value,
    size_t *param_value_size_ret);
#endif
#ifndef CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT
#define CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT 0x1291
#endif

/* cl_khr_semaphore and cl_khr_external_semaphore_sync_fd */
#ifndef CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
#define CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR     0x2053
#define CL_SEMAPHORE_DEVICE_HANDLE_LIST_END_KHR 0
#define CL_SEMAPHORE_EXPORTABLE_KHR             0x2054

typedef cl_properties cl_semaphore_reimport_properties_khr;
extern CL_API_ENTRY cl_int CL_API_CALL clReImportSemaphoreSyncFdKHR(
    cl_semaphore_khr sema_object, cl_semaphore_reimport_properties_khr *reimport_props, int fd);
#endif

/* OpenCL 3.1 */
#ifndef CL_VERSION_3_1
extern CL_API_ENTRY cl_int CL_API_CALL clGetKernelSuggestedLocalWorkSize(
    cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
    const size_t *global_work_offset, const size_t *global_work_size,
    size_t *suggested_local_work_size);
#endif

/* cl_khr_icd 2.0, used by ICD loaders */
#ifndef CL_ICD2_TAG_KHR
#if INTPTR_MAX == INT32_MAX
#define CL_ICD2_TAG_KHR ((intptr_t)0x434C3331)
#else
#define CL_ICD2_TAG_KHR ((intptr_t)0x4F50454E434C3331)
#endif

extern CL_API_ENTRY void *CL_API_CALL clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform,
                                                                            const char *func_name);
extern CL_API_ENTRY cl_int CL_API_CALL clIcdSetPlatformDispatchDataKHR(cl_platform_id platform,
                                                                       void *dispatch_data);
#endif

/* cl_khr_unified_svm 0.9.0, a draft. The device reports it only if TEGRACL_EXPERIMENTAL has
 * unified_svm. */
#ifndef cl_khr_unified_svm
#define cl_khr_unified_svm 1

typedef cl_bitfield cl_svm_capabilities_khr;
typedef cl_properties cl_svm_alloc_properties_khr;
typedef cl_bitfield cl_svm_alloc_access_flags_khr;
typedef cl_properties cl_svm_free_properties_khr;
typedef cl_bitfield cl_svm_free_flags_khr;
typedef cl_uint cl_svm_pointer_info_khr;

/* clGetPlatformInfo and clGetDeviceInfo, cl_svm_capabilities_khr[]: the types of allocations */
#define CL_PLATFORM_SVM_TYPE_CAPABILITIES_KHR 0x0909
#define CL_DEVICE_SVM_TYPE_CAPABILITIES_KHR   0x1077

#define CL_SVM_CAPABILITY_SINGLE_ADDRESS_SPACE_KHR     (1 << 0)
#define CL_SVM_CAPABILITY_SYSTEM_ALLOCATED_KHR         (1 << 1)
#define CL_SVM_CAPABILITY_DEVICE_OWNED_KHR             (1 << 2)
#define CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR      (1 << 3)
#define CL_SVM_CAPABILITY_CONTEXT_ACCESS_KHR           (1 << 4)
#define CL_SVM_CAPABILITY_HOST_OWNED_KHR               (1 << 5)
#define CL_SVM_CAPABILITY_HOST_READ_KHR                (1 << 6)
#define CL_SVM_CAPABILITY_HOST_WRITE_KHR               (1 << 7)
#define CL_SVM_CAPABILITY_HOST_MAP_KHR                 (1 << 8)
#define CL_SVM_CAPABILITY_DEVICE_READ_KHR              (1 << 9)
#define CL_SVM_CAPABILITY_DEVICE_WRITE_KHR             (1 << 10)
#define CL_SVM_CAPABILITY_DEVICE_ATOMIC_ACCESS_KHR     (1 << 11)
#define CL_SVM_CAPABILITY_CONCURRENT_ACCESS_KHR        (1 << 12)
#define CL_SVM_CAPABILITY_CONCURRENT_ATOMIC_ACCESS_KHR (1 << 13)
#define CL_SVM_CAPABILITY_INDIRECT_ACCESS_KHR          (1 << 14)

#define CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR 0x2078
#define CL_SVM_ALLOC_ACCESS_FLAGS_KHR             0x2079
#define CL_SVM_ALLOC_ALIGNMENT_KHR                0x207A

#define CL_SVM_ALLOC_ACCESS_HOST_NOREAD_KHR    (1 << 0)
#define CL_SVM_ALLOC_ACCESS_HOST_NOWRITE_KHR   (1 << 1)
#define CL_SVM_ALLOC_ACCESS_DEVICE_NOREAD_KHR  (1 << 8)
#define CL_SVM_ALLOC_ACCESS_DEVICE_NOWRITE_KHR (1 << 9)

#define CL_SVM_INFO_TYPE_INDEX_KHR               0x2088
#define CL_SVM_INFO_CAPABILITIES_KHR             0x2089
#define CL_SVM_INFO_PROPERTIES_KHR               0x208A
#define CL_SVM_INFO_ACCESS_FLAGS_KHR             0x208B
#define CL_SVM_INFO_BASE_PTR_KHR                 0x419B
#define CL_SVM_INFO_SIZE_KHR                     0x419C
#define CL_SVM_INFO_ASSOCIATED_DEVICE_HANDLE_KHR 0x419D

#define CL_KERNEL_EXEC_INFO_SVM_INDIRECT_ACCESS_KHR 0x11BB /* clSetKernelExecInfo, cl_bool */

#define CL_SVM_TYPE_MACRO_COARSE_GRAIN_BUFFER_KHR                                                  \
  (CL_SVM_CAPABILITY_SINGLE_ADDRESS_SPACE_KHR | CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR |        \
   CL_SVM_CAPABILITY_CONTEXT_ACCESS_KHR | CL_SVM_CAPABILITY_HOST_MAP_KHR |                         \
   CL_SVM_CAPABILITY_DEVICE_READ_KHR | CL_SVM_CAPABILITY_DEVICE_WRITE_KHR |                        \
   CL_SVM_CAPABILITY_DEVICE_ATOMIC_ACCESS_KHR)
#define CL_SVM_TYPE_MACRO_FINE_GRAIN_BUFFER_KHR                                                    \
  (CL_SVM_TYPE_MACRO_COARSE_GRAIN_BUFFER_KHR | CL_SVM_CAPABILITY_HOST_READ_KHR |                   \
   CL_SVM_CAPABILITY_HOST_WRITE_KHR | CL_SVM_CAPABILITY_CONCURRENT_ACCESS_KHR)
#define CL_SVM_TYPE_MACRO_DEVICE_KHR                                                               \
  (CL_SVM_CAPABILITY_SINGLE_ADDRESS_SPACE_KHR | CL_SVM_CAPABILITY_DEVICE_OWNED_KHR |               \
   CL_SVM_CAPABILITY_DEVICE_READ_KHR | CL_SVM_CAPABILITY_DEVICE_WRITE_KHR |                        \
   CL_SVM_CAPABILITY_DEVICE_ATOMIC_ACCESS_KHR | CL_SVM_CAPABILITY_INDIRECT_ACCESS_KHR)
#define CL_SVM_TYPE_MACRO_SINGLE_DEVICE_SHARED_KHR                                                 \
  (CL_SVM_CAPABILITY_SINGLE_ADDRESS_SPACE_KHR | CL_SVM_CAPABILITY_HOST_READ_KHR |                  \
   CL_SVM_CAPABILITY_HOST_WRITE_KHR | CL_SVM_CAPABILITY_DEVICE_READ_KHR |                          \
   CL_SVM_CAPABILITY_DEVICE_WRITE_KHR | CL_SVM_CAPABILITY_INDIRECT_ACCESS_KHR)
#define CL_SVM_TYPE_MACRO_HOST_KHR                                                                 \
  (CL_SVM_TYPE_MACRO_SINGLE_DEVICE_SHARED_KHR | CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR |        \
   CL_SVM_CAPABILITY_CONTEXT_ACCESS_KHR | CL_SVM_CAPABILITY_HOST_OWNED_KHR)

extern CL_API_ENTRY void *CL_API_CALL
clSVMAllocWithPropertiesKHR(cl_context context, const cl_svm_alloc_properties_khr *properties,
                            cl_uint svm_type_index, size_t size, cl_int *errcode_ret);
extern CL_API_ENTRY cl_int CL_API_CALL
clSVMFreeWithPropertiesKHR(cl_context context, const cl_svm_free_properties_khr *properties,
                           cl_svm_free_flags_khr flags, void *ptr);
extern CL_API_ENTRY cl_int CL_API_CALL clGetSVMPointerInfoKHR(
    cl_context context, cl_device_id device, const void *ptr, cl_svm_pointer_info_khr param_name,
    size_t param_value_size, void *param_value, size_t *param_value_size_ret);
extern CL_API_ENTRY cl_int CL_API_CALL clGetSVMSuggestedTypeIndexKHR(
    cl_context context, cl_svm_capabilities_khr required_capabilities,
    cl_svm_capabilities_khr desired_capabilities, const cl_svm_alloc_properties_khr *properties,
    size_t size, cl_uint *suggested_svm_type_index);
#endif
/* In the text of the draft only. Another draft, of cooperative matrices, uses the number, too. */
#ifndef CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR
#define CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR 0x1078 /* clGetDeviceInfo, size_t */
#endif

/* cl_khr_cooperative_matrix 1.0.0, a draft: matrices in SPIR-V modules. The device reports it only
 * if TEGRACL_EXPERIMENTAL has cooperative_matrix. */
#ifndef cl_khr_cooperative_matrix
#define cl_khr_cooperative_matrix 1

typedef cl_uint cl_device_cooperative_matrix_info_khr;
typedef cl_uint cl_device_cooperative_matrix_component_type_khr;

/* clGetDeviceCooperativeMatrixInfoKHR, cl_device_cooperative_matrix_variant_khr[]: products for the
 * default sub-group size, and for that in the input (cl_uint) */
#define CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR 0x1078
#define CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR         0x1079

/* clGetDeviceInfo, cl_uint, in bytes */
#define CL_DEVICE_COOPERATIVE_MATRIX_POINTER_ALIGNMENT_KHR 0x107A
#define CL_DEVICE_COOPERATIVE_MATRIX_STRIDE_MULTIPLE_KHR   0x107B

#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_FP16_KHR   0
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_FP32_KHR   1
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_FP64_KHR   2
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_SINT8_KHR  3
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_SINT16_KHR 4
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_SINT32_KHR 5
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_SINT64_KHR 6
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_UINT8_KHR  7
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_UINT16_KHR 8
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_UINT32_KHR 9
#define CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_UINT64_KHR 10

typedef struct _cl_device_cooperative_matrix_variant_khr {
  cl_uint m_size;
  cl_uint n_size;
  cl_uint k_size;
  cl_device_cooperative_matrix_component_type_khr a_type;
  cl_device_cooperative_matrix_component_type_khr b_type;
  cl_device_cooperative_matrix_component_type_khr c_type;
  cl_device_cooperative_matrix_component_type_khr result_type;
  cl_bool saturating_accumulation;
} cl_device_cooperative_matrix_variant_khr;

extern CL_API_ENTRY cl_int CL_API_CALL clGetDeviceCooperativeMatrixInfoKHR(
    cl_device_id device, cl_device_cooperative_matrix_info_khr param_name, size_t input_value_size,
    const void *input_value, size_t param_value_size, void *param_value,
    size_t *param_value_size_ret);
#endif

#ifndef CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR
#define CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR 0x2052
#endif

#endif
