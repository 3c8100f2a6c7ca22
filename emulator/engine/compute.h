/* Methods of the compute class. */
#ifndef TEGRACL_EMULATOR_COMPUTE_H
#define TEGRACL_EMULATOR_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/condition.h"
#include "emulator/engine/i2m.h"
#include "emulator/engine/method.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/qmd.h"

struct emu_channel;
struct emu_fault;

/* State for launches that earlier methods have set (docs/hardware/command-stream.md 4.1 to 4.3). */
struct emu_shader_state {
  uint64_t shared_window, local_window;
  uint64_t local_base, local_bytes_per_tpc;
  struct sm_pool headers, samplers; /* of textures */
};

struct emu_compute {
  bool bound;
  bool in_atomic_sequence;
  struct emu_shader_state shader;
  struct emu_condition condition, global_condition;
  uint32_t condition_override; /* enum render_enable_override */
  uint32_t pcas_address;
  uint64_t report_payload, report_address;
  uint64_t old_report_address;
  uint32_t old_report_payload;
  uint64_t inline_qmd_address;
  uint32_t inline_qmd[QMD_WORDS];
  struct emu_i2m i2m;
};

enum emu_step emu_compute_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                                 struct emu_fault *fault);
/* Executes SET_OBJECT, which resets the state when the class is bound. Returns false with *fault
 * set on an error. */
bool emu_compute_bind(struct emu_channel *channel, struct emu_fault *fault);

#endif
