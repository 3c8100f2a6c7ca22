/* The objects of the software Orin and the functions between its files.
 *
 * Locks: gpu.lock guards everything that ioctls change (object table,
 * reference counts, bindings). The engine thread takes it only between
 * channels, and pins the address space it works in (struct emu_pin), so that an
 * unmap never waits and never frees memory under a grid. An address space's
 * mapping table has its own lock, which look-ups take for reading.
 */
#ifndef TEGRACL_EMULATOR_GPU_H
#define TEGRACL_EMULATOR_GPU_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emulator/engine/engines.h"
#include "emulator/kernel/buddy.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/inject.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"

/* GA10B with nothing fused off, and limits of its driver; docs/hardware/kernel-interface.md T11,
 * T12. */
enum {
  EMU_GPCS = 2,
  EMU_TPCS_PER_GPC = 4,
  EMU_TPCS = EMU_GPCS * EMU_TPCS_PER_GPC,
  EMU_SMS = EMU_TPCS * SMS_PER_TPC,
  EMU_CHANNELS = 512,
  EMU_TSGS = 512,
  EMU_TSG_CHANNELS = 128,
  EMU_VEIDS = 64,
  EMU_SYNCPOINTS = 1024,
  EMU_SYNCPOINT_STRIDE = 0x10000,
  EMU_EVENTS = 6,
  EMU_NO_SYNCPOINT = -1,
  EMU_OWNERS = 64,
};

/* A module that GA10B sits on, at full power: boards.csv. */
struct emu_board {
  const char *word, *title;
  uint32_t gpcs, sms; /* in use */
  uint32_t tpc_masks[EMU_GPCS];
  uint64_t gpu_max_hz, memory_bytes, dram_bytes_per_s;
};
extern const struct emu_board emu_boards[]; /* the first is the default */
extern const size_t emu_board_count;
/* The one that TEGRACL_EMULATOR chose. */
const struct emu_board *emu_board(void);

/* Classes that gpu/hw does not name: characteristics, docs/hardware/kernel-interface.md 2.1.1. */
enum { EMU_CLASS_I2M = 0xa140, EMU_CLASS_2D = 0x902d };

enum emu_kind {
  EMU_NVMAP = 1,
  EMU_CTRL,
  EMU_AS,
  EMU_TSG,
  EMU_CHANNEL,
  EMU_DMABUF,
  EMU_EVENT,
  EMU_POWER,
  EMU_HOST1X,
  EMU_NVHOST,
  EMU_SYNC_FILE,
  EMU_POLLFD,
  EMU_COUNTER_NODE,
};

/* The head of every object. An fd, a mapping, or another object that needs it
 * holds a reference. */
struct emu_object {
  enum emu_kind kind;
  int refs;
  int fds; /* table entries among refs */
};

/* Pages that a dma-buf fd gives access to. Lives while an fd, an nvmap handle,
 * a mapping or a notifier refers to it. */
struct emu_dmabuf {
  struct emu_object object;
  struct emu_dmabuf *next; /* gpu.dmabufs */
  uint64_t size;           /* multiple of 4096 */
  uint64_t asked;          /* of CREATE */
  uint64_t serial;         /* what PARAMETERS tells */
  uint32_t heap, flags, align;
  bool allocated; /* has pages (NVMAP ALLOC was done) */
  bool from_va;   /* they were the client's */
  bool in_place;  /* they still are, and host is where the client has them */
  bool drivers;   /* made by the driver itself: not counted as nvmap's */
  bool foreign;   /* made by another process's device, which counts it */
  bool read_only; /* so were they */
  uint8_t *host;  /* the emulator's own mapping, made at first need */
  int handles;    /* nvmap handles among refs */
  int parked_fd;  /* keeps the memfd while no client fd does; -1 */
  dev_t device;   /* identify the memfd */
  ino_t inode;
  bool has_inode;
  bool registered, mutable_metadata;
  uint32_t metadata_size;
  uint8_t metadata[256];
};

/* An nvmap handle: one id of the process's nvmap client. */
struct emu_handle {
  struct emu_handle *next;
  uint32_t id;
  bool read_only;
  struct emu_dmabuf *dmabuf;
};

struct emu_mapping {
  uint64_t gpu, size;
  uint64_t offset; /* into the dma-buf */
  struct emu_dmabuf *dmabuf;
  uint8_t *host;
  bool writable;
  bool fixed;
  bool kernel; /* made by the driver itself: GPFIFO, syncpoint windows */
  bool remap;  /* by REMAP */
  uint32_t flags;
  int16_t kind;
  int count;                       /* times mapped */
  int syncpoint;                   /* whose write window it is; -1: plain memory */
  struct sm_memory_shadow *shadow; /* check mode; else NULL */
  struct emu_mapping *next_dead;
  uint64_t dead_serial;
};

/* A mapping that was removed, for messages. */
enum { EMU_GONE = 256 };
struct emu_gone {
  uint64_t gpu, size, asked;
};

