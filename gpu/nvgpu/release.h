/* What differs between the releases of the kernel interface: L4T r36 (JetPack 6), whose
 * structs and requests uapi.h has, and L4T r35 (JetPack 5). docs/hardware/kernel-interface.md 10.
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
  const char *name; /* "L4T r36" */
  size_t characteristics_bytes;
  /* Numbers of the last requests of the control, TSG and nvmap nodes. */
  unsigned ctrl_last, tsg_last, nvmap_last;
  /* TSG CREATE_SUBCONTEXT exists; else BIND_CHANNEL_EX takes any VEID, and makes it. */
  bool subcontext_requests;
  /* MAP_BUFFER_EX: flags that exist beside those of uapi.h, and those that must be set. */
  uint32_t map_flags, map_flags_needed;
  uint64_t characteristics_flags; /* set beside those of r36... */
  unsigned flags_last;            /* ...of which those up to this one exist, and ECC's */
  const char *fence_node;         /* makes sync_files of syncpoints: nvgpu_create_fence */
  bool vsm_names_two;             /* an entry of VSMS_MAPPING is GPC and TPC alone */
  bool time_of_os;                /* GET_CPU_TIME_CORRELATION_INFO has the source OSTIME */
  /* Requests whose argument is the beginning of r36's struct: those of r36, and bytes. */
  struct {
    uint32_t request, bytes;
  } shorter[NVGPU_SHORTER_MAX];
};

/* r35's node for syncpoints, and its one request that is of use here. Neither is in
 * nvgpu-uapi.csv, which is r36's. Source: include/uapi/linux/nvhost_ioctl.h and
 * drivers/video/tegra/host/host1x/host1x.c of OE4T/linux-tegra-5.10; 18 is the last number,
 * and what is unknown gets ENOTTY. The kernel has it if TEGRA_GRHOST_SYNC is set, which is
 * the default. */
#define NVHOST_CTRL_NODE "/dev/nvhost-ctrl"
enum { NVHOST_CTRL_LAST = 18 };
struct nvhost_fence_point {
  uint32_t id, threshold;
};
struct nvhost_create_fence {
  uint32_t count;   /* of points */
  int32_t fence_fd; /* out: sync_file */
  uint64_t points;  /* address */
  uint64_t name;    /* address of a text, or 0 */
};
#define NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE _IOWR('H', 11, struct nvhost_create_fence)

extern const struct nvgpu_release nvgpu_r36, nvgpu_r35;

/* The release whose GET_CHARACTERISTICS has so many bytes; NULL: an older one. A newer one
 * counts as r36, to which it may have added. */
const struct nvgpu_release *nvgpu_release_find(uint64_t characteristics_bytes);

/* The release's code of a request of r36. */
uint32_t nvgpu_release_request(const struct nvgpu_release *release, uint32_t request);
/* And back; 0: it is one that only r36 has. */
uint32_t nvgpu_release_meaning(const struct nvgpu_release *release, uint32_t request);

/* A sync_file that is signalled when a syncpoint has reached threshold, by an fd of the
 * release's fence node. The ioctl's result; *fd is valid if it is 0. */
int nvgpu_create_fence(const struct nvgpu_os *os, const struct nvgpu_release *release, int node_fd,
                       uint32_t id, uint32_t threshold, int *fd);

/* r36's characteristics from the release's, in place. Not filled in on r35: emc_en_mask and
 * the fields from there to the chip's name, whose places depend on the minor release. */
void nvgpu_release_characteristics(const struct nvgpu_release *release,
                                   struct nvgpu_gpu_characteristics *characteristics);
/* And back: r36's characteristics as the release has them (r35: its minor releases before
 * r35.4), with its request numbers and flags. Returns their bytes. */
size_t nvgpu_release_pack_characteristics(const struct nvgpu_release *release,
                                          const struct nvgpu_gpu_characteristics *characteristics,
                                          void *out);

#endif
