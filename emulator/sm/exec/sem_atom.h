/* Atomic operations on memory that other host threads use at the same time, for ATOM and SURED.
 * docs/hardware/sass.md section 4.10.
 */
#ifndef TEGRACL_SM_SEM_ATOM_H
#define TEGRACL_SM_SEM_ATOM_H

#include "emulator/sm/exec/semantics.h"

/* As the instructions encode them. */
enum sem_atom_op {
  ATOM_ADD,
  ATOM_MIN,
  ATOM_MAX,
  ATOM_INC,
  ATOM_DEC,
  ATOM_AND,
  ATOM_OR,
  ATOM_XOR,
  ATOM_EXCH,
};
enum sem_atom_type { ATOM_U32, ATOM_S32, ATOM_U64, ATOM_F32, ATOM_F16X2, ATOM_S64, ATOM_F64 };

static inline bool sem_atom_is_64(enum sem_atom_type type) {
  return type == ATOM_U64 || type == ATOM_S64 || type == ATOM_F64;
}

static inline uint32_t sem_atom_add_f16x2(uint32_t a, uint32_t b) {
  const struct sem_half_mode mode = {0};
  uint32_t low = sem_half_fma(sem_f16_to_f32(a & 0xffff), 1, sem_f16_to_f32(b & 0xffff), mode);
  uint32_t high = sem_half_fma(sem_f16_to_f32(a >> 16), 1, sem_f16_to_f32(b >> 16), mode);
  return low | high << 16;
}

/* Returns the value of the memory after the operation. */
static inline uint64_t sem_atom_combine(uint64_t old, uint64_t value, enum sem_atom_op op,
                                        enum sem_atom_type type) {
  bool less;
  switch (op) {
  case ATOM_ADD:
    switch (type) {
    case ATOM_F32: {
      float sum = sem_f32(sem_flush32((uint32_t)old)) + sem_f32(sem_flush32((uint32_t)value));
      return sem_flush32(sem_canonical32(sem_bits32(sum)));
    }
    case ATOM_F16X2:
      return sem_atom_add_f16x2((uint32_t)old, (uint32_t)value);
    case ATOM_F64: {
      double sum = sem_f64(old) + sem_f64(value);
      return sum != sum ? sem_nan64(old, value, value) : sem_bits64(sum);
    }
    default:
      return old + value;
    }
  case ATOM_MIN:
  case ATOM_MAX:
    switch (type) {
    case ATOM_S32:
      less = (int32_t)value < (int32_t)old;
      break;
    case ATOM_S64:
      less = (int64_t)value < (int64_t)old;
      break;
    case ATOM_U32:
      less = (uint32_t)value < (uint32_t)old;
      break;
    default:
      less = value < old;
    }
    return less == (op == ATOM_MIN) ? value : old;
  case ATOM_INC:
    return old >= value ? 0 : old + 1;
  case ATOM_DEC:
    return old == 0 || old > value ? value : old - 1;
  case ATOM_AND:
    return old & value;
  case ATOM_OR:
    return old | value;
  case ATOM_XOR:
    return old ^ value;
  case ATOM_EXCH:
    return value;
  }
  return old;
}

static inline uint64_t sem_atom_word(uint8_t *p, uint64_t value, enum sem_atom_op op,
                                     enum sem_atom_type type) {
  if (sem_atom_is_64(type)) {
    uint64_t *word = (uint64_t *)(void *)p;
    if (op == ATOM_ADD && type != ATOM_F64)
      return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    uint64_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(word, &old, sem_atom_combine(old, value, op, type), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      ;
    return old;
  }
  uint32_t *word = (uint32_t *)(void *)p;
  if (op == ATOM_ADD && type <= ATOM_S32)
    return __atomic_fetch_add(word, (uint32_t)value, __ATOMIC_SEQ_CST);
  uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old, (uint32_t)sem_atom_combine(old, value, op, type),
                                      false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return old;
}

#endif
