/* Actions of the hardware scheduler (SKED) on descriptors: schedule, prefetch, invalidate, and
 * dependence counters (docs/hardware/command-stream.md 4.5, 5.6).
 *
 * A descriptor with a nonzero DEPENDENCE_COUNTER is held until the counter is zero. It is
 * decremented by PCAS actions and by the end of grids whose dependent the descriptor is. How the
 * counter, scheduling and REQUIRE_SCHEDULING_PCAS interact is inferred from the names of the fields
 * (qmd-v03.csv), because no open-source driver uses them. */
#include "emulator/engine/sked.h"

#include <stdlib.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/engine/method.h"
#include "emulator/engine/qmd.h"
#include "emulator/kernel/channel.h"
#include "emulator/modes/stale.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"

enum {
  HELD_MAX = 1024, /* per channel; more than any board holds */
  DEPENDENCES_MAX = 0xffff,
  SKED_DEPENDENCE_UNDERFLOW = 8,
  SKED_INVALIDATE_ACTIVE = 29,
};

static bool refuse_descriptor(struct emu_fault *fault, uint64_t address, const char *what) {
  emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, address, "QMD at 0x%llx: %s",
                (unsigned long long)address, what);
  return false;
}

static bool report_sked(struct emu_fault *fault, uint64_t address, int bit, const char *what) {
  emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, address, "SKED ESR bit %d: QMD at 0x%llx: %s", bit,
                (unsigned long long)address, what);
  return false;
}

static struct emu_held_qmd **find_held(struct emu_channel *channel, uint64_t address) {
  struct emu_held_qmd **link = &channel->engine->held;
  while (*link && (*link)->address != address)
    link = &(*link)->next;
  return link;
}

static void drop_held(struct emu_held_qmd **link) {
  struct emu_held_qmd *held = *link;
  *link = held->next;
  free(held);
}

/* Returns the scheduler's copy of a descriptor, and makes one if there is none. Returns NULL with
 * *fault set on an error. */
static struct emu_held_qmd **hold_descriptor(struct emu_channel *channel, uint64_t address,
                                             const struct emu_shader_state *shader,
                                             struct emu_fault *fault) {
  struct emu_held_qmd **link = find_held(channel, address);
  if (*link)
    return link;
  const uint32_t *qmd = emu_qmd_find(channel->as, address, fault);
  if (!qmd)
    return NULL;
  qmd = emu_stale_descriptor(channel->as, address, qmd);
  unsigned count = 0;
  for (const struct emu_held_qmd *h = channel->engine->held; h; h = h->next)
    count++;
  struct emu_held_qmd *held = count < HELD_MAX ? calloc(1, sizeof(*held)) : NULL;
  if (!held) {
    refuse_descriptor(fault, address, "too many descriptors wait for others");
    return NULL;
  }
  held->address = address;
  held->dependences = qmd_get(qmd, QMD_DEPENDENCE_COUNTER);
  held->requires_scheduling = qmd_get(qmd, QMD_REQUIRE_SCHEDULING_PCAS);
  held->shader = *shader;
  *link = held;
  return link;
}

/* Launches the grid of a held descriptor if all its dependences are met. */
static bool start_if_due(struct emu_channel *channel, struct emu_held_qmd **link,
                         struct emu_fault *fault) {
  const struct emu_held_qmd *held = *link;
  if (held->dependences || (held->requires_scheduling && !held->scheduled))
    return true;
  const uint32_t *qmd = emu_qmd_find(channel->as, held->address, fault);
  bool good = qmd && emu_grid_launch(channel, held->address, qmd, &held->shader, fault);
  drop_held(link);
  return good;
}

bool emu_sked_schedule(struct emu_channel *channel, uint64_t address,
                       const struct emu_shader_state *shader, struct emu_fault *fault) {
  channel->engine->ring.to_descriptor = address - channel->engine->ring.segment;
  if (!*find_held(channel, address)) {
    const uint32_t *qmd = emu_qmd_find(channel->as, address, fault);
    if (!qmd)
      return false;
    if (!qmd_get(emu_stale_descriptor(channel->as, address, qmd), QMD_DEPENDENCE_COUNTER))
      return emu_grid_launch(channel, address, qmd, shader, fault);
  }
  struct emu_held_qmd **link = hold_descriptor(channel, address, shader, fault);
  if (!link)
    return false;
  (*link)->scheduled = true;
  (*link)->shader = *shader;
  return start_if_due(channel, link, fault);
}