/* A range of ALLOC_SPACE. */
struct emu_area {
  struct emu_area *next;
  uint64_t gpu, size;
  bool fixed, sparse;
};

/* While a pin stands, memory that was mapped when it was made stays. */
struct emu_pin {
  struct emu_pin *next, *previous;
  uint64_t serial;
  bool held;
};

/* Decoded code, shared by the grids that run it: an invalidate replaces it if a
 * grid of another channel still executes. */
struct emu_code {
  struct sm_code *sm;
  atomic_int users; /* grids, and the address space while it is its newest */
};

struct emu_as {
  struct emu_object object;
  uint64_t start, end;
  struct emu_buddy user, kernel;
  pthread_rwlock_t mappings_lock;
  struct emu_mapping **mappings; /* sorted by gpu */
  size_t mapping_count, mapping_capacity;
  struct emu_area *areas;
  pthread_mutex_t pin_lock;
  struct emu_pin pins; /* list head; oldest first */
  uint64_t serial;
  _Atomic uint32_t unmappings;
  struct emu_mapping *dead; /* unmapped, but perhaps in use by a grid */
  struct emu_code *code;    /* engine thread only */
  struct emu_stale *stale;  /* likewise; adversarial mode, NULL before the first grid */
  uint64_t syncpoint_ro;    /* GPU address of the read-only window, 0 = none */
  struct emulator_fault fault;
  struct emu_gone gone[EMU_GONE]; /* ring; mappings_lock */
  size_t gone_next;
};

struct emu_tsg;
struct emu_channel;

/* A fault as the engine finds it; emu_fault completes it. */
struct emu_fault {
  uint32_t notifier;             /* enum error_notifier_code */
  uint32_t warp_esr, global_esr; /* SM exceptions: for READ_SINGLE_SM_ERROR_STATE */
  struct emulator_fault record;
};

struct emu_tsg {
  struct emu_object object;
  struct emu_channel *channels;
  int channel_count;
  struct emu_as *veid_as[EMU_VEIDS]; /* NULL: not made */
  int veid_channels[EMU_VEIDS];
  uint32_t timeslice_us, interleave, evict_last_ways, sector_promotion;
  uint32_t last_channel; /* the id of the one that had its turn last */
  struct emu_event *events;
  uint32_t graphics_preemption, compute_preemption;
  struct emu_as *context_as; /* in whose kernel part the context's header lies; NULL: none */
  uint64_t context_va;
  bool aborted;
  atomic_int draining; /* requests that wait for its grids: none starts */
  struct nvgpu_tsg_sm_error_state_record sm_error;
  uint64_t owners[EMU_OWNERS]; /* opens of the control node that have it */
  int owner_count;
  uint32_t token_count;
};

/* An fd that polls readable after the event: an eventfd. */
struct emu_event {
  struct emu_object object;
  struct emu_event *next;
  struct emu_tsg *tsg;
  uint32_t event_id;
  int fd; /* the client's number */
};

/* A value that a syncpoint gets to. */
struct emu_point {
  uint32_t id, threshold;
};
enum { EMU_POINTS = 32 };

/* An fd that waits for syncpoints: a sync_file until all its points are reached, a
 * pollfd for any of those that were triggered. */
struct emu_waiter {
  struct emu_object object;
  int fd;              /* the client's number */
  uint64_t reached_ns; /* when a fence that is told late, or never, should have been; 0: none */
  uint32_t left;       /* points that are not reached */
  uint32_t count;
  struct emu_point points[EMU_POINTS]; /* of a sync_file; several where some were merged */
};
struct emu_wait;
struct emu_token;

/* A ring that the driver writes. */
struct emu_submit {
  struct emu_dmabuf *ring, *commands, *userd;
  struct emu_mapping *ring_mapping, *commands_mapping, *window;
  int syncpoint;   /* counts submissions; window is where */
  uint32_t target; /* its value when all are done */
  uint32_t put, command_slot;
  bool watched; /* and what the watchdog saw, and when */
  uint32_t seen_done, seen_get;
  uint64_t since_ns;
};
struct emu_watchdog;

struct emu_grid;

/* A run of pushbuffer words that is contiguous in host memory. */
struct emu_fetch {
  uint64_t gpu;   /* address of the next word */
  uint32_t words; /* left in the segment */
  const uint32_t *host;
  uint32_t host_words; /* of them readable at host */
};

/* The methods of one header that are still to be done. */
struct emu_run {
  uint32_t op; /* enum method_sec_op */
  uint32_t method, count, subchannel;
  uint32_t immediate;
  bool incremented; /* past the first of ONE_INC */
};

