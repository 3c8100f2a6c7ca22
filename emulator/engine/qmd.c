/* Decodes and checks launch descriptors, as the hardware scheduler (SKED) does
 * (docs/hardware/command-stream.md 4.8 and 5). */
#include "emulator/engine/qmd.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "emulator/boards.h"
#include "emulator/engine/compute.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/mmu.h"
#include "emulator/engine/report.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/modes/checks.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "gpu/hw/tables.h"
#include "gpu/hw/texture.h"

/* Bits of SKED's exception register (docs/hardware/command-stream.md 4.8). */
enum sked_esr {
  SKED_CTA_RESUME = 6,
  SKED_CONSTANT_SIZE = 7,
  SKED_LOCAL_LOW_SIZE = 9,
  SKED_LOCAL_HIGH_SIZE = 10,
  SKED_LOCAL_TOTAL = 12,
  SKED_REGISTER_COUNT = 13,
  SKED_TOTAL_THREADS = 18,
  SKED_PROGRAM_OFFSET = 20,
  SKED_SHARED_SIZE = 21,
  SKED_THREAD_DIMENSION_ZERO = 23,
  SKED_WINDOW_OVERLAP = 24,
  SKED_L1_CONFIG = 25,
  SKED_REGISTER_CONSUMPTION = 26,
};

enum {
  LOCAL_SIZE_UNIT = 16,
  CARVEOUT_CODE_UNIT = 4096,
  BANK_ALIGN = 64, /* NVK's alignment of uniform buffers, the smallest of known drivers */
};

static bool report_sked(struct emu_fault *fault, const struct emu_launch *launch, enum sked_esr bit,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

static bool report_sked(struct emu_fault *fault, const struct emu_launch *launch, enum sked_esr bit,
                        const char *format, ...) {
  char what[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof(what), format, arguments);
  va_end(arguments);
  emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, launch->qmd_address, "SKED ESR bit %d: %s", bit,
                what);
  fault->record.program = launch->sm.program;
  return false;
}

static bool refuse_descriptor(struct emu_fault *fault, const struct emu_launch *launch,
                              const char *what) {
  emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, launch->qmd_address, "QMD at 0x%llx: %s",
                (unsigned long long)launch->qmd_address, what);
  fault->record.program = launch->sm.program;
  return false;
}

/* Checks one window. All known clients align windows to their size. A base of more than 40 bits is
 * one of desktop GPUs (command-stream.md 4.2, docs/hardware/bring-up.md trap 7). */
static bool check_window(const struct emu_launch *launch, const char *name, uint64_t base,
                         struct emu_fault *fault) {
  const bool beyond = base + SHADER_WINDOW_BYTES > GPU_VA_END;
  char what[96];
  if (!beyond && base % SHADER_WINDOW_BYTES == 0)
    return true;
  snprintf(what, sizeof(what), "the %s memory window at 0x%llx %s", name, (unsigned long long)base,
           beyond ? "exceeds 40 bits" : "is not a multiple of 16 MiB");
  return refuse_descriptor(fault, launch, what);
}

/* Checks both windows. If they were not set they are equal, so they overlap. */
static bool check_windows(const struct emu_launch *launch, struct emu_fault *fault) {
  uint64_t shared = launch->sm.shared_window, local = launch->sm.local_window;
  uint64_t distance = shared > local ? shared - local : local - shared;
  if (distance < SHADER_WINDOW_BYTES) {
    char both[64];
    if (shared == local)
      snprintf(both, sizeof(both), "both 0x%llx", (unsigned long long)shared);
    else
      snprintf(both, sizeof(both), "0x%llx and 0x%llx", (unsigned long long)shared,
               (unsigned long long)local);
    return report_sked(fault, launch, SKED_WINDOW_OVERLAP,
                       "shared and local memory windows overlap (%s)", both);
  }
  return check_window(launch, "shared", shared, fault) &&
         check_window(launch, "local", local, fault);
}

