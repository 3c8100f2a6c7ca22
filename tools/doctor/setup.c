/* Output of steps; their context, queue and pushbuffers. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "tools/doctor/advice.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/kernels.h"

void doctor_say(struct doctor *d, const char *format, ...) {
  va_list arguments;
  char *text = NULL;
  va_start(arguments, format);
  int n = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (n < 0)
    return;
  report_print(d->report, "   %s\n", text);
  free(text);
}

void doctor_advise(struct doctor *d, const char *format, ...) {
  va_list arguments;
  char *text = NULL;
  va_start(arguments, format);
  int n = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (n < 0)
    return;
  doctor_say(d, "what to do: %s", text);
  if (d->result && !*d->result->remedy)
    snprintf(d->result->remedy, sizeof(d->result->remedy), "%s", text);
  free(text);
}

/* The message of rt_fail_call includes the errno. */
bool doctor_say_failure(struct doctor *d) {
  const char *message = rt_last_message();
  const char *number = strstr(message, "(errno ");
  doctor_say(d, "%s", message);
  if (number)
    advise_error(d, -(int)strtol(number + strlen("(errno "), NULL, 10));
  return false;
}

void doctor_say_refusal(struct doctor *d, const char *what, int result) {
  const int error = result > 0 ? -EFAULT : result;
  doctor_say(d, "%s: %s (errno %d)", what, strerror(-error), -error);
  advise_error(d, error);
}

void doctor_record(struct doctor *d, enum measure measure, uint64_t value) {
  if (d->result)
    d->result->measures[measure] = value;
}

bool setup_open(struct doctor *d, uint64_t data_bytes, struct setup *setup) {
  *setup = (struct setup){.doctor = d};
  if (rt_context_create(d->device, &setup->context) == 0 &&
      rt_module_create(setup->context, &doctor_code, &setup->module) == 0 &&
      rt_buffer_create(setup->context, data_bytes, RT_MEMORY_CACHED, &setup->data) == 0 &&
      rt_queue_create(setup->context, RT_PRIORITY_MEDIUM, &setup->queue) == 0)
    return true;
  doctor_say_failure(d);
  setup_close(setup);
  return false;
}

void setup_destroy_queue(struct rt_queue *q) {
  if (q && !rt_queue_dead(q) && rt_queue_completed(q) < rt_queue_submitted(q))
    rt_queue_abandon(q);
  rt_queue_destroy(q);
}

void setup_close(struct setup *setup) {
  setup_destroy_queue(setup->queue);
  rt_buffer_destroy(setup->data);
  rt_module_destroy(setup->module);
  rt_context_destroy(setup->context);
  *setup = (struct setup){.doctor = setup->doctor};
}

static uint32_t read_userd(const struct rt_queue *q, unsigned offset) {
  return *(volatile uint32_t *)((char *)q->channel->userd.cpu + offset);
}

bool setup_wait(struct setup *setup, uint64_t point) {
  struct doctor *d = setup->doctor;
  struct rt_queue *q = setup->queue;
  int result = rt_queue_wait(q, point, d->options.timeout_ns);
  if (result == 0)
    return true;
  if (result != -ETIMEDOUT)
    return doctor_say_failure(d);
  if (d->result)
    d->result->no_answer = true;
  uint32_t get = read_userd(q, USERD_GP_GET), put = read_userd(q, USERD_GP_PUT);
  doctor_say(d,
             "the GPU did not reach timeline point %" PRIu64 " within %" PRIu64
             " ms; GP_GET is %u, GP_PUT %u",
             point, d->options.timeout_ns / 1000000, get, put);
  if (get != put)
    doctor_say(
        d,
        "the channel has not fetched the entry: the doorbell has no effect (token 0x%x, user-mode "
        "page), the channel does not run, or it still waits in an earlier entry",
        q->channel->token);
  else
    doctor_say(d,
               "the channel has fetched the entry, but may not have executed it: methods at wrong "
               "addresses are ignored without an error, and a wait may never end");
  return false;
}

void put_word(struct rt_slice *s, uint32_t word) {
  *s->at++ = word;
}

void put_methods(struct rt_slice *s, uint32_t subchannel, uint32_t method, uint32_t count) {
  put_word(s, method_header(METHOD_INC, subchannel, method, count));
}

void put_semaphore(struct rt_slice *s, uint64_t address, uint64_t payload, uint32_t execute) {
  put_methods(s, 0, NVC76F_SEM_ADDR_LO, 5);
  put_word(s, (uint32_t)address);
  put_word(s, (uint32_t)(address >> 32));
  put_word(s, (uint32_t)payload);
  put_word(s, (uint32_t)(payload >> 32));
  put_word(s, execute);
}
