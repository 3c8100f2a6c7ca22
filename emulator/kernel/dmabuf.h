/* dma-bufs: memory shared by fds, handles and mappings. Callers hold gpu.lock. */
#ifndef TEGRACL_EMULATOR_DMABUF_H
#define TEGRACL_EMULATOR_DMABUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emulator/objects.h"

struct emu_vma;

/* A dma-buf. It is referenced by its fds, nvmap handles and mappings, and by channels that use it
 * as ring, USERD or notifier. */
struct emu_dmabuf {
  struct emu_object object;
  struct emu_dmabuf *next, *previous; /* of emu_memory */
  size_t mapping_count;               /* in all address spaces */
  uint64_t size;                      /* bytes, a multiple of 4096 */
  uint64_t asked;                     /* bytes requested by CREATE */
  uint64_t serial;                    /* for PARAMETERS */
  uint32_t heap, flags, align;
  bool allocated; /* has pages: NVMAP ALLOC has succeeded */
  bool from_va;   /* was created from the client's pages (FROM_VA) */
  bool in_place;  /* still uses the client's pages, at host */
  bool drivers;   /* created by the driver, so not part of nvmap's total */
  bool foreign;   /* created by another process, which counts it */
  bool read_only; /* FROM_VA had the flag READ_ONLY */
  uint8_t *host;  /* mapping by emu_dmabuf_host, or NULL */
  int handles;    /* number of nvmap handles among the references */
  int kept_fd;    /* keeps the memfd open if the client has no fd, else -1 */
  dev_t device;   /* identify the memfd */
  ino_t inode;
  bool has_inode;
  bool registered, mutable_metadata;
  bool comptags_tried, comptags; /* compression tags were requested; there are some, enabled */
  uint32_t metadata_size;
  uint8_t metadata[256];
};

extern struct emu_memory {
  struct emu_dmabuf *dmabufs;
  uint64_t next_serial;
  uint64_t limit, used; /* bytes */
} emu_memory;

/* Returns an fd's dma-buf with a new reference. Returns 0, -EBADF or -EINVAL. */
int emu_dmabuf_from_fd(int fd, struct emu_dmabuf **dmabuf);
/* Creates a dma-buf without pages. size must be a multiple of 4096. Returns NULL if memory is
 * exhausted. */
struct emu_dmabuf *emu_dmabuf_create(uint64_t size);
/* Maps the dma-buf and sets host, unless it is mapped already. Returns 0 or -errno. */
int emu_dmabuf_host(struct emu_dmabuf *dmabuf);
/* Opens a new fd for the client. Returns it or -errno. */
int emu_dmabuf_fd(struct emu_dmabuf *dmabuf, bool read_only);
/* Allocates compression tags, unless the buffer is registered for good without them. Returns
 * whether it has some. */
bool emu_dmabuf_comptags(struct emu_dmabuf *dmabuf);
/* Returns whether the dma-buf, or the client's fd of it, is read-only. */
bool emu_dmabuf_read_only(const struct emu_dmabuf *dmabuf, int fd);
/* Returns whether the mapping is a mapping of the dma-buf's file. */
bool emu_dmabuf_is(const struct emu_dmabuf *dmabuf, const struct emu_vma *vma);
/* Closes the file if no handle is left, because then no fd can be requested. Must be called after a
 * handle was freed. */
void emu_dmabuf_drop_kept_fd(struct emu_dmabuf *dmabuf);

#endif
