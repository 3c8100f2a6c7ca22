/* Builds, compilations and links of programs, in the calling thread or in the background. */
#ifndef TEGRACL_ICD_BUILD_H
#define TEGRACL_ICD_BUILD_H

#include "icd/objects.h"

typedef void(CL_CALLBACK *icd_build_notify)(cl_program, void *);

/* A job for the compiler. */
struct icd_build {
  enum cc_action action;
  const char *call;            /* the API function */
  struct cc_source *sources;   /* objects to link; owned by the build */
  size_t source_count;         /* 0 if the program's own source is built */
  struct cc_header *headers;   /* list and names are owned by the build */
  cl_program *header_programs; /* held, because their sources are the texts of the headers */
  size_t header_count;
  char *folder; /* current directory at the call, or NULL if unknown; set by icd_build_run */
};

/* Frees the memory that the build owns. */
void icd_build_finish(struct icd_build *build);

/* Checks the device list and the callback. Returns CL_SUCCESS or an error. */
cl_int icd_build_check(cl_context context, cl_uint num_devices, const cl_device_id *device_list,
                       icd_build_notify notify, const void *user_data, const char *call);

/* Builds the program, or starts the build if notify is not NULL. Takes ownership of build. After
 * the build has started, notify is always called. Returns CL_SUCCESS or the error of the build.
 * With notify, an error means that the build has not started: CL_INVALID_OPERATION if the program
 * cannot be built now, or CL_OUT_OF_HOST_MEMORY. */
cl_int icd_build_run(cl_program program, const char *options, struct icd_build *build,
                     icd_build_notify notify, void *user_data);

#endif
