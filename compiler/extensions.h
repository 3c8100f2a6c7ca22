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
  X("cl_khr_subgroup_rotate", CL_MAKE_VERSION(1, 0, 0))                                            \
  X("cl_khr_extended_bit_ops", CL_MAKE_VERSION(1, 0, 0))                                           \
  X("cl_khr_integer_dot_product", CL_MAKE_VERSION(2, 0, 0))                                        \
  X("cl_khr_expect_assume", CL_MAKE_VERSION(1, 0, 0))                                              \
  X("cl_khr_kernel_clock", CL_MAKE_VERSION(1, 0, 0))                                               \
  X("cl_ext_float_atomics", CL_MAKE_VERSION(1, 0, 0))                                              \
  X("cl_nv_compiler_options", CL_MAKE_VERSION(1, 0, 0))                                            \
  X("cl_nv_pragma_unroll", CL_MAKE_VERSION(1, 0, 0))

#define CC_FEATURES(X)                                                                             \
  X("__opencl_c_subgroups", CL_MAKE_VERSION(3, 0, 0))                                              \
  X("__opencl_c_atomic_order_acq_rel", CL_MAKE_VERSION(3, 0, 0))                                   \
  X("__opencl_c_atomic_order_seq_cst", CL_MAKE_VERSION(3, 0, 0))                                   \
  X("__opencl_c_atomic_scope_device", CL_MAKE_VERSION(3, 0, 0))                                    \
  X("__opencl_c_atomic_scope_all_devices", CL_MAKE_VERSION(3, 0, 0))                               \
  X("__opencl_c_generic_address_space", CL_MAKE_VERSION(3, 0, 0))                                  \
  X("__opencl_c_program_scope_global_variables", CL_MAKE_VERSION(3, 0, 0))                         \
  X("__opencl_c_work_group_collective_functions", CL_MAKE_VERSION(3, 0, 0))                        \
  X("__opencl_c_integer_dot_product_input_4x8bit", CL_MAKE_VERSION(3, 0, 0))                       \
  X("__opencl_c_integer_dot_product_input_4x8bit_packed", CL_MAKE_VERSION(3, 0, 0))                \
  X("__opencl_c_kernel_clock_scope_device", CL_MAKE_VERSION(3, 0, 0))                              \
  X("__opencl_c_kernel_clock_scope_work_group", CL_MAKE_VERSION(3, 0, 0))                          \
  X("__opencl_c_kernel_clock_scope_sub_group", CL_MAKE_VERSION(3, 0, 0))                           \
  X("__opencl_c_ext_fp32_global_atomic_add", CL_MAKE_VERSION(3, 0, 0))                             \
  X("__opencl_c_ext_fp32_local_atomic_add", CL_MAKE_VERSION(3, 0, 0))                              \
  X("__opencl_c_ext_fp32_global_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                         \
  X("__opencl_c_ext_fp32_local_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                          \
  X("__opencl_c_ext_fp64_global_atomic_add", CL_MAKE_VERSION(3, 0, 0))                             \
  X("__opencl_c_ext_fp64_local_atomic_add", CL_MAKE_VERSION(3, 0, 0))                              \
  X("__opencl_c_ext_fp64_global_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                         \
  X("__opencl_c_ext_fp64_local_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))

/* An entry of these lists as a word of a blank-separated one. */
#define CC_WORD(name, version) " " name

#endif