struct emu_channel {
  struct emu_object object;
  uint32_t id;
  struct emu_as *as;
  struct emu_tsg *tsg;
  struct emu_channel *next_in_tsg;
  uint32_t veid;
  uint32_t watchdog_ms;
  /* The context-switch timeout, as nvgpu counts: how long the TSG kept others waiting. */
  uint32_t switch_limit_ms, switch_late_ms, switch_late_get;
  bool watchdog, watchdog_set; /* set: by the client, not the default time */
  bool deterministic, usermode, railgating_allowed;
  bool has_object;         /* ALLOC_OBJ_CTX was done */
  bool preemption_refused; /* SET_PREEMPTION_MODE failed */
  atomic_bool serviceable;
  bool disabled; /* TSG or channel DISABLE */
  struct emu_dmabuf *gpfifo, *userd;
  struct emu_mapping *gpfifo_mapping;
  uint32_t entries; /* of the ring */
  struct emu_dmabuf *notifier;
  uint64_t notifier_offset;
  int syncpoint; /* -1: none */
  uint64_t syncpoint_va;
  struct emu_submit *submit; /* NULL: the client writes the ring, or there is none */

  /* The engine's. */
  uint32_t turns; /* that the engine gave it */
  bool scheduled; /* has, or may have, work */
  uint32_t gp_get;
  struct emu_ring ring;
  struct emu_fetch fetch;
  struct emu_run run;
  bool waiting; /* for a semaphore, or for a time to pass */
  struct emu_whim whim;
  uint32_t subdevice_mask, stored_subdevice_mask;
  struct emu_host_state host;
  struct emu_compute compute;
  struct emu_mme *mme; /* with the compute class */
  struct emu_i2m i2m;
  bool i2m_bound;
  struct emu_copy copy;
  struct emu_grid *grids, **grids_tail; /* launched, not ended */
  atomic_int running_grids;             /* of them, those that have started */
  atomic_int resident_ctas;             /* of those, when the channel's last turn ended */
  struct emu_held_qmd *held;
  struct emu_pin pin;
};

struct emu_ctrl {
  struct emu_object object;
  void *mapping; /* of the user-mode page; NULL: not mapped */
  size_t mapping_length;
  int mapping_protection;
  ino_t page_inode, nothing_inode; /* what it shows while the GPU is on, and off */
  bool hidden;                     /* the mapping shows no page: the GPU is off */
  struct emu_ctrl *next_mapped;
  uint64_t instance;
  uint64_t tokens; /* given out for sharing TSGs */
};

struct emu_worker_pool;

struct emu_gpu {
  pthread_mutex_t lock;
  bool started;
  struct emu_object **table; /* by fd */
  int table_size;
  int fd_count;
  int nvmap_opens;
  struct emu_dmabuf *dmabufs;
  struct emu_handle *handles;
  uint32_t next_handle;
  uint64_t next_serial;
  uint64_t memory_limit, memory_used;
  uint64_t tags[1024];     /* SET_TAG_LABEL: one bit for each of 65536 */
  struct emu_ctrl *mapped; /* ctrl nodes with a mapping */
  struct {
    bool on;
    bool ready; /* it has been on */
    uint64_t last_busy_ns;
  } power;
  uint64_t instances;
  int tsg_count;
  struct emu_token *tokens;
  struct emu_channel *channels[EMU_CHANNELS];
  uint16_t free_channels[EMU_CHANNELS];
  int free_channel_count;
  uint64_t channels_opened;
  struct emu_dmabuf *syncpoint_memory; /* one page stride each */
  bool syncpoint_used[EMU_SYNCPOINTS];
  uint32_t syncpoint_overslept[EMU_SYNCPOINTS]; /* fences on which a client slept too long */
  struct emu_wait *waits;                       /* for syncpoints */
  struct emu_watchdog *watchdog;
  int watched_channels;
  atomic_int wait_count;
  uint64_t fault_serial;

  /* Engine. */
  bool engine_running, engine_stopping;
  int leaving;         /* threads that wait on serviced for the engine to let go */
  atomic_int settling; /* threads that count a channel's turns, which end meanwhile */
  _Atomic int scheduled_count;
  pthread_t engine;
  atomic_bool stop;
  struct emu_channel *servicing; /* under lock */
  pthread_cond_t serviced;
  _Atomic uint64_t doorbells[EMU_CHANNELS / 64];
  _Atomic uint32_t doorbell_count;
  _Atomic uint32_t engine_asleep;
  atomic_int bell_cpu; /* where the doorbell was rung last; -1: unknown */
  struct emu_dmabuf *usermode_page;
  int cpus;
  struct emu_worker_pool *pool;
  _Atomic uint64_t instructions, grids, ctas;
};

extern struct emu_gpu emu_gpu;

/* When a turn of the channel that begins now is over, within its TSG's time slice. */
uint64_t emu_turn_end(struct emu_channel *channel);

/* PTIMER: nanoseconds in steps of 32. */
uint64_t emu_time_ns(void);
/* If no fd and no mapping is left, the device goes. Called without gpu.lock. */
void emu_device_stop_if_unused(void);

/* ---- objects.c: the fd table. Callers hold gpu.lock. ---- */

