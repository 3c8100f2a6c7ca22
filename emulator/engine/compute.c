/* The methods of the compute class, C7C0 (docs/hardware/command-stream.md 4). Error notifiers are
 * those that nvgpu's common/gr/gr_intr.c posts. */
#include "emulator/engine/compute.h"

#include <stdlib.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/condition.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/engine/i2m.h"
#include "emulator/engine/method.h"
#include "emulator/engine/mme.h"
#include "emulator/engine/mmu.h"
#include "emulator/engine/report.h"
#include "emulator/engine/sked.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/tsg.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/inject.h"
#include "emulator/modes/stale.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "gpu/hw/tables.h"

static enum emu_step refuse_method(struct emu_fault *fault, uint32_t notifier, uint32_t method,
                                   uint32_t data, const char *why) {
  const struct hw_method *m = hw_method_find(CLASS_COMPUTE, method, NULL);
  emu_fault_set(fault, notifier, 0, "class 0x%04x method 0x%04x %s, data 0x%08x: %s", CLASS_COMPUTE,
                method, m ? m->name : "(none)", data, why);
  return EMU_FAULT;
}

/* Sets *holds to whether launches are enabled: the global condition must hold, and also the
 * channel's condition unless an override replaces it. Returns false with *fault set on an error. */
static bool is_enabled(struct emu_channel *channel, bool *holds, struct emu_fault *fault) {
  const struct emu_compute *c = &channel->engine->compute;
  bool global;
  if (!emu_condition_holds(channel->as, &c->global_condition, &global, fault))
    return false;
  *holds = c->condition_override == RENDER_OVERRIDE_ALWAYS;
  if (c->condition_override == RENDER_OVERRIDE_NONE &&
      !emu_condition_holds(channel->as, &c->condition, holds, fault))
    return false;
  *holds &= global;
  return true;
}

/* command-stream.md 4.5 */
static enum emu_step send_pcas(struct emu_channel *channel, uint32_t data,
                               struct emu_fault *fault) {
  uint64_t address = (uint64_t)channel->engine->compute.pcas_address << QMD_ADDRESS_SHIFT;
  uint32_t action = hw_field(data, NVC7C0_SEND_SIGNALING_PCAS2_B_PCAS_ACTION);
  bool holds;
  if (!is_enabled(channel, &holds, fault))
    return EMU_FAULT;
  holds = holds && !(action == PCAS_PREFETCH_SCHEDULE && emu_injected(EMU_PLACE_ACTION_9)) &&
          !(action == PCAS_INVALIDATE_COPY_SCHEDULE && emu_injected(EMU_PLACE_ACTION_3));
  return !holds || emu_sked_pcas(channel, address, action, fault) ? EMU_NEXT : EMU_FAULT;
}

/* LOAD_INLINE_QMD_DATA: 64 words after two address words. The last word starts the grid
 * (command-stream.md 4.5). */
static enum emu_step inline_qmd(struct emu_channel *channel, uint32_t method, uint32_t data,
                                struct emu_fault *fault) {
  struct emu_compute *c = &channel->engine->compute;
  uint32_t word = (method - NVC7C0_LOAD_INLINE_QMD_DATA(0)) / sizeof(uint32_t);
  c->inline_qmd[word] = data;
  if (word != QMD_WORDS - 1)
    return EMU_NEXT;
  /* The descriptor is written in stream order, so only after earlier grids have ended. */
  enum emu_step step = emu_grids_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  uint64_t address = c->inline_qmd_address << QMD_ADDRESS_SHIFT;
  bool holds;
  if (!emu_mmu_write(channel->as, address, c->inline_qmd, sizeof(c->inline_qmd), fault) ||
      !is_enabled(channel, &holds, fault))
    return EMU_FAULT;
  emu_stale_drop_descriptor(channel->as, address);
  holds = holds && !emu_injected(EMU_PLACE_INLINE);
  return !holds || emu_sked_schedule(channel, address, &c->shader, fault) ? EMU_NEXT : EMU_FAULT;
}

