/* Inline-to-memory: writes data of the pushbuffer to memory in stream order. The methods have the
 * same offsets in the compute class and in class A140 (docs/hardware/command-stream.md 4.6). */
#include "emulator/engine/i2m.h"

#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/engine/method.h"
#include "emulator/engine/report.h"
#include "emulator/engine/surface.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/tsg.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"

enum { I2M_FIRST = NVC7C0_LINE_LENGTH_IN, I2M_LAST = NVC7C0_SET_I2M_SEMAPHORE_C };

bool emu_i2m_owns(uint32_t method) {
  return (method >= I2M_FIRST && method <= NVC7C0_LOAD_INLINE_DATA) ||
         (method >= NVC7C0_SET_I2M_SEMAPHORE_A && method <= I2M_LAST);
}

static enum emu_step refuse_method(struct emu_fault *fault, uint32_t method, uint32_t data,
                                   const char *why) {
  emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, 0,
                "inline-to-memory: method 0x%04x (data 0x%08x): %s", method, data, why);
  return EMU_FAULT;
}

static enum emu_step release_semaphore(struct emu_channel *channel, const struct emu_i2m *i2m,
                                       struct emu_fault *fault) {
  struct emu_report report = {
      .address = i2m->semaphore,
      .payload = i2m->semaphore_payload,
      .timestamp =
          hw_field(i2m->launch, NVC7C0_LAUNCH_DMA_SEMAPHORE_STRUCT_SIZE) == REPORT_FOUR_WORDS,
      .reduce = hw_field(i2m->launch, NVC7C0_LAUNCH_DMA_REDUCTION_ENABLE),
      .reduction = hw_field(i2m->launch, NVC7C0_LAUNCH_DMA_REDUCTION_OP),
      .reduce_signed =
          hw_field(i2m->launch, NVC7C0_LAUNCH_DMA_REDUCTION_FORMAT) == REPORT_RED_SIGNED,
  };
  if (emu_report_misaligned(&report))
    return refuse_method(fault, NVC7C0_SET_I2M_SEMAPHORE_B, (uint32_t)i2m->semaphore,
                         "misaligned semaphore");
  return emu_report_write(channel, &report, fault) ? EMU_NEXT : EMU_FAULT;
}

static enum emu_step complete_transfer(struct emu_channel *channel, const struct emu_i2m *i2m,
                                       struct emu_fault *fault) {
  enum emu_step step = EMU_NEXT;
  if (hw_field(i2m->launch, NVC7C0_LAUNCH_DMA_COMPLETION_TYPE) == I2M_COMPLETION_RELEASE)
    step = release_semaphore(channel, i2m, fault);
  if (step == EMU_NEXT && hw_field(i2m->launch, NVC7C0_LAUNCH_DMA_INTERRUPT_TYPE))
    emu_non_stall_interrupt(NULL);
  return step;
}

static enum emu_step launch_transfer(struct emu_channel *channel, struct emu_i2m *i2m,
                                     uint32_t data, struct emu_fault *fault) {
  if (i2m->remaining)
    return refuse_method(fault, NVC7C0_LAUNCH_DMA, data, "the previous transfer is incomplete");
  if (hw_field(data, NVC7C0_LAUNCH_DMA_COMPLETION_TYPE) > I2M_COMPLETION_RELEASE)
    return refuse_method(fault, NVC7C0_LAUNCH_DMA, data, "illegal COMPLETION_TYPE");
  i2m->surface.block_linear =
      hw_field(data, NVC7C0_LAUNCH_DMA_DST_MEMORY_LAYOUT) == LAYOUT_BLOCK_LINEAR;
  if (i2m->surface.block_linear && !emu_surface_set_blocks(&i2m->surface, i2m->block_size))
    return refuse_method(fault, NVC7C0_SET_DST_BLOCK_SIZE, i2m->block_size, "illegal block size");
  i2m->launch = data;
  i2m->done = 0;
  i2m->remaining = (uint64_t)i2m->line_length * i2m->line_count;
  return i2m->remaining ? EMU_NEXT : complete_transfer(channel, i2m, fault);
}

