/* cl_tegracl_launch_info: what a developer wants to know about kernels and
 * launches and OpenCL has no query for. Public header; the extension's name is
 * in CL_DEVICE_EXTENSIONS.
 */
#ifndef CL_TEGRACL_H
#define CL_TEGRACL_H

#include <CL/cl.h>

#define cl_tegracl_launch_info 1

/* The values lie far outside the blocks which Khronos's registry (cl.xml) hands
 * out to vendors, all below 0x20000: the upper half spells "TC". */

/* clGetDeviceInfo, cl_ulong: warp instructions that the software Orin has
 * executed so far. CL_INVALID_VALUE on a board, which has no such counter. */
#define CL_DEVICE_WARP_INSTRUCTIONS_TEGRACL 0x54430001

/* clGetContextInfo, char[]: why the context is dead (kernel, address, nearest
 * buffer); the empty string while it is healthy. */
#define CL_CONTEXT_FAULT_TEGRACL 0x54430002

/* clGetKernelWorkGroupInfo, cl_uint: registers of each work-item. */
#define CL_KERNEL_REGISTERS_TEGRACL 0x54430003

/* clGetKernelWorkGroupInfo, cl_ulong: bytes of machine code of the kernel and
 * of the functions behind it. */
#define CL_KERNEL_CODE_BYTES_TEGRACL 0x54430004

#endif
