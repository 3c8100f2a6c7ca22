/* Experiments with queues, contexts and preemption: which of them the driver may rely on. */
#include "tools/doctor/experiments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/device.h"

#define NS_PER_MS UINT64_C(1000000)

/* ---- long kernels ----------------------------------------------------------------------- */

int start_kernel(struct setup *b, struct rt_queue *q, enum doctor_kernel kernel, uint32_t groups,
                 uint64_t out, uint32_t value, uint64_t *point) {
  const struct doctor_params params = {.out = out, .value = value};
  const struct rt_launch launch = {.module = b->module,
                                   .kernel = kernel,
                                   .grid = {groups, 1, 1},
                                   .block = {EXPERIMENT_BLOCK, 1, 1},
                                   .params = &params};
  return rt_queue_launch(q, &launch, point);
}

bool wait_for(struct setup *b, struct rt_queue *q, uint64_t point, uint64_t timeout_ns) {
  const int result = rt_queue_wait(q, point, timeout_ns);
  if (result == 0)
    return true;
  if (result != -ETIMEDOUT)
    return say_failure(b->doctor);
  say(b->doctor, "the GPU did not release point %" PRIu64 " in %" PRIu64 " ms", point,
      timeout_ns / NS_PER_MS);
  if (b->doctor->result)
    b->doctor->result->no_answer = true;
  return false;
}

uint64_t long_ns(const struct doctor *d) {
  return (rt_device_info(d->device)->emulated ? 100 : 2500) * NS_PER_MS;
}

uint32_t spin_rounds(struct setup *b, uint64_t ns) {
  enum { FIRST = 4096 };
  uint64_t point = 0, took = 0;
  uint32_t rounds = FIRST / 2;
  /* The first run pays for the upload of code and for clocks that rise. */
  while (took < ns / 2 && rounds < UINT32_MAX / 2) {
    rounds *= 2;
    const uint64_t start = base_clock_ns();
    if (start_kernel(b, b->queue, KERNEL_SPIN, rt_device_info(b->doctor->device)->sm_count,
                     b->data->gpu, rounds, &point))
      return say_failure(b->doctor), 0;
    if (!setup_wait(b, point))
      return 0;
    took = base_clock_ns() - start;
  }
  const double scaled = (double)rounds * (double)ns / (double)took;
  return scaled < UINT32_MAX ? (uint32_t)scaled : UINT32_MAX;
}

/* x * a + c, rounds times: by squaring. */
static void spin_steps(uint32_t rounds, uint32_t *factor, uint32_t *sum) {
  uint32_t a = 1664525, c = 1013904223;
  *factor = 1;
  *sum = 0;
  for (; rounds; rounds >>= 1) {
    if (rounds & 1) {
      *factor *= a;
      *sum = *sum * a + c;
    }
    c += a * c;
    a *= a;
  }
}

bool check_spin(struct setup *b, const uint32_t *out, uint32_t groups, uint32_t rounds) {
  uint32_t factor, sum;
  spin_steps(rounds, &factor, &sum);
  for (uint32_t i = 0; i < groups * EXPERIMENT_BLOCK; i++)
    if (out[i] != i * factor + sum) {
      say(b->doctor, "item %u of the long kernel is 0x%08x instead of 0x%08x", i, out[i],
          i * factor + sum);
      return false;
    }
  return true;
}

/* out[i] = value + i. */
static bool check_number(struct setup *b, const uint32_t *out, uint32_t groups, uint32_t value) {
  for (uint32_t i = 0; i < groups * EXPERIMENT_BLOCK; i++)
    if (out[i] != value + i) {
      say(b->doctor, "item %u of the short kernel is %u instead of %u", i, out[i], value + i);
      return false;
    }
  return true;
}

static bool healthy(struct setup *b) {
  const char *fault = rt_context_fault(b->context);
  if (fault)
    say(b->doctor, "%s", fault);
  return !fault;
}

/* ---- preemption --------------------------------------------------------------------------- */

/* The long kernel in one context, and short work of another until it has ended. *worst: the
 * longest time that short work took. */
