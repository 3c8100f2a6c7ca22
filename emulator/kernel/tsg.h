/* TSGs (time-slice groups of channels) and their events. Callers hold gpu.lock unless a function
 * says otherwise. */
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
  struct emu_as *veid_as[EMU_VEIDS]; /* address space per subcontext; NULL if not created */
  int veid_channels[EMU_VEIDS];
  uint32_t timeslice_us, interleave, evict_last_ways, sector_promotion;
  uint32_t last_channel; /* id of the channel that executed last */
  struct emu_event *events;
  uint32_t graphics_preemption, compute_preemption;
  struct emu_as *context_as; /* address space of the context's header, or NULL */
  uint64_t context_va;       /* GPU address of the context's header */
  atomic_int draining;       /* requests waiting for its grids; while not 0, no grid starts */
  struct nvgpu_tsg_sm_error_state_record sm_error;
  uint64_t owners[EMU_OWNERS]; /* instance ids of the control nodes that own it */
  int owner_count;
  uint32_t token_count; /* number of unused tokens (share.c) */
};

/* An eventfd that becomes readable after an event. */
struct emu_event {
  struct emu_object object;
  struct emu_event *next;
  struct emu_tsg *tsg; /* NULL if it has none, or it was destroyed */
  uint32_t event_id;
};

extern struct emu_tsgs {
  int count;
  struct emu_token *tokens; /* share.c */
} emu_tsgs;

/* Creates a TSG. Returns an fd or -errno. */
int emu_tsg_open(void);
/* Creates an event of a TSG (may be NULL) to which count events have already happened. Returns an
 * fd or -errno. */
int emu_event_open(struct emu_tsg *tsg, uint32_t event_id, unsigned count);
/* The poll function in struct emu_object_ops of events and pollfds. */
void emu_event_poll(struct pollfd *found);
/* Returns whether a channel must stay in its TSG because it has work and is not the TSG's only
 * channel. */
bool emu_tsg_needs(struct emu_channel *channel);
/* Preempts the TSG, as ALLOC_OBJ_CTX, SET_PREEMPTION_MODE and closing a channel do. Has an effect
 * only with preempt:MS. Returns 0, or -EBUSY with a warning if grids run for too long. May release
 * gpu.lock temporarily. */
int emu_tsg_preempt(struct emu_tsg *tsg);
/* Allows all channels of the TSG to be loaded, or none. */
void emu_tsg_enable(struct emu_tsg *tsg, bool enabled);
/* Stops a channel and removes it from its TSG, if it is in one. closed is false if the channel is
 * only unbound. The caller holds a reference; gpu.lock may be released temporarily. */
void emu_tsg_unlink(struct emu_channel *channel, bool closed);
/* Handles an engine's interrupt: raises BLOCKING_SYNC for each TSG that has channels after
 * SETUP_BIND. awakened is the channel whose compute class released a semaphore with an awaken, or
 * NULL: its TSG also gets GR_SEMAPHORE_WRITE_AWAKEN. Takes gpu.lock. */
void emu_non_stall_interrupt(const struct emu_channel *awakened);

#endif
