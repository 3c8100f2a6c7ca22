/* The extensions and OpenCL C features of the device. The driver, which reports them, and the
 * offline compiler share this list. icd/platform/device_text.c has those that depend on the
 * machine.
 * X(name, version), with the version of the extension's specification.
 */
#ifndef TEGRACL_EXTENSIONS_H
#define TEGRACL_EXTENSIONS_H

/* Extensions that SM instructions implement. cl_intel_subgroups and related extensions are not
 * reported, although programs may use their functions: OpenCV's matrix product would then use a
 * kernel for sub-groups of 8, whose results are wrong with sub-groups of 32. */
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
  X("cl_intel_bfloat16_conversions", CL_MAKE_VERSION(1, 0, 0))                                     \
  X("cl_intel_required_subgroup_size", CL_MAKE_VERSION(1, 0, 0))                                   \
  X("cl_intel_split_work_group_barrier", CL_MAKE_VERSION(1, 0, 0))                                 \
  X("cl_nv_compiler_options", CL_MAKE_VERSION(1, 0, 0))                                            \
  X("cl_nv_pragma_unroll", CL_MAKE_VERSION(1, 0, 0))                                               \
  X("cl_tegracl_matrix", CL_MAKE_VERSION(1, 0, 0))

/* Extensions of the platform, all of them complete. The platform's extensions are also extensions
 * of the device. */
#define CC_PLATFORM_EXTENSIONS(X)                                                                  \
  X("cl_khr_semaphore", CL_MAKE_VERSION(1, 0, 0))                                                  \
  X("cl_khr_external_semaphore", CL_MAKE_VERSION(1, 0, 1))                                         \
  X("cl_khr_external_semaphore_sync_fd", CL_MAKE_VERSION(1, 0, 0))                                 \
  X("cl_khr_external_memory", CL_MAKE_VERSION(1, 0, 1))                                            \
  X("cl_khr_external_memory_dma_buf", CL_MAKE_VERSION(1, 0, 0))                                    \
  X("cl_khr_icd", CL_MAKE_VERSION(2, 0, 0))                                                        \
  X("cl_khr_extended_versioning", CL_MAKE_VERSION(1, 0, 0))

#define CC_DEVICE_EXTENSIONS(X)                                                                    \
  CC_PLATFORM_EXTENSIONS(X)                                                                        \
  X("cl_khr_command_buffer", CL_MAKE_VERSION(0, 9, 8))                                             \
  X("cl_khr_command_buffer_mutable_dispatch", CL_MAKE_VERSION(0, 9, 5))                            \
  X("cl_khr_create_command_queue", CL_MAKE_VERSION(1, 0, 0))                                       \
  X("cl_khr_priority_hints", CL_MAKE_VERSION(1, 0, 0))                                             \
  X("cl_khr_throttle_hints", CL_MAKE_VERSION(1, 0, 0))                                             \
  X("cl_khr_suggested_local_work_size", CL_MAKE_VERSION(1, 0, 0))                                  \
  X("cl_khr_device_uuid", CL_MAKE_VERSION(1, 0, 0))                                                \
  X("cl_arm_import_memory", CL_MAKE_VERSION(1, 0, 0))                                              \
  X("cl_arm_import_memory_host", CL_MAKE_VERSION(1, 0, 0))                                         \
  X("cl_arm_import_memory_dma_buf", CL_MAKE_VERSION(1, 0, 0))                                      \
  X("cl_khr_byte_addressable_store", CL_MAKE_VERSION(1, 0, 0))                                     \
  X("cl_khr_global_int32_base_atomics", CL_MAKE_VERSION(1, 0, 0))                                  \
  X("cl_khr_global_int32_extended_atomics", CL_MAKE_VERSION(1, 0, 0))                              \
  X("cl_khr_local_int32_base_atomics", CL_MAKE_VERSION(1, 0, 0))                                   \
  X("cl_khr_local_int32_extended_atomics", CL_MAKE_VERSION(1, 0, 0))                               \
  X("cl_khr_int64_base_atomics", CL_MAKE_VERSION(1, 0, 0))                                         \
  X("cl_khr_int64_extended_atomics", CL_MAKE_VERSION(1, 0, 0))                                     \
  X("cl_khr_fp64", CL_MAKE_VERSION(1, 0, 0))                                                       \
  X("cl_khr_3d_image_writes", CL_MAKE_VERSION(1, 0, 0))                                            \
  X("cl_khr_depth_images", CL_MAKE_VERSION(1, 0, 0))                                               \
  X("cl_khr_image2d_from_buffer", CL_MAKE_VERSION(1, 0, 0))                                        \
  X("cl_khr_srgb_image_writes", CL_MAKE_VERSION(1, 0, 0))                                          \
  CC_EXTENSIONS(X)                                                                                 \
  X("cl_ext_cxx_for_opencl", CL_MAKE_VERSION(1, 0, 0))                                             \
  X("cl_arm_printf", CL_MAKE_VERSION(2, 0, 0))                                                     \
  X("cl_ext_buffer_device_address", CL_MAKE_VERSION(1, 0, 2))                                      \
  X("cl_ext_immutable_memory_objects", CL_MAKE_VERSION(1, 0, 0))                                   \
  X("cl_ext_image_requirements_info", CL_MAKE_VERSION(0, 5, 0))                                    \
  X("cl_ext_image_from_buffer", CL_MAKE_VERSION(1, 0, 0))                                          \
  X("cl_nv_device_attribute_query", CL_MAKE_VERSION(1, 0, 0))                                      \
  X("cl_tegracl_launch_info", CL_MAKE_VERSION(1, 0, 0))