static bool disturb(struct setup *longer, struct setup *shorter, uint64_t *worst) {
  struct doctor *d = longer->doctor;
  const uint32_t groups = rt_device_info(d->device)->sm_count;
  const uint64_t limit = 2 * long_ns(d) + d->options.timeout_ns;
  const uint32_t rounds = spin_rounds(longer, long_ns(d));
  uint64_t point = 0, short_point = 0;
  uint32_t count = 0;
  if (!rounds)
    return false;
  *worst = 0;
  memset(longer->data->cpu, 0, groups * EXPERIMENT_BLOCK * sizeof(uint32_t));
  const uint64_t start = base_clock_ns();
  if (start_kernel(longer, longer->queue, KERNEL_SPIN, groups, longer->data->gpu, rounds, &point))
    return say_failure(d);
  do {
    const uint64_t begin = base_clock_ns();
    if (start_kernel(shorter, shorter->queue, KERNEL_NUMBER, 1, shorter->data->gpu, ++count,
                     &short_point))
      return say_failure(d);
    if (!wait_for(shorter, shorter->queue, short_point, limit))
      return false;
    const uint64_t took = base_clock_ns() - begin;
    *worst = took > *worst ? took : *worst;
    if (!check_number(shorter, shorter->data->cpu, 1, count))
      return false;
  } while (rt_queue_completed(longer->queue) < point && base_clock_ns() - start < limit);
  if (!wait_for(longer, longer->queue, point, d->options.timeout_ns))
    return false;
  say(d,
      "a kernel of %.1f ms, and %u short ones of another context beside it, of which the "
      "slowest took %.3f ms",
      (double)(base_clock_ns() - start) / 1e6, count, (double)*worst / 1e6);
  return check_spin(longer, longer->data->cpu, groups, rounds) && healthy(longer) &&
         healthy(shorter);
}

static bool preemption(struct doctor *d, const char *mode, enum measure measure) {
  struct setup longer, shorter = {.doctor = d};
  uint64_t worst = 0;
  if (!rt_choices_set(&d->device->choices, "preemption", mode)) {
    say(d, "the driver does not know preemption=%s", mode);
    return false;
  }
  if (!setup_open(d, 16 * GPU_PAGE_BYTES, &longer))
    return false;
  const bool good = setup_open(d, GPU_PAGE_BYTES, &shorter) && disturb(&longer, &shorter, &worst);
  setup_close(&shorter);
  setup_close(&longer);
  if (strcmp(rt_choice_value(&d->device->choices, RT_CHOICE_PREEMPTION), mode) != 0) {
    say(d, "the kernel's driver has refused this mode");
    return false;
  }
  if (good)
    measured(d, measure, worst);
  return good;
}

bool step_wfi(struct doctor *d) {
  return preemption(d, "wfi", MEASURE_SHORT_WFI);
}
bool step_cta(struct doctor *d) {
  return preemption(d, "cta", MEASURE_SHORT_CTA);
}
bool step_cilp(struct doctor *d) {
  return preemption(d, "cilp", MEASURE_SHORT_CILP);
}

/* ---- contexts and queues ----------------------------------------------------------------------
 */

bool step_contexts(struct doctor *d) {
  struct setup a, b = {.doctor = d};
  uint64_t worst = 0;
  if (!setup_open(d, 16 * GPU_PAGE_BYTES, &a))
    return false;
  const bool good = setup_open(d, GPU_PAGE_BYTES, &b) && disturb(&a, &b, &worst);
  setup_close(&b);
  setup_close(&a);
  return good;
}

/* The driver opens no channel beside work that does not give way. */
static bool open_and_close_channel(struct setup *b, uint64_t *ns) {
  struct rt_channel *ch = calloc(1, sizeof(*ch));
  if (!ch) {
    say(b->doctor, "out of memory");
    return false;
  }
  ch->context = b->context;
  ch->fd = -1;
  const uint64_t start = base_clock_ns();
  const bool good =
      rt_channel_open(b->context, b->queue->channel->tsg, ch) == 0 || say_failure(b->doctor);
  *ns = base_clock_ns() - start;
  rt_channel_close(b->context, ch);
  free(ch);
  return good;
}