static enum emu_step write_report(struct emu_channel *channel, const struct emu_report *r,
                                  bool awaken, uint32_t method, uint32_t data,
                                  struct emu_fault *fault) {
  if (emu_report_misaligned(r))
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, method, data,
                         "misaligned semaphore address");
  /* A report waits for earlier grids (docs/hardware/command-stream.md 4.7). */
  enum emu_step step = emu_sked_wait(channel, fault);
  if (step != EMU_NEXT)
    return step;
  if (!emu_injected(EMU_PLACE_REPORT_LOST) && !emu_report_write(channel, r, fault))
    return EMU_FAULT;
  if (awaken)
    emu_non_stall_interrupt(channel);
  return EMU_NEXT;
}

/* Waits until the memory contains the payload. Unlike acquires of the host, this does not wait for
 * the channel's grids. */
static enum emu_step report_acquire(struct emu_channel *channel, const struct emu_report *r,
                                    uint32_t data, struct emu_fault *fault) {
  if (r->address % (r->wide ? sizeof(uint64_t) : sizeof(uint32_t)))
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, NVC7C0_REPORT_SEMAPHORE_EXECUTE, data,
                         "misaligned semaphore address");
  uint64_t value;
  if (!emu_semaphore_read(channel->as, r->address, r->wide, &value, fault))
    return EMU_FAULT;
  channel->engine->waiting = value != r->payload;
  return channel->engine->waiting ? EMU_AGAIN : EMU_NEXT;
}

static enum emu_step report_execute(struct emu_channel *channel, uint32_t data,
                                    struct emu_fault *fault) {
  const struct emu_compute *c = &channel->engine->compute;
  uint32_t size = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_STRUCTURE_SIZE);
  bool wide = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_PAYLOAD_SIZE64);
  uint32_t operation = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_OPERATION);
  if (size > REPORT_TWO_WORDS)
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, NVC7C0_REPORT_SEMAPHORE_EXECUTE, data,
                         "illegal STRUCTURE_SIZE");
  if (operation != REPORT_RELEASE && operation != REPORT_ACQUIRE)
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, NVC7C0_REPORT_SEMAPHORE_EXECUTE, data,
                         "REPORT_ONLY and TRAP are not documented for this class");
  const struct emu_report r = {
      .address = c->report_address,
      .payload = wide ? c->report_payload : (uint32_t)c->report_payload,
      .wide = wide || size == REPORT_TWO_WORDS,
      .timestamp = size == REPORT_FOUR_WORDS,
      .reduce = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_REDUCTION_ENABLE),
      .reduction = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_REDUCTION_OP),
      .reduce_signed =
          hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_REDUCTION_FORMAT) == REPORT_RED_SIGNED,
  };
  if (operation == REPORT_ACQUIRE)
    return report_acquire(channel, &r, data, fault);
  return write_report(channel, &r, hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_AWAKEN_ENABLE),
                      NVC7C0_REPORT_SEMAPHORE_EXECUTE, data, fault);
}

static enum emu_step old_report_execute(struct emu_channel *channel, uint32_t data,
                                        struct emu_fault *fault) {
  const struct emu_compute *c = &channel->engine->compute;
  if (hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_OPERATION) != REPORT_RELEASE)
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, NVC7C0_SET_REPORT_SEMAPHORE_D, data,
                         "TRAP is not documented for this class");
  const struct emu_report r = {
      .address = c->old_report_address,
      .payload = c->old_report_payload,
      .timestamp =
          hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_STRUCTURE_SIZE) == REPORT_FOUR_WORDS,
      .reduce = hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_REDUCTION_ENABLE),
      .reduction = hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_REDUCTION_OP),
      .reduce_signed =
          hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_REDUCTION_FORMAT) == REPORT_RED_SIGNED,
  };
  return write_report(channel, &r, hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_AWAKEN_ENABLE),
                      NVC7C0_SET_REPORT_SEMAPHORE_D, data, fault);
}

