/* The walk, and the table of its steps. */
#include "tools/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#define NEED(step) (1u << (step))

/* Where the facts of the meanings come from: orin-bringup-lessons.md 1 and 6,
 * nvgpu-uapi.md 3 and 8. */
const struct step doctor_steps[STEPS] = {
    [STEP_SYSTEM] = {"system", "which board, which release", 0, step_system, ""},
    [STEP_NODES] = {"nodes", "open the device nodes", 0, step_nodes,
                    "without these nodes nobody can use the GPU; CUDA cannot either"},
    [STEP_DEVICE] = {"device", "characteristics of the GPU", NEED(STEP_NODES), step_device,
                     "the kernel driver does not answer as L4T r36's does, or this is another GPU "
                     "than Orin's"},
    [STEP_MEMORY] = {"memory", "nvmap: allocate, map for the CPU, write and read back",
                     NEED(STEP_DEVICE), step_memory,
                     "nvmap gives no memory, or the memory does not keep what is written"},
    [STEP_ADDRESSES] = {"address space", "address space, TSG, subcontext", NEED(STEP_DEVICE),
                        step_addresses, "nvgpu refuses the range or the kind of subcontext"},
    [STEP_MAPPING] = {"mapping", "map memory for the GPU, and for the CPU at the same address",
                      NEED(STEP_MEMORY) | NEED(STEP_ADDRESSES), step_mapping,
                      "buffers cannot be given to the GPU"},
    [STEP_CHANNEL] = {"channel", "channel, user-mode page, compute object, notifier",
                      NEED(STEP_MAPPING), step_channel,
                      "nvgpu refuses a part of the set-up; the order and the values are those that "
                      "ran on boards (r36.4), so another release may want others"},
    [STEP_HOST] = {"host engine", "semaphore releases by the pushbuffer", NEED(STEP_CHANNEL),
                   step_host,
                   "the GPU does not do what a pushbuffer says; nothing else can work before this "
                   "does"},
    [STEP_SLEEP] = {"sleeping wait", "a fence of the channel's syncpoint", NEED(STEP_HOST),
                    step_sleep,
                    "waits do not sleep in the kernel: they poll, which works but burns a core"},
    [STEP_COHERENCE] = {"coherence", "CPU and GPU write the same cached memory in turn",
                        NEED(STEP_HOST), step_coherence,
                        "the GPU does not see the CPU's caches, or the CPU not the GPU's writes: "
                        "results would be stale at random"},
    [STEP_CLASS] = {"compute class", "a report semaphore of class C7C0", NEED(STEP_HOST),
                    step_class,
                    "methods do not reach the compute class: wrong class, subchannel or object"},
    [STEP_LAUNCH_DRIVER] = {"launch: as the driver does",
                            "PCAS2_B, invalidate prefetch copy "
                            "schedule (10)",
                            NEED(STEP_CLASS), step_launch_driver,
                            "kernels do not run as the driver launches them; see which of the "
                            "other forms does"},
    [STEP_LAUNCH_PREFETCH] = {"launch: prefetch, schedule", "PCAS2_B 9, as tinygrad on Orin",
                              NEED(STEP_CLASS), step_launch_prefetch,
                              "this form ran on another Orin"},
    [STEP_LAUNCH_COPY] = {"launch: invalidate, copy, schedule", "PCAS2_B 3, as NVK",
                          NEED(STEP_CLASS), step_launch_copy, "not known to have run on an Orin"},
    [STEP_LAUNCH_INLINE] = {"launch: inline QMD", "the QMD in the pushbuffer, as CUDA on a PC",
                            NEED(STEP_CLASS), step_launch_inline,
                            "not known to have run on an Orin"},
    [STEP_LAUNCH_CHAIN] = {"launch: dependent QMD", "the first QMD starts the second",
                           NEED(STEP_CLASS), step_launch_chain, "this form ran on another Orin"},
    [STEP_LOCAL] = {"local memory", "a kernel with private arrays", NEED(STEP_LAUNCH_DRIVER),
                    step_local,
                    "the pool of local memory or its window is not where kernels look for it"},
    [STEP_COPY] = {"copy engine", "class C7B5 copies 1 MiB", NEED(STEP_HOST), step_copy,
                   "the driver does not need it: it copies by the CPU"},
    [STEP_TIME] = {"time", "PTIMER by ioctl, page, semaphores and QMD", NEED(STEP_HOST), step_time,
                   "profiling would show wrong times"},
    [STEP_COMPILER] = {"compiler", "clang and NVRTC build an OpenCL kernel", 0, step_compiler,
                       "programs cannot be built from source here"},
    [STEP_OPENCL] = {"OpenCL", "a kernel through the loader and the driver", NEED(STEP_DEVICE),
                     step_opencl, "this is what an application sees"},
};

/* The first step that must have passed and has not; STEPS if there is none. */
static enum step_id missing(const struct doctor *d, const struct step *step) {
  for (unsigned i = 0; i < STEPS; i++)
    if (step->needs & NEED(i) && d->verdicts[i] != VERDICT_PASS)
      return (enum step_id)i;
  return STEPS;
}

static enum verdict take(struct doctor *d, const struct step *step) {
  enum step_id without = missing(d, step);
  report_print(d->report, "== %s: %s\n", step->name, step->does);
  report_sync(d->report);
  if (without != STEPS) {
    say(d, "NOT RUN: it needs the step \"%s\", which %s", doctor_steps[without].name,
        d->verdicts[without] == VERDICT_FAIL ? "failed" : "did not run");
    return VERDICT_NOT_RUN;
  }
  if (step->run(d)) {
    say(d, "PASS");
    return VERDICT_PASS;
  }
  say(d, "FAIL: %s", step->meaning);
  return VERDICT_FAIL;
}

unsigned doctor_run(const struct nvgpu_os *os, uint64_t timeout_ns, struct report *report) {
  struct doctor d = {.os = os, .report = report, .timeout_ns = timeout_ns};
  unsigned counts[VERDICT_NOT_RUN + 1] = {0};
  for (unsigned i = 0; i < STEPS; i++) {
    d.verdicts[i] = take(&d, &doctor_steps[i]);
    counts[d.verdicts[i]]++;
  }
  rt_device_close(d.device);
  static const char *const words[] = {"pass", "FAIL", "not run"};
  report_print(report, "== summary\n");
  for (unsigned i = 0; i < STEPS; i++)
    report_print(report, "   %-8s %s\n", words[d.verdicts[i]], doctor_steps[i].name);
  report_print(report, "%u steps passed, %u failed, %u not run\n", counts[VERDICT_PASS],
               counts[VERDICT_FAIL], counts[VERDICT_NOT_RUN]);
  report_sync(report);
  return counts[VERDICT_FAIL];
}
