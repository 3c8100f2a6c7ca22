/* A channel as the kernel driver sees it. gpu.lock protects it. */
#ifndef TEGRACL_EMULATOR_CHANNEL_H
#define TEGRACL_EMULATOR_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/gpu.h"
#include "emulator/objects.h"

struct emu_as;
struct emu_channel_engine;
struct emu_dmabuf;
struct emu_mapping;
struct emu_submit;
struct emu_tsg;
struct emu_watchdog;

struct emu_channel {
  struct emu_object object;
  uint32_t id;
  struct emu_as *as;
  struct emu_tsg *tsg;
  struct emu_channel *next_in_tsg;
  uint32_t veid;
  uint32_t watchdog_ms;
  /* The context-switch timeout as in nvgpu: the time for which the TSG has kept others waiting. */
  uint32_t switch_limit_ms, switch_late_ms, switch_late_get;
  bool watchdog, watchdog_set; /* watchdog is enabled; the client has set watchdog_ms */
  bool deterministic;          /* SETUP_BIND had the flag DETERMINISTIC */
  bool usermode;               /* SETUP_BIND had USERMODE_SUPPORT: the client writes the ring */
  bool railgating_allowed;     /* set by SET_DETERMINISTIC_OPTS */
  bool in_runlist;             /* since SETUP_BIND, until the channel leaves its TSG */
  bool has_object;             /* ALLOC_OBJ_CTX has succeeded */
  uint32_t object_class;       /* of the last ALLOC_OBJ_CTX with a known class, or 0 */
  bool preemption_refused;     /* by an injected error of SET_PREEMPTION_MODE */
  atomic_bool serviceable;     /* in a TSG, and not aborted since it was bound */
  bool disabled;               /* by DISABLE of the TSG or the channel */
  struct emu_dmabuf *gpfifo, *userd;
  struct emu_mapping *gpfifo_mapping;
  uint32_t entries; /* entries in the ring; a power of two */
  struct emu_dmabuf *notifier;
  uint64_t notifier_offset;
  int syncpoint; /* -1: none */
  uint64_t syncpoint_va;
  struct emu_submit *submit; /* NULL if the client writes the ring, or there is no ring */
  struct emu_channel_engine *engine;
};

extern struct emu_channels {
  struct emu_channel *by_id[EMU_CHANNELS];
  uint16_t free_ids[EMU_CHANNELS];
  int free_count;
  uint64_t opened;               /* so far */
  struct emu_watchdog *watchdog; /* NULL: no thread */
  int watched;                   /* number of channels watched */
} emu_channels;

/* Opens a channel. Returns an fd or -errno. */
int emu_channel_open(int32_t runlist);

#endif
