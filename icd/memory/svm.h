/* Shared virtual memory: what svm.c, svm_commands.c and usm.c share. */
#ifndef TEGRACL_SVM_H
#define TEGRACL_SVM_H

#include "icd/objects.h"

/* CL_INVALID_OPERATION if the device has none. */
cl_int icd_check_svm(cl_context context, const char *call);

/* CL_INVALID_VALUE if no allocation can have that alignment; 0 means any. */
cl_int icd_check_alignment(cl_context context, cl_uint alignment, const char *call);

/* A new allocation, known to icd_svm_find. usm: NULL for clSVMAlloc's. NULL, with *code
 * and a sentence. */
cl_mem icd_svm_create(cl_context context, cl_mem_flags flags, size_t size,
                      const struct icd_usm *usm, cl_int *code, const char *call);

/* The allocation that begins at pointer, which is no longer one: the caller drops it.
 * NULL if there is none. */
cl_mem icd_svm_remove(cl_context context, const void *pointer);

/* For arguments that are a global or constant pointer (kernel.c): CL_INVALID_ARG_INDEX if
 * there is none of that index, the code other for others; and setting it. */
cl_int icd_check_pointer_arg(cl_kernel kernel, cl_uint index, cl_int other, const char *call);
void icd_set_pointer_arg(cl_kernel kernel, cl_uint index, const void *pointer);

/* clSetKernelArg, clSetKernelArgSVMPointer and clSetKernelExecInfo; errors name call.
 */
cl_int icd_set_arg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void *arg_value,
                   const char *call);
cl_int icd_set_svm_arg(cl_kernel kernel, cl_uint arg_index, const void *arg_value,
                       const char *call);
cl_int icd_set_exec_info(cl_kernel kernel, cl_kernel_exec_info param_name, size_t param_value_size,
                         const void *param_value, const char *call);

struct icd_operation;

/* Operations on bare memory, checked but for queue and wait list, without mems (svm_commands.c);
 * and the commands, for both names that each has. */
cl_int icd_svm_copy_operation(cl_command_queue queue, cl_command_type type, void *target,
                              const void *source, size_t size, struct icd_operation *operation,
                              const char *call);
cl_int icd_svm_fill_operation(cl_command_queue queue, cl_command_type type, void *target,
                              const void *pattern, size_t pattern_size, size_t size,
                              struct icd_operation *operation, const char *call);
cl_int icd_svm_copy(cl_command_queue queue, cl_command_type type, bool blocking, void *target,
                    const void *source, size_t size, cl_uint wait_count, const cl_event *waits,
                    cl_event *event, const char *call);
cl_int icd_svm_fill(cl_command_queue queue, cl_command_type type, void *target, const void *pattern,
                    size_t pattern_size, size_t size, cl_uint wait_count, const cl_event *waits,
                    cl_event *event, const char *call);

#endif
