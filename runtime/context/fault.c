/* Describes a GPU fault. The error notifier gives its kind; the kernel (SM error states) or the
 * software Orin (its own device node) gives the details. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/hw/exceptions.h"
#include "gpu/hw/host.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/context/module.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

static const char unexplained[] = "the GPU faulted; out of memory while describing the fault";

static const char *notifier_text(uint32_t code) {
  switch (code) {
  case NOTIFIER_IDLE_TIMEOUT:
    return "kernels kept other work, such as the desktop, from using the GPU for longer than the "
           "kernel driver allows (3 s; delays of 100 ms or more add up); make kernels shorter than "
           "100 ms, or try TEGRACL_PREEMPTION=cta or cilp";
  case NOTIFIER_COPY_ENGINE:
    return "copy engine error";
  case NOTIFIER_GR_UNKNOWN_METHOD:
    return "unknown method";
  case NOTIFIER_GR_EXCEPTION:
    return "exception in a shader or the scheduler";
  case NOTIFIER_SEMAPHORE_TIMEOUT:
    return "semaphore timeout";
  case NOTIFIER_GR_ILLEGAL_NOTIFY:
    return "illegal method or notify";
  case NOTIFIER_MMU_FAULT:
    return "MMU fault";
  case NOTIFIER_PBDMA_ERROR:
    return "error in a pushbuffer or its ring";
  case NOTIFIER_FECS_METHOD:
    return "unimplemented firmware method";
  case NOTIFIER_FORCE_RESET:
    return "the channel was reset";
  case NOTIFIER_PB_CRC:
    return "pushbuffer checksum mismatch";
  default:
    return "unknown error";
  }
}

/* Farther than any 32-bit vector index can reach. */
#define FAR_BYTES (UINT64_C(1) << 36)

struct search {
  uint64_t address;
  struct rt_buffer nearest;
  uint64_t least; /* distance to the nearest buffer; UINT64_MAX if none was found */
};

static void compare_distance(const struct rt_buffer *b, void *data) {
  struct search *s = data;
  const uint64_t distance = s->address < b->gpu             ? b->gpu - s->address
                            : s->address - b->gpu < b->size ? 0
                                                            : s->address - b->gpu - b->size;
  if (distance < s->least) {
    s->least = distance;
    s->nearest = *b;
  }
}

/* Prints the buffer that contains the address, or the nearest one. */
static void put_nearest_buffer(FILE *out, struct rt_context *c, uint64_t address) {
  struct search search = {.address = address, .least = UINT64_MAX};
  for (const struct rt_own_buffer *own = c->buffers; own; own = own->next)
    compare_distance(&own->node.buffer, &search);
  rt_heap_visit(&c->heap, compare_distance, &search);
  const struct rt_buffer *nearest = search.least == UINT64_MAX ? NULL : &search.nearest;
  if (!nearest || search.least >= FAR_BYTES) {
    fprintf(out, nearest ? "; no buffer is near that address" : "; the context has no buffers");
    return;
  }
  uint64_t offset = address - nearest->gpu;
  if (address < nearest->gpu)
    fprintf(out, "; %" PRIu64 " bytes before", nearest->gpu - address);
  else if (offset < nearest->size)
    fprintf(out, "; %" PRIu64 " bytes into", offset);
  else
    fprintf(out, "; %" PRIu64 " bytes past the end of", offset - nearest->size);
  fprintf(out, " a buffer of %" PRIu64 " bytes at 0x%" PRIx64, nearest->size, nearest->gpu);
}

static void put_kernel(FILE *out, const struct rt_context *c, uint64_t pc) {
  uint64_t offset = 0;
  const struct kernel_code *k = rt_module_kernel_at(c, pc, &offset);
  if (k) {
    const char *file = "";
    const struct module_line *line = rt_module_line_at(c, pc, &file);
    fprintf(out, " in kernel %s at +0x%" PRIx64, k->name, offset);
    if (line)
      fprintf(out, ", line %" PRIu32 " of %s", line->line, *file ? file : "the program source");
  } else if (pc) {
    fprintf(out, " at 0x%" PRIx64 ", which is not in any kernel", pc);
  }
}

/* Returns true if the software Orin has described the fault. */
static bool put_emulator_fault(FILE *out, struct rt_context *c) {
  struct emulator_fault f = {.as_fd = c->as_fd};
  if (c->device->emulator_fd < 0 ||
      c->device->os->ioctl(c->device->emulator_fd, EMULATOR_IOCTL_FAULT, &f) || f.code == 0)
    return false;
  put_kernel(out, c, f.pc ? f.pc : f.program);
  if (f.instruction[0])
    fprintf(out, " (%.*s)", (int)sizeof(f.instruction), f.instruction);
  /* The message says which access faulted and which work-item made it. */
  if (f.message[0])
    fprintf(out, ": %.*s", (int)sizeof(f.message), f.message);
  if (f.access_bytes && f.code == NOTIFIER_MMU_FAULT)
    put_nearest_buffer(out, c, f.address);
  return true;
}