/* Makes fd stand for the object and takes a reference. 0 or -ENOMEM. */
int emu_table_set(int fd, struct emu_object *object);
/* The object, or NULL. */
struct emu_object *emu_table_get(int fd);
/* The same if it is of that kind, else NULL. */
void *emu_table_get_kind(int fd, enum emu_kind kind);
/* Forgets fd (it is, or will be, closed) and drops its reference. */
void emu_table_clear(int fd);
/* A new fd (memfd without pages) for the object: the fd, or -errno. */
int emu_table_open(const char *name, struct emu_object *object);
void emu_object_get(struct emu_object *object);
/* Drops a reference; the last one frees. */
void emu_object_put(struct emu_object *object);

/* ---- power.c ---- */

/* A request takes a power reference and gives it back: the GPU is powered up if it was off,
 * and stays on for a while. */
void emu_power_use(void);
/* The same in mmap of the user-mode page: 0, or -EDEADLK with a report where the kernel
 * would wait for itself. */
int emu_power_use_in_mmap(void);
/* When the engine should look again, as mappings of the page are to be removed then; 0:
 * nothing is to be done. */
uint64_t emu_power_deadline(void);
/* The requests that use power: side-effects.csv. */
extern const uint32_t emu_power_requests[];
extern const size_t emu_power_request_count;
/* A line on stderr: what a board would do that this device does not, and the source. */
void emu_report(const char *what, const char *source);

/* ---- user_copy.c: memory of the caller. ---- */

/* 0 or -EFAULT. */
int emu_copy_from_user(void *to, uint64_t user, size_t bytes);
int emu_copy_to_user(uint64_t user, const void *from, size_t bytes);

/* ---- dispatch.c: the rules common to all nodes (docs/hardware/kernel-interface.md 1.4). ---- */

struct emu_ioctl {
  uint32_t request;
  /* argument is a zeroed kernel copy. 0, a positive count of bytes not copied,
   * or -errno. Called with gpu.lock held. */
  int (*function)(struct emu_object *object, int fd, void *argument);
  bool always_copy; /* the answer, also with an error */
};
struct emu_node {
  unsigned magic;
  unsigned last_number;
  unsigned largest_argument;
  int unknown_error;  /* 0: -EINVAL for a number or size out of range, else -ENOTTY */
  int copy_out_error; /* 0: the ioctl returns the bytes not copied */
  const struct emu_ioctl *ioctls;
  size_t ioctl_count;
};
extern const struct emu_node emu_node_ctrl, emu_node_as, emu_node_tsg, emu_node_channel,
    emu_node_host1x, emu_node_nvhost;
int emu_dispatch(const struct emu_node *node, struct emu_object *object, int fd,
                 unsigned long request, void *argument);

/* ---- nvmap.c, dmabuf.c ---- */

int emu_nvmap_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument);
/* The dma-buf of an fd with a new reference: 0, -EBADF or -EINVAL. */
int emu_dmabuf_from_fd(int fd, struct emu_dmabuf **dmabuf);
struct emu_dmabuf *emu_dmabuf_create(uint64_t size);
/* Maps it for the emulator: 0 or -ENOMEM. */
int emu_dmabuf_host(struct emu_dmabuf *dmabuf);
/* A new client fd, or -errno. */
int emu_dmabuf_fd(struct emu_dmabuf *dmabuf, bool read_only);
struct emu_vma;
/* The dma-buf, or the client's fd of it, forbids writing. */
bool emu_dmabuf_read_only(const struct emu_dmabuf *dmabuf, int fd);
/* The mapping is one of the dma-buf. */
bool emu_dmabuf_is(const struct emu_dmabuf *dmabuf, const struct emu_vma *vma);
/* The client's fd goes: if it is the last, keep the pages for the handle. */
void emu_dmabuf_closing(struct emu_dmabuf *dmabuf, int fd);
int emu_dmabuf_ioctl(unsigned long request, uint64_t argument);
void emu_dmabuf_free(struct emu_dmabuf *dmabuf);
/* A handle is gone: without any, no new fd can be asked for. */
void emu_dmabuf_unpark(struct emu_dmabuf *dmabuf);
void emu_nvmap_free_all(void);

/* ---- address_space.c ---- */

struct emu_as *emu_as_create(uint64_t start, uint64_t end);
void emu_as_free(struct emu_as *as);
/* Maps size bytes of the dma-buf in the driver's part of the space; NULL: no room. */
struct emu_mapping *emu_as_map_kernel(struct emu_as *as, struct emu_dmabuf *dmabuf, uint64_t offset,
                                      uint64_t size, bool writable, int syncpoint);
void emu_as_unmap(struct emu_as *as, struct emu_mapping *mapping);
/* Maps the part [start, end) of what whole describes: 0 or -ENOMEM. For REMAP. */
int emu_as_map_part(struct emu_as *as, const struct emu_mapping *whole, uint64_t start,
                    uint64_t end);
/* Where all syncpoints can be read, mapped at first need; 0: no memory. */
uint64_t emu_as_syncpoints(struct emu_as *as);
/* The area of ALLOC_SPACE that holds address, or NULL. */
const struct emu_area *emu_area_find(const struct emu_as *as, uint64_t address);

/* ---- remap.c ---- */

int emu_as_remap(struct emu_object *object, int fd, void *argument);

/* ---- mmu.c ---- */

