/* Resets the runtime's state in a child of fork. */
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/device/fds.h"
#include "runtime/memory/ranges.h"
#include "runtime/queue/queue.h"

/* The child inherits no mapping of the device: docs/hardware/kernel-interface.md 4.1 and 4.3. */
void rt_device_forked(struct rt_device *device) {
  rt_timeline_forked();
  rt_timeline_gpu_forked();
  rt_fds_close_copies();
  rt_ranges_forget();
  rt_channels_forget();
  if (device)
    rt_device_forget(device);
}
