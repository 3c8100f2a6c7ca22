/* Differences between releases of the kernel interface: L4T r36 (JetPack 6), whose structs and
 * requests are in uapi.h, and L4T r35 (JetPack 5). docs/hardware/kernel-interface.md 10.
 */
#ifndef TEGRACL_NVGPU_RELEASE_H
#define TEGRACL_NVGPU_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "gpu/nvgpu/os.h"

struct nvgpu_gpu_characteristics;

enum { NVGPU_SHORTER_MAX = 8 };

struct nvgpu_release {
  const char *name;             /* "L4T r36" */
  size_t characteristics_bytes; /* of GET_CHARACTERISTICS */
  /* Highest request numbers of the control, TSG and nvmap nodes. */
  unsigned ctrl_last, tsg_last, nvmap_last;
  /* TSG CREATE_SUBCONTEXT exists. If not, BIND_CHANNEL_EX creates the subcontext with the VEID that
   * is passed. */
  bool subcontext_requests;
  /* MAP_BUFFER_EX: flags in addition to those of uapi.h, and required flags. */
  uint32_t map_flags, map_flags_needed;
  uint64_t characteristics_flags; /* flags that are set in addition to r36's */
  unsigned flags_last;            /* last of r36's flags that exists, apart from the ECC flags */
  const char *fence_node;         /* the node that nvgpu_create_fence uses */
  bool vsm_names_two;             /* an entry of VSMS_MAPPING contains only GPC and TPC */
  bool time_of_os;                /* GET_CPU_TIME_CORRELATION_INFO supports the source OSTIME */
  /* Requests whose argument is only the beginning of r36's struct: r36's code and the size of the
   * argument in bytes. The list ends with request 0. */
  struct {
    uint32_t request, bytes;
  } shorter[NVGPU_SHORTER_MAX];
};

/* r35's node for syncpoints, and its only request that the driver uses. Neither is in
 * nvgpu-uapi.csv, which describes r36. Source: include/uapi/linux/nvhost_ioctl.h and
 * drivers/video/tegra/host/host1x/host1x.c of OE4T/linux-tegra-5.10. 18 is the last request number;
 * unknown requests return ENOTTY. The node exists if TEGRA_GRHOST_SYNC is set, which is the
 * default. */
#define NVHOST_CTRL_NODE "/dev/nvhost-ctrl"
enum { NVHOST_CTRL_LAST = 18 };
struct nvhost_fence_point {
  uint32_t id, threshold;
};
struct nvhost_create_fence {
  uint32_t count;   /* of points */
  int32_t fence_fd; /* out: sync_file */
  uint64_t points;  /* address */
  uint64_t name;    /* address of a string, or 0 */
};
#define NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE _IOWR('H', 11, struct nvhost_create_fence)

extern const struct nvgpu_release nvgpu_r36, nvgpu_r35;

/* Returns the release whose GET_CHARACTERISTICS has this size, or NULL if it is older than r35. A
 * larger size means r36 or a later release, which may have added fields. */
const struct nvgpu_release *nvgpu_release_find(uint64_t characteristics_bytes);

/* Translates a request of r36 to the code that the release uses. */
uint32_t nvgpu_release_request(const struct nvgpu_release *release, uint32_t request);
/* Translates a request of the release to r36's code. Returns 0 if only r36 has this code. */
uint32_t nvgpu_release_meaning(const struct nvgpu_release *release, uint32_t request);

/* Creates a sync_file that is signalled when syncpoint id reaches threshold. node_fd is an fd of
 * fence_node. Returns the result of the ioctl; if it is 0, the caller owns *fd. */
int nvgpu_create_fence(const struct nvgpu_os *os, const struct nvgpu_release *release, int node_fd,
                       uint32_t id, uint32_t threshold, int *fd);

/* Converts the release's characteristics to r36's, in place. For r35, emc_en_mask and the fields
 * from there to chipname are set to 0, because their offsets depend on the minor release. */
void nvgpu_release_characteristics(const struct nvgpu_release *release,
                                   struct nvgpu_gpu_characteristics *characteristics);
/* Converts r36's characteristics to the release's, including request numbers and flags
 * (r35: as before r35.4). out must have room for the larger of the two. Returns the number of bytes
 * written. */
size_t nvgpu_release_pack_characteristics(const struct nvgpu_release *release,
                                          const struct nvgpu_gpu_characteristics *characteristics,
                                          void *out);

#endif
