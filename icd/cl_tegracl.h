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

#ifndef CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR
#define CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR 0x2052
#endif

#endif