int emu_mmu_insert(struct emu_as *as, struct emu_mapping *mapping);
void emu_mmu_remove(struct emu_as *as, struct emu_mapping *mapping);
/* The mapping that holds address; call under mappings_lock or gpu.lock. */
struct emu_mapping *emu_mmu_find(const struct emu_as *as, uint64_t address);
/* The mapping that starts there. */
struct emu_mapping *emu_mmu_find_exact(const struct emu_as *as, uint64_t address);
/* Bytes of a mapping, without the padding of the buffer's last page. */
uint64_t emu_mapping_asked(const struct emu_mapping *mapping);
bool emu_mmu_overlaps(const struct emu_as *as, uint64_t address, uint64_t size);
/* The first mapping that has a byte in [start, end), or NULL. */
struct emu_mapping *emu_mmu_first_in(const struct emu_as *as, uint64_t start, uint64_t end);
/* struct sm_memory's find; space is a struct emu_as. */
bool emu_mmu_range(void *space, uint64_t address, struct sm_range *range);
/* Accesses of the engine. False: fault filled in. A pin must be held. */
bool emu_mmu_read(struct emu_as *as, uint64_t address, void *to, size_t bytes,
                  struct emu_fault *fault);
bool emu_mmu_write(struct emu_as *as, uint64_t address, const void *from, size_t bytes,
                   struct emu_fault *fault);
/* Host address of bytes that lie in one mapping, else NULL and a fault. */
void *emu_mmu_host(struct emu_as *as, uint64_t address, size_t bytes, bool write,
                   struct emu_fault *fault);
void emu_pin(struct emu_as *as, struct emu_pin *pin);
/* locked: gpu.lock is held. */
void emu_unpin(struct emu_as *as, struct emu_pin *pin, bool locked);
/* Frees an unmapped mapping when no pin needs it. gpu.lock held. */
void emu_mmu_bury(struct emu_as *as, struct emu_mapping *mapping);
/* The dma-buf has got other host memory: its mappings, too. */
void emu_mmu_moved(const struct emu_dmabuf *dmabuf);

/* ---- tsg.c, channel.c ---- */

void emu_tsg_free(struct emu_tsg *tsg);
int emu_tsg_open(void);
/* A new fd of a TSG's event, or of none; count: told that often already. */
int emu_event_open(struct emu_tsg *tsg, uint32_t event_id, unsigned count);
int emu_channel_open(int32_t runlist);
/* Before the last fd of a channel is closed; gpu.lock is dropped meanwhile. */
void emu_channel_settle(struct emu_channel *channel);
/* The fd is gone: the channel stops and leaves its TSG. */
void emu_channel_close(struct emu_channel *channel);
void emu_channel_free(struct emu_channel *channel);
void emu_event_free(struct emu_event *event);

/* ---- watchdog.c ---- */

/* How long the channel's work may make no progress. */
uint64_t emu_watchdog_limit_ns(const struct emu_channel *channel);

/* ---- submit.c ---- */

/* Gives the channel a ring that SUBMIT_GPFIFO writes: 0 or -ENOMEM. */
int emu_submit_setup(struct emu_channel *channel, uint32_t entries);
/* GP_GET, as the engine wrote it last. */
uint32_t emu_submit_got(const struct emu_channel *channel);
/* It has submissions that are not done. */
bool emu_submit_pending(const struct emu_channel *channel);
/* Nothing more will be done: who waits for submissions wakes. */
void emu_submit_give_up(struct emu_channel *channel);
/* The engine has left the channel. */
void emu_submit_free(struct emu_channel *channel);
int emu_submit_gpfifo(struct emu_object *object, int fd, void *argument);

/* Whether a channel has work that forbids it to leave its TSG, which has others. */
bool emu_tsg_needs(struct emu_channel *channel);
/* What ALLOC_OBJ_CTX, SET_PREEMPTION_MODE and the close of a channel do to the whole TSG: its
 * turn ends, and with preempt:MS, its grids give way. 0, or -EBUSY with a report if they run
 * for too long. Lets gpu.lock go meanwhile. gpu.lock held. */
int emu_tsg_preempt(struct emu_tsg *tsg);
/* All its channels may be loaded, or none. */
void emu_tsg_enable(struct emu_tsg *tsg, bool enabled);
/* closed: else it was unbound. */
void emu_tsg_unlink(struct emu_channel *channel, bool closed);
/* Of an engine: raises its events for every TSG that has channels. Takes gpu.lock. */
void emu_non_stall_interrupt(void);
void emu_events_raise_tsg(struct emu_tsg *tsg, uint32_t event_id);

/* ---- share.c ---- */

/* Notes that the open of the control node has the TSG: 0 or -ENOMEM. */
int emu_share_own(struct emu_tsg *tsg, uint64_t instance);
/* The TSG of a token, which is then used up; NULL: unknown. */
struct emu_tsg *emu_share_use(uint64_t source, uint64_t target, uint64_t token);
/* Drops the tokens of a TSG, or of an open of the control node (0: of none). */
void emu_share_forget(const struct emu_tsg *tsg, uint64_t source);
int emu_share_get_token(struct emu_object *object, int fd, void *argument);
int emu_share_revoke_token(struct emu_object *object, int fd, void *argument);