/* Checks that no buffer is mapped inside a window. Generic accesses could not reach it, and a board
 * would return wrong results (command-stream.md 4.2). */
static bool check_inside_windows(struct emu_as *as, const struct emu_launch *launch,
                                 struct emu_fault *fault) {
  const uint64_t shared = launch->sm.shared_window, local = launch->sm.local_window;
  const uint64_t insertions = atomic_load(&as->insertions);
  if (as->clear_windows.shared == shared && as->clear_windows.local == local &&
      as->clear_windows.insertions == insertions)
    return true;
  pthread_rwlock_rdlock(&as->mappings_lock);
  bool in_shared = emu_mmu_overlaps(as, shared, SHADER_WINDOW_BYTES);
  bool in_local = emu_mmu_overlaps(as, local, SHADER_WINDOW_BYTES);
  pthread_rwlock_unlock(&as->mappings_lock);
  if (in_shared || in_local)
    return refuse_descriptor(fault, launch,
                             in_shared ? "a buffer is mapped inside the shared memory window"
                                       : "a buffer is mapped inside the local memory window");
  as->clear_windows.shared = shared;
  as->clear_windows.local = local;
  as->clear_windows.insertions = insertions;
  return true;
}

/* Decodes the grid size. Height and depth have 16 bits; writing 32 sets bits that belong to no
 * field (command-stream.md 5.2). */
static bool check_raster(const uint32_t *qmd, struct emu_launch *launch, struct emu_fault *fault) {
  struct sm_grid *g = &launch->sm;
  g->grid[0] = qmd_get(qmd, QMD_CTA_RASTER_WIDTH);
  g->grid[1] = qmd_get(qmd, QMD_CTA_RASTER_HEIGHT);
  g->grid[2] = qmd_get(qmd, QMD_CTA_RASTER_DEPTH);
  if (qmd_get(qmd, QMD_UNLISTED_447_432) || qmd_get(qmd, QMD_UNLISTED_479_464))
    return refuse_descriptor(fault, launch, "the grid has more than 65535 CTAs in y or z");
  uint64_t x = qmd_get(qmd, QMD_CTA_RASTER_WIDTH_RESUME);
  uint64_t y = qmd_get(qmd, QMD_CTA_RASTER_HEIGHT_RESUME);
  uint64_t z = qmd_get(qmd, QMD_CTA_RASTER_DEPTH_RESUME);
  if ((x && x >= g->grid[0]) || (y && y >= g->grid[1]) || (z && z >= g->grid[2]))
    return report_sked(fault, launch, SKED_CTA_RESUME,
                       "CTA resume %llu x %llu x %llu is outside the grid", (unsigned long long)x,
                       (unsigned long long)y, (unsigned long long)z);
  launch->first_cta = (z * g->grid[1] + y) * g->grid[0] + x;
  return true;
}

/* Returns how many warps with this number of registers fit in an SM
 * (docs/hardware/command-stream.md 5.2). */
static uint64_t warps_by_registers(uint32_t registers) {
  const uint64_t per_warp = base_round_up((uint64_t)registers * GPU_WARP_SIZE, REGISTER_UNIT);
  return SM_REGISTERS / per_warp / WARP_UNIT * WARP_UNIT;
}

