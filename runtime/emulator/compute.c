/* The methods of the compute class, C7C0. gpu-command-stream.md 4.
 */
#include <string.h>

#include "runtime/emulator/gpu.h"
#include "runtime/hw/tables.h"

static enum emu_step refuse(struct emu_fault *fault, uint32_t notifier, uint32_t method,
                            uint32_t data, const char *why) {
  const struct hw_method *m = hw_method_find(CLASS_COMPUTE, method, NULL);
  emu_fault_set(fault, notifier, 0, "class 0x%04x method 0x%04x %s, data 0x%08x: %s", CLASS_COMPUTE,
                method, m ? m->name : "(none)", data, why);
  return EMU_FAULT;
}

static void set_high(uint64_t *address, uint32_t high) {
  *address = (uint64_t)high << 32 | (uint32_t)*address;
}

static void set_low(uint64_t *address, uint32_t low) {
  *address = (*address >> 32) << 32 | low;
}

static enum emu_step launch(struct emu_channel *channel, uint64_t qmd_address,
                            struct emu_fault *fault) {
  return emu_grid_launch(channel, qmd_address, fault) ? EMU_NEXT : EMU_FAULT;
}

/* Facts 4.5. Actions that only touch the scheduler's caches change nothing here:
 * a descriptor is read when its grid starts. */
static enum emu_step pcas(struct emu_channel *channel, uint32_t data, struct emu_fault *fault) {
  switch (hw_field(data, NVC7C0_SEND_SIGNALING_PCAS2_B_PCAS_ACTION)) {
  case PCAS_NOP:
  case PCAS_INVALIDATE:
  case PCAS_PREFETCH:
    return EMU_NEXT;
  case PCAS_SCHEDULE:
  case PCAS_INVALIDATE_COPY_SCHEDULE:
  case PCAS_PREFETCH_SCHEDULE:
  case PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE:
    return launch(channel, (uint64_t)channel->compute.pcas_address << QMD_ADDRESS_SHIFT, fault);
  default:
    return refuse(fault, NOTIFIER_GR_EXCEPTION, NVC7C0_SEND_SIGNALING_PCAS2_B, data,
                  "work queues and dependence counters are not emulated");
  }
}

/* Facts 4.5: two address words, then 64 data words; the last starts the grid. */
static enum emu_step inline_qmd(struct emu_channel *channel, uint32_t method, uint32_t data,
                                struct emu_fault *fault) {
  struct emu_compute *c = &channel->compute;
  uint32_t word = (method - NVC7C0_LOAD_INLINE_QMD_DATA(0)) / sizeof(uint32_t);
  c->inline_qmd[word] = data;
  if (word != QMD_WORDS - 1)
    return EMU_NEXT;
  /* The descriptor is written in stream order, so behind earlier grids. */
  enum emu_step step = emu_grids_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  uint64_t address = c->inline_qmd_address << QMD_ADDRESS_SHIFT;
  if (!emu_mmu_write(channel->as, address, c->inline_qmd, sizeof(c->inline_qmd), fault))
    return EMU_FAULT;
  return launch(channel, address, fault);
}

static enum emu_step report(struct emu_channel *channel, const struct emu_report *r, bool awaken,
                            uint32_t method, uint32_t data, struct emu_fault *fault) {
  unsigned align = r->timestamp ? sizeof(struct semaphore_report)
                   : r->wide    ? sizeof(uint64_t)
                                : sizeof(uint32_t);
  if (r->address % align)
    return refuse(fault, NOTIFIER_GR_EXCEPTION, method, data, "misaligned semaphore address");
  /* Behind the earlier grids; facts 4.7. */
  enum emu_step step = emu_grids_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  if (!emu_report_write(channel->as, r, fault))
    return EMU_FAULT;
  if (awaken)
    emu_non_stall_interrupt();
  return EMU_NEXT;
}

