/* The words of a pushbuffer: method headers, method numbers (generated from
 * methods.csv) and the values of their fields.
 * docs/hardware/command-stream.md 2.1, 2.2, 3.1, 4.5, 4.7.
 */
#ifndef TEGRACL_HW_METHODS_H
#define TEGRACL_HW_METHODS_H

#include "gpu/hw/field.h"
#include "gpu/hw/methods_gen.h"

/* Header fields. */
#define METHOD_HEADER_SEC_OP     31, 29
#define METHOD_HEADER_COUNT      28, 16 /* data words, or the immediate */
#define METHOD_HEADER_TERT_OP    17, 16 /* of SEC_OP 0 */
#define METHOD_HEADER_SUBCHANNEL 15, 13
#define METHOD_HEADER_RESERVED   12, 12
#define METHOD_HEADER_ADDRESS    11, 0 /* byte address >> 2 */

enum method_sec_op {
  METHOD_GRP0_USE_TERT = 0,
  METHOD_INC = 1,
  METHOD_GRP2_USE_TERT = 2, /* old non-increasing form */
  METHOD_NON_INC = 3,
  METHOD_IMMD = 4,
  METHOD_ONE_INC = 5,
  METHOD_RESERVED = 6,
  METHOD_END_PB_SEGMENT = 7,
};

enum method_tert_op {
  METHOD_TERT_INC = 0, /* the old increasing form; the all-zero word is a no-op */
  METHOD_TERT_SET_SUB_DEV_MASK = 1,
  METHOD_TERT_STORE_SUB_DEV_MASK = 2,
  METHOD_TERT_USE_SUB_DEV_MASK = 3,
};

enum {
  METHOD_COUNT_MAX = 8191,
  METHOD_ADDRESS_END = 0x4000,
  METHOD_HOST_END = 0x100, /* below it methods belong to host, but for SET_OBJECT */
};

/* Fixed on the graphics/compute runlist; 5 to 7 are software. */
enum subchannel {
  SUBCHANNEL_3D = 0,
  SUBCHANNEL_COMPUTE = 1,
  SUBCHANNEL_I2M = 2,
  SUBCHANNEL_2D = 3,
  SUBCHANNEL_COPY = 4,
};

enum gpu_class {
  CLASS_HOST = 0xc76f,
  CLASS_COMPUTE = 0xc7c0,
  CLASS_COPY = 0xc7b5,
  CLASS_3D = 0xc797,
  CLASS_USERMODE = 0xc461,
};

/* count is the number of data words, or the 13-bit immediate of METHOD_IMMD. */
static inline uint32_t method_header(enum method_sec_op op, enum subchannel subchannel,
                                     uint32_t method, uint32_t count) {
  return hw_bits(METHOD_HEADER_SEC_OP, (uint32_t)op) | hw_bits(METHOD_HEADER_COUNT, count) |
         hw_bits(METHOD_HEADER_SUBCHANNEL, (uint32_t)subchannel) |
         hw_bits(METHOD_HEADER_ADDRESS, method >> 2);
}

/* SEM_EXECUTE of class C76F. */
enum host_semaphore_operation {
  SEM_ACQUIRE = 0,
  SEM_RELEASE = 1,
  SEM_ACQ_STRICT_GEQ = 2,
  SEM_ACQ_CIRC_GEQ = 3,
  SEM_ACQ_AND = 4,
  SEM_ACQ_NOR = 5,
  SEM_REDUCTION = 6,
};

enum host_semaphore_reduction {
  SEM_RED_MIN = 0,
  SEM_RED_MAX = 1,
  SEM_RED_XOR = 2,
  SEM_RED_AND = 3,
  SEM_RED_OR = 4,
  SEM_RED_ADD = 5,
  SEM_RED_INC = 6,
  SEM_RED_DEC = 7,
};

/* MEM_OP_D of class C76F, those a user channel may use. */
enum host_memory_operation {
  MEM_OP_MEMBAR = 5,
  MEM_OP_L2_SYSMEM_INVALIDATE = 14,
  MEM_OP_L2_FLUSH_DIRTY = 16,
  MEM_OP_L2_WAIT_FOR_SYS_PENDING_READS = 21,
};

/* SEND_SIGNALING_PCAS2_B of class C7C0. */
enum pcas_action {
  PCAS_NOP = 0,
  PCAS_INVALIDATE = 1,
  PCAS_SCHEDULE = 2,
  PCAS_INVALIDATE_COPY_SCHEDULE = 3,
  PCAS_INCREMENT_PUT = 6,
  PCAS_DECREMENT_DEPENDENCE = 7,
  PCAS_PREFETCH = 8,
  PCAS_PREFETCH_SCHEDULE = 9,
  PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE = 10,
  PCAS_INVALIDATE_PREFETCH_COPY_FORCE_REQUIRE_SCHEDULING = 11,
  PCAS_INCREMENT_DEPENDENCE = 12,
  PCAS_INCREMENT_CWD_REF_COUNTER = 13,
};

/* REPORT_SEMAPHORE_EXECUTE and SET_REPORT_SEMAPHORE_D of class C7C0. */
enum report_operation {
  REPORT_RELEASE = 0,
  REPORT_ACQUIRE = 1, /* 0x168 only */
  REPORT_ONLY = 2,    /* 0x168 only */
  REPORT_TRAP = 3,
};

/* REPORT_SEMAPHORE_EXECUTE and a QMD's RELEASE. SET_REPORT_SEMAPHORE_D has one
 * bit: 0 four words, 1 one word. */
enum report_structure_size {
  REPORT_FOUR_WORDS = 0, /* payload, 0 or its high half, PTIMER nanoseconds */
  REPORT_ONE_WORD = 1,
  REPORT_TWO_WORDS = 2,
};

/* SET_RENDER_ENABLE_C, SET_GLOBAL_RENDER_ENABLE_C of class C7C0, and C7B5's. */
enum render_enable_mode {
  RENDER_ENABLE_NEVER = 0,
  RENDER_ENABLE_ALWAYS = 1, /* after reset */
  RENDER_ENABLE_CONDITIONAL = 2,
  RENDER_ENABLE_IF_EQUAL = 3,
  RENDER_ENABLE_IF_NOT_EQUAL = 4,
};

/* SET_RENDER_ENABLE_OVERRIDE of class C7C0. */
enum render_enable_override {
  RENDER_OVERRIDE_NONE = 0,
  RENDER_OVERRIDE_ALWAYS = 1,
  RENDER_OVERRIDE_NEVER = 2,
};

#endif
