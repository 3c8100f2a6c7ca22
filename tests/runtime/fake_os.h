/* A fake kernel in which every call succeeds unless a test makes it fail. It counts live objects,
 * but runs no GPU work. */
#ifndef TEGRACL_TESTS_FAKE_OS_H
#define TEGRACL_TESTS_FAKE_OS_H

#include <stdbool.h>

#include "gpu/nvgpu/os.h"

extern const struct nvgpu_os fake_os;

/* Resets all counters. If refuse is not 0, call number refuse (from 1) returns result: -errno, or
 * for an ioctl a number of bytes that were not copied (docs/hardware/kernel-interface.md 1.4);
 * other calls then return -EFAULT. A failed close still closes the fd, as on Linux. After a failed
 * FREE, UNMAP_BUFFER or munmap the object does not count as alive. With zero_fds the first dmabuf
 * fd is 0, as if the program had closed stdin. */
void fake_os_reset(unsigned refuse, int result, bool zero_fds);
/* Like fake_os_reset for the nth call (from 1) with this name, as returned by
 * fake_os_refused_call. */
void fake_os_refuse_named(const char *call, unsigned nth, int result);
bool fake_os_refused(void);
/* Makes every call with this name return result. NULL ends this. */
void fake_os_refuse_all(const char *call, int result);
const char *fake_os_refused_call(void);

struct fake_alive {
  int fds, handles, gpu_mappings, cpu_mappings, reservations;
};
struct fake_alive fake_os_alive(void);

/* Sets the result of opening the software Orin's node until the next reset. The default is
 * -ENOENT. */
void fake_os_emulator_node(int result);

/* Makes this SM report an error of the warp at pc. */
void fake_os_sm_error(unsigned sm, unsigned long long pc);

/* Returns the end of the address range of the last context. */
unsigned long long fake_os_last_va_end(void);
/* Returns whether the user-mode page was mapped while no channel kept the GPU powered: before the
 * first SETUP_BIND, or while the last such channel was closed. */
bool fake_os_saw_page_without_power(void);
/* Returns whether SETUP_BIND was passed dmabuf fd 0. */
bool fake_os_saw_fd_zero(void);

#endif
