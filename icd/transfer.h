/* Checks that all commands on buffers share. Each gives CL_SUCCESS or its error
 * with a sentence under the name of call.
 */
#ifndef TEGRACL_TRANSFER_H
#define TEGRACL_TRANSFER_H

#include "icd/objects.h"

/* CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT */
cl_int icd_check_mem(cl_command_queue queue, cl_mem mem, const char *call);

/* CL_INVALID_VALUE */
cl_int icd_check_range(cl_mem mem, size_t offset, size_t size, const char *call);

/* CL_INVALID_OPERATION: CL_MEM_HOST_* flags forbid what the host wants to do. */
cl_int icd_check_host_access(cl_mem mem, bool read, bool write, const char *call);

#endif
