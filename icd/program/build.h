/* Builds, compilations and links of programs, at once or in their own threads. */
#ifndef TEGRACL_ICD_BUILD_H
#define TEGRACL_ICD_BUILD_H

#include "icd/objects.h"

typedef void(CL_CALLBACK *icd_build_notify)(cl_program, void *);

/* One job for the compiler. */
struct icd_build {
  enum cc_action action;
  const char *call;            /* the API function */
  struct cc_source *sources;   /* links: objects; list and bytes belong to the build */
  size_t source_count;         /* others: 0, the source is the program's */
  struct cc_header *headers;   /* list and names belong to the build */
  cl_program *header_programs; /* held: theirs are the headers' texts */
  size_t header_count;
};

/* Frees what belongs to the build. */
void icd_build_finish(struct icd_build *build);

/* The device list and the callback. CL_SUCCESS or the error. */
cl_int icd_build_check(cl_context context, cl_uint num_devices, const cl_device_id *device_list,
                       icd_build_notify notify, const void *user_data, const char *call);

/* Does the build, or starts it if notify is given: CL_SUCCESS, the build's error, or
 * CL_INVALID_OPERATION if the program cannot be built now. Takes build over. */
cl_int icd_build_run(cl_program program, const char *options, struct icd_build *build,
                     icd_build_notify notify, void *user_data);

#endif
