/* TSGs (time-slice groups of channels) and their events. gpu.lock held, unless a function says
 * otherwise. */
#ifndef TEGRACL_EMULATOR_TSG_H
#define TEGRACL_EMULATOR_TSG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/objects.h"
#include "gpu/nvgpu/uapi.h"

struct emu_as;
struct emu_channel;
struct emu_token;

/* docs/hardware/kernel-interface.md traps T11, T12 */
enum {
  EMU_TSGS = 512,
  EMU_TSG_CHANNELS = 128,
  EMU_VEIDS = 64,
  EMU_EVENTS = 6,
  EMU_OWNERS = 64,
};

struct emu_tsg {
  struct emu_object object;
  struct emu_channel *channels;
  int channel_count;
  struct emu_as *veid_as[EMU_VEIDS]; /* of each subcontext; NULL: not created */
  int veid_channels[EMU_VEIDS];
  uint32_t timeslice_us, interleave, evict_last_ways, sector_promotion;
  uint32_t last_channel; /* the id of the channel with the last turn */
  struct emu_event *events;
  uint32_t graphics_preemption, compute_preemption;
  struct emu_as *context_as; /* has the context's header in the driver's part; NULL: no context */
  uint64_t context_va;       /* GPU address of the header */
  bool aborted;
  atomic_int draining; /* requests that wait for its grids; meanwhile none starts */
  struct nvgpu_tsg_sm_error_state_record sm_error;
  uint64_t owners[EMU_OWNERS]; /* instances of the control node that have it */
  int owner_count;
  uint32_t token_count; /* tokens of share.c that are not used */
};

/* An eventfd that is readable after an event. */
struct emu_event {
  struct emu_object object;
  struct emu_event *next;
  struct emu_tsg *tsg; /* NULL: of no TSG, or it was destroyed */
  uint32_t event_id;
};

extern struct emu_tsgs {
  int count;
  struct emu_token *tokens; /* share.c */
} emu_tsgs;

/* A new fd of a new TSG, or -errno. */
int emu_tsg_open(void);
/* A new fd of an event of a TSG (NULL: of none), or -errno; count: events that have happened. */
int emu_event_open(struct emu_tsg *tsg, uint32_t event_id, unsigned count);
/* struct emu_object_ops's poll, for events and pollfds. */
void emu_event_poll(struct pollfd *found);
/* Whether a channel must stay in its TSG: it has work, and the TSG has other channels. */
bool emu_tsg_needs(struct emu_channel *channel);
/* Preempts the TSG, as ALLOC_OBJ_CTX, SET_PREEMPTION_MODE and a channel's close do. With preempt:MS
 * its turn ends and its grids give way: 0, or -EBUSY and a warning if they run for too long. May
 * release gpu.lock meanwhile. */
int emu_tsg_preempt(struct emu_tsg *tsg);
/* Allows all its channels to be loaded, or none. */
void emu_tsg_enable(struct emu_tsg *tsg, bool enabled);
/* Removes a channel from its TSG, if it has one. closed: because the channel is closed, not
 * unbound. */
void emu_tsg_unlink(struct emu_channel *channel, bool closed);
/* The interrupt of an engine: raises its events of each TSG that has channels. Takes gpu.lock. */
void emu_non_stall_interrupt(void);
/* Raises an event of a TSG. */
void emu_events_raise_tsg(struct emu_tsg *tsg, uint32_t event_id);

#endif