static enum emu_step report_execute(struct emu_channel *channel, uint32_t data,
                                    struct emu_fault *fault) {
  const struct emu_compute *c = &channel->compute;
  uint32_t size = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_STRUCTURE_SIZE);
  bool wide = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_PAYLOAD_SIZE64);
  if (hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_OPERATION) != REPORT_RELEASE)
    return refuse(fault, NOTIFIER_GR_EXCEPTION, NVC7C0_REPORT_SEMAPHORE_EXECUTE, data,
                  "only RELEASE is emulated");
  const struct emu_report r = {
      .address = c->report_address,
      .payload = wide ? c->report_payload : (uint32_t)c->report_payload,
      .wide = wide || size == REPORT_TWO_WORDS,
      .timestamp = size == REPORT_FOUR_WORDS,
      .reduce = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_REDUCTION_ENABLE),
      .reduction = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_REDUCTION_OP),
      .reduce_signed = hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_REDUCTION_FORMAT) == 1,
  };
  return report(channel, &r, hw_field(data, NVC7C0_REPORT_SEMAPHORE_EXECUTE_AWAKEN_ENABLE),
                NVC7C0_REPORT_SEMAPHORE_EXECUTE, data, fault);
}

static enum emu_step old_report_execute(struct emu_channel *channel, uint32_t data,
                                        struct emu_fault *fault) {
  const struct emu_compute *c = &channel->compute;
  if (hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_OPERATION) != REPORT_RELEASE)
    return refuse(fault, NOTIFIER_GR_EXCEPTION, NVC7C0_SET_REPORT_SEMAPHORE_D, data,
                  "only RELEASE is emulated");
  const struct emu_report r = {
      .address = (uint64_t)c->old_report_high << 32 | c->old_report_low,
      .payload = c->old_report_payload,
      .timestamp = !hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_STRUCTURE_SIZE),
      .reduce = hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_REDUCTION_ENABLE),
      .reduction = hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_REDUCTION_OP),
      .reduce_signed = hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_REDUCTION_FORMAT) == 1,
  };
  return report(channel, &r, hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_D_AWAKEN_ENABLE),
                NVC7C0_SET_REPORT_SEMAPHORE_D, data, fault);
}

static enum emu_step invalidate(struct emu_channel *channel, bool instructions, bool wait,
                                struct emu_fault *fault) {
  if (wait) {
    enum emu_step step = emu_grids_run(channel, fault);
    if (step != EMU_NEXT)
      return step;
  }
  if (instructions)
    emu_code_invalidate(channel->as);
  return EMU_NEXT;
}

/* Methods that nvgpu serves in software, and those that it does not know; facts
 * 4.6. The ones that it knows turn on checks which are always on here. */
static bool is_software_method(uint32_t method) {
  return (method >= NVC7C0_SET_RESERVED_SW_METHOD00 && method <= NVC7C0_SET_RESERVED_SW_METHOD07) ||
         (method >= NVC7C0_SET_RESERVED_SW_METHOD08 && method <= NVC7C0_SET_RESERVED_SW_METHOD15);
}

static bool is_served_software_method(uint32_t method) {
  return method == NVC7C0_SET_RESERVED_SW_METHOD03 || method == NVC7C0_SET_RESERVED_SW_METHOD06 ||
         method == NVC7C0_SET_RESERVED_SW_METHOD07;
}

static bool is_macro_engine(uint32_t method) {
  return (method >= NVC7C0_MME_DMA_READ && method <= NVC7C0_MME_DMA_SYNC) ||
         method >= NVC7C0_CALL_MME_MACRO(0);
}

/* Methods without a case of their own. */
static enum emu_step other_method(uint32_t method, uint32_t data, struct emu_fault *fault) {
  if (!hw_method_find(CLASS_COMPUTE, method, NULL))
    return refuse(fault, NOTIFIER_GR_UNKNOWN_METHOD, method, data, "illegal method");
  if (is_software_method(method) && !is_served_software_method(method))
    return refuse(fault, NOTIFIER_GR_UNKNOWN_METHOD, method, data, "unknown software method");
  if (is_macro_engine(method))
    return refuse(fault, NOTIFIER_GR_EXCEPTION, method, data, "the macro engine is not emulated");
  return EMU_NEXT; /* state that no compute launch depends on */
}