/* command-stream.md 4.4 */
static enum emu_step invalidate_caches(struct emu_channel *channel,
                                       const struct emu_invalidate *what, bool wait,
                                       struct emu_fault *fault) {
  if (wait) {
    enum emu_step step = emu_sked_wait(channel, fault);
    if (step != EMU_NEXT)
      return step;
  }
  if (what->code)
    emu_grids_forget_code(channel);
  emu_stale_invalidate(channel->as, what);
  return EMU_NEXT;
}

/* docs/hardware/textures.md 4.3. The fields of all these methods are the same. */
static enum emu_step invalidate_textures(struct emu_channel *channel, enum sm_l1_kind kind,
                                         bool wait, uint32_t method, uint32_t data,
                                         struct emu_fault *fault) {
  const bool all = hw_field(data, NVC7C0_INVALIDATE_SAMPLER_CACHE_LINES) == INVALIDATE_ALL_LINES;
  const struct emu_invalidate what = {
      .texels = all && kind == SM_L1_TEXELS,
      .headers = all && kind == SM_L1_HEADERS,
      .samplers = all && kind == SM_L1_SAMPLERS,
  };
  if (!all && kind == SM_L1_TEXELS)
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, method, data,
                         "which line a TAG of texture data means is not published");
  const enum emu_step step = invalidate_caches(channel, &what, wait, fault);
  if (step == EMU_NEXT && !all)
    emu_stale_drop_texture(channel, kind, hw_field(data, NVC7C0_INVALIDATE_SAMPLER_CACHE_TAG));
  return step;
}

static enum emu_step invalidate_shader_caches(struct emu_channel *channel, uint32_t data,
                                              struct emu_fault *fault) {
  const struct emu_invalidate what = {
      .code = hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_INSTRUCTION),
      .data = hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_DATA),
      .constants = hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_CONSTANT),
  };
  return invalidate_caches(channel, &what, true, fault);
}

static enum emu_step invalidate_without_wait(struct emu_channel *channel, uint32_t data,
                                             struct emu_fault *fault) {
  const struct emu_invalidate what = {
      .code = hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI_INSTRUCTION),
      .data = hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI_GLOBAL_DATA),
      .constants = hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI_CONSTANT),
  };
  return invalidate_caches(channel, &what, false, fault);
}

/* Begins or ends an atomic sequence. Beginning one inside another, or ending none, sets bit 4 of
 * the front end's exceptions (docs/hardware/command-stream.md 4.8). */
static enum emu_step atomic_sequence(struct emu_compute *c, uint32_t method, uint32_t data,
                                     struct emu_fault *fault) {
  bool begins = method == NVC7C0_FE_ATOMIC_SEQUENCE_BEGIN;
  if (begins == c->in_atomic_sequence)
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, method, data, "FE ILLEGAL_FE_ATOMIC_SEQ");
  c->in_atomic_sequence = begins;
  return EMU_NEXT;
}

/* Returns whether nvgpu handles the method in software or rejects it (command-stream.md 4.6). Those
 * that it handles enable checks that are always on here. */
static bool is_software_method(uint32_t method) {
  return (method >= NVC7C0_SET_RESERVED_SW_METHOD00 && method <= NVC7C0_SET_RESERVED_SW_METHOD07) ||
         (method >= NVC7C0_SET_RESERVED_SW_METHOD08 && method <= NVC7C0_SET_RESERVED_SW_METHOD15);
}

static bool is_served_software_method(uint32_t method) {
  return method == NVC7C0_SET_RESERVED_SW_METHOD03 || method == NVC7C0_SET_RESERVED_SW_METHOD06 ||
         method == NVC7C0_SET_RESERVED_SW_METHOD07;
}

/* Executes a method that has no special case. */
static enum emu_step other_method(uint32_t method, uint32_t data, struct emu_fault *fault) {
  if (!hw_method_find(CLASS_COMPUTE, method, NULL))
    return refuse_method(fault, NOTIFIER_GR_ILLEGAL_NOTIFY, method, data, "illegal method");
  if (is_software_method(method) && !is_served_software_method(method))
    return refuse_method(fault, NOTIFIER_GR_ILLEGAL_NOTIFY, method, data,
                         "unknown software method");
  return EMU_NEXT; /* sets state that no compute launch depends on */
}