/* ---- syncpoint.c ---- */

/* The memory of all syncpoints, made at first need; NULL: no memory. */
struct emu_dmabuf *emu_syncpoint_memory(void);
/* A free syncpoint, or -ENOMEM. */
int emu_syncpoint_take(void);
uint32_t emu_syncpoint_value(int syncpoint);
/* Counts up by one. Takes gpu.lock if someone waits. */
void emu_syncpoint_increment(int syncpoint);
/* The same by any number, with gpu.lock held. */
void emu_syncpoint_raise(int syncpoint, uint32_t by);
/* A new fd that polls readable when the syncpoints are there, or -errno. */
int emu_sync_file_open(const struct emu_point *points, uint32_t count);
void emu_waiter_free(struct emu_waiter *waiter);
int emu_sync_file_ioctl(const struct emu_waiter *waiter, unsigned long request, uint64_t argument);
/* What poll found of an event's or pollfd's fd: reported once. gpu.lock held. */
void emu_fd_polled(struct pollfd *p);

/* ---- fault.c ---- */

void emu_fault_set(struct emu_fault *fault, uint32_t notifier, uint64_t address, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* Kills the channel's TSG. Takes gpu.lock. */
void emu_fault_raise(struct emu_channel *channel, const struct emu_fault *fault);
/* The same with gpu.lock held. */
void emu_fault_raise_locked(struct emu_channel *channel, const struct emu_fault *fault);
/* The end of a TSG's channels; code 0: no notifier tells it. gpu.lock held. */
void emu_tsg_abort(struct emu_tsg *tsg, uint32_t notifier);
int emu_fault_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument);

/* ---- engine.c ---- */

/* Starts the engine thread if none runs: 0 or -errno. gpu.lock held. */
int emu_engine_start(void);
/* Joins it. gpu.lock held (and let go meanwhile); no channel is left. */
void emu_engine_stop(void);
/* Something changed that the engine must see. */
void emu_engine_wake(void);
void emu_doorbell(uint32_t token);
/* Another channel has work, or a thread counts turns, so a grid's may end. */
bool emu_engine_others_wait(const struct emu_channel *channel);
/* Waits for the end of the channel's turn, if it has one: no other follows if it cannot run
 * any more. gpu.lock held. */
void emu_engine_leave(struct emu_channel *channel);
/* Ends the TSG's time slice and the turn of its channel, if one has it: what a disabled
 * channel does is over on return. gpu.lock held. */
void emu_engine_preempt(struct emu_tsg *tsg);
void emu_channel_unschedule(struct emu_channel *channel);
/* Whether it has work, or was told of some. */
bool emu_channel_busy(const struct emu_channel *channel);
/* The work of a channel is dropped. The engine does not work on it. */
void emu_channel_drop_work(struct emu_channel *channel);

/* ---- runlist.c: gpu.lock held ---- */

/* nvgpu, include/nvgpu/defaults.h, NVGPU_DEFAULT_POLL_TIMEOUT_MS */
enum { EMU_SWITCH_LIMIT_MS = 3000 };

/* The channel whose turn it is, or NULL. The engine's thread. */
struct emu_channel *emu_runlist_pick(void);
/* Whether the TSG's grids must give way to another TSG: none starts. The engine's thread. */
bool emu_runlist_gives_way(const struct emu_tsg *tsg);
/* Its TSG's time slice is over before its time. */
void emu_runlist_yield(void);
/* How a turn ended: when all channels of the TSG have waited in a row, its slice ends
 * too. */
void emu_runlist_waited(const struct emu_channel *channel, bool waited);

/* ---- pushbuffer.c ---- */

enum emu_outcome {
  EMU_IDLE,    /* nothing left */
  EMU_MORE,    /* the turn is over */
  EMU_BLOCKED, /* waits for a semaphore */
  EMU_GAVE_UP, /* the turn and the rest of the time slice */
};
/* A turn of the channel on the engine. */
enum emu_outcome emu_pushbuffer_run(struct emu_channel *channel);

enum emu_step emu_host_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault);
enum emu_step emu_compute_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                                 struct emu_fault *fault);
enum emu_step emu_i2m_method(struct emu_channel *channel, struct emu_i2m *i2m, uint32_t method,
                             uint32_t data, struct emu_fault *fault);
bool emu_i2m_owns(uint32_t method);
/* Words of LOAD_INLINE_DATA. */
enum emu_step emu_i2m_data(struct emu_channel *channel, struct emu_i2m *i2m, const uint32_t *words,
                           uint32_t count, struct emu_fault *fault);
