/* The driver's record of a channel, which is changed with gpu.lock held. */
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
  /* The context-switch timeout as nvgpu counts it: how long the TSG kept others waiting. */
  uint32_t switch_limit_ms, switch_late_ms, switch_late_get;
  bool watchdog, watchdog_set; /* it is on; the client has set watchdog_ms */
  bool deterministic;          /* SETUP_BIND with DETERMINISTIC */
  bool usermode;               /* the client writes the ring */
  bool railgating_allowed;     /* by SET_DETERMINISTIC_OPTS */
  bool has_object;             /* ALLOC_OBJ_CTX was done */
  bool preemption_refused;     /* SET_PREEMPTION_MODE failed */
  atomic_bool serviceable;     /* it is in a TSG and was not aborted */
  bool disabled;               /* TSG or channel DISABLE */
  struct emu_dmabuf *gpfifo, *userd;
  struct emu_mapping *gpfifo_mapping;
  uint32_t entries; /* of the ring; a power of two */
  struct emu_dmabuf *notifier;
  uint64_t notifier_offset;
  int syncpoint; /* -1: none */
  uint64_t syncpoint_va;
  struct emu_submit *submit; /* NULL: the client writes the ring, or there is none */
  struct emu_channel_engine *engine;
};

extern struct emu_channels {
  struct emu_channel *by_id[EMU_CHANNELS];
  uint16_t free_ids[EMU_CHANNELS];
  int free_count;
  uint64_t opened;               /* so far */
  struct emu_watchdog *watchdog; /* NULL: no thread */
  int watched;                   /* channels that it watches */
} emu_channels;

/* A new fd, or -errno. */
int emu_channel_open(int32_t runlist);

#endif
