/* Functions for the creation of buffers and images. */
#ifndef TEGRACL_MEMORY_H
#define TEGRACL_MEMORY_H

#include "icd/objects.h"

#include "icd/cl_tegracl.h"

#define ICD_DEVICE_ACCESS (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
/* Flags that exclude CL_MEM_IMMUTABLE_EXT. */
#define ICD_MEM_WRITES (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY)
/* Flags for the access of kernels. CL_MEM_READ_WRITE is the default. */
#define ICD_DEVICE_RIGHTS (ICD_DEVICE_ACCESS | CL_MEM_IMMUTABLE_EXT)
#define ICD_HOST_POINTER  (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)
#define ICD_HOST_ACCESS   (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)
#define ICD_MEM_FLAGS                                                                              \
  (ICD_DEVICE_ACCESS | ICD_HOST_POINTER | ICD_HOST_ACCESS | CL_MEM_IMMUTABLE_EXT)

/* Allocates memory for a new object. If there is not enough, reclaims all retired objects and
 * tries again. pages requests whole pages that no other object shares. Returns 0, or -errno with
 * rt_last_message. */
int icd_mem_allocate(cl_context context, bool pages, size_t size, struct rt_buffer **buffer);

/* Returns CL_INVALID_VALUE if host pointer flags are mutually exclusive, or CL_INVALID_HOST_PTR if
 * host_ptr does not agree with the flags. */
cl_int icd_check_host_pointer(cl_context context, cl_mem_flags flags, const void *host_ptr,
                              const char *call);

/* An immutable object must have contents from its creation. Returns CL_INVALID_VALUE if it has
 * neither host pointer flags nor existing memory (has_memory). */
cl_int icd_check_contents(cl_context context, cl_mem_flags flags, bool has_memory,
                          const char *call);

/* Adds the parent's access to *flags where *flags has none. Returns CL_INVALID_VALUE if *flags
 * has more access than the parent. */
cl_int icd_inherit_flags(cl_mem parent, cl_mem_flags *flags, const char *call);

/* Checks that the properties are known and agree with each other and with the flags. Returns
 * CL_INVALID_PROPERTY, CL_INVALID_DEVICE or CL_INVALID_VALUE. */
cl_int icd_check_mem_properties(cl_context context, const cl_mem_properties *properties,
                                cl_mem_flags flags, const char *call);
/* Copies the list, for CL_MEM_PROPERTIES. Returns false if out of memory. */
bool icd_keep_mem_properties(cl_mem mem, const cl_mem_properties *properties);

enum { ICD_PAGE_BYTES = 4096 }; /* the GPU's only page size */

/* Creates a buffer that uses the host's pages with these bytes (host_pages.c). Returns 0 or
 * -errno. The context counts the buffer until icd_host_pages_release. */
int icd_host_pages_import(cl_context context, void *memory, size_t size, struct rt_buffer **buffer);
void icd_host_pages_release(cl_context context);
/* Must be called before a context is destroyed. */
void icd_host_pages_remove_context(cl_context context);

/* Creates an object for the size bytes of parent that start at origin. The object holds a
 * reference to parent. Returns NULL if out of memory. */
cl_mem icd_mem_create_part(cl_mem parent, cl_mem_flags flags, size_t origin, size_t size);

/* Reports new memory to the check mode of the software Orin. The host may write memory that has
 * a host pointer, or that existed before (svm), at any time. */
void icd_mem_note(cl_mem mem, bool svm);

#endif