/* SET_OBJECT: the state after reset. */
void emu_copy_bind(struct emu_copy *copy);
bool emu_compute_bind(struct emu_channel *channel, struct emu_fault *fault);
enum emu_step emu_copy_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault);
/* Transfers have not ended, or not all their bytes are in memory. */
static inline bool emu_copies_pending(const struct emu_channel *channel) {
  return channel->copy.transfer_count || channel->copy.posted.bytes;
}
/* The same as emu_grids_run for the channel's transfers. */
enum emu_step emu_copies_run(struct emu_channel *channel, struct emu_fault *fault);

/* ---- report.c: semaphore writes of the engines ---- */

enum emu_reduction {
  EMU_RED_ADD,
  EMU_RED_MIN,
  EMU_RED_MAX,
  EMU_RED_INC,
  EMU_RED_DEC,
  EMU_RED_AND,
  EMU_RED_OR,
  EMU_RED_XOR,
  EMU_RED_FLOAT_ADD, /* copy class only; 32 bits */
};

struct emu_report {
  uint64_t address, payload;
  bool wide;      /* 64-bit payload */
  bool timestamp; /* four words with the time */
  bool reduce;
  enum emu_reduction reduction;
  bool reduce_signed;
};
/* Writes a semaphore at any 4-byte aligned address (8 for 64 bits). */
bool emu_report_write(struct emu_channel *channel, const struct emu_report *report,
                      struct emu_fault *fault);
/* What an acquire looks at. False: the fault is filled in. */
bool emu_semaphore_read(struct emu_as *as, uint64_t address, bool wide, uint64_t *value,
                        struct emu_fault *fault);
/* Its address is not a multiple of what it writes: 4, 8 or 16 bytes. */
bool emu_report_misaligned(const struct emu_report *report);

/* ---- qmd.c ---- */

struct emu_release {
  bool enabled;
  bool interrupt;
  struct emu_report report;
};
struct emu_launch {
  struct sm_grid sm;
  uint64_t qmd_address;
  bool invalidate_code;
  bool one_at_a_time; /* CTAs */
  int per_sm;         /* CTAs that one SM holds */
  uint64_t first_cta; /* of one that was preempted */
  struct emu_release release[3];
  bool dependent;
  uint64_t dependent_qmd;
  uint32_t dependent_action;
};
/* Reads and checks the descriptor as scheduler and front end do. */
bool emu_qmd_decode(struct emu_as *as, const struct emu_shader_state *state, uint64_t qmd_address,
                    const uint32_t *qmd, struct emu_launch *launch, struct emu_fault *fault);

/* All of its constant banks are mapped. */
bool emu_qmd_banks(struct emu_as *as, uint64_t qmd_address, const uint32_t *qmd,
                   struct emu_fault *fault);
/* Its grid has local memory. */
bool emu_qmd_uses_local(const uint32_t *qmd);
/* All of the pool at SET_SHADER_LOCAL_MEMORY is mapped. */
bool emu_local_pool(struct emu_as *as, const struct emu_shader_state *state,
                    struct emu_fault *fault);

/* ---- grid.c ---- */

/* Queues a grid after the channel's others. The descriptor is read when it starts. */
bool emu_grid_launch(struct emu_channel *channel, uint64_t qmd_address,
                     const struct emu_shader_state *shader, struct emu_fault *fault);
/* A grid with this descriptor has been launched and has not ended. */
bool emu_grid_active(const struct emu_channel *channel, uint64_t qmd_address);
/* A grid of the channel that has not ended uses local memory. */
bool emu_grids_use_local(const struct emu_channel *channel);
/* The descriptor in memory. */
bool emu_qmd_read(struct emu_as *as, uint64_t address, uint32_t *qmd, struct emu_fault *fault);
/* Runs the channel's grids. EMU_NEXT: all have ended. EMU_AGAIN: the turn is over, or
 * none may start yet (channel->waiting). */
enum emu_step emu_grids_run(struct emu_channel *channel, struct emu_fault *fault);
/* Between turns: none of its grids runs that its TSG's mode of preemption lets end first. */
bool emu_grids_give_way(const struct emu_channel *channel);
void emu_grids_drop(struct emu_channel *channel);
/* Profile mode: at the end of each CTA. */
void emu_grid_count(const struct sm_grid *grid, const struct sm_counts *counts);
/* For EMULATOR_IOCTL_GRID. */
void emu_grid_recall(const struct emu_as *as, struct emulator_grid *record);
void emu_grids_forked(void);
struct emu_worker_pool *emu_pool_create(int helpers);
void emu_pool_destroy(struct emu_worker_pool *pool);
/* Instruction cache invalidate. Engine thread. */
void emu_code_invalidate(struct emu_as *as);
void emu_code_put(struct emu_code *code);

/* ---- stale.c: adversarial mode; otherwise they do nothing. Engine thread. ---- */

