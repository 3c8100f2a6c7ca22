/* Pushbuffer words: method headers, and the numbers, fields and values of methods, which are
 * generated from methods.csv and values.csv. docs/hardware/command-stream.md 2.1, 2.2, 3.1, 4.5,
 * 4.7 */
#ifndef TEGRACL_HW_METHODS_H
#define TEGRACL_HW_METHODS_H

#include "gpu/hw/field.h"
#include "gpu/hw/methods_gen.h"

/* Header fields. */
#define METHOD_HEADER_SEC_OP     31, 29
#define METHOD_HEADER_COUNT      28, 16 /* number of data words, or the immediate */
#define METHOD_HEADER_TERT_OP    17, 16 /* of SEC_OP 0 */
#define METHOD_HEADER_SUBCHANNEL 15, 13
#define METHOD_HEADER_RESERVED   12, 12
#define METHOD_HEADER_ADDRESS    11, 0 /* byte address >> 2 */

enum method_sec_op {
  METHOD_GRP0_USE_TERT = 0,
  METHOD_INC = 1,
  METHOD_GRP2_USE_TERT = 2, /* old form of METHOD_NON_INC */
  METHOD_NON_INC = 3,
  METHOD_IMMD = 4,
  METHOD_ONE_INC = 5,
  METHOD_RESERVED = 6,
  METHOD_END_PB_SEGMENT = 7,
};

enum method_tert_op {
  METHOD_TERT_INC = 0, /* old form of METHOD_INC; the all-zero word is a no-op */
  METHOD_TERT_SET_SUB_DEV_MASK = 1,
  METHOD_TERT_STORE_SUB_DEV_MASK = 2,
  METHOD_TERT_USE_SUB_DEV_MASK = 3,
};

enum {
  METHOD_COUNT_MAX = 8191,
  METHOD_ADDRESS_END = 0x4000,
  METHOD_HOST_END = 0x100, /* lower methods go to the host engine, except SET_OBJECT */
};

/* Fixed on the graphics/compute runlist; 5 to 7 are for software. */
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

/* Returns a header. count is the number of data words, or the 13-bit immediate of METHOD_IMMD. */
static inline uint32_t method_header(enum method_sec_op op, enum subchannel subchannel,
                                     uint32_t method, uint32_t count) {
  return hw_bits(METHOD_HEADER_SEC_OP, (uint32_t)op) | hw_bits(METHOD_HEADER_COUNT, count) |
         hw_bits(METHOD_HEADER_SUBCHANNEL, (uint32_t)subchannel) |
         hw_bits(METHOD_HEADER_ADDRESS, method >> 2);
}

#endif
