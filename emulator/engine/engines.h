/* The state that the engines keep for one channel, and what they share: surfaces,
 * conditions, descriptors that the scheduler holds. Included by gpu.h.
 */
#ifndef TEGRACL_EMULATOR_ENGINES_H
#define TEGRACL_EMULATOR_ENGINES_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/modes/adversary.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"

struct emu_as;
struct emu_channel;
struct emu_fault;

/* What a method did. */
enum emu_step {
  EMU_NEXT,  /* done; go on */
  EMU_AGAIN, /* cannot be done yet; offer it again later */
  EMU_YIELD, /* done; other channels first */
  EMU_FAULT, /* the fault says why */
};

/* The halves of an address come in two methods. */
static inline void emu_set_high(uint64_t *address, uint32_t high) {
  *address = (uint64_t)high << 32 | (uint32_t)*address;
}
static inline void emu_set_low(uint64_t *address, uint32_t low) {
  *address = (*address >> 32) << 32 | low;
}

/* ---- pushbuffer.c: what the host has of a channel's ring ---- */

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

/* ---- surface.c: lines of bytes in memory ---- */

/* A surface in pitch or block-linear layout; x and width in bytes. */
struct emu_surface {
  uint64_t address;
  uint32_t pitch; /* of the pitch layout */
  bool block_linear;
  uint32_t block_height, block_depth; /* log2, in GOBs */
  uint64_t width, x;
  uint32_t height, layer, y; /* x and y: where the transfer begins */
};
/* Takes a SET_DST_BLOCK_SIZE or SET_SRC_BLOCK_SIZE. False: no such block. */
bool emu_surface_set_blocks(struct emu_surface *surface, uint32_t block_size);
/* Bytes from column on of a line; lines and columns count from the transfer's
 * beginning. False: the fault is filled in. */
bool emu_surface_read(struct emu_as *as, const struct emu_surface *surface, uint64_t line,
                      uint64_t column, void *to, uint64_t bytes, struct emu_fault *fault);
bool emu_surface_write(struct emu_as *as, const struct emu_surface *surface, uint64_t line,
                       uint64_t column, const void *from, uint64_t bytes, struct emu_fault *fault);

/* ---- condition.c: SET_RENDER_ENABLE ---- */

struct emu_condition {
  uint64_t address;
  uint32_t mode; /* enum render_enable_mode */
};
/* Whether conditional work is to be done. False: the fault is filled in. */
bool emu_condition_holds(struct emu_as *as, const struct emu_condition *condition, bool *holds,
                         struct emu_fault *fault);

/* ---- host.c ---- */

struct emu_host_state {
  uint32_t sem_address_low, sem_address_high;
  uint32_t sem_payload_low, sem_payload_high;
  uint64_t acquire_limit_ns; /* 0: an acquire may wait for ever */
  uint64_t waiting_since;    /* PTIMER; of an acquire that has not been satisfied */
};
/* What the driver sets when it binds a channel to the hardware: an acquire may wait
 * for 80 % of the watchdog's time, for ever without one. Facts 3.1. */
void emu_host_bind(struct emu_channel *channel);

/* ---- i2m.c: of the compute class, or of class A140 ---- */

struct emu_i2m {
  uint32_t line_length, line_count;
  struct emu_surface surface;
  uint32_t block_size;
  uint64_t semaphore;
  uint32_t semaphore_payload;
  uint32_t launch;
  uint64_t remaining; /* bytes of data still to come */
  uint64_t done;
};

/* ---- compute.c ---- */

/* What a launch takes from the methods before it; docs/hardware/command-stream.md 4.2, 4.3. */
struct emu_shader_state {
  uint64_t shared_window, local_window;
  uint64_t local_base, local_bytes_per_tpc;
};

