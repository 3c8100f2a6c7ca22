/* A small client of the kernel interface for the tests: the bring-up sequence of
 * docs/hardware/bring-up.md (column A) in C, over a struct nvgpu_os, and functions that write
 * pushbuffers. */
#ifndef TEGRACL_TEST_CLIENT_H
#define TEGRACL_TEST_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/emulator.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/hw/qmd.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"

#define OS (&nvgpu_os_emulator)

/* Passes a pointer to the argument to the ioctl; the test fails unless the ioctl returns result. */
#define EXPECT(result, fd, request, ...)                                                           \
  do {                                                                                             \
    int got = OS->ioctl(fd, request, &(__VA_ARGS__));                                              \
    if (got != (result))                                                                           \
      print_error("%s:%d: %s gives %d, not %d\n", __FILE__, __LINE__, #request, got, result);      \
    assert_int_equal(got, result);                                                                 \
  } while (0)

struct buffer {
  uint32_t handle;
  int fd;
  uint64_t size, va;
  void *cpu;
};

struct channel {
  int fd;
  uint32_t token, entries, put;
  struct buffer ring, userd, push, notifier;
  uint32_t *word; /* next in push */
  uint32_t start; /* the first word that has not been submitted */
};

struct client {
  int nvmap, ctrl, as, tsg, node;
  uint32_t veid;
  void *page;
};

/* Each of these functions fails the test on an error. */
void client_open(struct client *c);
/* Like client_open, with another range of GPU addresses. */
void client_open_range(struct client *c, uint64_t start, uint64_t end);
void client_close(struct client *c);
/* Opens a new TSG, to which channels opened later are bound. */
void client_open_tsg(struct client *c);
struct buffer buffer_create(struct client *c, uint64_t size, bool map);
void buffer_destroy(struct client *c, struct buffer *b);
void channel_open(struct client *c, struct channel *ch, uint32_t entries, uint32_t class_id);
void channel_close(struct client *c, struct channel *ch);

void push(struct channel *ch, uint32_t word);
void push_method(struct channel *ch, enum subchannel subchannel, uint32_t method, uint32_t data);
/* Pushes the methods SEM_ADDR_LO to SEM_EXECUTE. */
void push_semaphore(struct channel *ch, uint64_t va, uint64_t payload, uint32_t execute);
/* Pushes SET_OBJECT, the memory windows and a local-memory size of zero. */
void push_compute_setup(struct channel *ch);
/* Submits the words pushed since the last call as one GPFIFO entry and rings the doorbell. */
void submit(struct client *c, struct channel *ch);
void submit_entry(struct client *c, struct channel *ch, uint64_t entry);

/* The longest wait; long enough even on a busy machine. */
enum { PATIENCE_MS = 60000 };
/* Waits until done(p, value) is true. Returns whether it became true within PATIENCE_MS. */
bool wait_until(bool (*done)(const void *, uint32_t), const void *p, uint32_t value);
/* Waits until *word is value. Returns false after PATIENCE_MS. */
bool wait_word(const void *word, uint32_t value);
bool wait_fault(const struct channel *ch, uint32_t code);
struct emulator_fault last_fault(struct client *c);
/* Fills in a valid descriptor with this program and bank 0, and one warp per CTA. */
void qmd_make(uint32_t *qmd, uint64_t program, uint64_t bank, uint32_t ctas);

/* A client with a channel, a page for results and 64 KiB for code. The functions are cmocka's setup
 * and teardown. */
struct fixture {
  struct client c;
  struct channel ch;
  struct buffer data;
  struct buffer code; /* programs at 0, QMDs at 0x1000, bank 0 at 0x8000 */
};
int fixture_setup(void **state);
int fixture_teardown(void **state);
struct fake_program;
/* Writes the program into a slot and returns its address. */
uint64_t fixture_program(struct fixture *f, unsigned slot, const struct fake_program *program);
uint32_t *fixture_qmd(struct fixture *f, unsigned slot);
void fixture_launch(struct fixture *f, unsigned slot, uint32_t action);
void *fixture_data(struct fixture *f, unsigned offset);
/* Stores value at va by a release. Returns false if it does not complete, after a fault. */
bool fixture_store(struct fixture *f, uint64_t va, uint32_t value);
/* Submits the pushed words and waits until they have completed; uses the end of the data page. */
void fixture_run(struct fixture *f);

/* Runs the function in a child process with this TEGRACL_EMULATOR (NULL: not set), because a
 * process reads the variable only once. The test fails if the child fails. */
void with_emulator(const char *option, void (*function)(const void *), const void *argument);

enum { WINDOW_SHARED_HIGH = 0xfe, WINDOW_LOCAL_HIGH = 0xfd };
enum { RELEASE_64 = 0x01000001, RELEASE_64_WFI = 0x01100001, RELEASE_64_WFI_TIME = 0x03100001 };

#endif
