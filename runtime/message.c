/* Stores each thread's last message. */
#include "runtime/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"

static _Thread_local char message[768] = "no error so far";

const char *rt_last_message(void) {
  return message;
}

int rt_fail(int error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return error;
}

static const char *error_advice(int error) {
  switch (-error) {
  case EACCES:
  case EPERM:
    return "; add the user to the group that owns the GPU's nodes (\"video\" on L4T)";
  case ENOENT:
  case ENODEV:
  case ENXIO:
    return "; is this a Jetson Orin with NVIDIA's nvgpu driver loaded?";
  case EMFILE:
  case ENFILE:
    return "; raise the limit of open files (ulimit -n)";
  case ENOTTY:
    return "; this kernel's nvgpu interface differs from L4T r35 and r36";
  case ENOMEM:
    return "; memory, the GPU's channels or its address space are exhausted";
  default:
    return "";
  }
}

/* A positive result is the number of bytes that the kernel could not copy
 * (docs/hardware/kernel-interface.md 1.4). */
int rt_fail_call(int result, const char *format, ...) {
  const int error = result > 0 ? -EFAULT : result;
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  size_t used = n < 0 ? 0 : (size_t)n;
  if (used < sizeof(message))
    snprintf(message + used, sizeof(message) - used, ": %s (errno %d)%s", strerror(-error), -error,
             error_advice(error));
  return error == -EINVAL ? -EPROTO : error;
}
