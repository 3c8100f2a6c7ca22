/* What buffers and images share in their creation. */
#ifndef TEGRACL_MEMORY_H
#define TEGRACL_MEMORY_H

#include "icd/objects.h"

#include "icd/cl_tegracl.h"

#define ICD_DEVICE_ACCESS (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
/* Flags that contradict an immutable object. */
#define ICD_MEM_WRITES (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY)
/* What kernels may do; CL_MEM_READ_WRITE if flags say nothing. */
#define ICD_DEVICE_RIGHTS (ICD_DEVICE_ACCESS | CL_MEM_IMMUTABLE_EXT)
#define ICD_HOST_POINTER  (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)
#define ICD_HOST_ACCESS   (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)
#define ICD_MEM_FLAGS                                                                              \
  (ICD_DEVICE_ACCESS | ICD_HOST_POINTER | ICD_HOST_ACCESS | CL_MEM_IMMUTABLE_EXT)

/* Memory for a new object; if there is none, tries again after reclaiming all retired objects.
 * pages: whole pages, its own. 0 or -errno with rt_last_message. */
int icd_mem_allocate(cl_context context, bool pages, size_t size, struct rt_buffer **buffer);

/* CL_INVALID_VALUE if flags of host pointers exclude each other; CL_INVALID_HOST_PTR if host_ptr is
 * missing, or given without a flag that uses it. */
cl_int icd_check_host_pointer(cl_context context, cl_mem_flags flags, const void *host_ptr,
                              const char *call);

/* An immutable object gets its contents when it is made: CL_INVALID_VALUE if it has neither
 * the flags of a host pointer nor other memory. */
cl_int icd_check_contents(cl_context context, cl_mem_flags flags, bool has_memory,
                          const char *call);

/* The parent's rights, unless its part names its own in *flags; it cannot have more.
 * CL_SUCCESS or CL_INVALID_VALUE. */
cl_int icd_inherit_flags(cl_mem parent, cl_mem_flags *flags, const char *call);

/* Whether the properties are known and go with each other and with the flags:
 * CL_INVALID_PROPERTY, CL_INVALID_DEVICE, CL_INVALID_VALUE. */
cl_int icd_check_mem_properties(cl_context context, const cl_mem_properties *properties,
                                cl_mem_flags flags, const char *call);
/* Keeps the list for the query of it; false: no memory. */
bool icd_keep_mem_properties(cl_mem mem, const cl_mem_properties *properties);

enum { ICD_PAGE_BYTES = 4096 }; /* the GPU's only page size */

/* A buffer of the pages that contain the host's bytes (host_pages.c): 0 or -errno. The context
 * counts it until icd_host_pages_release. A context is removed before it is destroyed. */
int icd_host_pages_import(cl_context context, void *memory, size_t size, struct rt_buffer **buffer);
void icd_host_pages_release(cl_context context);
void icd_host_pages_remove_context(cl_context context);

/* A part of another memory object, from byte origin on: holds it. NULL: no memory. */
cl_mem icd_mem_create_part(cl_mem parent, cl_mem_flags flags, size_t origin, size_t size);

/* Reports new memory to the software Orin's check mode. Memory with a host pointer, or that
 * exists already (svm), may be written by the host at any time. */
void icd_mem_note(cl_mem mem, bool svm);

#endif
