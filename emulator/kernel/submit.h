/* The ring of a channel that the driver writes: SUBMIT_GPFIFO. gpu.lock held. */
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
  int syncpoint;   /* counts submissions, by stores to window */
  uint32_t target; /* its value when all are done */
  uint32_t put, command_slot;
  bool watched; /* seen by the watchdog: values and time */
  uint32_t seen_done, seen_get;
  uint64_t since_ns;
};

/* Gives the channel a ring that SUBMIT_GPFIFO writes: 0 or -ENOMEM. */
int emu_submit_setup(struct emu_channel *channel, uint32_t entries);
/* GP_GET, as the engine wrote it last. */
uint32_t emu_submit_got(const struct emu_channel *channel);
/* It has submissions that are not done. */
bool emu_submit_pending(const struct emu_channel *channel);
/* No more submissions will complete: wakes their waiters. */
void emu_submit_give_up(struct emu_channel *channel);
/* The engine has left the channel. */
void emu_submit_free(struct emu_channel *channel);
int emu_submit_gpfifo(struct emu_object *object, int fd, void *argument);

#endif
