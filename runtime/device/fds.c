/* The set of the runtime's open fds: a bitmap in chunks that are allocated on demand. */
#include "runtime/device/fds.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
  WORD_BITS = 64,
  CHUNK_FDS = 1 << 16,
  CHUNK_WORDS = CHUNK_FDS / WORD_BITS,
  CHUNKS = (1 << 30) / CHUNK_FDS, /* the largest value that Linux allows for fs.nr_open */
};

typedef _Atomic uint64_t chunk[CHUNK_WORDS];

static chunk first; /* enough for most processes without an allocation */
static _Atomic(_Atomic uint64_t *) chunks[CHUNKS] = {first};

static uint64_t fd_bit(int fd) {
  return UINT64_C(1) << (fd % WORD_BITS);
}

/* Returns the word that contains the fd's bit, or NULL if its chunk does not exist. */
static _Atomic uint64_t *word_of(int fd) {
  _Atomic uint64_t *words = atomic_load(&chunks[fd / CHUNK_FDS]);
  return words ? &words[fd % CHUNK_FDS / WORD_BITS] : NULL;
}

static _Atomic uint64_t *make_word_of(int fd) {
  _Atomic uint64_t *none = NULL;
  if (!word_of(fd)) {
    _Atomic uint64_t *made = calloc(1, sizeof(chunk));
    if (made && !atomic_compare_exchange_strong(&chunks[fd / CHUNK_FDS], &none, made))
      free(made); /* another thread was faster */
  }
  return word_of(fd);
}

int rt_fd_opened(const struct nvgpu_os *os, int fd) {
  if (fd < 0)
    return fd;
  _Atomic uint64_t *word = make_word_of(fd);
  if (!word) {
    os->close(fd);
    return -ENOMEM;
  }
  atomic_fetch_or(word, fd_bit(fd));
  return fd;
}

/* The fd is removed from the set before it is closed. Otherwise another thread could get the same
 * number for a different file, and a child forked in between would close that file. In the
 * remaining window a child may keep a copy open. */
void rt_fd_close(const struct nvgpu_os *os, int fd) {
  if (fd < 0)
    return;
  _Atomic uint64_t *word = word_of(fd);
  if (word)
    atomic_fetch_and(word, ~fd_bit(fd));
  os->close(fd);
}

static void close_copies(int first_fd, _Atomic uint64_t *words) {
  for (int i = 0; i < CHUNK_WORDS; i++) {
    uint64_t bits = atomic_load_explicit(&words[i], memory_order_relaxed);
    if (!bits)
      continue;
    atomic_store(&words[i], 0);
    for (; bits; bits &= bits - 1)
      nvgpu_os_linux.close(first_fd + i * WORD_BITS + __builtin_ctzll(bits));
  }
}

/* Uses the system call instead of struct nvgpu_os: the child has only the numbers, and no emulated
 * device to which they could refer. */
void rt_fds_close_copies(void) {
  for (int i = 0; i < CHUNKS; i++) {
    _Atomic uint64_t *words = atomic_load(&chunks[i]);
    if (words)
      close_copies(i * CHUNK_FDS, words);
  }
}
