/* The extensions and the features of OpenCL C that are instructions of the SM:
 * one list for the driver, which reports them, and for the offline compiler.
 * X(name, version); the version is of the extension's specification.
 */
#ifndef TEGRACL_EXTENSIONS_H
#define TEGRACL_EXTENSIONS_H

#define CC_EXTENSIONS(X)                                                                           \
  X("cl_khr_fp16", CL_MAKE_VERSION(1, 0, 0))                                                       \
  X("cl_khr_subgroups", CL_MAKE_VERSION(1, 0, 0))                                                  \
  X("cl_khr_subgroup_extended_types", CL_MAKE_VERSION(1, 0, 0))                                    \
  X("cl_khr_subgroup_non_uniform_vote", CL_MAKE_VERSION(1, 0, 0))                                  \
  X("cl_khr_subgroup_ballot", CL_MAKE_VERSION(1, 0, 0))                                            \
  X("cl_khr_subgroup_non_uniform_arithmetic", CL_MAKE_VERSION(1, 0, 0))                            \
  X("cl_khr_subgroup_shuffle", CL_MAKE_VERSION(1, 0, 0))                                           \
  X("cl_khr_subgroup_shuffle_relative", CL_MAKE_VERSION(1, 0, 0))                                  \
  X("cl_khr_subgroup_clustered_reduce", CL_MAKE_VERSION(1, 0, 0))                                  \
  X("cl_khr_subgroup_rotate", CL_MAKE_VERSION(1, 0, 0))

#define CC_FEATURES(X) X("__opencl_c_subgroups", CL_MAKE_VERSION(3, 0, 0))

/* An entry of these lists as a word of a blank-separated one. */
#define CC_WORD(name, version) " " name

#endif
