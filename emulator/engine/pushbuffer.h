/* Runs a channel: what the host has read of its ring and pushbuffer. */
#ifndef TEGRACL_EMULATOR_PUSHBUFFER_H
#define TEGRACL_EMULATOR_PUSHBUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/modes/adversary.h"

struct emu_channel;

enum { EMU_ENTRIES_AHEAD = 8, EMU_WORDS_AHEAD = 256 };

struct emu_ring {
  uint64_t ahead[EMU_ENTRIES_AHEAD]; /* entries read but not yet begun */
  uint32_t put;                      /* GP_PUT when it was read last */
  uint32_t next, count;              /* index of the next entry, and number of entries left */
  uint32_t words[EMU_WORDS_AHEAD];   /* adversarial timing: read ahead from the pushbuffer */
  uint64_t segment, main_segment;    /* the last segment begun, and the last one with LEVEL 0 */
  uint64_t to_descriptor; /* from its segment to the last scheduled descriptor: prefetch_next */
};

/* Adversarial timing of one channel. Times are values of emu_time_ns, or 0 for none. */
struct emu_adversary_state {
  struct emu_random random;
  uint64_t fetch_at;          /* earliest time of the next fetch from ring or pushbuffer */
  uint64_t write_progress_at; /* time at which pending progress is written to USERD */
};

/* Words of the pushbuffer that are contiguous in host memory. */
struct emu_fetch {
  uint64_t gpu;   /* address of the next word */
  uint32_t words; /* number left in the segment */
  const uint32_t *host;
  uint32_t host_words; /* readable at host */
};

/* The remaining methods of one header. */
struct emu_run {
  uint32_t op; /* enum method_sec_op */
  uint32_t method, count, subchannel;
  uint32_t immediate;
  bool incremented; /* the first method was executed; ONE_INC increments only then */
};

enum emu_outcome {
  EMU_IDLE,    /* nothing left */
  EMU_MORE,    /* the turn ended */
  EMU_BLOCKED, /* waits for a semaphore */
  EMU_GAVE_UP, /* the turn and the time slice of the TSG ended */
};

/* Writes progress to USERD that has not been written for speed. Call on the engine thread. */
void emu_pushbuffer_write_progress(struct emu_channel *channel);
/* Runs one turn of the channel on the engine thread. */
enum emu_outcome emu_pushbuffer_run(struct emu_channel *channel);

#endif
