/* Rings that the driver writes: SUBMIT_GPFIFO. gpu.lock held. */
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
  int syncpoint;                /* counts submissions, by stores of the GPU to window; -1: none */
  uint32_t target;              /* its value when all are done */
  uint32_t put, command_slot;   /* index of the next entry, and of the next command */
  bool watched;                 /* by the watchdog */
  uint32_t seen_done, seen_get; /* the watchdog's last values of syncpoint and GP_GET */
  uint64_t since_ns;            /* when they changed last, or when work was submitted */
};

/* Gives the channel a ring that SUBMIT_GPFIFO writes: 0 or -ENOMEM. */
int emu_submit_setup(struct emu_channel *channel, uint32_t entries);
/* GP_GET of USERD. */
uint32_t emu_submit_got(const struct emu_channel *channel);
/* Whether the channel has submissions that are not done. Accepts a channel without such a ring. */
bool emu_submit_pending(const struct emu_channel *channel);
/* Call when no more submissions will complete: wakes their waiters. */
void emu_submit_give_up(struct emu_channel *channel);
/* Frees the ring. The channel must not have its turn. May release gpu.lock meanwhile. */
void emu_submit_free(struct emu_channel *channel);
/* The request SUBMIT_GPFIFO. */
int emu_submit_gpfifo(struct emu_object *object, int fd, void *argument);

#endif