bool step_queues(struct doctor *d) {
  enum { ROUNDS = 4 };
  struct setup b;
  uint64_t point = 0, worst = 0, short_point = 0;
  /* Opening a channel preempts the TSG; nvgpu gives up after 100 ms, also where work-groups, all
   * of which run at once here, end first (CTA). */
  const char *mode = doctor_best_preemption(d);
  const bool interrupts = strcmp(mode, "cilp") == 0;
  const uint64_t ns = interrupts ? long_ns(d) : 50 * NS_PER_MS;
  if (!rt_choices_set(&d->device->choices, "preemption", mode))
    return false;
  if (!setup_open(d, 32 * GPU_PAGE_BYTES, &b))
    return false;
  const uint32_t groups = rt_device_info(d->device)->sm_count;
  const uint64_t other = 16 * GPU_PAGE_BYTES;
  const uint32_t rounds = spin_rounds(&b, ns);
  bool good =
      rounds && (start_kernel(&b, b.queue, KERNEL_SPIN, groups, b.data->gpu, rounds, &point) == 0 ||
                 say_failure(d));
  for (int i = 0; i < ROUNDS && good; i++) {
    struct rt_queue *q = NULL;
    uint64_t took = 0;
    good = (rt_queue_create(b.context, RT_PRIORITY_MEDIUM, &q) == 0 || say_failure(d)) &&
           open_and_close_channel(&b, &took);
    good = good && (start_kernel(&b, q, KERNEL_NUMBER, 1, b.data->gpu + other, (uint32_t)i,
                                 &short_point) == 0 ||
                    say_failure(d));
    good =
        good && wait_for(&b, q, short_point, 2 * long_ns(d) + d->options.timeout_ns) &&
        check_number(&b, (const uint32_t *)b.data->cpu + other / sizeof(uint32_t), 1, (uint32_t)i);
    rt_queue_destroy(q);
    worst = took > worst ? took : worst;
  }
  good = good && wait_for(&b, b.queue, point, 2 * long_ns(d) + d->options.timeout_ns) &&
         check_spin(&b, b.data->cpu, groups, rounds) && healthy(&b);
  if (good) {
    say(d,
        "preemption %s: %d queues made, used and destroyed, and channels opened and closed, beside "
        "a kernel of %.0f ms; opening one took %.3f ms at most",
        mode, ROUNDS, (double)ns / 1e6, (double)worst / 1e6);
    measured(d, MEASURE_QUEUE, worst);
  }
  setup_close(&b);
  return good;
}

bool step_priority(struct doctor *d) {
  struct setup b;
  struct rt_queue *high = NULL;
  uint64_t point = 0, high_point = 0;
  if (!setup_open(d, 32 * GPU_PAGE_BYTES, &b))
    return false;
  const uint32_t groups = rt_device_info(d->device)->sm_count;
  const uint64_t other = 16 * GPU_PAGE_BYTES;
  const uint32_t rounds = spin_rounds(&b, long_ns(d));
  bool good =
      rounds && (rt_queue_create(b.context, RT_PRIORITY_HIGH, &high) == 0 || say_failure(d));
  good =
      good && (start_kernel(&b, b.queue, KERNEL_SPIN, groups, b.data->gpu, rounds, &point) == 0 ||
               say_failure(d));
  const uint64_t start = base_clock_ns();
  good =
      good && (start_kernel(&b, high, KERNEL_NUMBER, 1, b.data->gpu + other, 5, &high_point) == 0 ||
               say_failure(d));
  good = good && wait_for(&b, high, high_point, 2 * long_ns(d) + d->options.timeout_ns);
  const uint64_t took = base_clock_ns() - start;
  good = good && check_number(&b, (const uint32_t *)b.data->cpu + other / sizeof(uint32_t), 1, 5) &&
         wait_for(&b, b.queue, point, 2 * long_ns(d) + d->options.timeout_ns) &&
         check_spin(&b, b.data->cpu, groups, rounds) && healthy(&b);
  struct nvgpu_runlist_interleave_args level = {.level = NVGPU_INTERLEAVE_HIGH};
  const int refused = good ? d->device->os->ioctl(high->channel->tsg->fd,
                                                  NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, &level)
                           : 0;
  if (refused) {
    say_refusal(d, "SET_RUNLIST_INTERLEAVE to high", refused);
    good = false;
  }
  if (good && high->channel->tsg == b.queue->channel->tsg) {
    say(d, "the driver has put the queue of high priority into the other's TSG");
    good = false;
  }
  if (good)
    say(d, "short work of high priority beside a long kernel took %.3f ms", (double)took / 1e6);
  rt_queue_destroy(high);
  setup_close(&b);
  return good;
}

/* The first queue waits for a word that the CPU writes late; the second one for the first. */
static bool acquire(struct setup *b, struct rt_queue *second) {
  struct doctor *d = b->doctor;
  /* Long enough for an acquire that does not wait, also on a machine that is busy. */
  enum { LOOKS = 25 };
  static const struct timespec pause = {.tv_nsec = 20000000};
  volatile uint32_t *out = b->data->cpu;
  volatile uint64_t *word = (void *)((char *)b->data->cpu + GPU_PAGE_BYTES);
  struct rt_slice s;
  uint64_t point = 0;
  if (rt_slice_begin(b->queue, 0, &s))
    return say_failure(d);
  put_semaphore(&s, b->data->gpu + GPU_PAGE_BYTES, 1,
                hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQUIRE) |
                    hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, 1) |
                    hw_bits(NVC76F_SEM_EXECUTE_ACQUIRE_SWITCH_TSG, 1));
  const uint64_t first = rt_slice_submit(b->queue, &s, NULL);
  if (rt_queue_acquire(second, b->queue, first) ||
      start_kernel(b, second, KERNEL_NUMBER, 1, b->data->gpu, 9, &point))
    return say_failure(d);
  uint32_t early = 0;
  for (int i = 0; i < LOOKS && !early; i++) {
    nanosleep(&pause, NULL);
    early = out[0];
  }
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  if (!setup_wait(b, first) || !wait_for(b, second, point, d->options.timeout_ns))
    return false;
  if (early) {
    say(d, "the second queue did not wait: its result was there before the first queue had ended");
    return false;
  }
  say(d, "the second queue waited until the first had ended");
  return check_number(b, b->data->cpu, 1, 9);
}

