/* /dev/nvmap: handles, and rarely used requests. Callers hold gpu.lock. */
#ifndef TEGRACL_EMULATOR_NVMAP_H
#define TEGRACL_EMULATOR_NVMAP_H

#include <stdbool.h>
#include <stdint.h>

struct emu_dmabuf;

/* An nvmap handle: an id of the process's nvmap client. */
struct emu_handle {
  struct emu_handle *next;
  uint32_t id;
  bool read_only;
  struct emu_dmabuf *dmabuf;
};

extern struct emu_nvmap {
  int opens; /* number of open fds of the node */
  struct emu_handle *handles;
  uint32_t next_handle; /* last id assigned */
  uint64_t tags[1024];  /* labels of SET_TAG_LABEL: a bit for each of 65536 tags */
} emu_nvmap;

/* Opens the node. Returns an fd or -errno. */
int emu_nvmap_open(void);
/* Returns the handle with this id, or NULL. */
struct emu_handle *emu_handle_find(uint32_t id);
/* Creates a handle with a new dma-buf of size bytes, rounded up to pages. Returns NULL if memory is
 * exhausted. */
struct emu_handle *emu_handle_create(uint64_t size);
void emu_handle_free(struct emu_handle *handle);

/* nvmap_rare.c. Functions without a comment implement a request. */
int emu_nvmap_from_va(void *argument);
/* Must be called before a dma-buf of FROM_VA is mapped. Copies the contents to the fd's file and
 * replaces the client's pages with a mapping of the file. Concurrent stores by other threads may be
 * lost. Returns 0 or -errno. */
int emu_nvmap_share_pages(struct emu_dmabuf *dmabuf, int fd);
/* Call before a fork. */
void emu_nvmap_forking(void);
int emu_nvmap_gup_test(void *argument);
int emu_nvmap_range(void *argument);
int emu_nvmap_ivm_heaps(void *argument);
int emu_nvmap_ivm_alloc(void *argument);
int emu_nvmap_ivc_get(void *argument);
int emu_nvmap_ivc_open(void *argument);
int emu_nvmap_sciipc(void *argument);
int emu_nvmap_vpr_floor(void *argument);
/* Returns 0 if the bytes are in one mapping of the dma-buf, else -errno. */
int emu_nvmap_cache_range(uint64_t address, uint64_t bytes, const struct emu_dmabuf *dmabuf);

#endif
