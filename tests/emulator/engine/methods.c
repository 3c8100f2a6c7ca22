/* Sends each method of methods.csv once, with harmless data, to a separate channel, and prints
 * one line for each: the class, the offset, and "accepted" or "refused" with the notifier's code
 * and the message. methods.py compares the lines with the table in docs/emulator/engines.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/hw/tables.h"
#include "tests/emulator/client.h"

/* Returns data that is harmless for the method. */
static uint32_t harmless(uint32_t class_id, uint32_t method) {
  if (method == NVC76F_SET_OBJECT)
    return class_id == CLASS_COPY ? CLASS_COPY : CLASS_COMPUTE;
  if (class_id == CLASS_HOST && method == NVC76F_SEM_EXECUTE)
    return SEM_RELEASE;
  if (class_id == CLASS_HOST && method == NVC76F_MEM_OP_D)
    return hw_bits(NVC76F_MEM_OP_D_OPERATION, MEM_OP_MEMBAR);
  if (class_id == CLASS_COMPUTE && method == NVC7C0_LAUNCH_DMA)
    return hw_bits(NVC7C0_LAUNCH_DMA_DST_MEMORY_LAYOUT, 1);
  return 0;
}

static void compute(struct fixture *f, uint32_t method, uint32_t data) {
  push_method(&f->ch, SUBCHANNEL_COMPUTE, method, data);
}

/* Sets the objects, and addresses for the methods that write. */
static void prepare(struct fixture *f, uint32_t class_id, uint32_t method) {
  const uint32_t low = (uint32_t)f->data.va, high = (uint32_t)(f->data.va >> 32);
  push_compute_setup(&f->ch);
  push_method(&f->ch, SUBCHANNEL_COPY, NVC7B5_SET_OBJECT, CLASS_COPY);
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC76F_SEM_ADDR_LO, low);
  push_method(&f->ch, SUBCHANNEL_COMPUTE, NVC76F_SEM_ADDR_HI, high);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_LOWER, low);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_ADDRESS_UPPER, high);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_A, high);
  compute(f, NVC7C0_SET_REPORT_SEMAPHORE_B, low);
  if (class_id != CLASS_COMPUTE)
    return;
  if (method == NVC7C0_CALL_MME_MACRO(
                    0)) { /* two instructions: one that ends the macro and one without effect */
    push(&f->ch, method_header(METHOD_ONE_INC, SUBCHANNEL_COMPUTE,
                               NVC7C0_LOAD_MME_INSTRUCTION_RAM_POINTER, 7));
    for (uint32_t i = 0; i < 7; i++)
      push(&f->ch, i == 3);
  }
  if (method == NVC7C0_FE_ATOMIC_SEQUENCE_END)
    compute(f, NVC7C0_FE_ATOMIC_SEQUENCE_BEGIN, 0);
  if (method == NVC7C0_LOAD_INLINE_DATA) {
    compute(f, NVC7C0_LINE_LENGTH_IN, sizeof(uint32_t));
    compute(f, NVC7C0_LINE_COUNT, 1);
    compute(f, NVC7C0_OFFSET_OUT_UPPER, high);
    compute(f, NVC7C0_OFFSET_OUT, low);
    compute(f, NVC7C0_LAUNCH_DMA, hw_bits(NVC7C0_LAUNCH_DMA_DST_MEMORY_LAYOUT, 1));
  }
}

static void try_method(const struct hw_method *m) {
  void *state = NULL;
  alarm(PATIENCE_MS / 1000); /* ends the process if the method is neither completed nor refused */
  fixture_setup(&state);
  struct fixture *f = state;
  const struct error_notifier *notifier = f->ch.notifier.cpu;
  const uint32_t *done = (const uint32_t *)(const void *)((const char *)f->data.cpu + 64);
  prepare(f, m->class_id, m->offset);
  push_method(&f->ch, m->class_id == CLASS_COPY ? SUBCHANNEL_COPY : SUBCHANNEL_COMPUTE, m->offset,
              harmless(m->class_id, m->offset));
  push_semaphore(&f->ch, f->data.va + 64, 1, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  while (!__atomic_load_n(done, __ATOMIC_SEQ_CST) &&
         !__atomic_load_n(&notifier->status, __ATOMIC_SEQ_CST))
    usleep(10);
  printf("%04x 0x%04x ", m->class_id, m->offset);
  if (notifier->status)
    printf("refused %u %s\n", notifier->code, last_fault(&f->c).message);
  else
    printf("accepted\n");
  fixture_teardown(&state);
}

int main(void) {
  for (unsigned i = 0; i < hw_method_count; i++)
    try_method(&hw_methods[i]);
  return 0;
}
