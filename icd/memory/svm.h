/* Functions that svm.c, svm_commands.c, usm.c and unified_svm.c share. */
#ifndef TEGRACL_SVM_H
#define TEGRACL_SVM_H

#include "icd/objects.h"

/* Returns CL_INVALID_OPERATION if the device does not support shared virtual memory. */
cl_int icd_check_svm(cl_context context, const char *call);

/* Returns CL_INVALID_VALUE if the alignment is not supported. 0 means any alignment. */
cl_int icd_check_alignment(cl_context context, cl_uint alignment, const char *call);

enum { ICD_SVM_ALIGN_MAX = 4096 }; /* every allocation starts at a page boundary */

/* Creates an allocation that icd_svm_find finds, with a copy of the property list, if there is
 * one. On failure sets *code, reports the error under the name call and returns NULL. */
cl_mem icd_svm_create(cl_context context, cl_mem_flags flags, size_t size,
                      const struct icd_usm *usm, const cl_mem_properties *properties, cl_int *code,
                      const char *call);

/* Frees an allocation of cl_intel_unified_shared_memory, or another one. Returns CL_INVALID_VALUE
 * if pointer is not the beginning of one of that kind. NULL is allowed. */
cl_int icd_svm_release(cl_context context, void *pointer, bool intel, const char *call);

/* Removes the allocation that begins at pointer from the context and returns it, with its
 * reference. Returns NULL if there is none. */
cl_mem icd_svm_remove(cl_context context, const void *pointer);

/* Checks that an argument is a pointer to global or constant memory (kernel.c). Returns
 * CL_INVALID_ARG_INDEX if there is no argument with that index, or other if the argument is of
 * another kind. */
cl_int icd_check_pointer_arg(cl_kernel kernel, cl_uint index, cl_int other, const char *call);
void icd_set_pointer_arg(cl_kernel kernel, cl_uint index, const void *pointer);

/* Implement clSetKernelArg, clSetKernelArgSVMPointer and clSetKernelExecInfo. They report errors
 * under the name call. */
cl_int icd_set_arg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void *arg_value,
                   const char *call);
cl_int icd_set_svm_arg(cl_kernel kernel, cl_uint arg_index, const void *arg_value,
                       const char *call);
cl_int icd_set_exec_info(cl_kernel kernel, cl_kernel_exec_info param_name, size_t param_value_size,
                         const void *param_value, const char *call);

struct icd_operation;

/* Fill in an operation on memory that is not a memory object (svm_commands.c). They check
 * everything except the queue and the wait list, and leave mems empty. */
cl_int icd_svm_copy_operation(cl_command_queue queue, cl_command_type type, void *target,
                              const void *source, size_t size, struct icd_operation *operation,
                              const char *call);
cl_int icd_svm_fill_operation(cl_command_queue queue, cl_command_type type, void *target,
                              const void *pattern, size_t pattern_size, size_t size,
                              struct icd_operation *operation, const char *call);
/* Implement the copies and fills of clEnqueueSVM* and clEnqueueMem*INTEL. */
cl_int icd_svm_copy(cl_command_queue queue, cl_command_type type, bool blocking, void *target,
                    const void *source, size_t size, cl_uint wait_count, const cl_event *waits,
                    cl_event *event, const char *call);
cl_int icd_svm_fill(cl_command_queue queue, cl_command_type type, void *target, const void *pattern,
                    size_t pattern_size, size_t size, cl_uint wait_count, const cl_event *waits,
                    cl_event *event, const char *call);

#endif