/* command-stream.md 5.2 */
static bool check_threads(const uint32_t *qmd, struct emu_launch *launch, struct emu_fault *fault) {
  struct sm_grid *g = &launch->sm;
  g->block[0] = qmd_get(qmd, QMD_CTA_THREAD_DIMENSION0);
  g->block[1] = qmd_get(qmd, QMD_CTA_THREAD_DIMENSION1);
  g->block[2] = qmd_get(qmd, QMD_CTA_THREAD_DIMENSION2);
  g->registers = qmd_get(qmd, QMD_REGISTER_COUNT_V);
  g->barriers = qmd_get(qmd, QMD_BARRIER_COUNT);
  uint64_t threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
  if (!threads)
    return report_sked(fault, launch, SKED_THREAD_DIMENSION_ZERO,
                       "CTA thread dimension zero (%u x %u x %u)", g->block[0], g->block[1],
                       g->block[2]);
  if (threads > BLOCK_THREADS_MAX || g->block[2] > BLOCK_Z_MAX)
    return report_sked(fault, launch, SKED_TOTAL_THREADS, "total threads of a CTA: %u x %u x %u",
                       g->block[0], g->block[1], g->block[2]);
  if (!g->registers || g->registers > REGISTERS_MAX)
    return report_sked(fault, launch, SKED_REGISTER_COUNT, "register count %u", g->registers);
  if (threads > warps_by_registers(g->registers) * GPU_WARP_SIZE)
    return report_sked(fault, launch, SKED_REGISTER_CONSUMPTION,
                       "CTA register consumption: %llu threads of %u registers do not fit in an SM",
                       (unsigned long long)threads, g->registers);
  if (g->barriers > BARRIERS_MAX)
    return refuse_descriptor(fault, launch, "BARRIER_COUNT is above 16");
  return true;
}

/* Refuses a grid that may run on no SM, because it would wait forever. */
static bool check_sms(const uint32_t *qmd, struct emu_launch *launch, struct emu_fault *fault) {
  uint64_t disabled = (uint64_t)qmd_get(qmd, QMD_SM_DISABLE_MASK_UPPER) << 32 |
                      qmd_get(qmd, QMD_SM_DISABLE_MASK_LOWER);
  uint64_t all = (UINT64_C(1) << launch->sm.sm_count) - 1;
  return (disabled & all) != all ||
         refuse_descriptor(fault, launch, "SM_DISABLE_MASK disables all SMs");
}

/* Returns whether code is a valid carve-out, or 0, with which the SM chooses one. */
static bool is_carveout(uint32_t code) {
  for (size_t i = 0; i < sizeof(shared_carveout_kib); i++)
    if (code == shared_carveout_code(shared_carveout_kib[i]))
      return true;
  return code == 0;
}

/* Checks shared memory and carve-outs (command-stream.md 5.4). Grids with all three codes 0 run on
 * a board (docs/hardware/bring-up.md 4). The effect of codes between carve-outs, and of sizes
 * between their units, is unknown. */
static bool check_shared(const uint32_t *qmd, struct emu_launch *launch, struct emu_fault *fault) {
  uint32_t bytes = qmd_get(qmd, QMD_SHARED_MEMORY_SIZE);
  uint32_t low = qmd_get(qmd, QMD_MIN_SM_CONFIG_SHARED_MEM_SIZE);
  uint32_t high = qmd_get(qmd, QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE);
  launch->sm.shared_bytes = bytes;
  if (bytes > SM_SHARED_BYTES)
    return report_sked(fault, launch, SKED_SHARED_SIZE, "shared memory size %u is above %u", bytes,
                       SM_SHARED_BYTES);
  if (high && (low > high || (uint64_t)bytes > (uint64_t)(high - 1) * CARVEOUT_CODE_UNIT))
    return report_sked(
        fault, launch, SKED_L1_CONFIG,
        "L1 configuration too small: %u bytes of shared memory, carve-out codes %u to %u", bytes,
        low, high);
  if (bytes % SHARED_UNIT)
    return refuse_descriptor(fault, launch, "SHARED_MEMORY_SIZE is not a multiple of 128");
  if (!is_carveout(low) || !is_carveout(high) ||
      !is_carveout(qmd_get(qmd, QMD_TARGET_SM_CONFIG_SHARED_MEM_SIZE)))
    return refuse_descriptor(fault, launch,
                             "an SM_CONFIG_SHARED_MEM_SIZE is not a carve-out of SM 8.7");
  return true;
}