struct emu_compute {
  bool bound;
  bool in_atomic_sequence;
  struct emu_shader_state shader;
  struct emu_condition condition, global_condition;
  uint32_t condition_override; /* enum render_enable_override */
  uint32_t pcas_address;
  uint64_t report_payload, report_address;
  uint64_t old_report_address;
  uint32_t old_report_payload;
  uint64_t inline_qmd_address;
  uint32_t inline_qmd[QMD_WORDS];
  struct emu_i2m i2m;
};

/* ---- sked.c: descriptors that wait for others ---- */

struct emu_held_qmd {
  struct emu_held_qmd *next;
  uint64_t address;
  uint32_t dependences; /* that are still to be decremented */
  bool scheduled;
  bool requires_scheduling; /* besides its dependences */
  struct emu_shader_state shader;
};
/* What SEND_SIGNALING_PCAS2_B asks for. */
bool emu_sked_pcas(struct emu_channel *channel, uint64_t qmd_address, uint32_t action,
                   struct emu_fault *fault);
/* Starts a descriptor, or has it wait for its dependences. */
bool emu_sked_schedule(struct emu_channel *channel, uint64_t qmd_address,
                       const struct emu_shader_state *shader, struct emu_fault *fault);
bool emu_sked_decrement(struct emu_channel *channel, uint64_t qmd_address,
                        const struct emu_shader_state *shader, struct emu_fault *fault);
/* As emu_grids_run; and a grid that will never start is a fault, where a board
 * would wait for ever. */
enum emu_step emu_sked_wait(struct emu_channel *channel, struct emu_fault *fault);
void emu_sked_drop(struct emu_channel *channel);

/* ---- mme.c: the macro engine ---- */

struct emu_mme;
bool emu_mme_owns(uint32_t method);
enum emu_step emu_mme_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                             struct emu_fault *fault);
/* CALL_MME_MACRO, CALL_MME_DATA. */
enum emu_step emu_mme_call(struct emu_channel *channel, uint32_t method, uint32_t data,
                           struct emu_fault *fault);
/* Forgets the macro that runs; NULL is fine. */
void emu_mme_drop(struct emu_mme *mme);
/* Keeps a method's data in the shadow memory; what the method gets. */
uint32_t emu_mme_shadow(struct emu_mme *mme, uint32_t method, uint32_t data);

/* ---- copy.c ---- */

enum {
  EMU_COPY_STATE_WORDS = NVC7B5_DST_ORIGIN_Y / 4 + 1,
  EMU_COPY_PIPELINED = 8,
  EMU_COPY_TRANSFERS = 8,
  EMU_COPY_COMPONENTS = 4,
  EMU_COPY_POSTED = 256,
};

/* The component map of a remap; docs/hardware/command-stream.md 7.3. Without one: bytes. */
struct emu_remap {
  bool enabled;
  unsigned size, sources, destinations;
  unsigned select[EMU_COPY_COMPONENTS];
  uint32_t constants[2];
};

/* A transfer that was launched and has not ended. */
struct emu_transfer {
  struct emu_remap remap;
  struct emu_surface source, destination;
  uint32_t lines;
  uint64_t length; /* elements of a line */
  uint32_t line;   /* how far it is */
  uint64_t done;
  bool pipelined;
  uint64_t not_before; /* adversarial timing; PTIMER */
};

struct emu_span {
  uint64_t from, to, bytes;
};

/* Adversarial timing: the last bytes of a transfer, read and not yet written. */
struct emu_posted {
  struct emu_surface destination;
  uint64_t line, column, bytes; /* bytes 0: none */
  uint64_t due;                 /* PTIMER */
  uint8_t data[EMU_COPY_POSTED];
};

struct emu_copy {
  bool bound;
  uint32_t state[EMU_COPY_STATE_WORDS]; /* the methods' data */
  bool launched;                        /* the transfer of the method that is being done */
  struct emu_transfer transfers[EMU_COPY_TRANSFERS]; /* in the order of their launches */
  unsigned transfer_count;
  struct emu_posted posted;
  /* Transfers that may still be under way when the next pipelined one begins. */
  struct emu_span pipelined[EMU_COPY_PIPELINED];
  unsigned pipelined_count;
};

#endif
