/* Opens the device and creates a queue, so that TEGRACL_DEBUG=choices prints the driver's
 * choices. */
#include <stdio.h>

#include "runtime/runtime.h"

int main(void) {
  struct rt_device *device = NULL;
  struct rt_context *context = NULL;
  struct rt_queue *queue = NULL;
  const int result = rt_device_open(&device) || rt_context_create(device, &context) ||
                     rt_queue_create(context, RT_PRIORITY_MEDIUM, &queue);
  if (result)
    fprintf(stderr, "%s\n", rt_last_message());
  rt_queue_destroy(queue);
  if (context)
    rt_context_destroy(context);
  rt_device_close(device);
  return result;
}