/* Returns how many CTAs an SM holds at once (docs/hardware/command-stream.md 5.2, 5.4, 9.1). */
static int ctas_per_sm(const uint32_t *qmd, const struct sm_grid *g) {
  const uint32_t threads = g->block[0] * g->block[1] * g->block[2];
  const uint32_t warps = (threads + GPU_WARP_SIZE - 1) / GPU_WARP_SIZE;
  const uint32_t carveout = qmd_get(qmd, QMD_MAX_SM_CONFIG_SHARED_MEM_SIZE);
  const uint32_t shared = carveout ? (carveout - 1) * CARVEOUT_CODE_UNIT : SM_SHARED_BYTES;
  const uint64_t limits[] = {
      SM_WARPS / warps,
      warps_by_registers(g->registers) / warps,
      g->shared_bytes ? shared / g->shared_bytes : SM_BLOCKS,
  };
  uint64_t least = SM_BLOCKS;
  for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
    least = limits[i] < least ? limits[i] : least;
  return (int)least;
}

bool emu_qmd_uses_local(const uint32_t *qmd) {
  return qmd_get(qmd, QMD_SHADER_LOCAL_MEMORY_LOW_SIZE) ||
         qmd_get(qmd, QMD_SHADER_LOCAL_MEMORY_HIGH_SIZE);
}

bool emu_local_pool(struct emu_as *as, const struct emu_shader_state *state,
                    struct emu_fault *fault) {
  const uint64_t bytes = state->local_bytes_per_tpc * EMU_TPCS;
  return emu_mmu_host(as, state->local_base, bytes, true, fault) != NULL;
}

/* Checks the sizes of local memory, and that the pool at SET_SHADER_LOCAL_MEMORY is large enough
 * (command-stream.md 4.3, 5.5). */
static bool check_local(const struct emu_shader_state *state, const uint32_t *qmd,
                        struct emu_launch *launch, struct emu_fault *fault) {
  uint64_t low = qmd_get(qmd, QMD_SHADER_LOCAL_MEMORY_LOW_SIZE);
  uint64_t high = qmd_get(qmd, QMD_SHADER_LOCAL_MEMORY_HIGH_SIZE);
  launch->sm.local_low = (uint32_t)low;
  launch->sm.local_high = (uint32_t)high;
  if (low % LOCAL_SIZE_UNIT || low > SHADER_WINDOW_BYTES)
    return report_sked(fault, launch, SKED_LOCAL_LOW_SIZE, "local memory low size %llu",
                       (unsigned long long)low);
  if (high % LOCAL_SIZE_UNIT || high > SHADER_WINDOW_BYTES)
    return report_sked(fault, launch, SKED_LOCAL_HIGH_SIZE, "local memory high size %llu",
                       (unsigned long long)high);
  if (!low && !high)
    return true;
  uint64_t thread = low + high;
  uint64_t warp = base_round_up(thread * GPU_WARP_SIZE, LOCAL_WARP_UNIT);
  uint64_t tpc = base_round_up(warp * SM_WARPS * SMS_PER_TPC, LOCAL_TPC_UNIT);
  if (thread > SHADER_WINDOW_BYTES || tpc > state->local_bytes_per_tpc)
    return report_sked(
        fault, launch, SKED_LOCAL_TOTAL,
        "local memory total: %llu bytes per thread need %llu per TPC, but the pool has %llu",
        (unsigned long long)thread, (unsigned long long)tpc,
        (unsigned long long)state->local_bytes_per_tpc);
  return true;
}

static uint32_t valid_banks(const uint32_t *qmd) {
  uint32_t banks = 0;
  for (unsigned i = 0; i < QMD_CONSTANT_BANKS; i++)
    banks |= qmd_get(qmd, QMD_CONSTANT_BUFFER_VALID(i)) << i;
  return banks;
}