bool emu_sked_decrement(struct emu_channel *channel, uint64_t address,
                        const struct emu_shader_state *shader, struct emu_fault *fault) {
  struct emu_held_qmd **link = hold_descriptor(channel, address, shader, fault);
  if (!link)
    return false;
  if (!(*link)->dependences)
    return report_sked(fault, address, SKED_DEPENDENCE_UNDERFLOW, "its dependence counter is zero");
  (*link)->dependences--;
  return start_if_due(channel, link, fault);
}

static bool increment_dependences(struct emu_channel *channel, uint64_t address,
                                  struct emu_fault *fault) {
  struct emu_held_qmd **link =
      hold_descriptor(channel, address, &channel->engine->compute.shader, fault);
  if (!link)
    return false;
  if ((*link)->dependences == DEPENDENCES_MAX)
    return refuse_descriptor(fault, address, "its dependence counter overflows");
  (*link)->dependences++;
  return true;
}

static bool invalidate_descriptor(struct emu_channel *channel, uint64_t address,
                                  struct emu_fault *fault) {
  struct emu_held_qmd **link = find_held(channel, address);
  if (emu_grid_active(channel, address) || (*link && (*link)->scheduled))
    return report_sked(fault, address, SKED_INVALIDATE_ACTIVE,
                       "it is invalidated while it is active");
  if (*link)
    drop_held(link);
  emu_stale_drop_descriptor(channel->as, address);
  return true;
}

static bool hold_back(struct emu_channel *channel, uint64_t address, struct emu_fault *fault) {
  struct emu_held_qmd **link =
      hold_descriptor(channel, address, &channel->engine->compute.shader, fault);
  if (link)
    (*link)->requires_scheduling = true;
  return link != NULL;
}

bool emu_sked_pcas(struct emu_channel *channel, uint64_t address, uint32_t action,
                   struct emu_fault *fault) {
  const struct emu_shader_state *shader = &channel->engine->compute.shader;
  switch (action) {
  case PCAS_PREFETCH:
    emu_stale_prefetch(channel->as, address); /* without a cache it is read when its grid starts */
    return true;
  case PCAS_NOP:
  case PCAS_INCREMENT_CWD_REF_COUNTER: /* nothing reads these counters */
    return true;
  case PCAS_INVALIDATE:
    return invalidate_descriptor(channel, address, fault);
  case PCAS_SCHEDULE:
  case PCAS_PREFETCH_SCHEDULE:
    return emu_sked_schedule(channel, address, shader, fault);
  case PCAS_INVALIDATE_COPY_SCHEDULE:
  case PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE:
    return invalidate_descriptor(channel, address, fault) &&
           emu_sked_schedule(channel, address, shader, fault);
  case PCAS_INVALIDATE_PREFETCH_COPY_FORCE_REQUIRE_SCHEDULING:
    return invalidate_descriptor(channel, address, fault) && hold_back(channel, address, fault);
  case PCAS_DECREMENT_DEPENDENCE:
    return emu_sked_decrement(channel, address, shader, fault);
  case PCAS_INCREMENT_DEPENDENCE:
    return increment_dependences(channel, address, fault);
  case PCAS_INCREMENT_PUT:
    return refuse_descriptor(fault, address,
                             "work queues are not supported: they are undocumented");
  default:
    return refuse_descriptor(fault, address, "the PCAS action is illegal");
  }
}

enum emu_step emu_sked_wait(struct emu_channel *channel, struct emu_fault *fault) {
  enum emu_step step = emu_grids_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  for (const struct emu_held_qmd *held = channel->engine->held; held; held = held->next) {
    if (held->scheduled) {
      refuse_descriptor(fault, held->address,
                        "the channel waits for it, but its DEPENDENCE_COUNTER never becomes zero");
      return EMU_FAULT;
    }
  }
  return EMU_NEXT;
}

void emu_sked_drop(struct emu_channel *channel) {
  while (channel->engine->held)
    drop_held(&channel->engine->held);
}
