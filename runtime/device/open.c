/* Selects the GPU: the board's nodes if they exist, else the software Orin. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/nvgpu/uapi.h"
#include "runtime/device/device.h"
#include "runtime/message.h"

const struct nvgpu_os *rt_device_os(void) {
  const char *choice = secure_getenv("TEGRACL_DEVICE");
  if (choice && *choice) {
    if (strcmp(choice, "board") == 0)
      return &nvgpu_os_linux;
    if (strcmp(choice, "emulator") == 0)
      return &nvgpu_os_emulator;
    rt_fail(-ENODEV, "TEGRACL_DEVICE: unknown value \"%s\"; use \"board\" or \"emulator\"", choice);
    return NULL;
  }
  /* Only a missing node means that there is no board. If opening it fails for another reason, the
   * error is reported instead of falling back to the software Orin. */
  int fd = nvgpu_os_linux.open(NVGPU_CTRL_NODE, O_RDWR);
  if (fd >= 0)
    nvgpu_os_linux.close(fd);
  bool absent = fd == -ENOENT || fd == -ENOTDIR;
  return absent ? &nvgpu_os_emulator : &nvgpu_os_linux;
}

int rt_device_open(struct rt_device **device) {
  const struct nvgpu_os *os = rt_device_os();
  if (os)
    return rt_device_create(os, device);
  /* Report the error here, as for TEGRACL_EMULATOR: the program only sees that no device was
   * found. */
  static atomic_flag reported = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&reported))
    fprintf(stderr, "tegracl: %s\n", rt_last_message());
  return -ENODEV;
}
