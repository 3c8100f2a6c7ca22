/* OpenCL C 3.0 (-cl-std=CL3.0) as the device offers it. */
#if __OPENCL_C_VERSION__ != 300 || __OPENCL_VERSION__ != 310 || !defined(CL_VERSION_3_0)
#error wrong version macros
#endif
#if !defined(__opencl_c_images) || !defined(__opencl_c_int64) || !defined(__opencl_c_fp64) ||     \
    !defined(__opencl_c_subgroups)
#error wrong feature macros
#endif
constant int answer = 42;
kernel void three(global int *out) {
  out[get_global_id(0)] = answer + (int)get_enqueued_local_size(0) + (int)get_global_linear_id() +
                          (int)get_local_linear_id();
}
