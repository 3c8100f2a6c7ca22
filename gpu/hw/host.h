/* The interface of the host engine: GPFIFO entries, USERD, the user-mode page, the layouts of a
 * semaphore release and of the error notifier. docs/hardware/command-stream.md 1 and 3.1;
 * docs/hardware/kernel-interface.md 7 */
#ifndef TEGRACL_HW_HOST_H
#define TEGRACL_HW_HOST_H

#include <stdint.h>

#include "gpu/hw/field.h"

/* End of GPU addresses in GPFIFO entries, QMDs and methods. */
#define GPU_VA_BITS 40
#define GPU_VA_END  (UINT64_C(1) << GPU_VA_BITS)

/* Fields of a GPFIFO entry, words 0 and 1. */
#define GP_ENTRY0_FETCH    0, 0 /* 0 unconditional */
#define GP_ENTRY0_RESERVED 1, 1
#define GP_ENTRY0_GET      31, 2 /* address 31:2 */
#define GP_ENTRY0_OPERAND  31, 0 /* for control entries (LENGTH 0) */
#define GP_ENTRY1_GET_HI   7, 0  /* address 39:32 */
#define GP_ENTRY1_OPCODE   7, 0  /* of a control entry */
#define GP_ENTRY1_RESERVED 8, 8
#define GP_ENTRY1_LEVEL    9, 9   /* 0 MAIN, 1 SUBROUTINE */
#define GP_ENTRY1_LENGTH   30, 10 /* 4-byte words */
#define GP_ENTRY1_SYNC     31, 31 /* 1: fetch only after the previous entry has been processed */

enum {
  GP_ENTRY_BYTES = 8,
  GP_ENTRY_LENGTH_MAX = 0x1fffff,
  GP_ENTRIES_MIN = 2,      /* for user-mode submission; docs/hardware/kernel-interface.md 3.4 */
  GPFIFO_BYTES_MIN = 4096, /* see docs/hardware/kernel-interface.md trap T2 */
};

enum gp_control_opcode {
  GP_CONTROL_NOP = 0,
  GP_CONTROL_ILLEGAL = 1,
  GP_CONTROL_GP_CRC = 2,
  GP_CONTROL_PB_CRC = 3,
};

/* Returns the entry for a pushbuffer segment. address is a multiple of 4 below 2^40, words is 1 to
 * GP_ENTRY_LENGTH_MAX, sync is 0 or 1. */
static inline uint64_t gp_entry(uint64_t address, uint32_t words, unsigned sync) {
  uint32_t word0 = (uint32_t)address & ~3u;
  uint32_t word1 = hw_bits(GP_ENTRY1_GET_HI, (uint32_t)(address >> 32)) |
                   hw_bits(GP_ENTRY1_LENGTH, words) | hw_bits(GP_ENTRY1_SYNC, sync);
  return (uint64_t)word1 << 32 | word0;
}

static inline uint64_t gp_entry_address(uint64_t entry) {
  return (uint64_t)hw_field((uint32_t)(entry >> 32), GP_ENTRY1_GET_HI) << 32 |
         ((uint32_t)entry & ~3u);
}

static inline uint32_t gp_entry_words(uint64_t entry) {
  return hw_field((uint32_t)(entry >> 32), GP_ENTRY1_LENGTH);
}

/* Byte offsets in USERD. The driver writes only GP_PUT. The hardware updates the others only from
 * time to time, so they may be stale. */
enum {
  USERD_PUT = 0x40,
  USERD_GET = 0x44,
  USERD_REF = 0x48,
  USERD_PUT_HI = 0x4c,
  USERD_TOP_LEVEL_GET = 0x58,
  USERD_TOP_LEVEL_GET_HI = 0x5c,
  USERD_GET_HI = 0x60,
  USERD_GP_GET = 0x88,
  USERD_GP_PUT = 0x8c,
  USERD_BYTES = 4096, /* allocated per channel; only 512 are used */
};

/* The user-mode register page (class C461). */
enum {
  USERMODE_CFG0 = 0x00,
  USERMODE_TIME_0 = 0x80, /* PTIMER in ns, low word; advances in steps of 32 */
  USERMODE_TIME_1 = 0x84,
  USERMODE_NOTIFY_CHANNEL_PENDING = 0x90, /* the doorbell */
  USERMODE_BYTES = 65536,
  PTIMER_STEP_NS = 32,
};

/* Fields of the work-submit token. The kernel creates tokens; drivers must not interpret them. */
#define WORK_SUBMIT_TOKEN_CHANNEL 11, 0
#define WORK_SUBMIT_TOKEN_RUNLIST 22, 16

/* Memory written by a 16-byte release (RELEASE_TIMESTAMP or four words). The time is written before
 * the payload. */
struct semaphore_report {
  uint64_t payload;
  uint64_t timestamp_ns;
};

/* The error notifier, in the memory passed to SET_ERROR_NOTIFIER. The first error remains until
 * status is cleared. */
struct error_notifier {
  uint32_t time_low; /* CLOCK_REALTIME nanoseconds */
  uint32_t time_high;
  uint32_t code; /* enum error_notifier_code */
  uint16_t reserved;
  uint16_t status; /* ERROR_NOTIFIER_WRITTEN, written last */
};

enum { ERROR_NOTIFIER_WRITTEN = 0xffff };

enum error_notifier_code {
  NOTIFIER_IDLE_TIMEOUT = 8,
  NOTIFIER_COPY_ENGINE = 11,
  NOTIFIER_GR_UNKNOWN_METHOD = 12, /* defined by nvgpu, but never posted */
  NOTIFIER_GR_EXCEPTION = 13,
  NOTIFIER_SEMAPHORE_TIMEOUT = 24,
  NOTIFIER_GR_ILLEGAL_NOTIFY = 25, /* also for illegal methods; nvgpu common/gr/gr_intr.c */
  NOTIFIER_MMU_FAULT = 31,
  NOTIFIER_PBDMA_ERROR = 32,
  NOTIFIER_FECS_METHOD = 37,
  NOTIFIER_FORCE_RESET = 43,
  NOTIFIER_PB_CRC = 80,
};

_Static_assert(sizeof(struct semaphore_report) == 16, "four words");
_Static_assert(sizeof(struct error_notifier) == 16, "nvgpu_notification is 16 bytes");

#endif
