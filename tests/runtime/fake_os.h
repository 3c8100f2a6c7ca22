/* A kernel that grants everything, counts what is alive, and can refuse its
 * n-th call. It runs no GPU work.
 */
#ifndef TEGRACL_TESTS_FAKE_OS_H
#define TEGRACL_TESTS_FAKE_OS_H

#include <stdbool.h>

#include "gpu/nvgpu/os.h"

extern const struct nvgpu_os fake_os;

/* Counters start at zero; call number refuse (from 1; 0: none) gives result: -errno, or
 * for an ioctl a count of bytes that were not copied (docs/hardware/kernel-interface.md 1.4), which
 * is -EFAULT for other calls. A refused close has closed, as on Linux; what a refused FREE,
 * UNMAP_BUFFER or munmap should have ended is not counted as alive.
 * zero_fds: the first dmabuf fd is number 0, as when a program has closed stdin. */
void fake_os_reset(unsigned refuse, int result, bool zero_fds);
/* The same for the nth call of one name (from 1), as fake_os_refused_call gives it. */
void fake_os_refuse_named(const char *call, unsigned nth, int result);
bool fake_os_refused(void);
/* From now on every call of that name gives result; NULL: none does. */
void fake_os_refuse_all(const char *call, int result);
const char *fake_os_refused_call(void);

struct fake_alive {
  int fds, handles, gpu_mappings, cpu_mappings;
};
struct fake_alive fake_os_alive(void);

/* The result of opening the software Orin's node, until the next reset; else -ENOENT. */
void fake_os_emulator_node(int result);

/* From now on SM number sm reports an error of the warp at pc. */
void fake_os_sm_error(unsigned sm, unsigned long long pc);

/* The address range and mapping addresses that contexts were given. */
unsigned long long fake_os_last_va_end(void);
/* The user-mode page was mapped while no channel kept the GPU powered: before the first
 * SETUP_BIND, or at the last such channel's close. */
bool fake_os_saw_page_without_power(void);
/* dmabuf fd numbers that SETUP_BIND was handed. */
bool fake_os_saw_fd_zero(void);

#endif
