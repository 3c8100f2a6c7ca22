/* Finds requests and structs in the generated tables. */
#include "gpu/nvgpu/tables.h"

#include <string.h>

#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/uapi.h"

const struct nvgpu_request *nvgpu_request_find(uint32_t code) {
  for (unsigned i = 0; i < nvgpu_request_count; i++)
    if (nvgpu_requests[i].code == code)
      return &nvgpu_requests[i];
  return NULL;
}

const struct nvgpu_struct *nvgpu_struct_find(const char *name) {
  for (unsigned i = 0; i < nvgpu_struct_count; i++)
    if (strcmp(nvgpu_structs[i]->name, name) == 0)
      return nvgpu_structs[i];
  return NULL;
}

const char *nvgpu_request_name(uint32_t request) {
  const struct nvgpu_request *r = nvgpu_request_find(request);
  if (!r)
    r = nvgpu_request_find(nvgpu_release_meaning(&nvgpu_r35, request));
  if (request == NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE)
    return "NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE";
  return r ? r->name : NULL;
}
