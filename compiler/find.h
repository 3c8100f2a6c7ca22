/* Locates clang, NVRTC, tegraclc and the tools for SPIR-V. Both the library and tegraclc use it,
 * so cc_available agrees with the compiler. Starts no process and loads no library.
 */
#ifndef TEGRACL_FIND_H
#define TEGRACL_FIND_H

#include <stdbool.h>
#include <stddef.h>

enum { CC_PATH_MAX = 4096 };

/* Finds tegraclc: TEGRACL_COMPILER, else relative to the object that contains this code
 * (../compiler/tegraclc in a build tree, ../libexec/tegracl or ../bin after
 * installation), or that object itself if it is tegraclc, else PATH. */
bool cc_find_tegraclc(char path[CC_PATH_MAX]);

/* Finds the clang executable: TEGRACL_CLANG, else clang-N on PATH or
 * /usr/lib/llvm-N/bin/clang, where N is the LLVM release that tegraclc is built with or the
 * newest older one, whose bitcode it can read. Plain "clang" is the last resort. */
bool cc_find_clang(char path[CC_PATH_MAX]);

/* Finds the executables for SPIR-V: spirv-val (TEGRACL_SPIRV_VAL, else PATH) and
 * llvm-spirv (TEGRACL_LLVM_SPIRV, else llvm-spirv-N with N as for clang, else
 * llvm-spirv). Returns false if one of them is missing. */
bool cc_find_spirv_tools(char validator[CC_PATH_MAX], char translator[CC_PATH_MAX]);

/* Finds the libnvrtc.so for dlopen, in this order: TEGRACL_NVRTC (file or folder); nvrtc/
 * in the build tree (../nvrtc or ../../nvrtc from tegraclc), where tests/demo puts the PyPI
 * package; /usr/local/lib/nvrtc, which the README recommends for installation for all
 * users; libnvrtc.so.13, .12 and .11.2 in the dynamic loader's folders; /usr/local/cuda*;
 * and pip's folders in $VIRTUAL_ENV, ~/.local and /usr/local. */
bool cc_find_nvrtc(char path[CC_PATH_MAX]);

/* An environment for helper processes. Relative names in the variables above are made absolute:
 * this process and its helpers then find the same files. */
struct cc_environment {
  char **variables; /* ends with NULL */
  char **own;       /* the variables that were changed */
  size_t own_count;
};
/* Makes it from the variables, which must outlive it. Returns false if out of memory. */
bool cc_environment_make(char *const *variables, struct cc_environment *environment);
void cc_environment_finish(struct cc_environment *environment);

/* Installation instructions for messages. */
#define CC_NVRTC_HELP                                                                              \
  "on a Jetson: sudo apt install cuda-nvrtc-12-6 (JetPack 6.1 and later; 6.0: cuda-nvrtc-12-2); "  \
  "elsewhere: sudo apt install python3-pip && sudo pip install --target /usr/local/lib/nvrtc "     \
  "nvidia-cuda-nvrtc"

#endif