/* Returns whether the method replaces the pool of local memory while a grid uses it. Clients must
 * wait for idle first (docs/hardware/command-stream.md 4.3). A board does not report it, but the
 * grid loses its pool (docs/hardware/bring-up.md trap 23). */
static bool replaces_pool(const struct emu_channel *channel, uint32_t method) {
  return ((method >= NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A &&
           method <= NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_C) ||
          method == NVC7C0_SET_SHADER_LOCAL_MEMORY_A ||
          method == NVC7C0_SET_SHADER_LOCAL_MEMORY_B) &&
         emu_grids_use_local(channel);
}

/* Returns whether the method moves or shrinks a pool of texture headers or samplers while grids use
 * it (docs/hardware/textures.md 4.1). */
static bool moves_textures(const struct emu_channel *channel, uint32_t method, uint32_t data) {
  const struct emu_shader_state *s = &channel->engine->compute.shader;
  const struct sm_pool *headers = &s->headers, *samplers = &s->samplers;
  bool moves = false;
  switch (method) {
  case NVC7C0_SET_TEX_HEADER_POOL_A:
    moves = headers->address && data != (uint32_t)(headers->address >> 32);
    break;
  case NVC7C0_SET_TEX_HEADER_POOL_B:
    moves = headers->address && data != (uint32_t)headers->address;
    break;
  case NVC7C0_SET_TEX_HEADER_POOL_C:
    moves = headers->address && data < headers->last;
    break;
  case NVC7C0_SET_TEX_SAMPLER_POOL_A:
    moves = samplers->address && data != (uint32_t)(samplers->address >> 32);
    break;
  case NVC7C0_SET_TEX_SAMPLER_POOL_B:
    moves = samplers->address && data != (uint32_t)samplers->address;
    break;
  case NVC7C0_SET_TEX_SAMPLER_POOL_C:
    moves = samplers->address && data < samplers->last;
    break;
  default:
    break;
  }
  return moves && emu_grids_use_textures(channel);
}

/* Sets state for later launches (docs/hardware/command-stream.md 4.1 to 4.3). Returns false if the
 * method is not one of these. */