/* Finds launch->banks (command-stream.md 5.3). */
static bool decode_banks(struct emu_as *as, const uint32_t *qmd, struct emu_launch *launch,
                         struct emu_fault *fault) {
  for (uint32_t left = launch->banks; left; left &= left - 1) {
    const unsigned i = (unsigned)__builtin_ctz(left);
    uint64_t address = (uint64_t)qmd_get(qmd, QMD_CONSTANT_BUFFER_ADDR_UPPER(i)) << 32 |
                       qmd_get(qmd, QMD_CONSTANT_BUFFER_ADDR_LOWER(i));
    uint32_t bytes = qmd_get(qmd, QMD_CONSTANT_BUFFER_SIZE_SHIFTED4(i)) << QMD_CONSTANT_SIZE_SHIFT;
    if (bytes > (1u << 16))
      return report_sked(fault, launch, SKED_CONSTANT_SIZE, "constant bank %u has %u bytes", i,
                         bytes);
    if (address % BANK_ALIGN)
      return refuse_descriptor(fault, launch,
                               "the address of a constant bank is not a multiple of 64");
    uint64_t mapped;
    const uint8_t *host = emu_mmu_span(as, address, &mapped);
    if (!host) {
      emu_fault_set(fault, NOTIFIER_MMU_FAULT, address,
                    "read of constant bank %u at 0x%llx: no mapping", i,
                    (unsigned long long)address);
      fault->record.program = launch->sm.program;
      return false;
    }
    /* If the size exceeds the mapping, only reads past the mapping fault. */
    launch->sm.bank[i].data = host;
    launch->sm.bank[i].size = mapped < bytes ? (uint32_t)mapped : bytes;
  }
  return true;
}

bool emu_qmd_banks(struct emu_as *as, uint64_t qmd_address, const uint32_t *qmd,
                   struct emu_fault *fault) {
  struct emu_launch launch = {.qmd_address = qmd_address, .banks = valid_banks(qmd)};
  return decode_banks(as, qmd, &launch, fault);
}

/* Decodes one of the three releases (command-stream.md 5.6). slot points to the words of the
 * descriptor, shifted so that this release is in the place of release 0. */
static bool decode_release(const uint32_t *slot, struct emu_launch *launch,
                           struct emu_release *release, struct emu_fault *fault) {
  uint32_t size = qmd_get(slot, QMD_RELEASE0_STRUCTURE_SIZE);
  release->enabled = qmd_get(slot, QMD_RELEASE0_ENABLE);
  release->interrupt = qmd_get(slot, QMD_RELEASE0_TRAP_TYPE) != 0;
  release->report = (struct emu_report){
      .address = (uint64_t)qmd_get(slot, QMD_RELEASE0_ADDRESS_UPPER) << 32 |
                 qmd_get(slot, QMD_RELEASE0_ADDRESS_LOWER),
      .payload = (uint64_t)qmd_get(slot, QMD_RELEASE0_PAYLOAD_UPPER) << 32 |
                 qmd_get(slot, QMD_RELEASE0_PAYLOAD_LOWER),
      .wide = qmd_get(slot, QMD_RELEASE0_PAYLOAD64B) || size == REPORT_TWO_WORDS,
      .timestamp = size == REPORT_FOUR_WORDS,
      .reduce = qmd_get(slot, QMD_RELEASE0_REDUCTION_ENABLE),
      .reduction = qmd_get(slot, QMD_RELEASE0_REDUCTION_OP),
      .reduce_signed = qmd_get(slot, QMD_RELEASE0_REDUCTION_FORMAT) == REPORT_RED_SIGNED,
  };
  if (!release->enabled)
    return true;
  if (!qmd_get(slot, QMD_RELEASE0_PAYLOAD64B))
    release->report.payload = (uint32_t)release->report.payload;
  if (size > REPORT_TWO_WORDS)
    return refuse_descriptor(fault, launch, "a RELEASE has an illegal STRUCTURE_SIZE");
  if (emu_report_misaligned(&release->report))
    return refuse_descriptor(fault, launch, "misaligned RELEASE address");
  return true;
}

