/* The front end: a channel's ring and pushbuffer, as far as the host has read them. */
#ifndef TEGRACL_EMULATOR_PUSHBUFFER_H
#define TEGRACL_EMULATOR_PUSHBUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/modes/adversary.h"

struct emu_channel;

enum { EMU_ENTRIES_AHEAD = 8, EMU_WORDS_AHEAD = 256 };

struct emu_ring {
  uint64_t ahead[EMU_ENTRIES_AHEAD]; /* taken in, and not begun with */
  uint32_t next, count;              /* of them: the next one, and how many are left */
  uint32_t words[EMU_WORDS_AHEAD];   /* adversarial timing: of the pushbuffer */
  uint64_t segment, main_segment;    /* begun with last: GET, TOP_LEVEL_GET */
};

/* Adversarial timing of one channel. Times are PTIMER's; 0: none. */
struct emu_whim {
  struct emu_random random;
  uint64_t read_on;    /* when its ring and pushbuffer are read on */
  uint64_t write_back; /* when USERD gets the words that are due */
};

/* A run of pushbuffer words that is contiguous in host memory. */
struct emu_fetch {
  uint64_t gpu;   /* address of the next word */
  uint32_t words; /* left in the segment */
  const uint32_t *host;
  uint32_t host_words; /* of them readable at host */
};

/* The methods of one header that are still to be done. */
struct emu_run {
  uint32_t op; /* enum method_sec_op */
  uint32_t method, count, subchannel;
  uint32_t immediate;
  bool incremented; /* past the first of ONE_INC */
};

enum emu_outcome {
  EMU_IDLE,    /* nothing left */
  EMU_MORE,    /* the turn is over */
  EMU_BLOCKED, /* waits for a semaphore */
  EMU_GAVE_UP, /* the turn and the rest of the time slice */
};

/* A turn of the channel on the engine. */
enum emu_outcome emu_pushbuffer_run(struct emu_channel *channel);

#endif