struct emu_stale_bank;
struct emu_invalidate {
  bool code, data, constants;
};
/* Methods: drops caches. In any mode. */
void emu_stale_invalidate(struct emu_as *as, const struct emu_invalidate *what);
/* The scheduler reads a descriptor, qmd in memory: what it sees. */
void emu_stale_descriptor(struct emu_as *as, uint64_t address, uint32_t *qmd);
/* It reads one that may be scheduled later. */
void emu_stale_prefetch(struct emu_as *as, uint64_t address);
void emu_stale_drop_descriptor(struct emu_as *as, uint64_t address);
void emu_stale_drop_descriptors(struct emu_as *as);
/* A grid starts: its descriptor as it is served. */
void emu_stale_start(struct emu_as *as, uint64_t address, uint32_t *qmd);
/* And its banks and caches, once decoded. What it returns is the grid's. */
struct emu_stale_bank *emu_stale_begin(struct emu_as *as, const uint32_t *qmd,
                                       struct emu_launch *launch);
void emu_stale_end(struct emu_as *as, const struct emu_stale_bank *banks);
void emu_stale_free_banks(struct emu_stale_bank *banks);
/* Code of an address space is to use the L1 caches. */
bool emu_stale_code(struct emu_as *as);
/* The address space goes; the engine. */
void emu_stale_free(struct emu_as *as);
void emu_stale_stop(void);

/* ---- options.c: TEGRACL_EMULATOR ---- */

struct emu_options {
  bool bad; /* and that was said on stderr */
  bool check;
  uint64_t watchdog; /* warp instructions of a CTA */
  uint64_t report_limit;
  bool leaks; /* of buffers are reported */
  bool profile;
  char *profile_file; /* NULL: none */
  const struct emu_board *board;
  uint64_t preempt_ms;  /* a preemption waits so long for grids that must end; 0: it needs none */
  bool preempt_stuck;   /* and no mode lets them give way before their end */
  bool switches;        /* a TSG's grids keep other TSGs waiting, by its mode of preemption */
  uint64_t switch_ms;   /* what 3 s of the context-switch timeout are here; 0: no end */
  uint64_t railgate_ms; /* without power references until the GPU is switched off */
  uint64_t memory_mib;  /* no more than this; 0: the module's */
  bool r35;             /* the kernel interface of L4T r35, not r36 */
};
const struct emu_options *emu_options(void);

/* ---- notes.c: what clients say of their code and memory ---- */

/* 0, -EINVAL, -EFAULT or -ENOMEM. */
int emu_note(struct emu_as *as, const struct emulator_note *note);
/* The name of the kernel's or buffer's range that holds address, and the offset. */
bool emu_note_name(const struct emu_as *as, enum emulator_note_kind kind, uint64_t address,
                   char *text, size_t size, uint64_t *offset);
/* The source line of the instruction at address; file "": the program itself. */
bool emu_note_line(const struct emu_as *as, uint64_t address, uint32_t *line, char *file,
                   size_t size);
/* The name of the parameter at an offset in constant bank 0 of a kernel. */
bool emu_note_parameter(const struct emu_as *as, uint64_t program, uint32_t offset, char *text,
                        size_t size);
/* Something else lies there from now on. */
void emu_notes_forget(const struct emu_as *as, uint64_t address, uint64_t size);
/* In a child of fork; so with the two of the same kind below. */
void emu_notes_forked(void);

/* ---- shadow.c: check mode ---- */

/* A mapping begins; ends. */
void emu_shadow_create(struct emu_mapping *mapping);
void emu_shadow_destroy(struct emu_mapping *mapping);
/* A note on memory: 0, -EINVAL or -ENOMEM. gpu.lock held. */
int emu_shadow_note(struct emu_as *as, const struct emulator_note *note);
/* Bytes in the mapping have been written. */
void emu_shadow_written(const struct emu_mapping *mapping, uint64_t address, uint64_t bytes);

/* ---- checks.c: check mode ---- */

/* What grids are watched with; NULL: they are not. */
const struct sm_watch *emu_watch(void);
/* Numbers the CTAs of a grid that is about to start. */
void emu_check_grid(struct sm_grid *grid, uint64_t ctas);
/* One line on stderr, while the limit lasts. */
void emu_check_print(const struct sm_grid *grid, const struct sm_fault *fault);
/* Address space that is left unused behind each mapping, so that what runs over its
 * end lands nowhere. */
uint64_t emu_check_gap(void);
/* An address space ends: reports buffers that are still there. gpu.lock held. */
void emu_check_leaks(const struct emu_as *as);
/* The same of all address spaces: the process ends. */
void emu_check_all_leaks(void);
/* A client unmaps what is not mapped. */
void emu_check_unmap(const struct emu_as *as, uint64_t address);
/* Other code lies there: what was reported of it may be reported again. */
void emu_checks_forget(const struct emu_as *as, uint64_t address, uint64_t size);
void emu_checks_forked(void);
/* Appends which freed buffer an address lies in, if it does. */
void emu_check_place(struct emu_as *as, uint64_t address, char *text, size_t size);

/* ---- profile.c ---- */

/* A CTA has ended; a grid. */
void emu_profile_count(const struct sm_grid *grid, const struct sm_counts *counts);
void emu_profile_grid(const struct sm_grid *grid, uint64_t ctas, uint32_t ctas_per_sm);
/* Prints what was counted since the last time. */
void emu_profile_print(void);
void emu_profile_forked(void);

#endif
