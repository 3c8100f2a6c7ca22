/* Replay and destruction of command buffers. */
#include <stdlib.h>

#include "icd/command_buffer/command_buffer.h"

void icd_mutable_command_free(cl_mutable_command_khr command) {
  for (int i = 0; i < 2; i++)
    if (command->operation.mems[i])
      icd_mem_drop(command->operation.mems[i]);
  if (command->dispatch.kernel)
    icd_kernel_drop(command->dispatch.kernel);
  if (command->kernel)
    icd_kernel_drop(command->kernel);
  free(command->properties);
  atomic_store(&command->object.magic, 0);
  icd_object_free(ICD_MAGIC_MUTABLE_COMMAND, command);
}

void icd_recording_clear(struct icd_recording *recording) {
  struct icd_part *first = &recording->first;
  rt_recording_reset(first->rt);
  while (first->printer) {
    struct icd_part *part = first->next;
    icd_kernel_drop(first->printer);
    rt_recording_destroy(part->rt);
    first->printer = part->printer;
    first->next = part->next;
    free(part);
  }
}

/* Nothing in the command buffer is on the GPU any more. */
static void destroy_command_buffer(void *owner) {
  cl_command_buffer_khr buffer = owner;
  cl_context context = buffer->context;
  while (buffer->first) {
    cl_mutable_command_khr next = buffer->first->next;
    icd_mutable_command_free(buffer->first);
    buffer->first = next;
  }
  while (buffer->recordings) {
    struct icd_recording *next = buffer->recordings->next;
    icd_recording_clear(buffer->recordings);
    rt_recording_destroy(buffer->recordings->first.rt);
    free(buffer->recordings);
    buffer->recordings = next;
  }
  icd_queue_drop(buffer->queue);
  base_mutex_destroy(&buffer->lock);
  free(buffer->properties);
  icd_object_free(ICD_MAGIC_COMMAND_BUFFER, buffer);
  icd_context_drop(context);
}

/* Waits for the queue if the application has released it, because no later call reclaims objects
 * that wait for it. */
void icd_command_buffer_retire(struct icd_object *object) {
  cl_command_buffer_khr buffer = (cl_command_buffer_khr)object;
  cl_command_queue queue = buffer->queue;
  if (!atomic_load(&queue->object.handles))
    rt_queue_wait(queue->rt, rt_queue_submitted(queue->rt), UINT64_MAX);
  cl_context context = buffer->context;
  icd_context_hold(context); /* the command buffer may have the last reference to it */
  icd_retire(context, &buffer->retired, destroy_command_buffer, buffer);
  /* the application may wait for the destruction of objects that the buffer holds */
  icd_reclaim_in_background(context);
  icd_context_drop(context);
}

/* Replays the parts of a recording and prints the output of printf after each of them. The caller
 * holds the queue's lock. */
static int replay_parts(cl_command_queue queue, const struct icd_part *part,
                        struct rt_times *times) {
  int error = times ? rt_queue_timestamp(queue->rt, times, false) : 0;
  for (; part && !error; part = part->next) {
    error = rt_queue_replay(queue->rt, part->rt, NULL, NULL);
    if (error || !part->printer)
      continue;
    icd_lock(&part->printer->guard);
    error = icd_print_launch(queue, part->printer, &part->printer->launch);
    icd_unlock(&part->printer->guard);
  }
  if (times && !error)
    error = rt_queue_timestamp(queue->rt, times, true);
  return error;
}

int icd_replay(cl_command_queue queue, const struct icd_replay *replay, struct rt_times *times) {
  struct icd_recording *recording = replay->recording;
  icd_lock(&recording->guard);
  const int error = recording->first.printer
                        ? replay_parts(queue, &recording->first, times)
                        : rt_queue_replay(queue->rt, recording->first.rt, times, NULL);
  icd_unlock(&recording->guard);
  return error;
}

void icd_replay_hold(const struct icd_replay *replay) {
  icd_object_hold(&replay->buffer->object);
  atomic_fetch_add(&replay->recording->users, 1);
}

void icd_replay_drop(const struct icd_replay *replay) {
  atomic_fetch_sub(&replay->recording->users, 1);
  icd_object_drop(&replay->buffer->object);
}
