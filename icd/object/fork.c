/* Fork. A child has copies of the memory and of the fds, but neither the driver's
 * threads nor the GPU's mappings, and a lock may be held by a thread that it lacks. So
 * every handle of the parent's but platform and device is invalid there, by another
 * number in its objects, and what is global starts anew: the child may make contexts of
 * its own, and nothing that it does reaches the parent.
 */
#include "base/fork.h"
#include "icd/queue/event_pool.h"

#define KINDS ((uint32_t)ICD_MAGIC_END - ICD_MAGIC_PLATFORM)

static void forked_child(void) {
  icd_generation += KINDS;
  icd_objects_forked();
  icd_object_init(&icd_platform.object, ICD_MAGIC_PLATFORM);
  icd_device_forked();
  icd_watcher_forked();
}

bool icd_watch_forks(void) {
  static const struct base_fork_handlers handlers = {.child = forked_child};
  return !base_fork_watch(BASE_FORK_DRIVER, &handlers);
}
