/* A TSG (time-slice group of channels) and its events. gpu.lock held. */
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
  struct emu_as *veid_as[EMU_VEIDS]; /* NULL: not made */
  int veid_channels[EMU_VEIDS];
  uint32_t timeslice_us, interleave, evict_last_ways, sector_promotion;
  uint32_t last_channel; /* the id of the channel with the last turn */
  struct emu_event *events;
  uint32_t graphics_preemption, compute_preemption;
  struct emu_as *context_as; /* has the context's header in its kernel part; NULL: none */
  uint64_t context_va;
  bool aborted;
  atomic_int draining; /* requests that wait for its grids, so none starts */
  struct nvgpu_tsg_sm_error_state_record sm_error;
  uint64_t owners[EMU_OWNERS]; /* opens of the control node that own it */
  int owner_count;
  uint32_t token_count;
};

/* An fd that polls readable after the event; object.fd is an eventfd. */
struct emu_event {
  struct emu_object object;
  struct emu_event *next;
  struct emu_tsg *tsg;
  uint32_t event_id;
};

extern struct emu_tsgs {
  int count;
  struct emu_token *tokens; /* share.c */
} emu_tsgs;

int emu_tsg_open(void);
/* A new fd of an event, of a TSG or of none; count: earlier events. */
int emu_event_open(struct emu_tsg *tsg, uint32_t event_id, unsigned count);
/* What poll reports of the eventfd of an event or a pollfd. */
void emu_event_poll(struct pollfd *found);
/* Whether a channel has work and its TSG has others, so that it may not leave. */
bool emu_tsg_needs(struct emu_channel *channel);
/* The effect of ALLOC_OBJ_CTX, SET_PREEMPTION_MODE and a channel's close on the whole TSG: its turn
 * ends and, with preempt:MS, its grids give way. 0, or -EBUSY with a warning if they run for too
 * long. gpu.lock held, and dropped meanwhile. */
int emu_tsg_preempt(struct emu_tsg *tsg);
/* Allows all its channels to be loaded, or none. */
void emu_tsg_enable(struct emu_tsg *tsg, bool enabled);
/* closed: else it is unbound. */
void emu_tsg_unlink(struct emu_channel *channel, bool closed);
/* An engine's interrupt: raises its events for every TSG that has channels. Takes gpu.lock. */
void emu_non_stall_interrupt(void);
void emu_events_raise_tsg(struct emu_tsg *tsg, uint32_t event_id);

#endif
