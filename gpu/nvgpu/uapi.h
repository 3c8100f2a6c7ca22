/* The nvgpu and nvmap kernel interface of Jetson Orin: structs and request codes, generated from
 * nvgpu-uapi.csv, and field values. Numbers in parentheses are sections of
 * docs/hardware/kernel-interface.md. */
#ifndef TEGRACL_NVGPU_UAPI_H
#define TEGRACL_NVGPU_UAPI_H

#include <stdint.h>

#include "gpu/nvgpu/uapi_gen.h"

/* Device nodes (1.1). Both names of the control node exist on r35 and r36. */
#define NVMAP_NODE          "/dev/nvmap"
#define NVGPU_CTRL_NODE     "/dev/nvgpu/igpu0/ctrl"
#define NVGPU_POWER_NODE    "/dev/nvgpu/igpu0/power"
#define NVGPU_CTRL_NODE_OLD "/dev/nvhost-ctrl-gpu"
#define HOST1X_FENCE_NODE   "/dev/host1x-fence"

/* Bit numbers of characteristics flags (2.1.1). */
enum nvgpu_characteristics_flag {
  NVGPU_FLAG_SPARSE = 2,
  NVGPU_FLAG_TSG = 8,
  NVGPU_FLAG_DETERMINISTIC_NO_JOB_TRACKING = 18,
  NVGPU_FLAG_DETERMINISTIC_FULL = 19,
  NVGPU_FLAG_IO_COHERENCE = 20,
  NVGPU_FLAG_SUBCONTEXTS = 22,
  NVGPU_FLAG_USERMODE_SUBMIT = 30,
  NVGPU_FLAG_COMPUTE = 42,
};

/* ALLOC_AS (3.1) */
enum { NVGPU_AS_UNIFIED_VA = 1 << 1 };
#define NVGPU_AS_RANGE_ALIGN UINT64_C(0x200000)
/* Bytes after va_range_end that the kernel uses for its own mappings in each address space. */
#define NVGPU_AS_KERNEL_BYTES UINT64_C(0x100000000)

/* ALLOC_SPACE (2.2) */
enum { NVGPU_SPACE_FIXED_OFFSET = 1 << 0, NVGPU_SPACE_SPARSE = 1 << 1 };

/* MAP_BUFFER_EX (2.2) */
enum {
  NVGPU_MAP_FIXED_OFFSET = 1 << 0,
  NVGPU_MAP_CACHEABLE = 1 << 2,
  NVGPU_MAP_UNMAPPED_PTE = 1 << 5,
  NVGPU_MAP_MAPPABLE_COMPBITS = 1 << 6,
  NVGPU_MAP_L3_ALLOC = 1 << 7,
  NVGPU_MAP_SYSTEM_COHERENT = 1 << 9,
  NVGPU_MAP_ACCESS_SHIFT = 10,
  NVGPU_MAP_ACCESS_MASK = 3 << 10,
  NVGPU_MAP_TEGRA_RAW = 1 << 12,
};

/* for REMAP (nvgpu-uapi.csv) */
enum {
  NVGPU_REMAP_CACHEABLE = 1 << 2,
  NVGPU_REMAP_NO_WRITE = 1 << 10,
  NVGPU_REMAP_PAGE_4K = 1 << 15,
  NVGPU_REMAP_PAGE_64K = 1 << 16,
  NVGPU_REMAP_PAGE_128K = 1 << 17,
};

enum nvgpu_map_access {
  NVGPU_ACCESS_DEFAULT = 0,
  NVGPU_ACCESS_READ_ONLY = 1,
  NVGPU_ACCESS_READ_WRITE = 2,
  NVGPU_ACCESS_INVALID = 3,
};

/* Memory kinds (5). */
enum { NVGPU_KIND_PITCH = 0, NVGPU_KIND_NONE = -1 };
/* the unit of compression, to which fixed mappings of compressible kinds are aligned (3.2) */
enum { NVGPU_COMPRESSION_BYTES = 65536 };

/* OPEN_TSG (3.1) */
enum { NVGPU_OPEN_TSG_SHARE = 1 << 0 };

/* OPEN_CHANNEL (3.1) */
enum { NVGPU_RUNLIST_GR = -1 };

/* CREATE_SUBCONTEXT (3.3) */
enum { NVGPU_SUBCONTEXT_SYNC = 0, NVGPU_SUBCONTEXT_ASYNC = 1, NVGPU_SUBCONTEXTS = 64 };

/* WDT (3.4) */
enum {
  NVGPU_WDT_DISABLE = 1 << 0,
  NVGPU_WDT_ENABLE = 1 << 1,
  NVGPU_WDT_SET_TIMEOUT = 1 << 2,
  NVGPU_WDT_DISABLE_DUMP = 1 << 3,
};

/* SETUP_BIND (3.4) */
enum {
  NVGPU_SETUP_BIND_VPR = 1 << 0,
  NVGPU_SETUP_BIND_DETERMINISTIC = 1 << 1,
  NVGPU_SETUP_BIND_REPLAYABLE_FAULTS = 1 << 2,
  NVGPU_SETUP_BIND_USERMODE_SUPPORT = 1 << 3,
  NVGPU_SETUP_BIND_USERMODE_GPU_MAP_RESOURCES = 1 << 4,
};