static bool set_state(struct emu_compute *c, uint32_t method, uint32_t data) {
  switch (method) {
  case NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A:
    emu_set_high(&c->shader.shared_window,
                 hw_field(data, NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A_BASE_ADDRESS_UPPER));
    return true;
  case NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_B:
    emu_set_low(&c->shader.shared_window, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A:
    emu_set_high(&c->shader.local_window,
                 hw_field(data, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A_BASE_ADDRESS_UPPER));
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_B:
    emu_set_low(&c->shader.local_window, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_A:
    emu_set_high(&c->shader.local_base,
                 hw_field(data, NVC7C0_SET_SHADER_LOCAL_MEMORY_A_ADDRESS_UPPER));
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_B:
    emu_set_low(&c->shader.local_base, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A:
    emu_set_high(&c->shader.local_bytes_per_tpc,
                 hw_field(data, NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A_SIZE_UPPER));
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_B:
    emu_set_low(&c->shader.local_bytes_per_tpc, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_C:
    return true; /* MAX_SM_COUNT limits the SMs that use the pool; all known clients allow all */
  case NVC7C0_SET_TEX_HEADER_POOL_A:
    emu_set_high(&c->shader.headers.address,
                 hw_field(data, NVC7C0_SET_TEX_HEADER_POOL_A_OFFSET_UPPER));
    return true;
  case NVC7C0_SET_TEX_HEADER_POOL_B:
    emu_set_low(&c->shader.headers.address, data);
    return true;
  case NVC7C0_SET_TEX_HEADER_POOL_C:
    c->shader.headers.last = hw_field(data, NVC7C0_SET_TEX_HEADER_POOL_C_MAXIMUM_INDEX);
    return true;
  case NVC7C0_SET_TEX_SAMPLER_POOL_A:
    emu_set_high(&c->shader.samplers.address,
                 hw_field(data, NVC7C0_SET_TEX_SAMPLER_POOL_A_OFFSET_UPPER));
    return true;
  case NVC7C0_SET_TEX_SAMPLER_POOL_B:
    emu_set_low(&c->shader.samplers.address, data);
    return true;
  case NVC7C0_SET_TEX_SAMPLER_POOL_C:
    c->shader.samplers.last = hw_field(data, NVC7C0_SET_TEX_SAMPLER_POOL_C_MAXIMUM_INDEX);
    return true;
  case NVC7C0_SET_RENDER_ENABLE_A:
    emu_set_high(&c->condition.address, hw_field(data, NVC7C0_SET_RENDER_ENABLE_A_OFFSET_UPPER));
    return true;
  case NVC7C0_SET_RENDER_ENABLE_B:
    emu_set_low(&c->condition.address, data);
    return true;
  case NVC7C0_SET_RENDER_ENABLE_C:
    c->condition.mode = hw_field(data, NVC7C0_SET_RENDER_ENABLE_C_MODE);
    return true;
  case NVC7C0_SET_GLOBAL_RENDER_ENABLE_A:
    emu_set_high(&c->global_condition.address,
                 hw_field(data, NVC7C0_SET_GLOBAL_RENDER_ENABLE_A_OFFSET_UPPER));
    return true;
  case NVC7C0_SET_GLOBAL_RENDER_ENABLE_B:
    emu_set_low(&c->global_condition.address, data);
    return true;
  case NVC7C0_SET_GLOBAL_RENDER_ENABLE_C:
    c->global_condition.mode = hw_field(data, NVC7C0_SET_GLOBAL_RENDER_ENABLE_C_MODE);
    return true;
  case NVC7C0_SEND_PCAS_A:
    c->pcas_address = data;
    return true;
  case NVC7C0_SET_INLINE_QMD_ADDRESS_A:
    emu_set_high(&c->inline_qmd_address, data);
    return true;
  case NVC7C0_SET_INLINE_QMD_ADDRESS_B:
    emu_set_low(&c->inline_qmd_address, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_LOWER:
    emu_set_low(&c->report_payload, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_UPPER:
    emu_set_high(&c->report_payload, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_LOWER:
    emu_set_low(&c->report_address, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_UPPER:
    emu_set_high(&c->report_address,
                 hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_UPPER_UPPER));
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_A:
    emu_set_high(&c->old_report_address,
                 hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_A_OFFSET_UPPER));
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_B:
    emu_set_low(&c->old_report_address, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_C:
    c->old_report_payload = data;
    return true;
  default:
    return false;
  }
}

enum emu_step emu_compute_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                                 struct emu_fault *fault) {
  struct emu_compute *c = &channel->engine->compute;
  if (emu_injected(EMU_PLACE_CLASS_STUCK)) {
    channel->engine->waiting = true;
    return EMU_AGAIN;
  }
  if (emu_inject_loss(EMU_PLACE_CLASS_LOST, NOTIFIER_GR_EXCEPTION, fault))
    return EMU_FAULT;
  if (method >= NVC7C0_CALL_MME_MACRO(0))
    return emu_mme_call(channel, method, data, fault);
  data = emu_mme_shadow(channel->engine->mme, method, data);
  if (emu_adversary.on && replaces_pool(channel, method))
    return refuse_method(
        fault, NOTIFIER_GR_EXCEPTION, method, data,
        "the pool of local memory is replaced while a grid uses it; wait for idle first");
  if (emu_adversary.on && moves_textures(channel, method, data))
    return refuse_method(
        fault, NOTIFIER_GR_EXCEPTION, method, data,
        "a pool of textures moves or shrinks while a grid uses it; wait for idle first");
  if (set_state(c, method, data))
    return EMU_NEXT;
  if (emu_mme_owns(method))
    return emu_mme_method(channel, method, data, fault);
  if (emu_i2m_owns(method))
    return emu_i2m_method(channel, &c->i2m, method, data, fault);
  if (method >= NVC7C0_LOAD_INLINE_QMD_DATA(0) &&
      method <= NVC7C0_LOAD_INLINE_QMD_DATA(QMD_WORDS - 1))
    return inline_qmd(channel, method, data, fault);
  switch (method) {
  case NVC7C0_WAIT_FOR_IDLE:
  case NVC7C0_PM_TRIGGER_WFI:
    return emu_sked_wait(channel, fault);
  case NVC7C0_SEND_SIGNALING_PCAS2_B:
    return send_pcas(channel, data, fault);
  case NVC7C0_SEND_PCAS_B:
  case NVC7C0_SEND_SIGNALING_PCAS_B:
    /* On a board this starts nothing and reports nothing (docs/hardware/bring-up.md trap 4). */
    return refuse_method(fault, NOTIFIER_GR_EXCEPTION, method, data,
                         "starts nothing on GA10B; use SEND_SIGNALING_PCAS2_B");
  case NVC7C0_INVALIDATE_SHADER_CACHES:
    return invalidate_shader_caches(channel, data, fault);
  case NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI:
    return invalidate_without_wait(channel, data, fault);
  case NVC7C0_INVALIDATE_SAMPLER_CACHE:
  case NVC7C0_INVALIDATE_SAMPLER_CACHE_NO_WFI:
    return invalidate_textures(channel, SM_L1_SAMPLERS, method == NVC7C0_INVALIDATE_SAMPLER_CACHE,
                               method, data, fault);
  case NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE:
  case NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE_NO_WFI:
    return invalidate_textures(channel, SM_L1_HEADERS,
                               method == NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE, method, data,
                               fault);
  case NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE:
  case NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE_NO_WFI:
    return invalidate_textures(channel, SM_L1_TEXELS,
                               method == NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE, method, data, fault);
  case NVC7C0_INVALIDATE_SKED_CACHES:
    emu_stale_drop_descriptors(channel->as);
    return EMU_NEXT;
  case NVC7C0_REPORT_SEMAPHORE_EXECUTE:
    return report_execute(channel, data, fault);
  case NVC7C0_SET_REPORT_SEMAPHORE_D:
    return old_report_execute(channel, data, fault);
  case NVC7C0_SET_QMD_VIRTUALIZATION_CONTROL:
    return data ? refuse_method(fault, NOTIFIER_GR_EXCEPTION, method, data,
                                "QMD virtualisation is not emulated")
                : EMU_NEXT;
  case NVC7C0_SET_RENDER_ENABLE_OVERRIDE:
    c->condition_override = hw_field(data, NVC7C0_SET_RENDER_ENABLE_OVERRIDE_MODE);
    return c->condition_override > RENDER_OVERRIDE_NEVER
               ? refuse_method(fault, NOTIFIER_GR_EXCEPTION, method, data, "no such MODE")
               : EMU_NEXT;
  case NVC7C0_FE_ATOMIC_SEQUENCE_BEGIN:
  case NVC7C0_FE_ATOMIC_SEQUENCE_END:
    return atomic_sequence(c, method, data, fault);
  case NVC7C0_NOTIFY:
    return refuse_method(fault, NOTIFIER_GR_ILLEGAL_NOTIFY, method, data,
                         "its format is not documented; use a semaphore");
  default:
    return other_method(method, data, fault);
  }
}

bool emu_compute_bind(struct emu_channel *channel, struct emu_fault *fault) {
  struct emu_compute *c = &channel->engine->compute;
  if (!c->bound)
    c->condition.mode = c->global_condition.mode = RENDER_ENABLE_ALWAYS;
  if (!channel->engine->mme)
    channel->engine->mme = calloc(1, sizeof(*channel->engine->mme));
  c->bound = channel->engine->mme != NULL;
  if (!c->bound)
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, 0, "the host is out of memory");
  return c->bound;
}