bool step_acquire(struct doctor *d) {
  struct setup b;
  struct rt_queue *second = NULL;
  if (!setup_open(d, 2 * GPU_PAGE_BYTES, &b))
    return false;
  bool good = rt_queue_create(b.context, RT_PRIORITY_MEDIUM, &second) == 0;
  /* Queues that share a channel never wait for each other on the GPU. */
  if (good && second->channel == b.queue->channel) {
    say(d, "there is no second channel, so the queues share one, and nothing is shown");
    good = false;
  }
  good = (good || say_failure(d)) && acquire(&b, second);
  if (!good) /* what still waits is let go */
    ((volatile uint64_t *)b.data->cpu)[GPU_PAGE_BYTES / sizeof(uint64_t)] = 1;
  setup_end(second);
  setup_close(&b);
  return good;
}

bool step_reuse(struct doctor *d) {
  enum { ROUNDS = 3 };
  struct setup b;
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  bool good = true;
  for (uint32_t i = 1; i <= ROUNDS && good; i++) {
    uint64_t point = 0;
    rt_queue_destroy(b.queue);
    b.queue = NULL;
    good = rt_queue_create(b.context, RT_PRIORITY_MEDIUM, &b.queue) == 0 &&
           start_kernel(&b, b.queue, KERNEL_NUMBER, 1, b.data->gpu, i, &point) == 0;
    good = (good || say_failure(d)) && setup_wait(&b, point) && check_number(&b, b.data->cpu, 1, i);
  }
  if (good)
    say(d, "%d times the only queue went and another came: work ran", ROUNDS);
  setup_close(&b);
  return good;
}

/* ---- faults --------------------------------------------------------------------------------- */

/* A store to an address that is not mapped must end this context, and no other. */
static bool store(struct setup *b) {
  struct doctor *d = b->doctor;
  const uint64_t nowhere = UINT64_C(0x1000000); /* below every context's range */
  uint64_t point = 0;
  if (start_kernel(b, b->queue, KERNEL_NUMBER, 1, nowhere, 1, &point))
    return say_failure(d);
  const int result = rt_queue_wait(b->queue, point, d->options.timeout_ns);
  const char *fault = rt_context_fault(b->context);
  say(d, "wait: %s; %s", result ? strerror(-result) : "it ended", fault ? fault : "no fault told");
  if (result == -ETIMEDOUT && d->result)
    d->result->no_answer = true;
  return result == -EIO && fault;
}

bool step_store(struct doctor *d) {
  struct setup b;
  uint64_t point = 0;
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  bool good = store(&b);
  setup_close(&b);
  if (!good)
    say(d, "a wrong store must give a fault");
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  const bool again = (start_kernel(&b, b.queue, KERNEL_NUMBER, 1, b.data->gpu, 3, &point) == 0 ||
                      say_failure(d)) &&
                     setup_wait(&b, point) && check_number(&b, b.data->cpu, 1, 3);
  say(d, "a new context after the fault %s", again ? "works" : "does not work");
  setup_close(&b);
  return good && again;
}

/* Either answer is one: a fault, or a word that it was allowed to read. */
bool step_beyond(struct doctor *d) {
  enum { ALLOCATED = 1024 }; /* 4 bytes, rounded up, and what the unit is */
  static const uint32_t offsets[] = {4, 252, 256, ALLOCATED, 48 * 1024, 1 << 20};
  for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
    struct setup b;
    uint64_t point = 0;
    if (!setup_open(d, GPU_PAGE_BYTES, &b))
      return false;
    if (start_kernel(&b, b.queue, KERNEL_BEYOND, 1, b.data->gpu, offsets[i], &point)) {
      say_failure(d);
      setup_close(&b);
      return false;
    }
    const int result = rt_queue_wait(b.queue, point, d->options.timeout_ns);
    if (result == 0)
      say(d, "a read at byte %u of 4: no fault, 0x%x", offsets[i], *(const uint32_t *)b.data->cpu);
    else
      say(d, "a read at byte %u of 4: %s", offsets[i],
          result == -EIO ? rt_context_fault(b.context) : strerror(-result));
    if (result == -ETIMEDOUT && d->result)
      d->result->no_answer = true;
    setup_close(&b);
    if (result && result != -EIO)
      return false;
  }
  return true;
}