/* Boards only: prints the first SM that reports an error, and the program counter of its warp. */
static void put_sm_errors(FILE *out, const struct rt_context *c, const struct rt_tsg *tsg) {
  if (tsg->fd < 0)
    return;
  for (uint32_t sm = 0; sm < c->device->info.sm_count; sm++) {
    struct nvgpu_tsg_sm_error_state_record record = {0};
    struct nvgpu_tsg_read_single_sm_error_state_args args = {
        .sm_id = sm, .record_mem = (uintptr_t)&record, .record_size = sizeof(record)};
    if (c->device->os->ioctl(tsg->fd, NVGPU_TSG_IOCTL_READ_SINGLE_SM_ERROR_STATE, &args) ||
        (record.warp_esr == 0 && record.global_esr == 0))
      continue;
    put_kernel(out, c, record.warp_esr_pc);
    const char *error = warp_error_text(hw_field(record.warp_esr, WARP_ESR_ERROR));
    fprintf(out, " (SM %u, warp error 0x%x%s%s, global error 0x%x)", sm, record.warp_esr,
            error ? ": " : "", error ? error : "", record.global_esr);
    return;
  }
}

/* Prints the oldest launch on the channel that has not completed. */
static void put_oldest_launch(FILE *out, const struct rt_channel *ch) {
  uint64_t completed = __atomic_load_n(ch->timeline, __ATOMIC_ACQUIRE);
  for (uint64_t p = completed + 1; p <= atomic_load(&ch->submitted); p++) {
    const char *kernel = ch->submissions[(p - ch->first) % RT_GPFIFO_ENTRIES].kernel;
    if (kernel) {
      fprintf(out, "; the oldest unfinished launch is kernel %s", kernel);
      return;
    }
  }
}

/* Returns a message about the fault, or NULL if out of memory. The caller holds context.lock. */
static char *describe_fault(struct rt_context *c, const struct rt_channel *ch, uint32_t code) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return NULL;
  fprintf(out, "GPU fault, %s (error notifier %u)", notifier_text(code), code);
  if (!put_emulator_fault(out, c)) {
    put_sm_errors(out, c, &c->tsg);
    put_sm_errors(out, c, &c->high_tsg);
    put_oldest_launch(out, ch);
  }
  return fclose(out) ? NULL : text;
}

/* These notifiers may mean that host rejected a semaphore acquire, or that it was never satisfied.
 * Contexts created later do not use acquires. */
static void doubt_acquires(struct rt_context *c, uint32_t code) {
  struct rt_choices *choices = &c->device->choices;
  if ((code == NOTIFIER_SEMAPHORE_TIMEOUT || code == NOTIFIER_PBDMA_ERROR) &&
      atomic_load(&c->acquired) && rt_choice_unknown(choices, RT_CHOICE_ACQUIRES))
    rt_choice_refused(choices, RT_CHOICE_ACQUIRES,
                      "the host engine faulted in a context whose queues waited for each other");
}

static struct rt_channel *find_faulted_channel(const struct rt_tsg *tsg) {
  struct rt_channel *ch = tsg->first_channel;
  for (; ch; ch = ch->next) {
    const struct error_notifier *n = ch->notifier.cpu;
    if (__atomic_load_n(&n->status, __ATOMIC_ACQUIRE) == ERROR_NOTIFIER_WRITTEN)
      break;
  }
  return ch;
}

struct rt_channel *rt_context_find_fault(struct rt_context *c) {
  struct rt_channel *faulted = find_faulted_channel(&c->tsg);
  if (!faulted)
    faulted = find_faulted_channel(&c->high_tsg);
  if (faulted)
    atomic_store(&c->faulted, true);
  return faulted;
}

const char *rt_context_fault(struct rt_context *c) {
  base_mutex_lock(&c->lock);
  const struct rt_channel *ch = c->fault_message ? NULL : rt_context_find_fault(c);
  if (ch) {
    const struct error_notifier *n = ch->notifier.cpu;
    c->fault_message = describe_fault(c, ch, n->code);
    doubt_acquires(c, n->code);
    if (rt_timeline_on() && c->fault_message)
      rt_timeline_fault(c->fault_message);
  }
  const char *message = c->fault_message;
  if (!message && atomic_load(&c->faulted))
    message = unexplained;
  base_mutex_unlock(&c->lock);
  return message;
}

void rt_context_explain(struct rt_context *c) {
  const char *fault = rt_context_fault(c);
  rt_fail(-EIO, "%s", fault ? fault : unexplained);
}

int rt_context_check(struct rt_context *c) {
  if (!rt_context_fault(c))
    return 0;
  rt_context_explain(c);
  return -EIO;
}
