/* Checks and copies the arguments of each request of nvgpu's and host1x's nodes, and copies the
 * results. docs/hardware/kernel-interface.md 1.3 and 1.4 */
#include "emulator/kernel/dispatch.h"

#include <errno.h>

#include "emulator/kernel/l4t.h"
#include "emulator/kernel/power.h"
#include "emulator/kernel/user_copy.h"

/* At least the size of the largest argument, 264 bytes of GET_CPU_TIME_CORRELATION_INFO. */
enum { ARGUMENT_MAX = 512 };

static bool uses_power(uint32_t request) {
  for (size_t i = 0; i < emu_power_request_count; i++)
    if (emu_power_requests[i] == request)
      return true;
  return false;
}

int emu_dispatch(const struct emu_node *node, struct emu_object *object, int fd,
                 unsigned long request, void *user) {
  unsigned number = _IOC_NR(request);
  size_t size = _IOC_SIZE(request);
  unsigned direction = _IOC_DIR(request);
  /* docs/hardware/kernel-interface.md 1.4, rows "wrong magic" to "size field" */
  if (_IOC_TYPE(request) != node->magic || number == 0 || number > emu_l4t_last_number(node) ||
      size > node->largest_argument)
    return node->unknown_error ? node->unknown_error : -EINVAL;
  const struct emu_ioctl *found = NULL;
  uint32_t code = emu_l4t_request((uint32_t)request);
  for (size_t i = 0; i < node->ioctl_count && !found; i++) {
    if (node->ioctls[i].request == code)
      found = &node->ioctls[i];
  }
  if (!found && node->unknown_error)
    return node->unknown_error;
  _Alignas(8) uint8_t argument[ARGUMENT_MAX] = {0};
  /* 1.4, row "copy in" */
  if ((direction & _IOC_WRITE) && emu_copy_from_user(argument, (uintptr_t)user, size))
    return -EFAULT;
  /* docs/hardware/kernel-interface.md 1.4, row "full 32-bit request not in the table" */
  if (!found)
    return -ENOTTY;
  const bool power = uses_power(code);
  if (power)
    emu_power_use();
  int result = found->function(object, fd, argument);
  if (power)
    emu_power_use(); /* the request's power reference ends here */
  /* 1.4, row "copy out" */
  if ((result == 0 || found->always_copy) && (direction & _IOC_READ) &&
      emu_copy_to_user((uintptr_t)user, argument, size))
    return node->copy_out_error ? node->copy_out_error : (int)size;
  return result;
}
