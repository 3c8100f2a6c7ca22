/* Rings that the driver writes: SUBMIT_GPFIFO. Callers hold gpu.lock. */
#ifndef TEGRACL_EMULATOR_SUBMIT_H
#define TEGRACL_EMULATOR_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

struct emu_channel;
struct emu_dmabuf;
struct emu_mapping;
struct emu_object;

/* A ring that the driver writes. */
struct emu_submit {
  struct emu_dmabuf *ring, *commands, *userd;
  struct emu_mapping *ring_mapping, *commands_mapping, *window;
  int syncpoint;                /* counts submissions: the GPU stores to window; -1 if none */
  uint32_t target;              /* value when all submissions are done */
  uint32_t jobs;                /* maximum number of unfinished submissions */
  uint32_t put, command_slot;   /* indices of the next entry and of the next command */
  bool watched;                 /* by the watchdog */
  uint32_t seen_done, seen_get; /* values of syncpoint and GP_GET last seen by the watchdog */
  uint64_t since_ns;            /* time of their last change, or of the submission */
};

/* Gives the channel a ring that SUBMIT_GPFIFO writes. jobs is the maximum number of unfinished
 * submissions, or 0 for the driver's choice. Returns 0 or -ENOMEM. */
int emu_submit_setup(struct emu_channel *channel, uint32_t entries, uint32_t jobs);
/* Returns GP_GET from USERD. */
uint32_t emu_submit_got(const struct emu_channel *channel);
/* Returns whether the channel has unfinished submissions. False for a channel without such a
 * ring. */
bool emu_submit_pending(const struct emu_channel *channel);
/* Wakes all waiters. To be called when no more submissions will complete. */
void emu_submit_give_up(struct emu_channel *channel);
/* Frees the ring. The channel must not be executing. May release gpu.lock temporarily. */
void emu_submit_free(struct emu_channel *channel);
/* Implements the request SUBMIT_GPFIFO. */
int emu_submit_gpfifo(struct emu_object *object, int fd, void *argument);

#endif