/* for SUBMIT_GPFIFO (include/uapi/linux/nvgpu.h) */
enum {
  NVGPU_SUBMIT_FENCE_WAIT = 1 << 0,
  NVGPU_SUBMIT_FENCE_GET = 1 << 1,
  NVGPU_SUBMIT_SYNC_FENCE = 1 << 3,
  NVGPU_SUBMIT_SUPPRESS_WFI = 1 << 4,
  NVGPU_SUBMIT_SKIP_BUFFER_REFCOUNTING = 1 << 5,
};

/* for SET_PREEMPTION_MODE and the characteristics' mode masks (3.4, 2.1.1) */
enum {
  NVGPU_PREEMPT_COMPUTE_WFI = 1 << 0,
  NVGPU_PREEMPT_COMPUTE_CTA = 1 << 1,
  NVGPU_PREEMPT_COMPUTE_CILP = 1 << 2,
  NVGPU_PREEMPT_GRAPHICS_WFI = 1 << 0,
  NVGPU_PREEMPT_GRAPHICS_GFXP = 1 << 1,
};

/* for the TSG requests SET_RUNLIST_INTERLEAVE, EVENT_ID_CTRL, SET_TIMESLICE (3.3, 6) */
enum { NVGPU_INTERLEAVE_LOW = 0, NVGPU_INTERLEAVE_MEDIUM = 1, NVGPU_INTERLEAVE_HIGH = 2 };
enum {
  NVGPU_EVENT_CMD_ENABLE = 1,
  NVGPU_EVENT_BLOCKING_SYNC = 2,
  NVGPU_EVENT_GR_SEMAPHORE_WRITE_AWAKEN = 5,
  NVGPU_EVENTS = 6,
};
enum {
  NVGPU_TIMESLICE_MIN_US = 1000,
  NVGPU_TIMESLICE_MAX_US = 50000,
  NVGPU_TIMESLICE_DEFAULT_US = 1024,
};

/* Clocks (3.1) */
enum { NVGPU_CLK_DOMAIN_MCLK = 0, NVGPU_CLK_DOMAIN_GPCCLK = 1 };
enum { NVGPU_CLK_RANGE_SPECIFIC_DOMAINS = 1 << 0 };

/* for GET_CPU_TIME_CORRELATION_INFO (3.1) */
enum {
  NVGPU_TIME_SOURCE_TSC = 1,
  NVGPU_TIME_SOURCE_OSTIME = 2,
  NVGPU_TIME_SAMPLES_MAX = 16,
};

/* REGISTER_BUFFER (3.1) */
enum { NVGPU_COMPTAGS_NONE = 0, NVGPU_COMPTAGS_REQUESTED = 1, NVGPU_COMPTAGS_REQUIRED = 2 };
enum { NVGPU_METADATA_BYTES_MAX = 256 };
enum {
  NVGPU_REGISTER_COMPTAGS_ALLOCATED = 1 << 0,
  NVGPU_REGISTER_MUTABLE = 1 << 1,
  NVGPU_REGISTER_MODIFY = 1 << 2,
};
/* GET_BUFFER_INFO (3.1) */
enum {
  NVGPU_INFO_METADATA_REGISTERED = 1 << 0,
  NVGPU_INFO_COMPTAGS_ALLOCATED = 1 << 1,
  NVGPU_INFO_MUTABLE_METADATA = 1 << 2,
};

/* nvmap ALLOC (3.5, 5) */
#define NVMAP_HEAP_IOVMM  (1u << 30)
#define NVMAP_HEAP_VPR    (1u << 28)
#define NVMAP_HEAP_VIDMEM (1u << 26)
#define NVMAP_HEAP_FSI    (1u << 2)
#define NVMAP_HEAP_IVM    (1u << 1)
enum nvmap_cache_type {
  NVMAP_UNCACHED = 0,
  NVMAP_WRITE_COMBINE = 1,
  NVMAP_INNER_CACHEABLE = 2,
  NVMAP_CACHEABLE = 3,
};
enum {
  NVMAP_CACHE_TYPE_MASK = 3,
  NVMAP_FLAG_SECURE = 1 << 2,
  NVMAP_FLAG_CONTIGUOUS = 1 << 6,
  NVMAP_FLAG_SYNC_AT_RESERVE = 1 << 8,
  NVMAP_FLAG_READ_ONLY = 1 << 9,
  NVMAP_TAG_SHIFT = 16,
  NVMAP_NUMA_ANY = -1,
};

/* Limits of the kernel driver (8, trap T12). */
enum { NVGPU_CHANNELS_MAX = 512, NVGPU_TSGS_MAX = 512, NVGPU_CHANNELS_PER_TSG = 128 };

/* Returns the name of a request of r36 or r35, or NULL if neither defines it. */
const char *nvgpu_request_name(uint32_t request);

#endif
