/* /dev/nvmap: handles, and the rare requests. gpu.lock held. */
#ifndef TEGRACL_EMULATOR_NVMAP_H
#define TEGRACL_EMULATOR_NVMAP_H

#include <stdbool.h>
#include <stdint.h>

struct emu_dmabuf;

/* An nvmap handle: one id of the process's nvmap client. */
struct emu_handle {
  struct emu_handle *next;
  uint32_t id;
  bool read_only;
  struct emu_dmabuf *dmabuf;
};

extern struct emu_nvmap {
  int opens; /* of the node, that are not closed */
  struct emu_handle *handles;
  uint32_t next_handle; /* the last id that was given */
  uint64_t tags[1024];  /* SET_TAG_LABEL: one bit for each of 65536 */
} emu_nvmap;

/* A new fd, or -errno. */
int emu_nvmap_open(void);
/* The handle of an id, or NULL. */
struct emu_handle *emu_handle_find(uint32_t id);
/* A handle with a new dma-buf of size bytes (rounded up to pages); NULL: no memory. */
struct emu_handle *emu_handle_create(uint64_t size);
void emu_handle_free(struct emu_handle *handle);

/* nvmap_rare.c. Each without a comment is the function of a request. */
int emu_nvmap_from_va(void *argument);
/* Call before a dma-buf of FROM_VA is mapped: moves its contents to the fd's file, and maps the
 * file for the client in the place of its pages. Stores of other threads meanwhile may be lost. 0
 * or -errno. */
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
/* 0 if the bytes are in one mapping of the dma-buf, or -errno. */
int emu_nvmap_cache_range(uint64_t address, uint64_t bytes, const struct emu_dmabuf *dmabuf);

#endif
