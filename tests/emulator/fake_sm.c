/* See fake_sm.h. */
#include "tests/emulator/fake_sm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/sm/sm.h"

struct sm_code {
  int unused;
};
struct sm_worker {
  uint64_t instructions;
};
struct sm_cta {
  const struct sm_grid *grid;
  uint32_t x, y, z;
  uint64_t turns;
};

struct sm_code *sm_code_create(const struct sm_memory *memory) {
  return calloc(1, sizeof(struct sm_code));
}
void sm_code_destroy(struct sm_code *code) {
  free(code);
}
void sm_code_annotate(struct sm_code *code) {
  (void)code;
}

void sm_code_cache(struct sm_code *code) {
  (void)code;
}

struct sm_l1_caches {
  int unused;
};

struct sm_l1_caches *sm_l1_create(uint32_t sms, uint64_t seed) {
  return calloc(1, sizeof(struct sm_l1_caches));
}
void sm_l1_destroy(struct sm_l1_caches *caches) {
  free(caches);
}

_Atomic unsigned fake_sm_l1_invalidations;

void sm_l1_invalidate_all(struct sm_l1_caches *caches) {
  fake_sm_l1_invalidations++;
}

void sm_l1_invalidate_kind(struct sm_l1_caches *caches, enum sm_l1_kind kind) {
  fake_sm_l1_invalidations += kind == SM_L1_DATA;
}

void sm_l1_drop_descriptor(struct sm_l1_caches *caches, enum sm_l1_kind kind, const void *pools_of,
                           uint32_t index) {
  (void)caches;
}

void sm_check_forked(void) {}

const char *sm_class_name(unsigned class) {
  (void)class;
  return NULL;
}

_Atomic unsigned fake_sm_invalidations;

void sm_code_invalidate(struct sm_code *code) {
  fake_sm_invalidations++;
}

struct sm_worker *sm_worker_create(uint32_t sm_id) {
  return calloc(1, sizeof(struct sm_worker));
}
void sm_worker_destroy(struct sm_worker *worker) {
  free(worker);
}
uint64_t sm_worker_instructions(const struct sm_worker *worker) {
  return worker->instructions;
}

struct sm_cta *sm_cta_start(struct sm_worker *worker, const struct sm_grid *grid, uint32_t x,
                            uint32_t y, uint32_t z) {
  struct sm_cta *cta = malloc(sizeof(*cta));
  if (cta)
    *cta = (struct sm_cta){grid, x, y, z, 0};
  return cta;
}

void sm_cta_finish(struct sm_worker *worker, struct sm_cta *cta) {
  free(cta);
}

static void *at(const struct sm_grid *grid, uint64_t address) {
  struct sm_range range;
  if (!grid->memory.find(grid->memory.space, address, &range))
    return NULL;
  return range.host + (address - range.gpu);
}

static enum sm_result fault(const struct sm_cta *cta, uint64_t address, struct sm_fault *f) {
  memset(f, 0, sizeof(*f));
  f->kind = SM_FAULT_MMU;
  f->address = address;
  f->access_bytes = 4;
  f->is_write = true;
  f->pc = cta->grid->program;
  f->ctaid[0] = cta->x;
  f->ctaid[1] = cta->y;
  f->ctaid[2] = cta->z;
  snprintf(f->message, sizeof(f->message), "write of 4 bytes at 0x%llx: no mapping",
           (unsigned long long)address);
  return SM_FAULTED;
}

struct fake_slice fake_slices[FAKE_SLICES];
_Atomic uint32_t fake_slice_count;

/* CTAs of several grids are never executed at the same time. */
static void note_turn(uint64_t address2) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  const uint32_t count = fake_slice_count;
  if (count && fake_slices[count - 1].address2 == address2) {
    fake_slices[count - 1].last_ns = ns;
  } else if (count < FAKE_SLICES) {
    fake_slices[count] = (struct fake_slice){address2, ns, ns};
    fake_slice_count = count + 1;
  }
}

enum sm_result sm_cta_run(struct sm_worker *worker, struct sm_cta *cta, uint64_t budget,
                          struct sm_fault *f) {
  const struct sm_grid *g = cta->grid;
  const struct fake_program *p = at(g, g->program);
  if (!p)
    return fault(cta, g->program, f);
  uint64_t *word = at(g, p->address);
  worker->instructions++;
  if (!word)
    return fault(cta, p->address, f);
  switch (p->operation) {
  case FAKE_ADD:
    __atomic_fetch_add(word, p->value, __ATOMIC_SEQ_CST);
    return SM_DONE;
  case FAKE_SPIN: {
    for (uint64_t i = 0; i < budget; i++) {
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == p->value) {
        __atomic_fetch_add((uint64_t *)at(g, p->address2), 1, __ATOMIC_SEQ_CST);
        return SM_DONE;
      }
    }
    return SM_PREEMPTED;
  }
  case FAKE_BANK: {
    uint32_t first;
    if (!g->bank[0].data)
      return fault(cta, 0, f);
    memcpy(&first, g->bank[0].data, sizeof(first)); /* at any address */
    __atomic_store_n((uint32_t *)word, first, __ATOMIC_SEQ_CST);
    return SM_DONE;
  }
  case FAKE_CODE:
    *word = (uint64_t)(uintptr_t)g->code;
    return SM_DONE;
  case FAKE_LIKE:
    *word = g->like;
    return SM_DONE;
  case FAKE_POOLS: {
    const uint64_t pools[] = {g->headers.address, g->headers.last, g->samplers.address,
                              g->samplers.last, g->sampler_of_header};
    memcpy(word, pools, sizeof pools);
    return SM_DONE;
  }
  case FAKE_TICKET:
  case FAKE_ORDER: {
    enum { SLOW_ONE_IN = 7 };
    const bool order = p->operation == FAKE_ORDER;
    const uint64_t mine = order ? cta->x : g->grid[0] - 1 - cta->x;
    if (order && mine % SLOW_ONE_IN == SLOW_ONE_IN - 1 && ++cta->turns < p->value)
      return SM_PREEMPTED;
    for (uint64_t i = 0; i < budget; i++) {
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == mine) {
        __atomic_store_n(word, mine + 1, __ATOMIC_SEQ_CST);
        return SM_DONE;
      }
    }
    return SM_PREEMPTED;
  }
  case FAKE_TURNS:
    if (++cta->turns < p->value)
      return SM_PREEMPTED;
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    return SM_DONE;
  case FAKE_FAULT:
    fault(cta, p->address, f);
    f->kind = (enum sm_fault_kind)p->value;
    return SM_FAULTED;
  case FAKE_COUNT: {
    note_turn(p->address2);
    __atomic_fetch_add((uint64_t *)at(g, p->address2), 1, __ATOMIC_SEQ_CST);
    for (uint64_t i = 0; i < budget; i++) {
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == p->value)
        return SM_DONE;
    }
    return SM_PREEMPTED;
  }
  default:
    return fault(cta, p->value, f);
  }
}