enum emu_step emu_i2m_data(struct emu_channel *channel, struct emu_i2m *i2m, const uint32_t *words,
                           uint32_t count, struct emu_fault *fault) {
  if (!i2m->remaining)
    return refuse_method(fault, NVC7C0_LOAD_INLINE_DATA, words[0], "no transfer was launched");
  /* Waits for earlier grids, whose memory the data may overwrite. */
  enum emu_step step = emu_grids_run(channel, fault);
  if (step != EMU_NEXT)
    return step;
  const uint8_t *data = (const uint8_t *)words;
  uint64_t bytes = (uint64_t)count * sizeof(uint32_t);
  /* The last word of a transfer may be used in part; more words are an error. */
  if (bytes >= i2m->remaining + sizeof(uint32_t))
    return refuse_method(fault, NVC7C0_LOAD_INLINE_DATA, words[count - 1],
                         "more data than the launch announced");
  bytes = bytes < i2m->remaining ? bytes : i2m->remaining;
  while (bytes) {
    uint64_t line = i2m->done / i2m->line_length, column = i2m->done % i2m->line_length;
    uint64_t part = i2m->line_length - column;
    part = part < bytes ? part : bytes;
    if (!emu_surface_write(channel->as, &i2m->surface, line, column, data, part, fault))
      return EMU_FAULT;
    data += part;
    bytes -= part;
    i2m->done += part;
    i2m->remaining -= part;
  }
  return i2m->remaining ? EMU_NEXT : complete_transfer(channel, i2m, fault);
}

enum emu_step emu_i2m_method(struct emu_channel *channel, struct emu_i2m *i2m, uint32_t method,
                             uint32_t data, struct emu_fault *fault) {
  switch (method) {
  case NVC7C0_LINE_LENGTH_IN:
    i2m->line_length = data;
    break;
  case NVC7C0_LINE_COUNT:
    i2m->line_count = data;
    break;
  case NVC7C0_OFFSET_OUT_UPPER:
    emu_set_high(&i2m->surface.address, hw_field(data, NVC7C0_OFFSET_OUT_UPPER_VALUE));
    break;
  case NVC7C0_OFFSET_OUT:
    emu_set_low(&i2m->surface.address, data);
    break;
  case NVC7C0_PITCH_OUT:
    i2m->surface.pitch = data;
    break;
  case NVC7C0_SET_DST_BLOCK_SIZE:
    i2m->block_size = data;
    break;
  case NVC7C0_SET_DST_WIDTH:
    i2m->surface.width = data;
    break;
  case NVC7C0_SET_DST_HEIGHT:
    i2m->surface.height = data;
    break;
  case NVC7C0_SET_DST_LAYER:
    i2m->surface.layer = data;
    break;
  case NVC7C0_SET_DST_ORIGIN_BYTES_X:
    i2m->surface.x = hw_field(data, NVC7C0_SET_DST_ORIGIN_BYTES_X_V);
    break;
  case NVC7C0_SET_DST_ORIGIN_SAMPLES_Y:
    i2m->surface.y = hw_field(data, NVC7C0_SET_DST_ORIGIN_SAMPLES_Y_V);
    break;
  case NVC7C0_LAUNCH_DMA:
    return launch_transfer(channel, i2m, data, fault);
  case NVC7C0_LOAD_INLINE_DATA:
    return emu_i2m_data(channel, i2m, &data, 1, fault);
  case NVC7C0_SET_I2M_SEMAPHORE_A:
    emu_set_high(&i2m->semaphore, hw_field(data, NVC7C0_SET_I2M_SEMAPHORE_A_OFFSET_UPPER));
    break;
  case NVC7C0_SET_I2M_SEMAPHORE_B:
    emu_set_low(&i2m->semaphore, data);
    break;
  case NVC7C0_SET_I2M_SEMAPHORE_C:
    i2m->semaphore_payload = data;
    break;
  default:
    break; /* SET_DST_DEPTH is not needed: the layer suffices */
  }
  return EMU_NEXT;
}