/* docs/hardware/textures.md 4.1 */
static bool check_pools(const struct emu_launch *launch, struct emu_fault *fault) {
  const struct sm_grid *g = &launch->sm;
  if (g->headers.address % TEXTURE_BYTES || g->samplers.address % TEXTURE_BYTES)
    return refuse_descriptor(fault, launch,
                             "SET_TEX_HEADER_POOL or SET_TEX_SAMPLER_POOL is not a multiple of 32");
  return true;
}

static bool decode_releases(const uint32_t *qmd, struct emu_launch *launch,
                            struct emu_fault *fault) {
  static const unsigned first_bit[][2] = {
      {QMD_RELEASE0_ADDRESS_LOWER}, {QMD_RELEASE1_ADDRESS_LOWER}, {QMD_RELEASE2_ADDRESS_LOWER}};
  static const unsigned slot0[] = {QMD_RELEASE0_ADDRESS_LOWER};
  for (unsigned i = 0; i < 3; i++) {
    const uint32_t *slot = qmd + (first_bit[i][1] - slot0[1]) / 32;
    if (!decode_release(slot, launch, &launch->release[i], fault))
      return false;
  }
  return true;
}

/* Rejects bits that belong to no field, because their effect is unknown. Fields of the scheduler
 * (HW_ONLY) may be set. */
static bool check_reserved(const uint32_t *qmd, const struct emu_launch *launch,
                           struct emu_fault *fault) {
  uint32_t set = 0;
  for (unsigned i = 0; i < QMD_WORDS; i++)
    set |= qmd[i] & qmd_reserved[i];
  return !set || refuse_descriptor(fault, launch, "bits that belong to no field are set");
}

/* Decodes dependents, queues and counters (docs/hardware/command-stream.md 5.6). */
static bool decode_scheduling(const uint32_t *qmd, struct emu_launch *launch,
                              struct emu_fault *fault) {
  if (qmd_get(qmd, QMD_IS_QUEUE))
    return refuse_descriptor(fault, launch, "work queues are not supported: they are undocumented");
  if (qmd_get(qmd, QMD_DEPENDENT_QMD1_ENABLE))
    return refuse_descriptor(fault, launch,
                             "DEPENDENT_QMD1 has no pointer in the documented layout");
  launch->dependent = qmd_get(qmd, QMD_DEPENDENT_QMD0_ENABLE);
  launch->dependent_qmd = (uint64_t)qmd_get(qmd, QMD_DEPENDENT_QMD0_POINTER) << QMD_ADDRESS_SHIFT;
  launch->dependent_action = qmd_get(qmd, QMD_DEPENDENT_QMD0_ACTION);
  if (!launch->dependent)
    return true;
  if (launch->dependent_action == DEPENDENT_INCREMENT_PUT)
    return refuse_descriptor(
        fault, launch, "DEPENDENT_QMD0: work queues are not supported: they are undocumented");
  if (launch->dependent_action != DEPENDENT_SCHEDULE &&
      launch->dependent_action != DEPENDENT_INVALIDATE_COPY_SCHEDULE &&
      launch->dependent_action != DEPENDENT_DECREMENT_DEPENDENCE)
    return refuse_descriptor(fault, launch, "DEPENDENT_QMD0_ACTION is illegal");
  return true;
}

/* Decodes and checks all that depends only on the descriptor, without the words of its constant
 * banks, and on the state. */