/* State of later launches; facts 4.1 to 4.3. False: not one of these methods. */
static bool set_state(struct emu_compute *c, uint32_t method, uint32_t data) {
  switch (method) {
  case NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A:
    set_high(&c->shared_window,
             hw_field(data, NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_A_BASE_ADDRESS_UPPER));
    return true;
  case NVC7C0_SET_SHADER_SHARED_MEMORY_WINDOW_B:
    set_low(&c->shared_window, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A:
    set_high(&c->local_window,
             hw_field(data, NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_A_BASE_ADDRESS_UPPER));
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_WINDOW_B:
    set_low(&c->local_window, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_A:
    set_high(&c->local_base, hw_field(data, NVC7C0_SET_SHADER_LOCAL_MEMORY_A_ADDRESS_UPPER));
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_B:
    set_low(&c->local_base, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A:
    set_high(&c->local_bytes_per_tpc,
             hw_field(data, NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_A_SIZE_UPPER));
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_B:
    set_low(&c->local_bytes_per_tpc, data);
    return true;
  case NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_C:
    c->local_max_sm = hw_field(data, NVC7C0_SET_SHADER_LOCAL_MEMORY_NON_THROTTLED_C_MAX_SM_COUNT);
    return true;
  case NVC7C0_SEND_PCAS_A:
    c->pcas_address = data;
    return true;
  case NVC7C0_SET_INLINE_QMD_ADDRESS_A:
    set_high(&c->inline_qmd_address, data);
    return true;
  case NVC7C0_SET_INLINE_QMD_ADDRESS_B:
    set_low(&c->inline_qmd_address, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_LOWER:
    set_low(&c->report_payload, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_UPPER:
    set_high(&c->report_payload, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_LOWER:
    set_low(&c->report_address, data);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_UPPER:
    set_high(&c->report_address, hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_UPPER_UPPER));
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_A:
    c->old_report_high = hw_field(data, NVC7C0_SET_REPORT_SEMAPHORE_A_OFFSET_UPPER);
    return true;
  case NVC7C0_SET_REPORT_SEMAPHORE_B:
    c->old_report_low = data;
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
  const uint32_t render_always = 1;
  struct emu_compute *c = &channel->compute;
  if (set_state(c, method, data))
    return EMU_NEXT;
  if (emu_i2m_owns(method))
    return emu_i2m_method(channel, &c->i2m, method, data, fault);
  if (method >= NVC7C0_LOAD_INLINE_QMD_DATA(0) &&
      method <= NVC7C0_LOAD_INLINE_QMD_DATA(QMD_WORDS - 1))
    return inline_qmd(channel, method, data, fault);
  switch (method) {
  case NVC7C0_WAIT_FOR_IDLE:
  case NVC7C0_PM_TRIGGER_WFI:
    return emu_grids_run(channel, fault);
  case NVC7C0_SEND_SIGNALING_PCAS2_B:
    return pcas(channel, data, fault);
  case NVC7C0_SEND_PCAS_B:
  case NVC7C0_SEND_SIGNALING_PCAS_B:
    /* On a board nothing runs and nothing is said: bring-up lessons, trap 4. */
    return refuse(fault, NOTIFIER_GR_EXCEPTION, method, data,
                  "starts nothing on GA10B; use SEND_SIGNALING_PCAS2_B");
  case NVC7C0_INVALIDATE_SHADER_CACHES:
    return invalidate(channel, hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_INSTRUCTION), true,
                      fault);
  case NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI:
    return invalidate(channel, hw_field(data, NVC7C0_INVALIDATE_SHADER_CACHES_NO_WFI_INSTRUCTION),
                      false, fault);
  case NVC7C0_INVALIDATE_SAMPLER_CACHE:
  case NVC7C0_INVALIDATE_TEXTURE_HEADER_CACHE:
  case NVC7C0_INVALIDATE_TEXTURE_DATA_CACHE:
    return invalidate(channel, false, true, fault);
  case NVC7C0_REPORT_SEMAPHORE_EXECUTE:
    return report_execute(channel, data, fault);
  case NVC7C0_SET_REPORT_SEMAPHORE_D:
    return old_report_execute(channel, data, fault);
  case NVC7C0_SET_QMD_VIRTUALIZATION_CONTROL:
    return data ? refuse(fault, NOTIFIER_GR_EXCEPTION, method, data,
                         "QMD virtualisation is not emulated")
                : EMU_NEXT;
  case NVC7C0_SET_RENDER_ENABLE_C:
    return hw_field(data, NVC7C0_SET_RENDER_ENABLE_C_MODE) != render_always
               ? refuse(fault, NOTIFIER_GR_EXCEPTION, method, data,
                        "conditional execution is not emulated")
               : EMU_NEXT;
  default:
    return other_method(method, data, fault);
  }
}
