/* Where clang, NVRTC, tegraclc and the tools for SPIR-V are. Used by both sides, so that
 * cc_available() and the compiler agree. Starts no process, loads nothing.
 */
#ifndef TEGRACL_FIND_H
#define TEGRACL_FIND_H

#include <stdbool.h>
#include <stddef.h>

enum { CC_PATH_MAX = 4096 };

/* The file name of the compiler command: TEGRACL_COMPILER, else next to the
 * object this code is linked into (a build tree: ../compiler/tegraclc; an
 * installation: ../libexec/tegracl, ../bin), or that object itself when it is
 * tegraclc, else PATH. */
bool cc_find_tegraclc(char path[CC_PATH_MAX]);

/* The clang executable: TEGRACL_CLANG, else the one of the LLVM release that
 * tegraclc is built with, or of the newest before it (its bitcode must be readable by
 * tegraclc): clang-N on PATH, /usr/lib/llvm-N/bin/clang. Plain "clang" only when these
 * are missing. */
bool cc_find_clang(char path[CC_PATH_MAX]);

/* The executables that SPIR-V needs: spirv-val (TEGRACL_SPIRV_VAL, else PATH) and
 * llvm-spirv (TEGRACL_LLVM_SPIRV, else llvm-spirv-N as for clang, else llvm-spirv). False
 * if one of them is missing. */
bool cc_find_spirv_tools(char validator[CC_PATH_MAX], char translator[CC_PATH_MAX]);

/* The file name of libnvrtc.so to dlopen: TEGRACL_NVRTC (file or folder), then
 * the folder nvrtc/ of the build tree (../nvrtc or ../../nvrtc from tegraclc;
 * where tests/demo puts the PyPI package), then /usr/local/lib/nvrtc (where the README has it
 * installed for all users of a machine), then libnvrtc.so.13, .12, .11.2 in
 * the dynamic loader's folders, then /usr/local/cuda*, then where pip puts it:
 * $VIRTUAL_ENV, ~/.local, /usr/local. */
bool cc_find_nvrtc(char path[CC_PATH_MAX]);

/* How to install it, in words for messages. */
#define CC_NVRTC_HELP                                                                              \
  "on a Jetson: sudo apt install cuda-nvrtc-12-6 (JetPack 6.1 and later; 6.0: cuda-nvrtc-12-2); "  \
  "elsewhere: sudo apt install python3-pip && sudo pip install --target /usr/local/lib/nvrtc "     \
  "nvidia-cuda-nvrtc"

#endif