static bool decode_fields(const struct emu_shader_state *state, const uint32_t *qmd,
                          struct emu_launch *launch, struct emu_fault *fault) {
  struct sm_grid *g = &launch->sm;
  g->program = (uint64_t)qmd_get(qmd, QMD_PROGRAM_ADDRESS_UPPER) << 32 |
               qmd_get(qmd, QMD_PROGRAM_ADDRESS_LOWER);
  g->shared_window = state->shared_window;
  g->local_window = state->local_window;
  g->headers = state->headers;
  g->samplers = state->samplers;
  g->sampler_of_header = qmd_get(qmd, QMD_SAMPLER_INDEX) == QMD_SAMPLER_VIA_HEADER_INDEX;
  g->sm_count = emu_board()->sms;
  g->time_ns = emu_time_ns;
  g->watch = emu_watch();
  launch->invalidate_code = qmd_get(qmd, QMD_INVALIDATE_INSTRUCTION_CACHE);
  launch->one_at_a_time = qmd_get(qmd, QMD_SEQUENTIALLY_RUN_CTAS);
  if (qmd_get(qmd, QMD_QMD_MAJOR_VERSION) != QMD_MAJOR_VERSION_VALUE ||
      qmd_get(qmd, QMD_QMD_VERSION) != QMD_VERSION_VALUE)
    return refuse_descriptor(fault, launch, "the version is not 3.0");
  if (g->program % TEXT_ALIGN)
    return report_sked(fault, launch, SKED_PROGRAM_OFFSET,
                       "program address 0x%llx is not 128-aligned", (unsigned long long)g->program);
  if (!check_windows(launch, fault) || !check_raster(qmd, launch, fault) ||
      !check_threads(qmd, launch, fault) || !check_sms(qmd, launch, fault) ||
      !check_shared(qmd, launch, fault) || !check_reserved(qmd, launch, fault) ||
      !check_pools(launch, fault) || !check_local(state, qmd, launch, fault) ||
      !decode_releases(qmd, launch, fault) || !decode_scheduling(qmd, launch, fault))
    return false;
  launch->per_sm = ctas_per_sm(qmd, g);
  launch->banks = valid_banks(qmd);
  return true;
}

static bool same_pool(const struct sm_pool *a, const struct sm_pool *b) {
  return a->address == b->address && a->last == b->last;
}

static bool same_state(const struct emu_shader_state *a, const struct emu_shader_state *b) {
  return a->shared_window == b->shared_window && a->local_window == b->local_window &&
         a->local_base == b->local_base && a->local_bytes_per_tpc == b->local_bytes_per_tpc &&
         same_pool(&a->headers, &b->headers) && same_pool(&a->samplers, &b->samplers);
}

/* Returns whether decode_fields would have the same result as for the last descriptor. DEBUG_ID,
 * which drivers use to number launches, means nothing to the hardware. */
static bool is_decoded(const struct emu_shader_state *state, const uint32_t *qmd,
                       const struct emu_launch *launch) {
  static const unsigned banks[] = {QMD_CONSTANT_BUFFER_ADDR_LOWER(0)};
  static const unsigned end[] = {QMD_DEBUG_ID_UPPER};
  enum { BANK_WORDS = 2 * QMD_CONSTANT_BANKS };
  const unsigned first = banks[1] / 32, after = first + BANK_WORDS;
  return launch->decoded && !memcmp(qmd, launch->qmd, first * sizeof(qmd[0])) &&
         !memcmp(qmd + after, launch->qmd + after, (end[1] / 32 - after) * sizeof(qmd[0])) &&
         same_state(state, &launch->state);
}

bool emu_qmd_decode(struct emu_as *as, const struct emu_shader_state *state, uint64_t qmd_address,
                    const uint32_t *qmd, struct emu_launch *launch, struct emu_fault *fault) {
  const bool decoded = is_decoded(state, qmd, launch);
  if (!decoded)
    memset(launch, 0, sizeof(*launch));
  launch->qmd_address = qmd_address;
  launch->sm.memory =
      (struct sm_memory){.find = emu_mmu_range, .space = as, .unmappings = &as->unmappings};
  if (!decoded) {
    if (!decode_fields(state, qmd, launch, fault))
      return false;
    memcpy(launch->qmd, qmd, sizeof(launch->qmd));
    launch->state = *state;
    launch->decoded = true;
  }
  return check_inside_windows(as, launch, fault) &&
         (!emu_qmd_uses_local(qmd) || emu_local_pool(as, state, fault)) &&
         decode_banks(as, qmd, launch, fault);
}