/* Extensions that the device reports only if TEGRACL_EXPERIMENTAL contains the name without
 * cl_khr_. The CTS of August 2026 fails on a device that reports them, because its list of approved
 * names lacks them. */
#define CC_EXPERIMENTAL_EXTENSIONS(X)                                                              \
  X("cl_khr_work_group_uniform_arithmetic", CL_MAKE_VERSION(1, 0, 0))

/* Not __opencl_c_ext_fp16_global_atomic_add and _local_: the CTS of August 2026 demands that the
 * NaNs of such sums have the bits that the CPU's would have. */
#define CC_FEATURES(X)                                                                             \
  X("__opencl_c_fp64", CL_MAKE_VERSION(3, 0, 0))                                                   \
  X("__opencl_c_int64", CL_MAKE_VERSION(3, 0, 0))                                                  \
  X("__opencl_c_images", CL_MAKE_VERSION(3, 0, 0))                                                 \
  X("__opencl_c_read_write_images", CL_MAKE_VERSION(3, 0, 0))                                      \
  X("__opencl_c_3d_image_writes", CL_MAKE_VERSION(3, 0, 0))                                        \
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
  X("__opencl_c_ext_fp16_global_atomic_load_store", CL_MAKE_VERSION(3, 0, 0))                      \
  X("__opencl_c_ext_fp16_local_atomic_load_store", CL_MAKE_VERSION(3, 0, 0))                       \
  X("__opencl_c_ext_fp16_global_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                         \
  X("__opencl_c_ext_fp16_local_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                          \
  X("__opencl_c_ext_fp32_global_atomic_add", CL_MAKE_VERSION(3, 0, 0))                             \
  X("__opencl_c_ext_fp32_local_atomic_add", CL_MAKE_VERSION(3, 0, 0))                              \
  X("__opencl_c_ext_fp32_global_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                         \
  X("__opencl_c_ext_fp32_local_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                          \
  X("__opencl_c_ext_fp64_global_atomic_add", CL_MAKE_VERSION(3, 0, 0))                             \
  X("__opencl_c_ext_fp64_local_atomic_add", CL_MAKE_VERSION(3, 0, 0))                              \
  X("__opencl_c_ext_fp64_global_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))                         \
  X("__opencl_c_ext_fp64_local_atomic_min_max", CL_MAKE_VERSION(3, 0, 0))

/* Turns an entry of these lists into a word of a blank-separated list. */
#define CC_WORD(name, version) " " name

#endif
